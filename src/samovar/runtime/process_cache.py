"""The cache of the process: the library for the current options, with logging and counters."""

from __future__ import annotations

import atexit
import os
import sys

from samovar.cache import Library, open_library
from samovar.runtime.configuration import warn_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from samovar.cache import CodeCache, Store
    from samovar.language import Options
    from samovar.runtime.kernel import Kernel

#: The last options, their library, and why there is no library, if so.
_opened: tuple[Options, Library | None, Store | None, str] | None = None
#: Whether `SAMOVAR_LOG` requests a line about each kernel.
_logs = False
#: Store → [its library, loads, compiles, seconds saved].
_counts: dict[str, list[Any]] = {}
#: Called with a kernel, what happened to it, and how long that took.
cache_watchers: list[Callable[[Kernel, str, float], None]] = []


def _open(options: Options) -> tuple[Options, Library | None, Store | None, str]:
    global _opened, _logs
    if _opened is None or _opened[0] is not options:
        library = open_library(options, warn_once) if options.offline_cache else None
        if library is not None and options.cache_remote:
            from samovar.tiers import open_tiers

            library.tiers = open_tiers(options, library.store, warn_once)
        store = None if library is None else library.store
        missing = _missing(options, store)
        _opened = (options, None if missing else library, store, missing)
        _logs = "cache" in os.environ.get("SAMOVAR_LOG", "").split(",")
    return _opened


def _missing(options: Options, store: Store | None) -> str:
    """Why kernels are not cached by their traces, "" if they are."""
    if not options.offline_cache:
        return "the cache is switched off"
    if store is None:
        return "there is no directory for the cache"
    if not options.src_ll_cache:
        return "the lookup by trace is switched off (src_ll_cache)"
    # Showing the stages of each kernel requires compiling it.
    if options.print_ir:
        return "its stages are shown (print_ir)"
    return "its stages are written to files (dump_ir)" if options.dump_ir else ""


def why_no_library(options: Options) -> str:
    """Why kernels are not cached by their traces."""
    return _open(options)[3]


def library_for(options: Options) -> Library | None:
    """The cache of kernels by their traces; None if there is none."""
    return _open(options)[1]


def images(options: Options) -> CodeCache | None:
    """The cache of images by the input of LLVM; None if there is none."""
    store = _open(options)[2]
    if store is None:
        return None
    from samovar.cache import code_cache

    return code_cache(store)


def report(kernel: Kernel, event: str, seconds: float, detail: str) -> None:
    """Report that a kernel was "compiled" or "loaded": to the log (`SAMOVAR_LOG=cache`), and to the watchers."""
    if _logs:
        print(f"samovar: cache: {kernel.__qualname__}: {event} {detail}", file=sys.stderr)
    for watcher in cache_watchers:
        watcher(kernel, event, seconds)


def _counted(library: Library) -> list[Any]:
    found = _counts.get(library.store.base)
    if found is None:
        found = _counts[library.store.base] = [library, 0, 0, 0.0]
    return found


def count_load(library: Library, seconds: float) -> None:
    """Count a loaded kernel that took so long to compile."""
    counted = _counted(library)
    counted[1] += 1
    counted[3] += seconds


def count_compile(library: Library) -> None:
    """Count a compiled kernel."""
    _counted(library)[2] += 1


def _write_statistics() -> None:
    from samovar.cache import Statistics, write_statistics

    for library, loads, compiles, saved in _counts.values():
        write_statistics(library.store, Statistics(loads, compiles, saved))
    _counts.clear()


atexit.register(_write_statistics)
os.register_at_fork(after_in_child=_counts.clear)
