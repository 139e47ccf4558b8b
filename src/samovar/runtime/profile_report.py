"""Profile reports: figures per kernel and per task, as a table, as JSON and as a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from rich.console import Console
    from rich.table import Table

    from samovar._native import Totals

#: The iterations of a grouped task are rounded up to a group: with so many groups that makes no difference.
_MANY_UNITS = 32
_MICROSECOND = 1e-3


class Subject(NamedTuple):
    """The identity of a kernel."""

    name: str
    file: str
    line: int


class Preparation(NamedTuple):
    """A kernel was compiled or loaded: when that ended, and how many nanoseconds it took."""

    kernel: Subject
    event: str
    end: int
    nanoseconds: int
    thread: int


class Taken(NamedTuple):
    """The records of native code."""

    rows: Sequence[tuple[Any, Totals, tuple[Totals, ...]]]
    events: Sequence[tuple[int, int, int, int, int, int]]
    threads: dict[int, str]
    left_out: int


class TaskProfile:
    """A task of a kernel (a parallel loop) over all launches. Times are in seconds.

    `seconds` is the time from its begin to its end, `busy` the total working time of the threads. `threads` is the average
    number of threads that took part, `most_threads` the maximum. `bytes` is the minimum memory traffic, None if
    unknown.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.runs = self.units = self.items = self.chunks = self.thread_count = self.most_threads = 0
        self.seconds = self.busy = self.longest = 0.0
        self.bytes: int | None = 0

    def add(self, totals: Totals, moved: int) -> None:
        """Add the totals of one specialization, and the bytes that an iteration moves, or -1."""
        runs, nanoseconds, longest, busy, units, items, chunks, threads, most = totals
        self.runs += runs
        self.units += units
        self.items += items
        self.chunks += chunks
        self.thread_count += threads
        self.most_threads = max(self.most_threads, most)
        self.seconds += nanoseconds * 1e-9
        self.busy += busy * 1e-9
        self.longest = max(self.longest, longest * 1e-9)
        is_exact = items == units or units >= _MANY_UNITS * runs
        if runs and (moved < 0 or not is_exact):
            self.bytes = None
        elif self.bytes is not None:
            self.bytes += moved * items if runs else 0

    @property
    def mean(self) -> float:
        """The seconds per run."""
        return self.seconds / self.runs if self.runs else 0.0

    @property
    def threads(self) -> float:
        """The average number of threads in a run."""
        return self.thread_count / self.runs if self.runs else 0.0

    @property
    def bytes_per_second(self) -> float | None:
        """The memory bandwidth, None if unknown."""
        return self.bytes / self.seconds if self.bytes and self.seconds else None


class KernelProfile:
    """A kernel over all launches. Times are in seconds.

    `seconds` is the time of launches, from the guards to the result, without compiling or loading; `share` its fraction of
    that of all kernels.
    """

    def __init__(self, subject: Subject) -> None:
        self.name, self.file, self.line = subject
        self.launches = self.compiles = self.loads = 0
        self.seconds = self.longest = self.share = self.compile_seconds = self.load_seconds = 0.0
        self.tasks: list[TaskProfile] = []

    def add(self, launches: Totals, tasks: Sequence[Totals], described: Sequence[tuple[str, int]]) -> None:
        """Add the records of one specialization."""
        self.launches += launches[0]
        self.seconds += launches[1] * 1e-9
        self.longest = max(self.longest, launches[2] * 1e-9)
        for number, (totals, (name, moved)) in enumerate(zip(tasks, described, strict=True)):
            if number == len(self.tasks):
                self.tasks.append(TaskProfile(name))
            self.tasks[number].add(totals, moved)

    @property
    def mean(self) -> float:
        """The seconds per launch."""
        return self.seconds / self.launches if self.launches else 0.0

    @property
    def bytes(self) -> int | None:
        """The memory traffic of all tasks, None if unknown."""
        found = [task.bytes for task in self.tasks if task.runs]
        return None if None in found or not found else sum(each or 0 for each in found)

    @property
    def bytes_per_second(self) -> float | None:
        """The memory bandwidth while tasks ran, None if unknown."""
        seconds = sum(task.seconds for task in self.tasks)
        return self.bytes / seconds if self.bytes and seconds else None

    @property
    def most_threads(self) -> int:
        """The maximum number of threads in a task; 1 without tasks."""
        return max((task.most_threads for task in self.tasks), default=0) or 1


