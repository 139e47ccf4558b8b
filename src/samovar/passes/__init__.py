"""Passes over the IR, in place: checks, inlining, what becomes of atomics, and what becomes of loops.

Each pass is a function of a kernel, linear in the number of its operations. The order matters: checks come early, while
operations are what the user wrote, and clamped indices must be clamped before anything is concluded from them;
inlining and locals bring indices into view; ownership takes what is provably plain, reductions and scatters take what they
can of the rest, and what is left stays atomic. Then parallel loops become tasks, and all loops are planned
(`samovar.passes.loops`): a backend renders what is left one to one.
"""

from samovar.passes.loops import place_safepoints
from samovar.passes.order import pipeline, run
from samovar.passes.outline import outline
from samovar.passes.parameters import drop_untouched, hand_down

__all__ = ["drop_untouched", "hand_down", "outline", "pipeline", "place_safepoints", "run"]
