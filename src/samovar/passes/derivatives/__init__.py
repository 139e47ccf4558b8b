"""Automatic differentiation: reverse and forward mode on the IR of the frontend, before loops are planned (ADR 0069)."""

from samovar.passes.derivatives.activity import NotDifferentiable
from samovar.passes.derivatives.boxes import Box
from samovar.passes.derivatives.forward import forward_tangents
from samovar.passes.derivatives.preparing import prepare
from samovar.passes.derivatives.reverse import Reversed, reverse

__all__ = ["Box", "NotDifferentiable", "Reversed", "forward_tangents", "prepare", "reverse"]
