"""Counters of this process: compiled kernels, runs of the backend's compiler, and kernels with an internal error."""

from __future__ import annotations

import os
from _thread import allocate_lock


class Counts:
    """Counts since the process began."""

    def __init__(self) -> None:
        self.kernels = 0
        self.compiler_runs = 0
        self.failures = 0


counts = Counts()
_counting = allocate_lock()


def _forget_lock() -> None:
    """In a forked child: another thread of the parent may have held the lock."""
    global _counting
    _counting = allocate_lock()


os.register_at_fork(after_in_child=_forget_lock)


def count(kernels: int = 0, compiler_runs: int = 0, failures: int = 0) -> None:
    """Add to the counts."""
    with _counting:
        counts.kernels += kernels
        counts.compiler_runs += compiler_runs
        counts.failures += failures
