"""`sv.profiler`: measures which kernels and tasks take the time of a program.

Native code counts launches and tasks (`_native/profile/profile.c`); `process_cache` reports compiles and loads. The results
are in `profile_report`.
"""

from __future__ import annotations

import os
import sys
from time import perf_counter_ns

from samovar._native import Profile
from samovar.runtime.process_cache import cache_watchers
from samovar.runtime.profile_report import KernelProfile, Preparation, Subject, Taken, described_task, kernel_profiles
from samovar.system import write_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar._native import Specialization
    from samovar.runtime.kernel import Kernel

#: The number of launches and chunks of tasks recorded for the trace. Totals include all of them.
EVENTS = 500_000


class Profiler:
    """The activity of kernels while it was active; created by `sv.profiler`.

    >>> import samovar as sv
    >>> p = sv.profiler()
    >>> isinstance(p, sv.Profiler), p.kernels
    (True, [])
    """

    def __init__(self, events: int = EVENTS) -> None:
        self._profile = Profile(_described, events)
        self._preparations: list[Preparation] = []
        self._begin = self._nanoseconds = 0
        self._watches = False

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start recording, also after a `stop`."""
        if not self._watches:
            self._watches = True
            self._begin = perf_counter_ns()
            cache_watchers.append(self._prepared)
            self._profile.start()

    def stop(self) -> None:
        """Stop recording. The results remain."""
        if self._watches:
            self._profile.stop()
            if self._prepared in cache_watchers:  # `samovar warm` clears the list in a child of a fork
                cache_watchers.remove(self._prepared)
            self._nanoseconds += perf_counter_ns() - self._begin
            self._watches = False

    @property
    def seconds(self) -> float:
        """The time it has been active."""
        return (self._nanoseconds + (perf_counter_ns() - self._begin if self._watches else 0)) * 1e-9

    @property
    def kernels(self) -> list[KernelProfile]:
        """The results per kernel, in descending order of time.

        >>> import samovar as sv
        >>> @sv.kernel
        ... def three() -> sv.i32:
        ...     return 3
        >>> with sv.profiler() as p:
        ...     for _ in range(5):
        ...         _ = three()
        >>> p.kernels[0].launches
        5
        """
        return kernel_profiles(self._profile.rows(), self._preparations)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """All results as JSON; also written to `path` if given. Times are in seconds."""
        from samovar.runtime.profile_report import as_json

        return _written(as_json(self.kernels, self.seconds), path)

    def to_trace(self, path: str | os.PathLike[str] | None = None) -> str:
        """A timeline of threads as JSON for https://ui.perfetto.dev and chrome://tracing; also written to `path` if
        given."""
        from samovar.runtime.profile_report import as_trace

        taken = Taken(self._profile.rows(), self._profile.events(), self._profile.threads(), self._profile.left_out)
        return _written(as_trace(taken, self._preparations), path)

    def __str__(self) -> str:
        from samovar.runtime.profile_report import as_table

        return as_table(self.kernels, self.seconds)

    def __repr__(self) -> str:
        return f"<samovar profiler: {sum(each.launches for each in self.kernels)} launches in {self.seconds:.3g} s>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """The table, for notebooks."""
        printer.text(str(self))

    def _repr_html_(self) -> str:
        """The same in color."""
        from samovar.runtime.profile_report import as_html

        return as_html(self.kernels, self.seconds)

    def print(self, file: Any = None) -> None:
        """Print the table, in color on a terminal; by default to standard output."""
        from samovar.runtime.profile_report import print_table

        shown_on = sys.stdout if file is None else file
        if shown_on is not None:  # a process may have no output
            print_table(self.kernels, self.seconds, shown_on)

    def _prepared(self, kernel: Kernel, event: str, seconds: float) -> None:
        """Record that a kernel was compiled or loaded."""
        from _thread import get_native_id

        self._preparations.append(
            Preparation(_subject(kernel), event, perf_counter_ns(), int(seconds * 1e9), get_native_id())
        )


def profiler(*, events: int = EVENTS) -> Profiler:
    """Profile kernels in a `with` block: launches and tasks, their time, threads and memory traffic, and what was compiled
    and loaded. A launch takes a few hundred nanoseconds longer while profiling, and no longer otherwise.

    `print(p)` prints a table, `p.kernels` has its figures, `p.to_json()` returns them as JSON, and
    `p.to_trace("trace.json")` writes a timeline of threads for https://ui.perfetto.dev. `events` limits the number of
    launches and chunks of tasks in the trace. `SAMOVAR_PROFILE=1` profiles a whole process, and so does
    `samovar profile script.py`.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def double(a: sv.types.NDArray[sv.f32, 1]):
    ...     for i in a:
    ...         a[i] *= 2
    >>> a = sv.ndarray(sv.f32, 1000)
    >>> with sv.profiler() as p:
    ...     double(a)
    ...     double(a)
    >>> [(kernel.launches, kernel.tasks[0].runs, kernel.tasks[0].bytes) for kernel in p.kernels]
    [(2, 2, 16000)]
    """
    return Profiler(events)


def _subject(kernel: Kernel) -> Subject:
    code = kernel.__wrapped__.__code__
    return Subject(f"{kernel.__module__}.{kernel.__qualname__}", code.co_filename, code.co_firstlineno)


def _described(kernel: Any, specialization: Specialization) -> tuple[Subject, tuple[tuple[str, int], ...]]:
    """The subject of a row: the kernel, and for each task its name and the bytes that an iteration moves, or -1."""
    artifact = getattr(specialization.keep, "artifact", None)
    moved = () if artifact is None else artifact.sections.get("bytes", ())
    tasks = specialization.tasks
    return _subject(kernel), tuple(
        (described_task(name, kernel.__name__), moved[number] if number < len(moved) else -1)
        for number, (name, _, _) in enumerate(tasks)
    )


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        write_file(path, text.encode())
    return text


def profile_process(wanted: str) -> None:
    """Profile as `SAMOVAR_PROFILE` asks: 1 prints a table at exit, a name ending in `.json` is a file for the figures, one
    ending in `.trace.json` a file for the trace."""
    import atexit

    watching, process = Profiler(), os.getpid()

    def show() -> None:
        if os.getpid() != process:
            return  # a forked child was not profiled
        watching.stop()
        if wanted.endswith(".json"):
            try:
                (watching.to_trace if wanted.endswith(".trace.json") else watching.to_json)(wanted)
            except OSError as error:  # at exit, a message is all that is possible
                print(f"samovar: SAMOVAR_PROFILE: {error}", file=sys.stderr)
        elif sys.stderr is not None:
            watching.print(sys.stderr)

    watching.start()
    atexit.register(show)
