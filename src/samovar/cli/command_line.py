"""The entry point of the command line. Exit codes: 0 success, 1 a problem, 2 wrong usage."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import samovar
from samovar.cache import BundleError
from samovar.cli import (
    completing,
    creating,
    diagnosing,
    exchanging,
    explaining,
    listing,
    maintaining,
    profiling,
    running,
    sharing,
    viewing,
    warming,
)
from samovar.cli.failure import Failure
from samovar.cli.output import Output
from samovar.cli.parser import Parser
from samovar.cli.standard_streams import drop_output, open_missing_streams
from samovar.errors import SamovarError

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code."""
    open_missing_streams()
    output = Output(json=False)
    try:
        try:
            given = _parser().parse_args(arguments)
        except SystemExit:  # after --help or a usage error
            sys.stdout.flush()
            raise
        output = Output(json=given.json)
        code: int = given.run(given, output)
        if sys.stdout is not None:  # a program may have closed it
            sys.stdout.flush()
        return code
    except Failure as failure:
        output.fail(str(failure))
        return failure.code
    except (SamovarError, BundleError) as error:
        output.fail(str(error))
        return 1
    except BrokenPipeError:
        drop_output()  # the reader of our output has closed the pipe
        return 1
    except OSError as error:
        output.fail(str(error))
        drop_output()
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> Parser:
    parser = Parser(prog="samovar", description="Manage the kernel cache; run, profile and diagnose programs.")
    parser.add_argument("--version", action="version", version=f"samovar {samovar.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)
    shared = Parser(add_help=False)
    shared.add_argument("--json", action="store_true", help="print JSON")
    shared.add_argument("--directory", help="the cache directory, instead of the configured one")

    cache = commands.add_parser("cache", help="list, explain, verify, exchange and share cached kernels")
    subjects = cache.add_subparsers(title="commands", metavar="command", required=True)
    listing.add_commands(subjects, shared)
    explaining.add_commands(subjects, shared)
    maintaining.add_commands(subjects, shared)
    exchanging.add_commands(subjects, shared)
    sharing.add_commands(subjects, shared)
    warming.add_commands(commands, shared)
    running.add_commands(commands, shared)
    profiling.add_commands(commands)
    viewing.add_commands(commands)
    creating.add_commands(commands)
    diagnosing.add_commands(commands, shared)
    completing.add_commands(commands, _parser)
    return parser
