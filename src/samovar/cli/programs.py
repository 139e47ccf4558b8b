"""Runs a user program in this process as the interpreter would: arguments, `__main__`, paths, exit codes."""

from __future__ import annotations

import argparse
import builtins
import os
import runpy
import sys
from importlib.machinery import SourceFileLoader
from types import ModuleType, TracebackType

from samovar.cli.failure import PROBLEM, USAGE, Failure
from samovar.cli.standard_streams import restore_closed_output
from samovar.compat import PEERS, install


def add_program(command: argparse.ArgumentParser) -> None:
    """Add arguments for a program and its arguments to a command."""
    command.add_argument(
        "--as", dest="peer", choices=sorted(PEERS), help="the library that the program imports and Samovar replaces"
    )
    command.add_argument("-m", "--module", action="store_true", help="the program is the name of a module")
    command.add_argument("program", metavar="script.py", help="the program to run")
    command.add_argument("arguments", nargs=argparse.REMAINDER, metavar="…", help="its arguments")


def require_program(given: argparse.Namespace) -> None:
    """Raise `Failure` if the file of the program does not exist."""
    if not given.module and not os.path.isfile(given.program):
        raise Failure(f"no such program: {given.program}", USAGE)


def run_program(given: argparse.Namespace) -> int:
    """Run a program as the interpreter would. Return its exit code."""
    if given.peer is not None:
        install(given.peer)
    program: str = given.program
    sys.argv = [program, *given.arguments]
    restore_closed_output()
    try:
        if given.module:
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
        # As the interpreter shows it: without the frames of the command.
        below = _below(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(below), below)
        return 130 if isinstance(error, KeyboardInterrupt) else PROBLEM
    return 0


def _run_script(path: str) -> None:
    """Run the script as the module `__main__`, which remains for code that runs at interpreter exit.

    `runpy.run_path` would remove it again, and change the name that the script was called by.
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
    """Search modules next to the program first, unless disabled (`python -P`)."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = directory


def _below(frames: TracebackType | None) -> TracebackType | None:
    ours = {__file__, runpy.__file__, "<frozen runpy>"}
    found = frames
    while found is not None and found.tb_frame.f_code.co_filename in ours:
        found = found.tb_next
    return found


def wait_for_threads() -> None:
    """Wait for threads, as the interpreter would."""
    threading = sys.modules.get("threading")
    if threading is not None:
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
