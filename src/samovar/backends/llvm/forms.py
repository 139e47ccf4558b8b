"""How much LLVM is asked to do. Code is made in the first form; each of the others leaves out more of what LLVM could fail
in, and is for texts that it has failed in.

A form is (level of the optimiser, whether it looks for vectors, level of the code generator).
"""

from __future__ import annotations

FORMS: dict[str, tuple[int, bool, int]] = {
    "in full": (3, True, 3),
    "without vectors": (3, False, 3),
    "with few optimisations": (1, False, 1),
    "without optimisations": (0, False, 0),
}

FULL = next(iter(FORMS))

#: What the first form is at a lower level of the option `opt_level`.
LEVELS: dict[int, tuple[int, bool, int]] = {
    0: (0, False, 0),
    1: (1, False, 1),
    2: (2, True, 2),
    3: FORMS[FULL],
}

#: The first line of a text that is to be optimised at a lower level than the highest.
LEVEL_LINE = "; level {}\n"

#: The first line of a text whose loops are all plain (see `samovar.passes.plain_loops`).
ONLY_PLAIN_LOOPS = "; only plain loops\n"


def first_line(level: int, only_plain_loops: bool) -> str:
    """What a text begins with."""
    if level < max(LEVELS):
        return LEVEL_LINE.format(level)
    return ONLY_PLAIN_LOOPS if only_plain_loops else ""


def effort(text: str, form: str) -> tuple[int, bool, int]:
    """What is done to a text in one of the forms: never more than its first line says."""
    if form == FULL:
        for level, done in LEVELS.items():
            if text.startswith(LEVEL_LINE.format(level)):
                return done
    return FORMS[form]
