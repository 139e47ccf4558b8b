"""What is changed in a text after LLVM has optimised it, before it becomes instructions: things that LLVM's passes do well
enough for most processors and programs, but not for what these loops are limited by (see ADR 0057).

- `long_sums`: a long chain of additions becomes two.
- `interleaving`: structures of three, five, seven or nine numbers are put together and taken apart with fewer permutations.

Definitions are added, or replaced where they stand; none is removed, because values are numbered in order. LLVM leaves out
what has no use any more. Works on text in workers, so little is imported here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

#: A line of a text that names what it is to be left without. For tests.
WITHOUT = "; without "

#: Chains of so many additions are looked for.
LONG = 8

_NAME = re.compile(r"%[\w.$-]+")
_LABEL = re.compile(r"^[\w.$-]+:")


class Function:
    """The lines of one function. What is added stands before or after a line, whose number stays as it was."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self._before: dict[int, list[str]] = {}
        self._after: dict[int, list[str]] = {}
        self._fresh = 0
        self.places: dict[str, int] = {}
        self.blocks: list[int] = []
        block = 0
        for number, line in enumerate(lines):
            if _LABEL.match(line):
                block = number
            self.blocks.append(block)
            name, equals, _ = line.strip().partition(" = ")
            if equals and name.startswith("%"):
                self.places[name] = number
        self._uses: Counter[str] | None = None

    def definition(self, name: str) -> str:
        """What stands at the right of a name; nothing if it is a parameter or no name."""
        place = self.places.get(name)
        return "" if place is None else self.lines[place].split(" = ", 1)[1]

    def uses(self, name: str) -> int:
        """How often a value is mentioned beside its definition."""
        return self._mentioned()[name] - 1

    def _mentioned(self) -> Counter[str]:
        """How often each name stood in the lines at first."""
        if self._uses is None:
            self._uses = Counter(_NAME.findall("\n".join(self.lines)))
        return self._uses

    def fresh(self) -> str:
        """A name that nothing has, be it a variable of the program."""
        while True:
            self._fresh += 1
            name = f"%refined.{self._fresh}"
            if name not in self._mentioned():
                return name

    def replace(self, name: str, definition: str, before: Iterable[str]) -> None:
        """Define a name in another way, after some lines that are new."""
        place = self.places[name]
        self.lines[place] = f"  {name} = {definition}"
        self._before.setdefault(place, []).extend(before)

    def add_after(self, place: int, added: Iterable[str]) -> None:
        """Add lines after another one."""
        self._after.setdefault(place, []).extend(added)

    def text(self) -> str:
        """All lines, with those that are new."""
        return "\n".join(
            each
            for place, line in enumerate(self.lines)
            for each in (*self._before.get(place, ()), line, *self._after.get(place, ()))
        )


def refined(text: str, without: str, has_permutations: bool) -> str | None:
    """The text of an optimised module with all that can be improved, None if nothing can. `has_permutations` says that the
    processor has permutations of two vectors, and masks."""
    sums = "chains" not in without and text.count("= fadd ") >= LONG
    structures = has_permutations and ("%strided.vec" in text or "%interleaved.vec" in text)
    structures = structures and "interleaving" not in without
    if not sums and not structures:
        return None
    parts = list(_parts(text))
    changed = False
    for place, part in enumerate(parts):
        if not part.startswith("define "):
            continue
        function = Function(part.split("\n"))
        found = False
        if structures:
            from samovar.backends.llvm.interleaving import improve_structures

            found = improve_structures(function)
        if sums:
            from samovar.backends.llvm.long_sums import split_sums

            found = split_sums(function) or found
        if found:
            parts[place] = function.text()
            changed = True
    return "\n".join(parts) if changed else None


def switches(text: str) -> str:
    """What a rendered text is to be left without."""
    _, _, rest = text.rpartition("\n" + WITHOUT)
    return rest.partition("\n")[0] if len(rest) < len(text) else ""


def _parts(text: str) -> Iterator[str]:
    """Functions, and what stands between them."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith("define "):
            yield "\n".join(lines)
            lines = []
        lines.append(line)
        if line == "}":
            yield "\n".join(lines)
            lines = []
    yield "\n".join(lines)
