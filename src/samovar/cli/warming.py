"""`samovar warm`: runs a program once, so that its kernels are cached for the next run."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from samovar.cli.output import Output
from samovar.cli.programs import add_program, require_program, run_program, wait_for_threads
from samovar.cli.quantities import counted, shown_seconds
from samovar.cli.sharing import push
from samovar.compiler import show_progress
from samovar.language import Options
from samovar.runtime import Kernel, cache_watchers, compile_count, current_options, library_for
from samovar.tiers import program_name

_REDRAW_SECONDS = 0.1


def add_commands(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    warm = commands.add_parser(
        "warm", parents=[shared], help="run a program once to fill the cache", usage="samovar warm [options] script.py …"
    )
    warm.add_argument("--push", action="store_true", help="publish the kernels to the shared tiers (cache_remote)")
    add_program(warm)
    warm.set_defaults(run=_warm)


class Events:
    """What happened to kernels while a program ran."""

    def __init__(self) -> None:
        self.compiled = 0
        self.loaded = 0
        self.last = ""
        #: The trees of the kernels, in order.
        self.trees: dict[str, None] = {}

    def __call__(self, kernel: Kernel, event: str, seconds: float) -> None:
        self.last = f"{event} {kernel.__qualname__}"
        if kernel.state.known.key is not None:
            self.trees[kernel.state.known.key] = None
        if event == "compiled":
            self.compiled += 1
        else:
            self.loaded += 1


def _warm(given: argparse.Namespace, output: Output) -> int:
    require_program(given)
    # The program's own sv.init takes precedence.
    os.environ["SAMOVAR_OFFLINE_CACHE"] = os.environ["SAMOVAR_SRC_LL_CACHE"] = "1"
    if given.directory is not None:
        os.environ["SAMOVAR_OFFLINE_CACHE_FILE_PATH"] = os.path.abspath(given.directory)
    if given.push:
        # So that this process reads, and signs, as the program's own processes do.
        os.environ.setdefault("SAMOVAR_CACHE_PROGRAM", program_name(Options(), given.program))
    events = Events()
    start = perf_counter()
    with _watched(events):
        code = run_program(given)
        wait_for_threads()
    seconds = perf_counter() - start
    pushed = push(given, output, events.trees) if given.push else 0
    _summarize(events, seconds, code, output)
    return code or pushed


@contextmanager
def _watched(events: Events) -> Iterator[None]:
    """Count events, and show progress on a terminal."""
    shown = _Display(events) if sys.stderr.isatty() else None
    cache_watchers.append(events)
    if shown is not None:
        cache_watchers.append(shown)
        show_progress(shown.say)
    os.register_at_fork(after_in_child=_stop_watching)
    try:
        yield
    finally:
        _stop_watching()
        if shown is not None:
            shown.stop()


def _stop_watching() -> None:
    """Stop watching in a forked child, which must not draw on the terminal."""
    cache_watchers.clear()
    show_progress(None)


class _Display:
    """A progress line on the terminal. The compiling thread draws it: a separate thread would not survive a fork."""

    def __init__(self, events: Events) -> None:
        from rich.console import Console
        from rich.live import Live

        self._events = events
        self._drawn = 0.0
        # The program's output goes above the line if it goes to the same terminal.
        self._live = Live(
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
            redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
            redirect_stderr=True,
        )
        self._live.start()

    def __call__(self, kernel: Kernel, event: str, seconds: float) -> None:
        # Loading is faster than drawing.
        if event == "loaded" and perf_counter() - self._drawn < _REDRAW_SECONDS:
            return
        self.say(self._events.last)

    def say(self, text: str) -> None:
        """Show the current event."""
        from rich.text import Text

        self._drawn = perf_counter()
        counts = f"{self._events.compiled} compiled, {self._events.loaded} loaded"
        self._live.update(Text(f"{counts}: {text}", overflow="ellipsis", no_wrap=True), refresh=True)

    def stop(self) -> None:
        self._live.stop()


def _summarize(events: Events, seconds: float, code: int, output: Output) -> None:
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
        parts.append("the program disabled the cache, so nothing was cached")
    if code:
        parts.append(f"the program ended with exit code {code}")
    print(f"samovar: {'; '.join(parts)}", file=sys.stderr)
