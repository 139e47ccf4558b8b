"""Compiling one text in a worker. The compiler of the backend is not loaded in this process, and its crashes do not kill
this process.

A worker that dies on a job is replaced. The job is retried, with less effort if the compiler was to blame. If no worker can
be started at all, the compiler is loaded in this process; the code is the same.

A failure of our own steps, or of a text that they produced, is an `InternalError`. The driver then compiles the kernel again
without optional rewrites (`SIMPLER`): a bug in a rewrite stops no program.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from samovar.backends import CannotLink, Target, backend
from samovar.compiler import workers
from samovar.compiler.process import CannotStart, Died, Replaced
from samovar.compiler.progress import wait_for
from samovar.errors import SamovarCompilationError, SamovarError
from samovar.language import CUTS, SWITCHES

#: How often a job is retried at full effort if its worker is killed from outside; also how many workers may end before they
#: are ready.
ATTEMPTS = 3
#: The time limit of a job in seconds, fixed and per byte of its text: some hundred times the usual time.
SECONDS, SECONDS_PER_BYTE = 120.0, 0.0005

#: How much of a line printed by the compiler a message shows; the report has all of it.
MOST_OF_A_LINE = 300


#: Rewrites that are disabled after an internal error: those for speed; then also those that keep texts short.
SIMPLER = (" ".join(each for each in SWITCHES if each not in CUTS), " ".join(SWITCHES))

#: Exceptions with a meaning of their own, or caused by the machine or the program, which would be raised again.
_MEANT = (SamovarError, CannotLink, OSError, MemoryError, RecursionError)


class InternalError(SamovarCompilationError):
    """A step of the compiler has failed on a kernel, or the backend on its output. `reason` says what failed and why, in a
    line; `report` is the path of a file that reproduces the failure, "" if there is none yet."""

    def __init__(self, message: str, reason: str, report: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.report = report


@contextmanager
def internal_errors(name: str) -> Iterator[None]:
    """Turn an exception of one of our steps that is not meant for users into an `InternalError`."""
    try:
        yield
    except _MEANT:
        raise
    except Exception as error:
        reason = f"Samovar failed ({shortened(f'{type(error).__name__}: {error}'.splitlines()[0])})"
        raise InternalError(f"{name}: {reason}", reason) from error


def falls_back() -> bool:
    """Whether a kernel is compiled again after an internal error. Not in our own tests, which must see them."""
    return os.environ.get("SAMOVAR_NO_FALLBACK", "") in ("", "0")


def shortened(line: str) -> str:
    """The part of a line that a message shows."""
    return line if len(line) <= MOST_OF_A_LINE else line[: MOST_OF_A_LINE - 1] + "…"


@dataclass(frozen=True)
class Job:
    """A rendered text, its kernel, and the requested product (see `samovar.backends.protocol`)."""

    name: str
    text: str
    target: Target
    product: str = "object"

    @property
    def seconds(self) -> float:
        """The time limit of a worker."""
        return SECONDS + SECONDS_PER_BYTE * len(self.text)

    def request(self, effort: str = "") -> tuple[Any, ...]:
        """The request to a worker, for one of the backend's efforts; by default for the first."""
        compiling = backend()
        return compiling.request(self.text, self.target, effort or compiling.efforts[0], self.product)


@dataclass(frozen=True)
class Failure:
    """A worker died on a job."""

    effort: str
    death: Died

    def __str__(self) -> str:
        if self.death.late:
            return f"compiling {self.effort}: it took too long"
        return f"compiling {self.effort}: {self.death.words or 'the compile worker was killed from outside'}"

    @property
    def was_compiler(self) -> bool:
        """Whether the compiler was to blame."""
        return self.death.late or self.has_crashed

    @property
    def has_crashed(self) -> bool:
        """Whether the compiler ended the process."""
        return not self.death.late and bool(self.death.words)

    @property
    def reason(self) -> str:
        """The most informative line."""
        if self.death.late:
            return "it took too long"
        lines = self.death.words.splitlines()
        return shortened([*backend().telling(lines), *lines, "its process was killed from outside"][0])


def _summary(failures: Sequence[Failure]) -> tuple[str, str]:
    """Why the compiler failed, and what to do about it."""
    compiler = backend().compiler
    for failure in failures:
        if failure.was_compiler:
            return failure.reason, f"this is a bug in {compiler}; please report it with"
    return failures[0].reason, f"if memory ran out, {compiler} needs more of it; the text of the kernel is in"


