"""Compiling many texts in parallel, with one worker per processor, while this process prepares the next texts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from select import POLLIN, poll
from time import monotonic

from samovar.backends import backend
from samovar.compiler import workers
from samovar.compiler.fallback import ATTEMPTS, Failure, InternalError, Job, Made, judged, made, replaced
from samovar.compiler.process import FITS_IN_SOCKET, CannotStart, Died, Replaced, Worker
from samovar.compiler.progress import Progress

#: While texts are being prepared, a worker is sent its next job before it has finished the last.
AHEAD = 2


def made_all(
    jobs: Iterable[tuple[int, Job]],
    arrived: Callable[[int, Made], object],
    progress: Progress | None = None,
    failed: Callable[[int, InternalError], object] | None = None,
) -> None:
    """Compile many texts, with one worker per processor. `jobs` are consumed, with a number each, while the workers compile
    earlier ones; `arrived` is called with the number of each result, in any order. Texts that cannot be compiled are
    reported to `failed`; without it, the error is raised."""
    with _Batch(arrived, progress, failed) as batch:
        for number, job in jobs:
            batch.add(number, job)
        batch.finish()


class _Batch:
    """Many jobs in flight. `arrived` is called with the number of a job and its result, as they come in."""

    def __init__(
        self,
        arrived: Callable[[int, Made], object],
        progress: Progress | None,
        failed: Callable[[int, InternalError], object] | None,
    ) -> None:
        self.arrived = arrived
        self.failed = failed
        self.progress = progress
        self.workers = workers.state.workers
        self.waiting: deque[tuple[int, Job]] = deque()
        self.busy: dict[int, _Hand] = {}
        self.false_starts = 0

    def __enter__(self) -> _Batch:
        return self

    def __exit__(self, *error: object) -> None:
        for hand in self.busy.values():
            self.workers.give_back(hand.worker, from_batch=True)
        self.busy.clear()

    def add(self, number: int, job: Job) -> None:
        """Add a job; process the answers that have arrived, without waiting."""
        self.waiting.append((number, job))
        self._distribute(AHEAD)
        self._collect(wait=False)
        self._distribute(AHEAD)

    def finish(self) -> None:
        """Wait for all jobs."""
        while self.waiting or any(hand.jobs for hand in self.busy.values()):
            self._distribute(1)
            self._collect(wait=True)

    def _distribute(self, ahead: int) -> None:
        """Assign jobs to workers in order, to idle workers first."""
        for hand in [*self.busy.values()]:
            if self.waiting and not hand.jobs:
                self._hand_out(hand)
        while self.waiting:
            another = self._another()
            if another is None:
                break
            self._hand_out(another)
        for hand in [*self.busy.values()]:
            # A busy worker does not read: its message must fit in the socket buffer.
            if self.waiting and len(hand.jobs) < ahead and len(self.waiting[0][1].text) < FITS_IN_SOCKET // 2:
                self._hand_out(hand)
        if self.waiting and not self.busy:
            number, job = self.waiting.popleft()
            self._complete(number, lambda: made(job))

    def _complete(self, number: int, make: Callable[[], Made]) -> None:
        """Complete a job, with a result or a failure."""
        try:
            found = make()
        except InternalError as error:
            if self.failed is None:
                raise
            self.failed(number, error)
        else:
            self.arrived(number, found)

    def _another(self) -> _Hand | None:
        # Some workers are better than none. Without any, the job is compiled on its own, and reports the reason.
        if workers.state.no_workers or self.false_starts >= ATTEMPTS:
            return None
        try:
            worker = self.workers.take_for_batch()
        except CannotStart:
            self.false_starts = ATTEMPTS
            return None
        if worker is None:
            return None
        hand = self.busy[worker.fileno()] = _Hand(worker)
        return hand

    def _hand_out(self, hand: _Hand) -> None:
        number, job = self.waiting.popleft()
        hand.add(number, job)
        try:
            hand.worker.send(job.request(), job.seconds)
        except Died as death:
            self._lose(hand, death)

    def _collect(self, wait: bool) -> None:
        """Process the answers that are available, or wait for one."""
        if not any(hand.jobs for hand in self.busy.values()):
            return
        listening = poll()
        for descriptor in self.busy:
            listening.register(descriptor, POLLIN)
        soonest = min(hand.deadline for hand in self.busy.values())
        if self.progress is not None:
            self.progress.tick()
            soonest = min(soonest, monotonic() + self.progress.until_next())
        ready = {descriptor for descriptor, _ in listening.poll(max(0.0, soonest - monotonic()) * 1000 if wait else 0)}
        for descriptor, hand in [*self.busy.items()]:
            if hand.jobs and (descriptor in ready or hand.deadline < monotonic()):
                self._take_answer(hand)

    def _take_answer(self, hand: _Hand) -> None:
        try:
            if hand.worker.process is None:
                hand.worker.greet()
                return
            answer = hand.worker.receive(hand.deadline - monotonic())
        except Replaced:
            raise replaced() from None
        except CannotStart:
            self.false_starts += 1
            self._drop(hand)
        except Died as death:
            self._lose(hand, death)
        else:
            number, job = hand.done()
            self._complete(number, lambda: judged(job, answer, backend().efforts[0], ()))

    def _lose(self, hand: _Hand, death: Died) -> None:
        """A worker died on its first job; its other jobs have not begun."""
        number, job = hand.done()
        self._drop(hand)
        self._complete(number, lambda: made(job, [Failure(backend().efforts[0], death)]))

    def _drop(self, hand: _Hand) -> None:
        del self.busy[hand.descriptor]
        self.waiting.extendleft(reversed(hand.jobs))
        self.workers.give_back(hand.worker, from_batch=True)


class _Hand:
    """A worker of a batch and its jobs; it is working on the first."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.descriptor = worker.fileno()
        self.jobs: deque[tuple[int, Job]] = deque()
        self.deadline = float("inf")

    def add(self, number: int, job: Job) -> None:
        self.jobs.append((number, job))
        if len(self.jobs) == 1:
            self.deadline = monotonic() + job.seconds

    def done(self) -> tuple[int, Job]:
        """Remove the first job."""
        first = self.jobs.popleft()
        self.deadline = monotonic() + self.jobs[0][1].seconds if self.jobs else float("inf")
        return first
