"""Loops: which of them are unrolled, become loops of vectors, are cut, peeled, or ask whether to stop. See
`samovar.passes.loops.plan`."""

from samovar.passes.loops.calls import inline_calls
from samovar.passes.loops.carry import carry_elements
from samovar.passes.loops.elements import forward_elements
from samovar.passes.loops.index_sets import split_index_sets
from samovar.passes.loops.plan import plan_loops
from samovar.passes.loops.promote import promote
from samovar.passes.loops.safepoints import place_safepoints
from samovar.passes.loops.speculate import speculate_loads
from samovar.passes.loops.unroll import unroll_loops

__all__ = [
    "carry_elements",
    "forward_elements",
    "inline_calls",
    "place_safepoints",
    "plan_loops",
    "promote",
    "speculate_loads",
    "split_index_sets",
    "unroll_loops",
]
