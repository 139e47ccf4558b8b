"""Kernels and funcs in pickles that carry functions by value: those of cloudpickle, which joblib and Dask use.

Python's own pickles name a kernel by its module. A kernel of `__main__`, of a notebook or of a function has no module on the
other side: for picklers that carry functions by value, it is pickled as its function, its signature and its source. The
source is compiled if the cache on the other side does not have the kernel.
"""

from __future__ import annotations

import sys
from importlib import import_module

import samovar
from samovar.errors import SamovarError, SamovarSyntaxError
from samovar.lens import carry_text, file_lines, function_source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

#: Modules that pickle functions by value, by the last part of their names: joblib contains its own copy of one.
_CARRIERS = ("cloudpickle", "cloudpickle_fast", "_dill")


def travels_by_value(declared: Any) -> bool:
    """Whether a kernel or func is being pickled by value, and has no name on the other side."""
    return _is_carried() and not _is_found_by_name(declared)


def _is_carried() -> bool:
    """Whether the calling pickler is one of those. Pickling runs in native code: the frame below is the one that began
    it."""
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


def text_and_names(function: Any) -> tuple[str, dict[str, Any]]:
    """The whole source that contains a function, so that its line numbers stay the same; and the global names in annotations
    of locals. These are only in the source: picklers include only the names in the bytecode."""
    return "".join(file_lines(function)), _annotating_names(function)


def _annotating_names(function: Any) -> dict[str, Any]:
    import ast

    try:
        body = function_source(function).node.body
    except SamovarSyntaxError:  # without source there is nothing to compile
        return {}
    annotations = [each.annotation for node in body for each in ast.walk(node) if isinstance(each, ast.AnnAssign)]
    named = {each.id for one in annotations for each in ast.walk(one) if isinstance(each, ast.Name)}
    return {name: value for name, value in function.__globals__.items() if name in named}


class Arrival:
    """The first part of a pickle: what the other side checks before it reads the rest, and the keys of the cache entries
    that it can read meanwhile."""

    def __init__(self, trees: tuple[str, ...]) -> None:
        self._trees = trees

    def __reduce__(self) -> Any:
        return arrived, (*_versions(), self._trees)


def _versions() -> tuple[str, str]:
    return samovar.__version__, f"{sys.version_info[0]}.{sys.version_info[1]}"


def arrived(ours: str, python: str, trees: tuple[str, ...]) -> None:
    """Refuse what another version has pickled by value; ask the shared cache tiers for what it needs."""
    if (ours, python) != _versions():
        here = "Samovar {} on Python {}".format(*_versions())
        raise SamovarError(
            f"this kernel was sent by Samovar {ours} on Python {python}, but this process runs {here}\n"
            "  help: install the same versions on both sides, or put the kernel into a module that both sides have"
        )
    expect(trees)


def expect(trees: tuple[str, ...]) -> None:
    """Ask the shared cache tiers for trees in the background."""
    from samovar.runtime.configuration import current_options

    if trees and current_options().cache_remote:
        from samovar.runtime import process_cache

        library = process_cache.library_for(current_options())
        if library is not None and library.tiers is not None:
            library.tiers.expect(trees)


def arrival_of(kernel: Any) -> Arrival:
    """The first part of the pickle of a kernel."""
    key = kernel.state.known.key
    return Arrival(() if key is None else (key,))


def rebuilt_kernel(
    _: None, function: Any, signature: Any, fastcache: bool, text: str, names: dict[str, Any]
) -> Any:
    """Rebuild a kernel on the other side."""
    from samovar.runtime.kernel import declare

    _take_along(function, text, names)
    return declare(function, signature, fastcache)


def found_kernel(module: str, path: str, trees: tuple[str, ...]) -> Any:
    """Find a kernel on the other side by its name."""
    expect(trees)
    found: Any = import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


def rebuilt_func(_: None, function: Any, signature: Any, text: str, names: dict[str, Any]) -> Any:
    """Rebuild a func on the other side."""
    from samovar.runtime.func import Func

    _take_along(function, text, names)
    return Func(function, signature)


def _take_along(function: Any, text: str, names: dict[str, Any]) -> None:
    carry_text(function.__code__, text)
    for name, value in names.items():
        function.__globals__.setdefault(name, value)
