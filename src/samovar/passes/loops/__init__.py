"""Loop optimization. Inlining, unrolling, register promotion, index-set splitting (`peel`, `congruence`), sinking of stores,
speculative loads and predictive commoning simplify loops; then they are planned by cost (`plan`), and safepoints are placed.

The planner asks which iterations are independent (`dependence`) and which values vary between lanes (`divergence`), compares
costs (`price`), and writes vector loops (`emit`, `vectorize`, `interleave`, `held`). docs/architecture.md, "Loop
optimization", has the order.
"""

from samovar.passes.loops.carry import carry_elements
from samovar.passes.loops.forward_elements import forward_elements
from samovar.passes.loops.index_sets import split_index_sets
from samovar.passes.loops.inline_calls import inline_calls
from samovar.passes.loops.plan import plan_loops
from samovar.passes.loops.promote import promote
from samovar.passes.loops.safepoints import place_safepoints
from samovar.passes.loops.sink import sink_stores
from samovar.passes.loops.speculate import speculate_loads
from samovar.passes.loops.unroll import unroll_loops

__all__ = [
    "carry_elements",
    "forward_elements",
    "inline_calls",
    "place_safepoints",
    "plan_loops",
    "promote",
    "sink_stores",
    "speculate_loads",
    "split_index_sets",
    "unroll_loops",
]
