"""The code of one text, by a worker. The compiler of the backend is not loaded in this process, and what kills it does not
kill this process.

A worker that dies over a job is replaced. The job is done again, in simpler forms if it was the compiler that failed. Where
no worker can be started at all, the compiler is loaded here after all; the code is the same.

What is wrong with our own steps, or with a text that they have made, is an `InternalError`. The driver then compiles the
kernel once more without what is there for speed alone (`SIMPLER`): no mistake in a rewrite stops a program.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from samovar.backends import CannotLink, Target, backend
from samovar.compiler import workers
from samovar.compiler.process import CannotStart, Died, Replaced
from samovar.compiler.progress import wait_for
from samovar.errors import SamovarCompilationError, SamovarError
from samovar.language import CUTS, SWITCHES

#: How often a job is given, in full form, to a worker that something outside ends; also how many may end before they are
#: ready.
ATTEMPTS = 3
#: A job may take so many seconds, and so many more for each byte of its text: some hundred times of what is usual.
SECONDS, SECONDS_PER_BYTE = 120.0, 0.0005

#: A message shows so much of a line that a compiler has printed; the report has all.
MOST_OF_A_LINE = 300


#: What a kernel is compiled without after an internal error: what makes code faster; then what keeps texts short, too.
SIMPLER = (" ".join(each for each in SWITCHES if each not in CUTS), " ".join(SWITCHES))

#: What has a meaning of its own, or comes from the machine or the program and would come again.
_MEANT = (SamovarError, CannotLink, OSError, MemoryError, RecursionError)


class InternalError(SamovarCompilationError):
    """A step of the compiler has failed in a kernel, or the backend in what was made of it. `reason` says who has failed and
    why, in a line; `report` is the path of a file with all that one needs to see it again, "" if there is none yet."""

    def __init__(self, message: str, reason: str, report: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.report = report


@contextmanager
def internal_errors(name: str) -> Iterator[None]:
    """What a step of ours raises that means nothing to users is an `InternalError`."""
    try:
        yield
    except _MEANT:
        raise
    except Exception as error:
        reason = f"Samovar failed ({shortened(f'{type(error).__name__}: {error}'.splitlines()[0])})"
        raise InternalError(f"{name}: {reason}", reason) from error


def falls_back() -> bool:
    """Whether a kernel is compiled again after an internal error. Our own tests are to see them."""
    return os.environ.get("SAMOVAR_NO_FALLBACK", "") in ("", "0")


def shortened(line: str) -> str:
    """As much of a line as a message shows."""
    return line if len(line) <= MOST_OF_A_LINE else line[: MOST_OF_A_LINE - 1] + "…"


@dataclass(frozen=True)
class Job:
    """A rendered text, the kernel it belongs to, and what it is to become (see `samovar.backends.protocol`)."""

    name: str
    text: str
    target: Target
    product: str = "object"

    @property
    def seconds(self) -> float:
        """How long a worker may take for it."""
        return SECONDS + SECONDS_PER_BYTE * len(self.text)

    def request(self, form: str = "") -> tuple[Any, ...]:
        """What a worker is given, for one of the backend's forms; by default for the first."""
        compiling = backend()
        return compiling.request(self.text, self.target, form or compiling.forms[0], self.product)


@dataclass(frozen=True)
class Failure:
    """A worker died over a job."""

    form: str
    death: Died

    def __str__(self) -> str:
        if self.death.late:
            return f"compiling {self.form}: it took too long"
        return f"compiling {self.form}: {self.death.words or 'the compile worker was ended from outside'}"

    @property
    def was_compiler(self) -> bool:
        """Whether it was the doing of the compiler."""
        return self.death.late or bool(self.death.words)

    @property
    def reason(self) -> str:
        """The line that says most."""
        if self.death.late:
            return "it took too long"
        lines = self.death.words.splitlines()
        return shortened([*backend().telling(lines), *lines, "its process was ended from outside"][0])


def _summary(failures: Sequence[Failure]) -> tuple[str, str]:
    """Why the compiler has failed, and what to do about it."""
    compiler = backend().compiler
    for failure in failures:
        if failure.was_compiler:
            return failure.reason, f"this is a mistake of {compiler}'s; please report it with"
    return failures[0].reason, f"if memory ran out, {compiler} needs more of it; the text of the kernel is in"


