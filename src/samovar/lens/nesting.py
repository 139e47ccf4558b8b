"""Room for what is nested deeply: the tree of a long sum or of a chain of `elif` is as deep as it is long, and it is walked
by functions that call themselves. Python allows a thousand calls; how many the stack has room for depends on the thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from samovar._native import stack_left
from samovar.errors import SamovarCompilationError

#: What one call takes of the stack, at most: before 3.11, the interpreter calls itself for each.
BYTES_PER_CALL = 320 if sys.version_info >= (3, 11) else 800
#: More is of no use to anybody.
MOST_CALLS = 50_000

#: What Python's own parser and compiler may need, which ask only how often they call themselves, and not what is left.
LARGE_STACK = 16 << 20

_Result = TypeVar("_Result")
_lock = threading.Lock()
#: How many are inside, in all threads, and the limit that was there before the first: it is one for the process.
_inside, _before = 0, 0


@contextmanager
def room_for_nesting(name: str) -> Iterator[None]:
    """Allow as many calls as the stack of this thread has room for. What needs more is an error about the function."""
    global _inside, _before
    with _lock:
        if not _inside:
            _before = sys.getrecursionlimit()
        _inside += 1
        sys.setrecursionlimit(max(sys.getrecursionlimit(), min(stack_left() // BYTES_PER_CALL, MOST_CALLS)))
    try:
        yield
    except RecursionError:
        raise SamovarCompilationError(
            f"{name}: expressions, branches or calls of funcs are nested too deeply\n"
            "  help: split them with local variables or funcs; a thread with a larger stack has room for more:"
            " threading.stack_size(64 << 20)"
        ) from None
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                sys.setrecursionlimit(_before)


def with_large_stack(work: Callable[[], _Result]) -> _Result:
    """What a function gives that looks at nothing of its thread, called where Python's parser and compiler have room: in a
    thread of its own, if the stack of this one is small."""
    if stack_left() >= LARGE_STACK // 4:
        return work()
    results: list[_Result] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    with _lock:
        size = threading.stack_size(LARGE_STACK)
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter ends
            return work()
        finally:
            threading.stack_size(size)
    thread.join()
    if failures:
        raise failures[0]
    return results[0]
