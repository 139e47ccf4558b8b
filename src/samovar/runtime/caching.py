"""The cache of the process: the library that the options name, and what is said and counted about it."""

from __future__ import annotations

import atexit
import os
import sys

from samovar.cache.library import Library, open_library
from samovar.cache.library import tree_key as key_of_tree
from samovar.cache.statistics import Statistics, write_statistics
from samovar.lens.functions import QUESTIONS_ABOUT_FUNCTIONS
from samovar.runtime.warning import warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType

    from samovar.cache.code import CodeCache
    from samovar.options import Options

_opened: dict[tuple[object, ...], tuple[Library | None, CodeCache | None]] = {}
_said: set[str] = set()
_statistics: dict[str, tuple[Library, Statistics]] = {}
#: Called with the name of a kernel and what happened to it.
watchers: list[Callable[[str, str], None]] = []


def _open(options: Options) -> tuple[Library | None, CodeCache | None]:
    if not options.offline_cache:
        return None, None
    place = (
        options.offline_cache_file_path,
        options.offline_cache_max_size,
        os.environ.get("XDG_CACHE_HOME"),
        os.environ.get("HOME"),
    )
    found = _opened.get(place)
    if found is None:
        library = open_library(options, say)
        images = None
        if library is not None:
            from samovar.cache.code import CodeCache

            images = CodeCache(library.store)
        found = _opened[place] = (library, images)
    return found


def library(options: Options) -> Library | None:
    """Where kernels are kept by their traces; None if they are not.

    Who wants to see the stages of each kernel wants them compiled.
    """
    if not options.src_ll_cache or options.print_ir or os.environ.get("SAMOVAR_DUMP_IR"):
        return None
    return _open(options)[0]


def images(options: Options) -> CodeCache | None:
    """Where images are kept by what LLVM was given; None if they are not."""
    return _open(options)[1]


def tree_key(function: FunctionType, options: Options) -> str:
    """The key of the decision tree of a kernel."""
    locations = options.debug or options.check_out_of_bound
    return key_of_tree(QUESTIONS_ABOUT_FUNCTIONS["function"](function, None, locations))


def say(message: str) -> None:
    """Warn, once for each message."""
    if message not in _said:
        _said.add(message)
        warn(message)


def report(kernel: str, event: str, detail: str) -> None:
    """A kernel was "compiled" or "loaded": for who has asked for a line with `SAMOVAR_LOG=cache`, and for who watches."""
    if "cache" in os.environ.get("SAMOVAR_LOG", "").split(","):
        print(f"samovar: cache: {kernel}: {event} {detail}", file=sys.stderr)
    for watcher in watchers:
        watcher(kernel, event)


def _counted(library: Library) -> Statistics:
    found = _statistics.get(library.store.base)
    if found is None:
        if not _statistics:
            atexit.register(_write_statistics)
            os.register_at_fork(after_in_child=_statistics.clear)
        found = _statistics[library.store.base] = (library, Statistics())
    return found[1]


def count_load(library: Library, seconds: float) -> None:
    """A kernel was loaded that took so long to compile."""
    counted = _counted(library)
    counted.loads += 1
    counted.saved += seconds


def count_compile(library: Library) -> None:
    """A kernel was compiled."""
    _counted(library).compiles += 1


def _write_statistics() -> None:
    for library, statistics in _statistics.values():
        write_statistics(library.store, statistics)
    _statistics.clear()
