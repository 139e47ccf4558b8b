"""`samovar run`: runs a program with Samovar in place of another library."""

from __future__ import annotations

import argparse
from typing import Any

from samovar.cli.output import Output
from samovar.cli.programs import add_program, require_program, run_program


def add_commands(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    run = commands.add_parser(
        "run",
        help="run a program written for Quadrants or Taichi",
        usage="samovar run [--as quadrants] script.py …",
    )
    add_program(run)
    run.set_defaults(run=_run, json=False)


def _run(given: argparse.Namespace, output: Output) -> int:
    require_program(given)
    return run_program(given)
