"""The command line: `samovar cache …`, `warm`, `profile`, `doctor` and `completion`. It shows what the rooms below do.

A module per subject, each with a function that adds its commands to the parser.
"""

from samovar.cli.command_line import main

__all__ = ["main"]
