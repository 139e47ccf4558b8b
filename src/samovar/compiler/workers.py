"""Compiling in parallel: LLVM text in, objects out, in this process and in worker processes.

llvmlite serialises its calls behind one lock, so threads do not help. Workers are plain subprocesses that import nothing of
the user's (a spawned `multiprocessing` child would run an unguarded `__main__` again). A single compile stays in this
process; a second one at the same time goes to a worker. A worker that dies is replaced, and its job done again.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:  # at run time they are loaded with the first worker: most programs never need one
    import subprocess
    from concurrent.futures import Future

from samovar.backends.llvm.target import Target
from samovar.compiler.worker import receive, send

#: How often a job is given to a fresh worker before its failure is believed.
ATTEMPTS = 3
#: A compile waits this long (seconds) for the one before it, then starts a worker: about as long as starting one takes.
PATIENCE = 0.15

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from samovar.compiler.worker import serve; serve()"


class CompileFailed(RuntimeError):
    """LLVM refused a text, or a worker died of it."""


class Worker:
    """One process."""

    def __init__(self) -> None:
        import subprocess

        package = str(Path(__file__).resolve().parents[2])
        path = [package, *(entry for entry in sys.path if entry and entry != package)]
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            [sys.executable, "-S", "-s", "-c", _START, json.dumps(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    @property
    def pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        return self.process.stdin, self.process.stdout

    def compile(self, job: bytes) -> bytes:
        """The object for a job; EOFError or OSError if the process is gone."""
        to, back = self.pipes
        send(to, job)  # type: ignore[arg-type]
        answer = receive(back)  # type: ignore[arg-type]
        if answer[:1] != b"+":
            raise CompileFailed(answer[1:].decode(errors="replace"))
        return answer[1:]

    def close(self) -> None:
        """End the process and wait for it."""
        import subprocess

        for pipe in self.pipes:
            with contextlib.suppress(OSError):
                pipe.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Pool:
    """Up to `size` workers, started as jobs come in."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.condition = threading.Condition()
        self.jobs: deque[tuple[bytes, Future[bytes]]] = deque()
        self.workers: list[Worker] = []
        self.threads = 0
        self.idle = 0
        self.closed = False

    def submit(self, text: str, target: Target) -> Future[bytes]:
        """Compile in a worker."""
        job = json.dumps({"target": asdict(target), "text": text}).encode()
        from concurrent.futures import Future

        future: Future[bytes] = Future()
        with self.condition:
            if self.closed:
                raise CompileFailed("the compile workers have been stopped")
            self.jobs.append((job, future))
            if self.idle < len(self.jobs) and self.threads < self.size:
                self.threads += 1
                threading.Thread(target=self._serve, name="samovar-compile", daemon=True).start()
            self.condition.notify()
        return future

    def take_back(self) -> tuple[bytes, Future[bytes]] | None:
        """A job that no worker has begun, for the caller to do itself."""
        with self.condition:
            return self.jobs.pop() if self.jobs else None

    def _serve(self) -> None:
        worker: Worker | None = None
        while True:
            with self.condition:
                self.idle += 1
                while not self.jobs and not self.closed:
                    self.condition.wait()
                self.idle -= 1
                if self.closed:
                    return
                job, future = self.jobs.popleft()
            worker = self._complete(worker, job, future)

    def _complete(self, worker: Worker | None, job: bytes, future: Future[bytes]) -> Worker | None:
        """Do a job; gives the worker to use for the next."""
        for _ in range(ATTEMPTS):
            try:
                if worker is None:
                    worker = self._start()
                future.set_result(worker.compile(job))
                return worker
            except CompileFailed as error:
                future.set_exception(error)
                return worker
            except (EOFError, OSError):
                if worker is not None:
                    self._drop(worker)
                    worker = None
        future.set_exception(CompileFailed(f"a compile worker died {ATTEMPTS} times over the same kernel"))
        return None

    def _start(self) -> Worker:
        worker = Worker()
        with self.condition:
            self.workers.append(worker)
        return worker

    def _drop(self, worker: Worker) -> None:
        with self.condition:
            if worker in self.workers:
                self.workers.remove(worker)
        worker.close()

    def close(self) -> None:
        """Stop all workers; jobs that have not begun fail."""
        with self.condition:
            self.closed = True
            waiting, self.jobs = list(self.jobs), deque()
            workers, self.workers = self.workers, []
            self.condition.notify_all()
        for _, future in waiting:
            future.set_exception(CompileFailed("the compile workers have been stopped"))
        for worker in workers:
            worker.close()


class _State:
    """What this process has: the right to compile here, and the pool."""

    def __init__(self) -> None:
        self.here = threading.Lock()
        self.guard = threading.Lock()
        self.pool: Pool | None = None


_state = _State()


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if sys.executable else 1


def pool() -> Pool:
    """The pool of this process."""
    with _state.guard:
        if _state.pool is None:
            _state.pool = Pool(max(1, _processors() - 1))
        return _state.pool


def optimise(text: str, target: Target) -> bytes:
    """The object of a text: compiled here, or in a worker where this process is busy compiling something else."""
    alone = _processors() == 1
    existing = _state.pool
    ready = existing is not None and existing.idle > 0
    if _state.here.acquire(timeout=-1 if alone else 0 if ready else PATIENCE):
        try:
            return _optimise_here(text, target)
        finally:
            _state.here.release()
    return pool().submit(text, target).result()


def optimise_all(texts: Sequence[str], target: Target, done: Callable[[], object] | None = None) -> list[bytes]:
    """The objects of many texts, by this process and the workers together, in the order of the texts.

    `done` is called, in some thread, for each that is ready.
    """
    if len(texts) < 2 or _processors() == 1:
        objects = []
        for text in texts:
            objects.append(optimise(text, target))
            if done is not None:
                done()
        return objects
    shared = pool()
    futures = [shared.submit(text, target) for text in texts]
    if done is not None:
        for future in futures:
            future.add_done_callback(lambda _: done())
    # From the end of the queue, while the workers start and take from its front.
    with _state.here:
        while (taken := shared.take_back()) is not None:
            job, future = taken
            try:
                future.set_result(_optimise_here(json.loads(job)["text"], target))
            except Exception as error:
                future.set_exception(error)
    return [future.result() for future in futures]


def _optimise_here(text: str, target: Target) -> bytes:
    from samovar.backends.llvm.optimise import optimise

    try:
        return optimise(text, target)
    except RuntimeError as error:
        raise CompileFailed(f"{type(error).__name__}: {error}") from None


def stop() -> None:
    """Stop the workers of this process; they start again when they are needed."""
    with _state.guard:
        stopped, _state.pool = _state.pool, None
    if stopped is not None:
        stopped.close()


def _before_fork() -> None:
    # A child that was forked in the middle of a compile would inherit LLVM's lock, and nobody to release it.
    _state.here.acquire()


def _in_parent() -> None:
    _state.here.release()


def _in_child() -> None:
    # The workers are the parent's. Their pipes must not stay open here, or they would not see the parent end; the file
    # objects keep their numbers, which must not become those of other files.
    global _state
    inherited, _state = _state, _State()
    workers = inherited.pool.workers if inherited.pool is not None else []
    if workers:
        nothing = os.open(os.devnull, os.O_RDWR)
        for pipe in (pipe for worker in workers for pipe in worker.pipes):
            os.dup2(nothing, pipe.fileno(), inheritable=False)
        os.close(nothing)


atexit.register(stop)
os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
