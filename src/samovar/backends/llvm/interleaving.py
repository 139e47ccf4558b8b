"""Structures of three, five, seven or nine numbers that lie one after the other, in loops that LLVM has made vectors of.

LLVM loads all structures of a group of iterations as one long vector, takes the first numbers, the second ones and so on
out of it, and puts results together in the same way. Each of these becomes permutations of two registers, as many as the
structure is long less one for each register, and they are what such loops wait for.

*Taking apart and putting together.* The length is odd and a register has a power of two of elements, so the first numbers
lie in different places of all registers, and so do the second ones: they are chosen from all registers without moving (a
mask), and moved by one permutation.

*The same for all entries.* Where the entries that are put together were computed by the same operations (`q[i, 0] = m00 * x
+ m01 * y + m02 * z`, `q[i, 1] = m10 * x + …`), the long vectors are computed by these operations, from operands that are put
together before: invariants outside of the loop, and an element that is the same for all entries of a structure by one
permutation of what was loaded. Entries of the same operand are where they were loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from samovar.backends.llvm.refining import Function

#: Lengths of structures.
_ODD = (3, 5, 7, 9)
#: Bits of the registers, of which permutations of two are instructions.
_REGISTERS = (256, 512)
_BITS = {"float": 32, "double": 64, "i32": 32, "i64": 64}
#: So many vectors that are the same for all entries may be spread out; each takes a permutation for each entry.
_SPREAD = 3
#: Operations are followed so far.
_DEPTH = 8

_SHUFFLE = re.compile(
    r"shufflevector <(\d+) x (\w+)> ([^,]+), <\d+ x \w+> ([^,]+), <(\d+) x i32> (<.*>|zeroinitializer)$"
)
_OPERATION = re.compile(r"((?:fadd|fsub|fmul|add|sub|mul)(?: \w+)*?) <(\d+) x (\w+)> ([^,]+), ([^,]+)$")
_NUMBER = re.compile(r"i32 (poison|\d+)")
_NOT_COMMUTATIVE = ("fsub", "sub")


def improve_structures(function: Function) -> bool:
    """Rewrite what puts structures together and takes them apart; says whether anything was."""
    rewriting = _Rewriting(function)
    for name in list(function.places):
        entries = rewriting.entries(name)
        if entries is not None and not rewriting.compute_together(name, entries):
            rewriting.put_together(name, entries)
    for name in list(function.places):
        rewriting.take_apart(name)
    return rewriting.changed


class _Shuffle:
    """One `shufflevector`: lanes of two vectors of a width."""

    __slots__ = ("element", "first", "lanes", "second", "width")

    def __init__(self, found: re.Match[str]) -> None:
        self.width, self.element, self.first, self.second = int(found[1]), found[2], found[3], found[4]
        count, lanes = int(found[5]), found[6]
        self.lanes: list[int | None] = [0] * count
        if lanes != "zeroinitializer":
            self.lanes = [None if number == "poison" else int(number) for number in _NUMBER.findall(lanes)]


class _Entries:
    """Vectors of which a long one is put together: the first elements of all, then the second ones, and so on."""

    __slots__ = ("count", "element", "names")

    def __init__(self, names: list[str], count: int, element: str) -> None:
        self.names, self.count, self.element = names, count, element


class _Rewriting:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.changed = False
        self._shuffles: dict[str, _Shuffle | None] = {}

    # What stands there.

    def _shuffle(self, name: str) -> _Shuffle | None:
        if name not in self._shuffles:
            found = _SHUFFLE.match(self.function.definition(name))
            self._shuffles[name] = None if found is None else _Shuffle(found)
        return self._shuffles[name]

    def entries(self, name: str) -> _Entries | None:
        """What a vector is put together of, if it is one of structures."""
        whole = self._shuffle(name)
        if whole is None:
            return None
        for length in _ODD:
            count = len(whole.lanes) // length
            if count * length != len(whole.lanes) or not _fits(count, whole.element):
                continue
            # Which vector of `count` elements an element comes from, and which of its elements it is.
            origins = [self._origin(name, lane, count) for lane in range(len(whole.lanes))]
            names = [origin[0] for origin in origins[:length] if origin is not None]
            wanted = [(each, place) for place in range(count) for each in names]
            if len(names) == length and origins == wanted:
                return _Entries(names, count, whole.element)
        return None

    def _origin(self, name: str, lane: int, count: int) -> tuple[str, int] | None:
        """Which element of which vector of `count` elements an element of a vector is; None if it is one of a vector of
        another length, as that of an operation which LLVM has made of several."""
        width = count
        for _ in range(_DEPTH):
            shuffle = self._shuffle(name)
            if shuffle is None or (len(shuffle.lanes) == count and not self._joins(shuffle)):
                return (name, lane) if width == count else None
            width = shuffle.width
            source = shuffle.lanes[lane]
            if source is None:
                return None
            name, lane = (
                (shuffle.first, source) if source < shuffle.width else (shuffle.second, source - shuffle.width)
            )
        return None

    @staticmethod
    def _joins(shuffle: _Shuffle) -> bool:
        """Does it put vectors one after the other?"""
        return shuffle.lanes[: shuffle.width] == list(range(shuffle.width)) and len(shuffle.lanes) > shuffle.width

    def _piece(self, name: str) -> tuple[str, int, int] | None:
        """The long vector that a vector was taken from, the length of its structures, and which entry it is."""
        shuffle = self._shuffle(name)
        if shuffle is None or shuffle.second != "poison" or not _fits(len(shuffle.lanes), shuffle.element):
            return None
        count, first = len(shuffle.lanes), shuffle.lanes[0]
        length = shuffle.width // count
        if length not in _ODD or length * count != shuffle.width or first is None or first >= length:
            return None
        return (shuffle.first, length, first) if shuffle.lanes == list(range(first, shuffle.width, length)) else None

    # What is written in its place.

    def _replace(self, name: str, before: Iterable[str], definition: str) -> None:
        """Define a name in another way, after some lines."""
        self.function.replace(name, definition, before)
        self._shuffles.pop(name, None)
        self.changed = True

    def _define(self, lines: list[str], definition: str) -> str:
        name = self.function.fresh()
        lines.append(f"  {name} = {definition}")
        return name

    def take_apart(self, name: str) -> None:
        """One entry of all structures: chosen from all registers, then moved."""
        piece = self._piece(name)
        if piece is None:
            return
        whole, length, entry = piece
        shuffle = self._shuffle(name)
        assert shuffle is not None
        count, element = len(shuffle.lanes), shuffle.element
        lines: list[str] = []
        chosen = ""
        for register in range(length):
            first = register * count
            part = self._define(lines, _shuffled(whole, "poison", shuffle.width, element, range(first, first + count)))
            if not chosen:
                chosen = part
                continue
            mask = [lane + count * ((first + lane - entry) % length == 0) for lane in range(count)]
            chosen = self._define(lines, _shuffled(chosen, part, count, element, mask))
        moved = [(entry + length * number) % count for number in range(count)]
        self._replace(name, lines, _shuffled(chosen, "poison", count, element, moved))

    def put_together(self, name: str, entries: _Entries) -> None:
        """Structures of their entries: each entry is moved, and registers are chosen from all of them."""
        lines: list[str] = []
        length, count, element = len(entries.names), entries.count, entries.element
        moved = []
        for entry, vector in enumerate(entries.names):
            places = [0] * count
            for number in range(count):
                places[(length * number + entry) % count] = number
            moved.append(self._define(lines, _shuffled(vector, "poison", count, element, places)))
        registers = []
        for register in range(length):
            chosen = moved[0]
            for entry in range(1, length):
                mask = [lane + count * ((register * count + lane) % length == entry) for lane in range(count)]
                chosen = self._define(lines, _shuffled(chosen, moved[entry], count, element, mask))
            registers.append(chosen)
        self._replace(name, lines, self._joined(lines, registers, count, element))

    def _joined(self, lines: list[str], registers: Sequence[str], count: int, element: str) -> str:
        """The definition of registers one after the other."""
        whole, width = registers[0], count
        for register in registers[1:-1]:
            whole = self._added(lines, whole, register, width, count, element)
            width += count
        longer = self._lengthened(lines, registers[-1], count, width, element)
        return _shuffled(whole, longer, width, element, range(width + count))

    def _added(self, lines: list[str], whole: str, register: str, width: int, count: int, element: str) -> str:
        longer = self._lengthened(lines, register, count, width, element)
        return self._define(lines, _shuffled(whole, longer, width, element, range(width + count)))

    def _lengthened(self, lines: list[str], register: str, count: int, width: int, element: str) -> str:
        if width == count:
            return register
        lanes = [*range(count), *[None] * (width - count)]
        return self._define(lines, _shuffled(register, "poison", count, element, lanes))

    # Operations on whole structures.

    def compute_together(self, name: str, entries: _Entries) -> bool:
        """Compute structures as a whole, if their entries are the results of the same operations; says whether they are."""
        lines: list[str] = []
        wide = _Wide(self, lines, self.function.blocks[self.function.places[name]], entries)
        if self.function.definition(entries.names[0]).startswith("shufflevector"):
            return False
        whole = wide.of(entries.names, _DEPTH)
        if whole is None or len(wide.spread) > _SPREAD:
            return False
        for place, added in wide.outside.items():
            self.function.add_after(place, added)
        width = len(entries.names) * entries.count
        self._replace(name, lines, _shuffled(whole, "poison", width, entries.element, range(width)))
        return True


class _Wide:
    """Operations on structures as a whole, in the place of those on their entries."""

    def __init__(self, rewriting: _Rewriting, lines: list[str], block: int, entries: _Entries) -> None:
        self._rewriting, self._lines, self._block, self._entries = rewriting, lines, block, entries
        self._known: dict[tuple[str, ...], str] = {}
        #: What is the same for all entries of a structure, and has been spread out.
        self.spread: set[str] = set()
        #: Lines to be added after others, outside of the loop.
        self.outside: dict[int, list[str]] = {}

    def of(self, names: Sequence[str], depth: int) -> str | None:
        """The structures of some entries, None if they have to be put together."""
        key = tuple(names)
        if key not in self._known:
            made = self._made(names, depth)
            if made is None:
                return None
            self._known[key] = made
        return self._known[key]

    def _made(self, names: Sequence[str], depth: int) -> str | None:
        if all(name == names[0] for name in names):
            return self._the_same(names[0])
        pieces = [self._rewriting._piece(name) for name in names]
        if all(piece is not None and piece[1:] == (len(names), entry) for entry, piece in enumerate(pieces)):
            wholes = {piece[0] for piece in pieces if piece is not None}
            return wholes.pop() if len(wholes) == 1 else None
        return self._invariant(names) or (self._operation(names, depth) if depth else None)

    def _the_same(self, name: str) -> str:
        """Something that is the same for all entries of a structure."""
        self.spread.add(name)
        length, count, element = len(self._entries.names), self._entries.count, self._entries.element
        numbers = [number for number in range(count) for _ in range(length)]
        piece = self._rewriting._piece(name)
        if piece is None or piece[1] != length:
            return self._rewriting._define(self._lines, _shuffled(name, "poison", count, element, numbers))
        places = [length * number + piece[2] for number in numbers]
        return self._rewriting._define(self._lines, _shuffled(piece[0], "poison", length * count, element, places))

    def _invariant(self, names: Sequence[str]) -> str | None:
        """Vectors that are there before the loop, all of one block, put together there."""
        function = self._rewriting.function
        places = [function.places.get(name) for name in names]
        if any(place is None for place in places):
            return None
        known = [place for place in places if place is not None]
        blocks = {function.blocks[place] for place in known}
        if len(blocks) != 1 or self._block in blocks or any(" phi " in function.lines[place] for place in known):
            return None
        lines: list[str] = []
        length, count, element = len(names), self._entries.count, self._entries.element
        joined = self._rewriting._define(lines, self._rewriting._joined(lines, names, count, element))
        lanes = [count * entry + number for number in range(count) for entry in range(length)]
        whole = self._rewriting._define(lines, _shuffled(joined, "poison", length * count, element, lanes))
        self.outside.setdefault(max(known), []).extend(lines)
        return whole

    def _operation(self, names: Sequence[str], depth: int) -> str | None:
        """The same operation on all of them."""
        function = self._rewriting.function
        found = [_OPERATION.match(function.definition(name)) for name in names]
        first = found[0]
        if first is None or any(each is None or each[1] != first[1] for each in found):
            return None
        if any(function.blocks[function.places[name]] != self._block or function.uses(name) > 1 for name in names):
            return None
        operands = [(each[4], each[5]) for each in found if each is not None]
        if not first[1].startswith(_NOT_COMMUTATIVE):
            operands = self._in_line(operands)
        left = self.of([one for one, _ in operands], depth - 1)
        right = self.of([other for _, other in operands], depth - 1) if left is not None else None
        if left is None or right is None:
            return None
        kind = f"<{len(names) * self._entries.count} x {self._entries.element}>"
        return self._rewriting._define(self._lines, f"{first[1]} {kind} {left}, {right}")

    def _in_line(self, operands: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Operands of commutative operations such that the first ones are of one kind, and the second ones too."""
        kinds = self._kind(operands[0][0]), self._kind(operands[0][1])
        if kinds[0] == kinds[1]:
            return operands
        return [(one, other) if self._kind(one) == kinds[0] else (other, one) for one, other in operands]

    def _kind(self, name: str) -> str:
        place = self._rewriting.function.places.get(name)
        if place is None or self._rewriting.function.blocks[place] != self._block:
            return "invariant"
        if self._rewriting._piece(name) is not None:
            return "piece"
        return self._rewriting.function.definition(name).split(" ", 1)[0]


def _fits(count: int, element: str) -> bool:
    """Do so many elements fill a register?"""
    return count * _BITS.get(element, 0) in _REGISTERS


def _shuffled(first: str, second: str, width: int, element: str, lanes: Iterable[int | None]) -> str:
    numbers = ["i32 poison" if lane is None else f"i32 {lane}" for lane in lanes]
    kind = f"<{width} x {element}>"
    return f"shufflevector {kind} {first}, {kind} {second}, <{len(numbers)} x i32> <{', '.join(numbers)}>"
