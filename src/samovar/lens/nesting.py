"""Support for deeply nested code. The syntax tree of a long sum or `elif` chain is as deep as it is long, and recursive
functions walk it. Python's recursion limit is 1000; how many calls fit depends on the stack of the thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from samovar._native import stack_left
from samovar.errors import SamovarCompilationError

#: Upper bound of the stack that one call takes: before 3.11, the interpreter recurses for each.
BYTES_PER_CALL = 320 if sys.version_info >= (3, 11) else 800
#: No practical program needs more.
MOST_CALLS = 50_000

#: Enough for Python's own parser and compiler, which check their recursion depth but not the stack that is left.
LARGE_STACK = 16 << 20

_Result = TypeVar("_Result")
_lock = threading.Lock()
#: How many threads are inside, and the recursion limit before the first: it is global to the process.
_inside, _before = 0, 0


@contextmanager
def raised_recursion_limit(name: str) -> Iterator[None]:
    """Raise the recursion limit to what this thread's stack can hold. Exceeding it is a compile error about the function."""
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
            "  help: split them with local variables or funcs; a larger thread stack allows deeper nesting:"
            " threading.stack_size(64 << 20)"
        ) from None
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                sys.setrecursionlimit(_before)


def with_large_stack(work: Callable[[], _Result]) -> _Result:
    """Call a function where Python's parser and compiler have enough stack: in a new thread if this one's stack is small.
    The function must not depend on its thread."""
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
        except RuntimeError:  # out of threads, or at interpreter shutdown
            return work()
        finally:
            threading.stack_size(size)
    thread.join()
    if failures:
        raise failures[0]
    return results[0]
