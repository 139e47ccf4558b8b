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

#: The first line of a text whose loops are all plain (see `samovar.passes.plain_loops`).
ONLY_PLAIN_LOOPS = "; only plain loops\n"
