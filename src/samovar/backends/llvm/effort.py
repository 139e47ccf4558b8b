"""Optimization effort. Code is compiled with full effort first; each of the others skips more steps that LLVM could fail in,
and is for texts that it has failed on.

Full effort depends on the option `opt_level`, and by default on the text (see ADR 0045): code that runs once per launch is
not worth as much as a loop, and in a large function a third of the compile time would be spent on SLP vectorization, for
hardly any speedup.
"""

from __future__ import annotations

from typing import NamedTuple


class Effort(NamedTuple):
    """The level of the optimizer, whether loops and straight-line code (SLP) are vectorized, and the level of the code
    generator."""

    level: int
    vectors: bool
    neighbors: bool
    generation: int


EFFORTS: dict[str, Effort] = {
    "in full": Effort(3, True, True, 3),
    "without vectors": Effort(3, False, False, 3),
    "with few optimizations": Effort(1, False, False, 1),
    "without optimizations": Effort(0, False, False, 0),
}

FULL = next(iter(EFFORTS))

#: Full effort for a text of each level.
LEVELS: dict[int, Effort] = {
    0: EFFORTS["without optimizations"],
    1: EFFORTS["with few optimizations"],
    2: Effort(3, True, False, 3),
    3: EFFORTS[FULL],
}

#: The default of `opt_level`: as much as a text is worth.
BY_WORTH = 2

#: The first line of a text that is optimized at a lower level than the highest.
LEVEL_LINE = "; level {}\n"

#: A line of a text whose selects must not become branches: they are on the critical path of a loop
#: (see `samovar.passes.reassociate`).
CHOICES_STAY = "; choices stay choices"

#: A line of a text with loops nested deeper than this. Whether a loop has any iteration is invariant in the loops around it,
#: and LLVM unswitches all of them on it, one after the other: compile time grows with the square. So does that of loop
#: strength reduction, which considers the counters of all loops.
DEEP, DEEP_NESTS = 6, "; deep nests"

#: A line of a text whose loops all have a single counter and contiguous vectors: an eighth of the time to compile a small
#: kernel would go into loop strength reduction.
PLAIN_LOOPS = "; plain loops"


def first_line(opt_level: int, worth: int = 3) -> str:
    """The first line of a text. `worth` is its level by default."""
    level = worth if opt_level == BY_WORTH else opt_level
    return LEVEL_LINE.format(level) if level < max(LEVELS) else ""


def effort_for(text: str, name: str) -> Effort:
    """The effort for a text, by name: never more than its first line allows."""
    if name == FULL:
        for level, done in LEVELS.items():
            if text.startswith(LEVEL_LINE.format(level)):
                return done
    return EFFORTS[name]
