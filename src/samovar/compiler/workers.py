"""The compile workers of this process: idle ones, busy ones, and what happens to them when the process forks or ends.

A thread uses a worker exclusively, and a batch of jobs has several.
"""

from __future__ import annotations

import atexit
import os
import threading
from time import monotonic

from samovar.compiler import process
from samovar.compiler.process import Worker

#: How long (seconds) a thread waits for a busy worker before it starts another: about the startup time of one.
PATIENCE = 0.1

#: The number of jobs after which a worker is replaced: a backend may lose memory in each, about 75 KB.
MOST_JOBS = 1000


class Workers:
    """The workers of this process: the idle ones, their number, and how many of them belong to batches."""

    def __init__(self) -> None:
        self.limit = len(os.sched_getaffinity(0))
        self.condition = threading.Condition()
        self.idle: list[Worker] = []
        self.all: list[Worker] = []
        self.count = 0
        self.in_batches = 0
        self.closed = False

    def allow(self, count: int) -> None:
        """Set the maximum number of workers; 0 for the number of processors."""
        with self.condition:
            self.limit = count or len(os.sched_getaffinity(0))
            self.condition.notify_all()

    def take(self) -> Worker:
        """A worker for one job."""
        end = monotonic() + PATIENCE
        with self.condition:
            while not self.idle and not self._may_start(monotonic() >= end):
                # A batch does not count: it may last, and preparing its jobs may need a kernel itself.
                self.condition.wait(max(0.0, end - monotonic()) or None)
            if self.idle:
                return self.idle.pop()
            self.count += 1
        return self._start()

    def _may_start(self, waited: bool) -> bool:
        singly = self.count - self.in_batches
        return not singly or (waited and singly < self.limit)

    def take_for_batch(self) -> Worker | None:
        """Another worker for a batch, if the limit allows it."""
        with self.condition:
            if self.in_batches >= self.limit:
                return None
            self.in_batches += 1
            if self.idle:
                return self.idle.pop()
            self.count += 1
        try:
            return self._start()
        except BaseException:
            with self.condition:
                self.in_batches -= 1
            raise

    def _start(self) -> Worker:
        try:
            worker = process.started()
        except BaseException:
            with self.condition:
                self.count -= 1
                self.condition.notify_all()
            raise
        with self.condition:
            self.all.append(worker)
        return worker

    def give_back(self, worker: Worker, from_batch: bool = False) -> None:
        """Return a worker; one that still owes answers, or has answered enough, is ended."""
        with self.condition:
            self.in_batches -= from_batch
            keep = not worker.owed and worker.answered < MOST_JOBS and not self.closed and self.count <= self.limit
            if keep:
                self.idle.append(worker)
            else:
                self.count -= 1
                self.all.remove(worker)
            self.condition.notify_all()
        if not keep:
            worker.close()

    def close(self) -> None:
        """End the idle workers now, and the others when they are returned."""
        with self.condition:
            self.closed = True
            idle, self.idle = self.idle, []
            self.count -= len(idle)
            for worker in idle:
                self.all.remove(worker)
        for worker in idle:
            worker.close()


class State:
    """The state of this process: the workers, the reason if there are none, and the lock for compiling in this process."""

    def __init__(self) -> None:
        self.workers = Workers()
        # Reentrant: a thread that forks holds it, and may compile in a hook.
        self.here = threading.RLock()
        #: The thread that forks and holds it for that.
        self.forks = 0
        self.no_workers = ""


state = State()


def stop() -> None:
    """End the workers of this process; new ones are started when needed."""
    process.stop()
    stopped, state.workers = state.workers, Workers()
    stopped.close()


def _before_fork() -> None:
    # A child forked in the middle of a compile would inherit the compiler's lock, with no thread to release it.
    state.here.acquire()
    state.forks = threading.get_ident()


def _in_parent() -> None:
    # Hooks that are registered during a fork are only called after it.
    if state.forks == threading.get_ident():
        state.forks = 0
        state.here.release()


def _in_child() -> None:
    global state
    inherited, state = state, State()
    for worker in inherited.workers.all:
        worker.abandon()


atexit.register(stop)
os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
