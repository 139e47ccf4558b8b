"""`samovar warm`: run a program once, so that what it compiles is in the cache for the next time."""

from __future__ import annotations

import argparse
import builtins
import os
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from time import perf_counter
from types import ModuleType, TracebackType
from typing import Any

from samovar.cli.failure import PROBLEM, USAGE, Failure
from samovar.cli.output import Output
from samovar.cli.quantities import counted, shown_seconds
from samovar.runtime import cache_watchers, compile_count, current_options, library_for

_REDRAW_SECONDS = 0.1


def add_commands(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    warm = commands.add_parser(
        "warm", parents=[shared], help="run a program once to fill the cache", usage="samovar warm [options] script.py …"
    )
    warm.add_argument("-m", "--module", action="store_true", help="the program is the name of a module")
    warm.add_argument("program", metavar="script.py", help="the program to run")
    warm.add_argument("arguments", nargs=argparse.REMAINDER, metavar="…", help="its arguments")
    warm.set_defaults(run=_warm)


class Events:
    """What happened to kernels while a program ran."""

    def __init__(self) -> None:
        self.compiled = 0
        self.loaded = 0
        self.last = ""

    def __call__(self, kernel: str, event: str) -> None:
        self.last = f"{event} {kernel}"
        if event == "compiled":
            self.compiled += 1
        else:
            self.loaded += 1


def _warm(given: argparse.Namespace, output: Output) -> int:
    if not given.module and not os.path.isfile(given.program):
        raise Failure(f"there is no program {given.program}", USAGE)
    # The program's own sv.init has the last word.
    os.environ["SAMOVAR_OFFLINE_CACHE"] = os.environ["SAMOVAR_SRC_LL_CACHE"] = "1"
    if given.directory is not None:
        os.environ["SAMOVAR_OFFLINE_CACHE_FILE_PATH"] = os.path.abspath(given.directory)
    events = Events()
    start = perf_counter()
    with _watched(events):
        code = _run(given.program, given.arguments, module=given.module)
        _wait_for_threads()
    seconds = perf_counter() - start
    _summarise(events, seconds, code, output)
    return code


@contextmanager
def _watched(events: Events) -> Iterator[None]:
    """Count, and show on a terminal what happens."""
    shown = _Display(events) if sys.stderr.isatty() else None
    cache_watchers.append(events)
    if shown is not None:
        cache_watchers.append(shown)
    os.register_at_fork(after_in_child=cache_watchers.clear)
    try:
        yield
    finally:
        cache_watchers.clear()
        if shown is not None:
            shown.stop()


class _Display:
    """A line on the terminal that counts. It is drawn by whoever compiles: a thread of its own would not survive a fork."""

    def __init__(self, events: Events) -> None:
        from rich.console import Console
        from rich.live import Live

        self._events = events
        self._drawn = 0.0
        # Output of the program goes above the line, if it goes to the same terminal.
        self._live = Live(
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=True,
        )
        self._live.start()

    def __call__(self, kernel: str, event: str) -> None:
        from rich.text import Text

        # Loading is faster than drawing.
        if event == "loaded" and perf_counter() - self._drawn < _REDRAW_SECONDS:
            return
        self._drawn = perf_counter()
        counts = f"{self._events.compiled} compiled, {self._events.loaded} loaded"
        self._live.update(Text(f"{counts}: {self._events.last}", overflow="ellipsis", no_wrap=True), refresh=True)

    def stop(self) -> None:
        self._live.stop()


def _run(program: str, arguments: list[str], *, module: bool) -> int:
    """Run a program as the interpreter would. Gives its exit code."""
    sys.argv = [program, *arguments]
    try:
        if module:
            _put_first(os.getcwd())
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            _run_script(os.path.abspath(program))
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        print(stop.code, file=sys.stderr)
        return PROBLEM
    except BaseException as error:
        # As the interpreter shows it: without the frames that led to the program.
        below = _below(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(below), below)
        return 130 if isinstance(error, KeyboardInterrupt) else PROBLEM
    return 0


def _run_script(path: str) -> None:
    """The script becomes the module `__main__`, and stays it for what runs at the end of the process.

    `runpy.run_path` would take it away again, and change the name that the script was called by.
    """
    _put_first(os.path.dirname(path))
    with open(path, "rb") as file:
        text = file.read()
    main = ModuleType("__main__")
    main.__loader__ = SourceFileLoader("__main__", path)
    main.__dict__.update(__file__=path, __cached__=None, __builtins__=builtins)
    sys.modules["__main__"] = main
    exec(compile(text, path, "exec", dont_inherit=True), main.__dict__)


def _put_first(directory: str) -> None:
    """Modules are looked for beside the program first, unless the interpreter was told not to."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = directory


def _below(frames: TracebackType | None) -> TracebackType | None:
    ours = {__file__, runpy.__file__, "<frozen runpy>"}
    found = frames
    while found is not None and found.tb_frame.f_code.co_filename in ours:
        found = found.tb_next
    return found


def _wait_for_threads() -> None:
    """The interpreter would wait for them as well."""
    threading = sys.modules.get("threading")
    if threading is not None:
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()


def _summarise(events: Events, seconds: float, code: int, output: Output) -> None:
    kept = library_for(current_options()) is not None
    if output.json:
        output.data(
            {
                "compiled": events.compiled,
                "loaded": events.loaded,
                "llvm_runs": compile_count("llvm"),
                "seconds": seconds,
                "exit_code": code,
                "kept": kept,
            }
        )
        return
    parts = [f"{counted(events.compiled, 'kernel')} compiled, {events.loaded} loaded, {shown_seconds(seconds)}"]
    if not kept:
        parts.append("the program has switched the cache off, so nothing is kept")
    if code:
        parts.append(f"the program ended with exit code {code}")
    print(f"samovar: {'; '.join(parts)}", file=sys.stderr)
