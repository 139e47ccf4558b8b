"""How much LLVM is asked to do. Code is made in the first form; each of the others leaves out more of what LLVM could fail
in, and is for texts that it has failed in.

What the first form is depends on the option `opt_level`, and at its default on what the text is (see ADR 0045): code that
runs once per launch is not worth what a loop is worth, and in a large function a third of the time would go into finding
neighbours that could be one vector, which hardly makes it faster.
"""

from __future__ import annotations

from typing import NamedTuple


class Effort(NamedTuple):
    """The level of the optimiser, whether it makes vectors of iterations and of neighbouring operations, and the level of
    the code generator."""

    level: int
    vectors: bool
    neighbours: bool
    generation: int


FORMS: dict[str, Effort] = {
    "in full": Effort(3, True, True, 3),
    "without vectors": Effort(3, False, False, 3),
    "with few optimisations": Effort(1, False, False, 1),
    "without optimisations": Effort(0, False, False, 0),
}

FULL = next(iter(FORMS))

#: What the first form is for a text of each level.
LEVELS: dict[int, Effort] = {
    0: FORMS["without optimisations"],
    1: FORMS["with few optimisations"],
    2: Effort(3, True, False, 3),
    3: FORMS[FULL],
}

#: The option `opt_level` by default: as much as a text is worth.
BY_WORTH = 2

#: The first line of a text that is to be optimised at a lower level than the highest.
LEVEL_LINE = "; level {}\n"

#: A line of a text whose choices are not to become branches: a loop waits for them (see `samovar.passes.reassociate`).
CHOICES_STAY = "; choices stay choices"

#: A line of a text with loops that are more than so many deep. Whether a loop has any iteration is known outside of those
#: around it, and LLVM copies all of them to ask there, one after the other: the time to compile grows with the square.
DEEP, DEEP_NESTS = 6, "; deep nests"

#: A line of a text of which all loops have one counter and whole vectors side by side: an eighth of the time to compile a
#: small kernel would go into finding better ways to count through arrays.
PLAIN_LOOPS = "; plain loops"


def first_line(opt_level: int, worth: int = 3) -> str:
    """What a text begins with. `worth` is the level that it is worth by default."""
    level = worth if opt_level == BY_WORTH else opt_level
    return LEVEL_LINE.format(level) if level < max(LEVELS) else ""


def effort(text: str, form: str) -> Effort:
    """What is done to a text in one of the forms: never more than its first line says."""
    if form == FULL:
        for level, done in LEVELS.items():
            if text.startswith(LEVEL_LINE.format(level)):
                return done
    return FORMS[form]
