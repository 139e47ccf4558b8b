"""The command line: `samovar cache …`, `warm`, `run`, `profile`, `view`, `new`, `doctor` and `completion`.

One module per subject, each with a function that adds its commands to the parser.
"""

from samovar.cli.command_line import main

__all__ = ["main"]
