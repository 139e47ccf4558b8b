"""IR-to-IR passes, in place: checks, inlining, resolution of atomics, outlining and loop optimization.

Each pass is a function of a kernel, linear in the number of its operations. The order matters. Checks come early, while
operations are still those of the user, and indices must be clamped before anything is concluded from them. Inlining and
forwarding of locals expose indices. Ownership demotes atomics that are provably exclusive; reductions and scatters take what
they can of the rest, and the remaining ones stay atomic. Then parallel loops become tasks, and all loops are planned
(`samovar.passes.loops`). The backend renders the result one to one.
"""

from samovar.passes.derivatives import (
    Box,
    Loop,
    NotDifferentiable,
    Reversed,
    Step,
    changed_cells,
    drop_formulas,
    forward_tangents,
    graph_steps,
    prepare,
    reverse,
    select_part,
)
from samovar.passes.loops import place_safepoints
from samovar.passes.order import pipeline, run
from samovar.passes.outline import outline
from samovar.passes.parameters import drop_untouched, propagate_facts

__all__ = [
    "Box", "Loop", "NotDifferentiable", "Reversed", "Step", "changed_cells", "drop_formulas", "drop_untouched",
    "forward_tangents", "graph_steps", "outline", "pipeline", "place_safepoints", "prepare", "propagate_facts", "reverse",
    "run", "select_part",
]  # fmt: skip
