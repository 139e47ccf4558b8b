"""Loops: inlined calls, unrolling, register promotion, index-set splitting (`peel`, `congruence`), speculative loads and
carried elements make them simpler; then they are planned by price (`plan`), and safepoints are placed.

The planner moves accesses out of branches (`reuse`, `sink`), asks which iterations are independent (`dependence`) and what
varies between lanes (`divergence`), compares what that costs (`price`), and writes loops of vectors (`emit`, `vectorize`,
`interleave`, `held`). docs/architecture.md, "The way of a loop", has the order.
"""

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
