"""`samovar profile`: runs a program, and shows which kernels and tasks took its time."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from samovar.cli.output import Output
from samovar.cli.programs import add_program, require_program, run_program, wait_for_threads
from samovar.runtime import Profiler
from samovar.system import write_file


def add_commands(commands: Any) -> None:
    """Add the command to the parser."""
    profile = commands.add_parser(
        "profile",
        help="run a program and show which kernels take its time",
        usage="samovar profile [options] script.py …",
    )
    profile.add_argument("--json", action="store_true", help="print JSON")
    profile.add_argument("--output", metavar="FILE", help="write the table, or the JSON, to a file")
    profile.add_argument("--trace", metavar="FILE", help="also write a trace for https://ui.perfetto.dev")
    add_program(profile)
    profile.set_defaults(run=_profile)


def _profile(given: argparse.Namespace, output: Output) -> int:
    require_program(given)
    with Profiler() as profiler:
        code = run_program(given)
        wait_for_threads()
    if given.trace is not None:
        profiler.to_trace(given.trace)
    if given.output is not None:
        write_file(given.output, (profiler.to_json() if output.json else str(profiler)).encode())
    elif output.json:
        print(profiler.to_json())
    else:
        # The program's own output stays unchanged.
        profiler.print(sys.stderr)
    return code
