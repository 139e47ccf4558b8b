"""Output of commands: tables and sentences for people, JSON for machines. Errors go to standard error, or into the JSON."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from samovar.cli.failure import USAGE, Failure

#: Without a terminal, lines are not wrapped.
_UNBOUNDED = 10_000


def shown(text: str) -> str:
    """Return text that is safe to print. Entries may contain anything: control characters, and characters that the output
    encoding lacks, are escaped."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    text = "".join(each if each.isprintable() or each == "\n" else f"\\x{ord(each):02x}" for each in text)
    return text.encode(encoding, "backslashreplace").decode(encoding)


class Output:
    """The output of a command."""

    def __init__(self, *, json: bool) -> None:
        self.json = json

    def data(self, data: Any) -> None:
        """Print data for machines."""
        print(json.dumps(data, indent=2))

    def say(self, text: str) -> None:
        """Print a sentence for people."""
        if not self.json:
            print(shown(text))

    def fail(self, message: str) -> None:
        """Report why a command failed."""
        if self.json:
            try:
                self.data({"error": message})
                sys.stdout.flush()
                return
            except OSError:  # standard error is closed
                pass
        print(shown(f"samovar: {message}"), file=sys.stderr)

    @property
    def width(self) -> int:
        """The number of columns."""
        return shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNBOUNDED

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[str]],
        right: Iterable[str] = (),
        unbroken: Iterable[str] = (),
    ) -> None:
        """Print a table for people; `right` names the numeric columns, `unbroken` others that do not wrap."""
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        numbers, whole = set(right), set(unbroken)
        for column in columns:
            if column in numbers:
                table.add_column(column, justify="right", no_wrap=True)
            else:
                table.add_column(column, overflow="fold", no_wrap=column in whole)
        for row in rows:
            table.add_row(*(Text(shown(cell)) for cell in row))
        Console(width=None if sys.stdout.isatty() else _UNBOUNDED, highlight=False).print(table)

    def agree(self, question: str, *, yes: bool) -> None:
        """Ask for confirmation, and raise `Failure` without it."""
        if yes:
            return
        if self.json or not sys.stdin.isatty():
            raise Failure(f"{question}\n  help: confirm with --yes where there is no terminal", USAGE)
        print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise Failure("nothing was done")