def described_task(name: str, kernel: str) -> str:
    """The name of a task without that of its kernel, which is shown above it."""
    return name.removeprefix(f"{kernel}.")


def kernel_profiles(
    rows: Sequence[tuple[Any, Totals, tuple[Totals, ...]]], preparations: Sequence[Preparation]
) -> list[KernelProfile]:
    """The profiles of kernels over all their specializations, in descending order of time."""
    found: dict[Subject, KernelProfile] = {}
    for (subject, described), launches, tasks in rows:
        found.setdefault(subject, KernelProfile(subject)).add(launches, tasks, described)
    for each in preparations:
        kernel = found.setdefault(each.kernel, KernelProfile(each.kernel))
        if each.event == "compiled":
            kernel.compiles += 1
            kernel.compile_seconds += each.nanoseconds * 1e-9
        else:
            kernel.loads += 1
            kernel.load_seconds += each.nanoseconds * 1e-9
    total = sum(kernel.seconds for kernel in found.values())
    for kernel in found.values():
        kernel.share = kernel.seconds / total if total else 0.0
    return sorted(found.values(), key=lambda kernel: (-kernel.seconds, -kernel.compile_seconds, kernel.name))


# --- JSON


def as_json(kernels: Sequence[KernelProfile], seconds: float) -> str:
    """The figures as JSON."""
    import json

    return json.dumps(data_of(kernels, seconds), indent=2)


def data_of(kernels: Sequence[KernelProfile], seconds: float) -> dict[str, Any]:
    """The figures as plain data."""
    import samovar
    from samovar._native import threads

    return {
        "samovar": samovar.__version__,
        "seconds": seconds,
        "threads": threads(),
        "kernels": [
            {
                "name": kernel.name,
                "file": kernel.file,
                "line": kernel.line,
                "launches": kernel.launches,
                "seconds": kernel.seconds,
                "mean": kernel.mean,
                "longest": kernel.longest,
                "share": kernel.share,
                "most_threads": kernel.most_threads,
                "bytes": kernel.bytes,
                "bytes_per_second": kernel.bytes_per_second,
                "compiles": kernel.compiles,
                "compile_seconds": kernel.compile_seconds,
                "loads": kernel.loads,
                "load_seconds": kernel.load_seconds,
                "tasks": [
                    {
                        "name": task.name,
                        "runs": task.runs,
                        "seconds": task.seconds,
                        "mean": task.mean,
                        "longest": task.longest,
                        "share": task.seconds / kernel.seconds if kernel.seconds else 0.0,
                        "busy": task.busy,
                        "threads": task.threads,
                        "most_threads": task.most_threads,
                        "items": task.items,
                        "chunks": task.chunks,
                        "bytes": task.bytes,
                        "bytes_per_second": task.bytes_per_second,
                    }
                    for task in kernel.tasks
                ],
            }
            for kernel in kernels
        ],
    }


# --- a trace


def as_trace(taken: Taken, preparations: Sequence[Preparation]) -> str:
    """The trace in the format of chrome://tracing, which Perfetto reads: https://ui.perfetto.dev."""
    import json
    import os

    process = os.getpid()
    rows = [description for description, _, _ in taken.rows]
    begin = min([event[3] for event in taken.events] + [each.end - each.nanoseconds for each in preparations], default=0)
    events: list[dict[str, Any]] = []
    for row, task, thread, start, end, items in taken.events:
        subject, tasks = rows[row]
        inside = {"kernel": subject.name, "items": items}
        name = subject.name.rpartition(".")[2]
        if task < 0:
            inside = {"kernel": subject.name, "file": f"{subject.file}:{subject.line}"}
        else:
            name = f"{name}.{tasks[task][0]}"
        events.append(_slice(name, "launch" if task < 0 else "task", start - begin, end - start, process, thread, inside))
    for each in preparations:
        verb = "compile" if each.event == "compiled" else "load"
        name, inside = f"{verb} {each.kernel.name.rpartition('.')[2]}", {"kernel": each.kernel.name}
        start = each.end - each.nanoseconds - begin
        events.append(_slice(name, verb, start, each.nanoseconds, process, each.thread, inside))
    named: list[dict[str, Any]] = [_name("process_name", process, 0, "samovar")]
    named += [_name("thread_name", process, thread, name) for thread, name in _thread_names(taken.threads).items()]
    # Viewers nest later events inside earlier ones.
    events.sort(key=lambda event: (event["ts"], -event["dur"]))
    return json.dumps(
        {"traceEvents": named + events, "displayTimeUnit": "ns", "otherData": {"events left out": taken.left_out}}
    )


