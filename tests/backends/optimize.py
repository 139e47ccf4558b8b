"""From LLVM text to an object file, in this process: a pure step, text and target in, bytes out.

All calls of llvmlite share one lock, and an assertion in LLVM ends the process: programs compile in the workers of
`samovar.compiler.workers`, which do the same.
"""

from __future__ import annotations

from samovar.backends.llvm.effort import FULL
from samovar.backends.llvm.generate import generate
from samovar.backends.llvm.target import Target


def optimize(text: str, target: Target, form: str = FULL) -> bytes:
    """An ELF object with the optimized code of a rendered kernel."""
    return generate(text, target.machine(), form, "object")


def assembly(text: str, target: Target) -> str:
    """The optimized code as assembly, to read."""
    return generate(text, target.machine(), FULL, "assembly").decode()


def optimized_text(text: str, target: Target) -> str:
    """The optimized code as LLVM text, to read."""
    return generate(text, target.machine(), FULL, "text").decode()
