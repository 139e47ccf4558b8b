"""A thread that runs jobs one after the other, so that nobody waits longer than they want to for a store."""

from __future__ import annotations

import sys
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Job:
    """Work for the thread. `failure` is what it raised."""

    def __init__(self, run: Callable[[], object]) -> None:
        self._run = run
        self._done = Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self._run()
        except BaseException as error:  # whoever waits raises it
            self.failure = error
        self._done.set()

    def wait(self, seconds: float) -> bool:
        """Wait until it is done; return whether it is."""
        return self._done.wait(max(seconds, 0.0))


class Background:
    """The thread, which starts with its first job. It is a daemon: a store that hangs does not keep the process alive.

    `idle` is called when no job has come for some seconds since `rouse`.
    """

    def __init__(self, name: str, idle: Callable[[], object] | None = None, idle_seconds: float = 2.0) -> None:
        self._name = name
        self._idle = idle
        self._idle_seconds = idle_seconds
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread: Thread | None = None

    def submit(self, run: Callable[[], object]) -> Job:
        """Run something on the thread."""
        job = Job(run)
        self._put(job)
        return job

    def is_used(self) -> bool:
        """Whether there has been a job."""
        return self._thread is not None

    def rouse(self) -> None:
        """Call `idle` in some seconds, unless this is called again."""
        self._put(None)

    def _put(self, job: Job | None) -> None:
        self._jobs.put(job)
        if self._thread is None:
            self._thread = Thread(target=self._loop, name=self._name, daemon=True)
            self._thread.start()

    def _loop(self) -> None:
        pending = False
        while not sys.is_finalizing():
            try:
                job = self._jobs.get(timeout=self._idle_seconds if pending else None)
            except Empty:
                pending = False
                if self._idle is not None:
                    Job(self._idle).run()
                continue
            if job is None:
                pending = True
            else:
                job.run()
