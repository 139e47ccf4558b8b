"""One computation per key at a time, among the threads of a process ("single flight").

A thread that requests a key which is being computed waits for the result. If the computation fails, the next thread computes
it itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

__all__ = ["NO_RESULT", "compute_once"]

Value = TypeVar("Value")

#: The result of a flight that has not succeeded.
NO_RESULT: Final = object()


@dataclass(eq=False)
class _Flight:
    owner: int
    has_started: bool = False
    done: threading.Event = field(default_factory=threading.Event)
    result: Any = NO_RESULT


_lock = threading.Lock()
_flights: dict[Hashable, _Flight] = {}
#: The flight that each thread waits for.
_waiting: dict[int, _Flight] = {}


def compute_once(ticket: Hashable, compute: Callable[[], Value]) -> Value:
    """Return the result of `compute`, or that of another thread that is already computing the same ticket."""
    me = threading.get_ident()
    while True:
        with _lock:
            flight = _flights.setdefault(ticket, _Flight(me))
            is_new = flight.owner == me and not flight.has_started
            if is_new:
                flight.has_started = True
            elif flight.owner == me:
                raise RuntimeError("a cached step requested the result that it is computing")
            elif not _waits_for(flight.owner, me):
                _waiting[me] = flight
        if is_new:
            return _fly(ticket, flight, compute)
        if me not in _waiting:
            # The other thread waits for this one: waiting would deadlock, computing twice does not.
            return compute()
        _wait(flight, me)
        if flight.result is not NO_RESULT:
            return flight.result  # type: ignore[no-any-return]


def _fly(ticket: Hashable, flight: _Flight, compute: Callable[[], Value]) -> Value:
    try:
        flight.result = result = compute()
        return result
    finally:
        with _lock:
            _flights.pop(ticket, None)
        flight.done.set()


def _wait(flight: _Flight, me: int) -> None:
    try:
        flight.done.wait()
    finally:
        with _lock:
            _waiting.pop(me, None)


def _waits_for(thread: int, other: int) -> bool:
    """Whether a thread waits, directly or indirectly, for another one."""
    while thread in _waiting:
        thread = _waiting[thread].owner
        if thread == other:
            return True
    return False


def _forget() -> None:
    """Reset the state in a forked child, which has none of the computing threads."""
    global _lock
    _lock = threading.Lock()
    _flights.clear()
    _waiting.clear()


os.register_at_fork(after_in_child=_forget)
