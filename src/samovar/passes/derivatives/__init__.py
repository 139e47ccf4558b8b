"""Automatic differentiation: reverse and forward mode on the IR of the frontend, before loops are planned (ADR 0069)."""

from samovar.passes.derivatives.activity import NotDifferentiable
from samovar.passes.derivatives.boxes import Box
from samovar.passes.derivatives.changed_cells import changed_cells
from samovar.passes.derivatives.forward import forward_tangents
from samovar.passes.derivatives.graph_parts import Loop, Step, graph_steps, select_part
from samovar.passes.derivatives.preparing import prepare
from samovar.passes.derivatives.reverse import Reversed, reverse
from samovar.passes.derivatives.surrogates import drop_formulas

__all__ = [
    "Box", "Loop", "NotDifferentiable", "Reversed", "Step", "changed_cells", "drop_formulas", "forward_tangents",
    "graph_steps", "prepare", "reverse", "select_part",
]  # fmt: skip