def _slice(
    name: str, category: str, start: int, length: int, process: int, thread: int, inside: dict[str, Any]
) -> dict[str, Any]:
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "ts": start * _MICROSECOND,
        "dur": length * _MICROSECOND,
        "pid": process,
        "tid": thread,
        "args": inside,
    }


def _name(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}


def _thread_names(system: dict[int, str]) -> dict[int, str]:
    """Python's names of its threads; the others belong to the pool, and have their own names."""
    import threading

    python = {thread.native_id: thread.name for thread in threading.enumerate()}
    return {number: python.get(number) or name for number, name in system.items()}


# --- a table


def as_table(kernels: Sequence[KernelProfile], seconds: float) -> str:
    """The table as text."""
    from io import StringIO

    file = StringIO()
    print_table(kernels, seconds, file)
    return file.getvalue()


def as_html(kernels: Sequence[KernelProfile], seconds: float) -> str:
    """The table for notebooks."""
    from io import StringIO

    from rich.console import Console

    console = Console(file=StringIO(), width=100, highlight=False, record=True)
    _print(console, kernels, seconds)
    return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


def print_table(kernels: Sequence[KernelProfile], seconds: float, file: TextIO) -> None:
    """Print the table; as wide as the terminal, if it goes to one."""
    from rich.console import Console

    _print(Console(file=file, width=None if file.isatty() else 100, highlight=False), kernels, seconds)


def _print(console: Console, kernels: Sequence[KernelProfile], seconds: float) -> None:
    inside = sum(kernel.seconds for kernel in kernels)
    compiled = sum(kernel.compile_seconds for kernel in kernels)
    loaded = sum(kernel.load_seconds for kernel in kernels)
    if not kernels:
        console.print(f"no kernel was launched in {shown(seconds)}", markup=False)
        return
    table = _table(kernels)
    if console.measure(table, options=console.options.update(width=1000)).maximum > console.width:
        table = _table(kernels, narrow=True)
    console.print(table)
    console.print(
        f"{shown(inside)} in kernels ({inside / seconds if seconds else 0:.0%} of {shown(seconds)}),"
        f" {shown(compiled)} compiling, {shown(loaded)} loading",
        markup=False,
    )


def _table(kernels: Sequence[KernelProfile], narrow: bool = False) -> Table:
    """The table. If narrow, columns are closer, and names are without their modules or truncated."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0) if narrow else (0, 1))
    table.add_column("kernel and task", overflow="ellipsis" if narrow else "fold", no_wrap=narrow)
    for column in ("launches", "total", "mean", "share", "threads", "GB/s", "compile", "load"):
        table.add_column(column, justify="right", no_wrap=True)
    for kernel in kernels:
        # Tasks that never ran are omitted.
        tasks = [task for task in kernel.tasks if task.runs]
        table.add_row(
            Text(kernel.name.rpartition(".")[2] if narrow else kernel.name, style="bold"),
            str(kernel.launches),
            shown(kernel.seconds),
            shown(kernel.mean),
            f"{kernel.share:.1%}",
            str(kernel.most_threads),
            _speed(kernel.bytes_per_second),
            shown(kernel.compile_seconds) if kernel.compiles else "",
            shown(kernel.load_seconds) if kernel.loads else "",
        )
        for task in tasks:
            part = task.seconds / kernel.seconds if kernel.seconds else 0.0
            table.add_row(
                Text(f"  {task.name}", style="dim"),
                str(task.runs),
                shown(task.seconds),
                shown(task.mean),
                f"{part:.1%}",
                f"{task.threads:.1f}",
                _speed(task.bytes_per_second),
            )
    return table


def _speed(bytes_per_second: float | None) -> str:
    return "" if bytes_per_second is None else f"{bytes_per_second * 1e-9:.3g}"


def shown(seconds: float) -> str:
    """A time with three digits and a suitable unit."""
    for unit, factor in (("ns", 1e9), ("µs", 1e6), ("ms", 1e3)):
        if seconds * factor < 999.5:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"
