"""Kernels in `cProfile`, by their names. It sees calls of Python functions, so a call of a kernel goes through one while it
is on; native code (`_native/seen_calls.c`) puts it there."""

from __future__ import annotations

from samovar._native import show_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_shown = False


def _call(*arguments: Any, **keywords: Any) -> Any:
    return launch(*arguments, **keywords)  # type: ignore[name-defined]  # noqa: F821 - the kernel, in each copy of this


def show() -> None:
    """Have calls of kernels seen from now on: `cProfile` is loaded."""
    global _shown
    if not _shown:
        _shown = True
        show_calls(_call.__code__)
