"""Loops: which of them become loops of vectors, are cut, peeled, or ask whether to stop. See `samovar.passes.loops.plan`."""

from samovar.passes.loops.calls import inline_calls
from samovar.passes.loops.plan import plan_loops
from samovar.passes.loops.promote import promote
from samovar.passes.loops.safepoints import place_safepoints

__all__ = ["inline_calls", "place_safepoints", "plan_loops", "promote"]
