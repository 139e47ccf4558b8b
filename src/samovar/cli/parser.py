"""The argument parser, which suggests the closest command or option for a misspelled one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

_UNKNOWN = "unrecognized arguments: "


class Parser(argparse.ArgumentParser):
    """A parser that remembers its arguments, and whose errors suggest the closest command or option."""

    def __init__(self, *, parents: Sequence[argparse.ArgumentParser] = (), **settings: Any) -> None:
        known = [parent for parent in parents if isinstance(parent, Parser)]
        self.arguments: list[argparse.Action] = [each for parent in known for each in parent.arguments]
        self.below: Any = None
        super().__init__(parents=list(parents), **settings)

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        added = super().add_argument(*names, **settings)
        self.arguments.append(added)
        return added

    def add_subparsers(self, **settings: Any) -> Any:
        self.below = super().add_subparsers(**settings)
        return self.below

    @property
    def commands(self) -> dict[str, Parser]:
        """Return the subcommands."""
        return {} if self.below is None else dict(self.below.choices)

    @property
    def options(self) -> list[str]:
        """Return its own options."""
        return [option for argument in self.arguments for option in argument.option_strings]

    @property
    def choices(self) -> list[str]:
        """Return the choices of positional arguments."""
        places = [argument for argument in self.arguments if not argument.option_strings]
        return [*self.commands, *(str(choice) for argument in places for choice in argument.choices or ())]

    def walk(self) -> Iterator[Parser]:
        """Yield the parser and those of all commands below it."""
        yield self
        for each in self.commands.values():
            yield from each.walk()

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        valid = [str(choice) for choice in action.choices]
        close = get_close_matches(str(value), valid, 1)
        kind = "command" if action is self.below else action.dest
        hint = f"did you mean {close[0]}?" if close else f"choose from {', '.join(valid)}"
        raise argparse.ArgumentError(None, f"unknown {kind} {value!r}: {hint}")

    def error(self, message: str) -> NoReturn:
        if message.startswith(_UNKNOWN):
            given = message.removeprefix(_UNKNOWN).split()[0].partition("=")[0]
            close = get_close_matches(given, sorted({option for each in self.walk() for option in each.options}), 1)
            message = f"unknown option {given}" if given.startswith("-") else f"unexpected argument {given}"
            if close and given.startswith("-"):
                message += f": did you mean {close[0]}?"
        super().error(message)