@dataclass(frozen=True)
class Made:
    """Code, the effort it was compiled with, and a message for the user."""

    code: bytes
    effort: str = field(default_factory=lambda: backend().efforts[0])
    warning: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether it was compiled at full effort."""
        return self.effort == backend().efforts[0]


def made(job: Job, failures: Sequence[Failure] = ()) -> Made:
    """Compile a text, with the highest effort that the compiler survives. `failures` are earlier ones."""
    failed = list(failures)
    false_starts = 0
    verified = False
    while True:
        effort = _next_effort(failed)
        if effort is None:
            raise _hopeless(job, failed)
        if workers.state.no_workers:
            return _made_without_workers(job, failed)
        try:
            if not verified and any(failure.has_crashed for failure in failed):
                verified = True
                _require_valid(job)
            answer = _answer(job, effort)
        except CannotStart as reason:
            false_starts += 1
            if not reason.again or false_starts == ATTEMPTS:
                workers.state.no_workers = str(reason)
        except Replaced:
            raise replaced() from None
        except Died as death:
            failed.append(Failure(effort, death))
        else:
            return judged(job, answer, effort, failed)


def _answer(job: Job, effort: str) -> tuple[bool, Any]:
    """The answer of a worker to a job."""
    shared = workers.state.workers
    worker = shared.take()
    try:
        worker.send(job.request(effort), job.seconds)
        wait_for(worker, job.seconds)
        answer: tuple[bool, Any] = worker.receive(job.seconds)
        return answer
    finally:
        shared.give_back(worker)


def _require_valid(job: Job) -> None:
    """Raise an `InternalError` if a text is invalid that the compiler has crashed on: then the bug is in Samovar."""
    full = backend().efforts[0]
    with suppress(Died):
        judged(job, _answer(replace(job, product="verification"), full), full, ())


def _next_effort(failures: Sequence[Failure]) -> str | None:
    """The effort to try after these failures; None to give up."""
    efforts = backend().efforts
    if not failures:
        return efforts[0]
    last = failures[-1]
    if last.effort == efforts[0] and not last.was_compiler and len(failures) < ATTEMPTS:
        return efforts[0]
    following = efforts[efforts.index(last.effort) + 1 :]
    return following[0] if following else None


def judged(job: Job, answer: tuple[bool, Any], effort: str, failures: Sequence[Failure]) -> Made:
    """Interpret the answer of a worker."""
    well, result = answer
    if not well:
        path = _report(job, [str(result)])
        refuses = f"{backend().compiler} rejects the code generated for it"
        raise InternalError(
            f"{job.name}: {refuses}: {result}\n  help: this is a bug in Samovar; please report it with {path}",
            f"{refuses} ({shortened(_line_of(result))})",
            path,
        )
    if effort == backend().efforts[0]:
        return Made(result)
    path = _report(job, [*map(str, failures), f"compiled {effort}"])
    reason, advice = _summary(failures)
    warning = f"{job.name}: {backend().compiler} failed ({reason}), so it was compiled {effort}"
    return Made(result, effort, f"{warning}; it may run slower, and is not cached\n  help: {advice} {path}")


def _line_of(words: str) -> str:
    """The line of a compiler's output that says what is wrong."""
    lines = words.splitlines() or [""]
    return next((line for line in lines if "error: " in line), lines[0])


def _hopeless(job: Job, failures: Sequence[Failure], beside: str = "") -> SamovarCompilationError:
    path = _report(job, [*map(str, failures), beside])
    reason, advice = _summary(failures)
    compiler = backend().compiler
    fails = f"fails in this kernel ({reason}), at every optimization level that was tried"
    message = f"{job.name}: {compiler} {fails}{beside}\n  help: {advice} {path}"
    if beside or not any(failure.has_crashed for failure in failures):
        return SamovarCompilationError(message)  # another text would not help
    return InternalError(message, f"{compiler} {fails}", path)


def _report(job: Job, events: Sequence[str]) -> str:
    from samovar.compiler.reports import write_report

    return write_report(job.name, job.text, job.target, events)


def replaced() -> SamovarCompilationError:
    """The error for a worker that is not the same program as this process."""
    return SamovarCompilationError(
        f"Samovar or {' or '.join(backend().salt())} was replaced while this process was running: code compiled"
        " by the new one would be attributed to the old one\n  help: start the process again"
    )


def _made_without_workers(job: Job, failures: Sequence[Failure]) -> Made:
    """Run the compiler in this process. A text that has killed a worker is not tried here."""
    if failures:
        raise _hopeless(job, failures, f"; and no other compile worker can be started: {workers.state.no_workers}")
    compiling = backend()
    with workers.state.here:
        try:
            answer: tuple[bool, bytes | str] = (True, compiling.compile(*job.request()))
        except Exception as error:
            answer = (False, f"{type(error).__name__}: {error}")
    code = judged(job, answer, compiling.efforts[0], ()).code
    warning = (
        f"kernels are compiled in this process, because no compile worker can be started: {workers.state.no_workers}\n"
        f"  help: if {compiling.compiler} crashes on a kernel, the process crashes with it"
    )
    return Made(code, warning=warning)
