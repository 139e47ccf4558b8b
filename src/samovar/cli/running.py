"""`samovar run`: runs a program with Samovar in place of another library."""

from __future__ import annotations

import argparse
from typing import Any

from samovar.cli.output import Output
from samovar.cli.programs import add_program, require_program, run_program
from samovar.compat import PEERS, install


def add_commands(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    run = commands.add_parser(
        "run",
        help="run a program written for Quadrants or Taichi",
        usage="samovar run [--as quadrants] script.py …",
    )
    run.add_argument(
        "--as", dest="peer", choices=sorted(PEERS), help="the library that the program imports and Samovar replaces"
    )
    add_program(run)
    run.set_defaults(run=_run, json=False)


def _run(given: argparse.Namespace, output: Output) -> int:
    require_program(given)
    if given.peer is not None:
        install(given.peer)
    return run_program(given)
