"""Kernels and funcs for pickles that carry functions by value: those of cloudpickle, which joblib and Dask use.

Python's own pickles name a kernel by its module. A kernel of `__main__`, of a notebook or of a function has no module on
the other side: for who carries functions by value, it travels as its function, its signature and its text. The text is what
it is compiled from if the cache there does not have it.
"""

from __future__ import annotations

import sys

from samovar.lens import carry_text, file_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

#: Modules that pickle functions by value, by the last part of their names: joblib brings its own copy of one.
_CARRIERS = ("cloudpickle", "cloudpickle_fast", "_dill")


def travels_by_value(declared: Any) -> bool:
    """Is a kernel or func being pickled by who carries functions by value, and has no name on the other side?"""
    return _is_carried() and not _is_found_by_name(declared)


def _is_carried() -> bool:
    """Is the pickler that asks one of those? Pickling runs in native code: the frame below is the one that began it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] not in ("samovar", "pickle"):
            return name.rpartition(".")[2] in _CARRIERS
        frame = frame.f_back
    return False


def _is_found_by_name(declared: Any) -> bool:
    if declared.__module__ in ("__main__", "__mp_main__"):
        return False
    found: Any = sys.modules.get(declared.__module__)
    for name in declared.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is declared


def text_of(function: Any) -> str:
    """The whole text that a function is in, so that its lines keep their numbers."""
    return "".join(file_lines(function))


def rebuilt_kernel(function: Any, signature: Any, fastcache: bool, text: str) -> Any:
    """A kernel on the other side."""
    from samovar.runtime.kernel import declare

    carry_text(function.__code__, text)
    return declare(function, signature, fastcache)


def rebuilt_func(function: Any, signature: Any, text: str) -> Any:
    """A func on the other side."""
    from samovar.runtime.func import Func

    carry_text(function.__code__, text)
    return Func(function, signature)
