"""The command line: `samovar cache …` and `samovar warm`. It shows what the rooms below do; the logic is theirs.

A module per subject, each with a function that adds its commands to the parser.
"""

from samovar.cli.command_line import main

__all__ = ["main"]
