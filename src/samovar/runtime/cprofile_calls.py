"""Kernels in `cProfile`, by name. `cProfile` only sees calls of Python functions, so while it is active calls of kernels go
through one; native code (`_native/profile/profiled_calls.c`) installs it."""

from __future__ import annotations

from samovar._native import show_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_shown = False


def _call(*arguments: Any, **keywords: Any) -> Any:
    return launch(*arguments, **keywords)  # type: ignore[name-defined]  # noqa: F821 - the kernel, in each copy of this


def show() -> None:
    """Make calls of kernels visible from now on: `cProfile` is loaded."""
    global _shown
    if not _shown:
        _shown = True
        show_calls(_call.__code__)