@dataclass(frozen=True)
class Made:
    """Code, the form it was made in, and what the user should be told about it."""

    code: bytes
    form: str = field(default_factory=lambda: backend().forms[0])
    remark: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether all was done to it that can be done."""
        return self.form == backend().forms[0]


def made(job: Job, failures: Sequence[Failure] = ()) -> Made:
    """The code of a text, in the fullest form that the compiler survives. `failures` are those that there were already."""
    failed = list(failures)
    false_starts = 0
    while True:
        form = _next_form(failed)
        if form is None:
            raise _hopeless(job, failed)
        if workers.state.no_workers:
            return _made_without_workers(job, failed)
        shared = workers.state.workers
        try:
            worker = shared.take()
            try:
                worker.send(job.request(form), job.seconds)
                wait_for(worker, job.seconds)
                answer = worker.receive(job.seconds)
            finally:
                shared.give_back(worker)
        except CannotStart as reason:
            false_starts += 1
            if not reason.again or false_starts == ATTEMPTS:
                workers.state.no_workers = str(reason)
        except Replaced:
            raise replaced() from None
        except Died as death:
            failed.append(Failure(form, death))
        else:
            return judged(job, answer, form, failed)


def _next_form(failures: Sequence[Failure]) -> str | None:
    """The form to try after these failures; None if there is no hope left."""
    forms = backend().forms
    if not failures:
        return forms[0]
    last = failures[-1]
    if last.form == forms[0] and not last.was_compiler and len(failures) < ATTEMPTS:
        return forms[0]
    following = forms[forms.index(last.form) + 1 :]
    return following[0] if following else None


def judged(job: Job, answer: tuple[bool, Any], form: str, failures: Sequence[Failure]) -> Made:
    """What an answer means."""
    well, result = answer
    if not well:
        path = _report(job, [str(result)])
        refuses = f"{backend().compiler} refuses the code that was made for it"
        raise InternalError(
            f"{job.name}: {refuses}: {result}\n  help: this is a mistake of Samovar's; please report it with {path}",
            f"{refuses} ({shortened(_line_of(result))})",
            path,
        )
    if form == backend().forms[0]:
        return Made(result)
    path = _report(job, [*map(str, failures), f"compiled {form}"])
    reason, advice = _summary(failures)
    remark = f"{job.name}: {backend().compiler} failed ({reason}), so it was compiled {form}"
    return Made(result, form, f"{remark}; it may run slower, and is not kept\n  help: {advice} {path}")


def _line_of(words: str) -> str:
    """Of what a compiler says, the line that says what is wrong."""
    lines = words.splitlines() or [""]
    return next((line for line in lines if "error: " in line), lines[0])


def _hopeless(job: Job, failures: Sequence[Failure], beside: str = "") -> SamovarCompilationError:
    path = _report(job, [*map(str, failures), beside])
    reason, advice = _summary(failures)
    compiler = backend().compiler
    fails = f"fails in this kernel ({reason}), in every form that was tried"
    message = f"{job.name}: {compiler} {fails}{beside}\n  help: {advice} {path}"
    if beside or not any(failure.was_compiler and not failure.death.late for failure in failures):
        return SamovarCompilationError(message)  # with another text, it would be the same
    return InternalError(message, f"{compiler} {fails}", path)


def _report(job: Job, events: Sequence[str]) -> str:
    from samovar.compiler.reports import write_report

    return write_report(job.name, job.text, job.target, events)


def replaced() -> SamovarCompilationError:
    """The error for a worker that is another program than this one."""
    return SamovarCompilationError(
        f"Samovar or {' or '.join(backend().salt())} was replaced while this process was running: what the new one compiles"
        " would be taken for the old one's\n  help: start the process again"
    )


def _made_without_workers(job: Job, failures: Sequence[Failure]) -> Made:
    """The compiler in this process. A text that has killed a worker is not tried here."""
    if failures:
        raise _hopeless(job, failures, f"; and no other compile worker can be started: {workers.state.no_workers}")
    compiling = backend()
    with workers.state.here:
        try:
            answer: tuple[bool, bytes | str] = (True, compiling.compile(*job.request()))
        except Exception as error:
            answer = (False, f"{type(error).__name__}: {error}")
    code = judged(job, answer, compiling.forms[0], ()).code
    remark = (
        f"kernels are compiled in this process, because no compile worker can be started: {workers.state.no_workers}\n"
        f"  help: if {compiling.compiler} fails in a kernel, the process fails with it"
    )
    return Made(code, remark=remark)
