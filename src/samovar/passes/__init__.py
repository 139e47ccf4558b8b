"""Passes over the IR, in place: checks, inlining, and what becomes of atomics.

Each pass is a function of a kernel, linear in the number of its operations. The order matters: checks come early, while
operations are what the user wrote, and clamped indices must be clamped before anything is concluded from them;
inlining and locals bring indices into view; ownership takes what is provably plain, reductions and scatters take what they
can of the rest, and what is left stays atomic. At the end parallel loops become tasks with captures and a plan: what a
backend renders.
"""

from samovar.passes.loops import place_safepoints
from samovar.passes.order import pipeline, run
from samovar.passes.outline import outline
from samovar.passes.parameters import drop_untouched, hand_down

__all__ = ["drop_untouched", "hand_down", "outline", "pipeline", "place_safepoints", "run"]
