"""Linking objects into an image: one flat position-independent blob that runs at any address.

Relative references inside the blob are resolved here. Addresses are in cells of eight bytes, which the loader fills: those
of external symbols, and those of places in the image itself. Code reads a cell, or calls a stub that jumps through one; it
is never patched at load time.

The objects of units refer to each other by numbers, which the kernel resolves, so that an object can be part of many
kernels. The number of a unit's first site is also resolved this way, through a cell.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from samovar._native import symbol_address
from samovar.backends.images.elf import (
    ALLOCATED,
    EXECUTABLE,
    FUNCTION,
    INDIRECT_FUNCTION,
    NO_BITS,
    THREAD_LOCAL,
    UNDEFINED,
    WRITABLE,
    Object,
    ObjectError,
    Relocation,
    Section,
    Symbol,
    read_object,
)
from samovar.backends.images.image import ALIGNMENT, CELL, X86_64, ImageParts
from samovar.backends.protocol import FIRST_SITE, UNIT, USED_UNIT, Unit


def link(data: bytes) -> ImageParts:
    """Link an object file. Raises `ObjectError` if it contains something that an image cannot hold or reach."""
    return _Linker([_Part(read_object(data))]).run()


def link_units(codes: Sequence[bytes], units: Sequence[Unit]) -> ImageParts:
    """Link the objects of all units of a kernel; the first has the entry point."""
    parts = []
    sites = 0
    for code, unit in zip(codes, units, strict=True):
        parts.append(_Part(read_object(code), unit.used, sites, unit.name))
        sites += len(unit.sites)
    return _Linker(parts).run()


class _Part(NamedTuple):
    """An object, the parts that it refers to by number, the number of its first site, and the name of its main symbol."""

    object: Object
    used: tuple[int, ...] = ()
    first_site: int = 0
    name: str = ""


@dataclass
class _Linker:
    parts: list[_Part]
    code: bytearray = field(default_factory=bytearray)
    places: dict[tuple[int, int], int] = field(default_factory=dict)
    cells: dict[str | int | _Number, int] = field(default_factory=dict)
    stubs: dict[str, int] = field(default_factory=dict)
    slots: list[tuple[int, str]] = field(default_factory=list)
    relatives: list[int] = field(default_factory=list)

    def run(self) -> ImageParts:
        number = self.parts[0].object.machine
        machine = _MACHINES.get(number)
        if machine is None or any(part.object.machine != number for part in self.parts):
            raise ObjectError(f"images are not supported for machine {number} (ELF numbering)")
        for position, part in enumerate(self.parts):
            for section_number, section in enumerate(part.object.sections):
                if _is_placed(section):
                    self._place(position, section_number, section)
        uses = [
            self._use(machine, position, section, relocation)
            for position, section in self.places
            for relocation in self.parts[position].object.relocations.get(section, ())
        ]
        self._reserve(machine, uses)
        for use in uses:
            use.rule.apply(self, use)
        slots, relatives = tuple(sorted(self.slots)), tuple(sorted(self.relatives))
        return ImageParts(bytes(self.code), slots, self._functions(), relatives, number)

    def _functions(self) -> tuple[tuple[str, int, int], ...]:
        functions = []
        for position, part in enumerate(self.parts):
            for symbol in part.object.symbols:
                place = self.places.get((position, symbol.section))
                if symbol.type != FUNCTION or place is None:
                    continue
                if symbol.value + symbol.size > part.object.sections[symbol.section].size:
                    raise ObjectError(f"the function {symbol.name!r} is outside its section")
                name = part.name + symbol.name.removeprefix(UNIT) if symbol.name.startswith(UNIT) else symbol.name
                functions.append((name, place + symbol.value, symbol.size))
        if all(name != "samovar_entry" for name, _, _ in functions):
            raise ObjectError("the object does not define samovar_entry")
        return tuple(sorted(functions, key=lambda function: function[1]))

    def _place(self, position: int, number: int, section: Section) -> None:
        problem = _problem(section)
        if problem:
            raise ObjectError(f"section {section.name} {problem}")
        self._align()
        self.places[position, number] = len(self.code)
        self.code += section.data

    def _align(self) -> None:
        self.code += bytes(-len(self.code) % ALIGNMENT)

    def _use(self, machine: _Machine, position: int, number: int, relocation: Relocation) -> _Use:
        """Resolve a relocation: its rule, its place, and its target."""
        part = self.parts[position]
        section = part.object.sections[number]
        where = f"{section.name}+{relocation.offset:#x}"
        if relocation.symbol >= len(part.object.symbols):
            raise ObjectError(f"a reference to a missing symbol, at {where}")
        symbol = part.object.symbols[relocation.symbol]
        name = repr(symbol.name or "a section")
        rule = machine.rules.get(relocation.type)
        if rule is None:
            raise ObjectError(f"unsupported relocation {relocation.type} of {machine.name} for {name} at {where}")
        if not 0 <= relocation.offset <= section.size - rule.width:
            raise ObjectError(f"a reference outside its section, at {where}")
        if symbol.type == INDIRECT_FUNCTION:
            raise ObjectError(f"{name} is an indirect function (ifunc), which images do not support, at {where}")
        target: int | _Number | None = None
        if symbol.section != UNDEFINED:
            if (position, symbol.section) not in self.places:
                raise ObjectError(f"the code refers to {name}, which is not in a section of the image, at {where}")
            target = self.places[position, symbol.section] + symbol.value
        elif symbol.name == FIRST_SITE and rule.by_cell:
            target = _Number(part.first_site)
        elif symbol.name.startswith(USED_UNIT):
            target = self._unit(part, symbol.name)
        elif symbol_address(symbol.name) is None:
            raise ObjectError(f"the code refers to {name}, which kernels cannot use, at {where}")
        place = self.places[position, number] + relocation.offset
        return _Use(rule, section, where, place, relocation.addend, symbol, target)

    def _unit(self, part: _Part, name: str) -> int:
        """The offset of the main symbol of a unit that another one uses."""
        position = part.used[int(name.removeprefix(USED_UNIT))]
        for symbol in self.parts[position].object.symbols:
            if symbol.name == UNIT and symbol.section != UNDEFINED:
                return self.places[position, symbol.section] + symbol.value
        raise ObjectError(f"the unit {self.parts[position].name!r} does not define its main symbol")

    def _reserve(self, machine: _Machine, uses: list[_Use]) -> None:
        """Reserve space for stubs and cells."""
        stubs = {use.symbol.name: None for use in uses if use.target is None and use.rule.by_stub}
        cells = dict.fromkeys([*(use.cell for use in uses if use.rule.by_cell), *stubs])
        self._align()
        for name in stubs:
            self.stubs[name] = len(self.code)
            self.code += bytes(machine.stub_size)
        self._align()
        for key in cells:
            cell = self.cells[key] = len(self.code)
            self.code += bytes(CELL)
            if isinstance(key, str):
                self.slots.append((cell, key))
            elif isinstance(key, _Number):
                struct.pack_into("<Q", self.code, cell, key.value)
            else:
                self.point(cell, key)
        for name, stub in self.stubs.items():
            self.code[stub : stub + machine.stub_size] = machine.stub(self.cells[name] - stub)

    def point(self, cell: int, target: int) -> None:
        """Make a cell hold the address of a place in the image."""
        if not 0 <= target <= len(self.code):
            raise ObjectError("a table contains an address outside the image")
        struct.pack_into("<Q", self.code, cell, target)
        self.relatives.append(cell)


class _Number(NamedTuple):
    """The contents of a cell that is not an address."""

    value: int


class _Use(NamedTuple):
    """A reference. `place` is the patched offset; `target` that of the symbol, None if it is outside the image."""

    rule: _Rule
    section: Section
    where: str
    place: int
    addend: int
    symbol: Symbol
    target: int | _Number | None

    @property
    def cell(self) -> str | int | _Number:
        """The key of the cell that holds the address of the symbol."""
        return self.symbol.name if self.target is None else self.target


class _Rule(NamedTuple):
    """How a relocation type is applied, and whether its target needs a cell, or a stub if it is external."""

    width: int
    apply: Callable[[_Linker, _Use], None]
    by_cell: bool = False
    by_stub: bool = False


def _relative(linker: _Linker, use: _Use) -> None:
    """Patch the distance to the symbol. If it is external, that of the stub: every known symbol is a function."""
    assert not isinstance(use.target, _Number), "a number is in a cell"
    _store_distance(linker, use, linker.stubs[use.symbol.name] if use.target is None else use.target)


def _relative_to_cell(linker: _Linker, use: _Use) -> None:
    """Patch the distance to the cell that holds the address of the symbol."""
    _store_distance(linker, use, linker.cells[use.cell])


def _store_distance(linker: _Linker, use: _Use, target: int) -> None:
    distance = target + use.addend - use.place
    limit = 1 << (8 * use.rule.width - 1)
    if not -limit <= distance < limit:
        raise ObjectError(f"{use.symbol.name or 'a section'!r} is too far away, at {use.where}")
    linker.code[use.place : use.place + use.rule.width] = distance.to_bytes(use.rule.width, "little", signed=True)


def _address(linker: _Linker, use: _Use) -> None:
    """Patch the address itself: the place is a cell, which cannot be code."""
    if use.section.flags & EXECUTABLE or use.place % CELL:
        raise ObjectError(f"an address of {use.symbol.name or 'a section'!r} inside code or unaligned data, at {use.where}")
    assert not isinstance(use.target, _Number), "a number is in a cell"
    if use.target is not None:
        linker.point(use.place, use.target + use.addend)
    elif use.addend == 0:
        linker.slots.append((use.place, use.symbol.name))
    else:
        raise ObjectError(f"an address {use.addend} bytes from {use.symbol.name!r}, which is a function, at {use.where}")


class _Machine(NamedTuple):
    """The linker's description of a machine: a stub that jumps through the cell at a distance, and its relocations."""

    name: str
    stub_size: int
    stub: Callable[[int], bytes]
    rules: dict[int, _Rule]


def _stub_x86_64(distance: int) -> bytes:
    """`jmp *cell(%rip)`, then two padding bytes."""
    return struct.pack("<2si2s", b"\xff\x25", distance - 6, b"\xcc\xcc")


_MACHINES = {
    X86_64: _Machine(
        "x86-64",
        8,
        _stub_x86_64,
        {
            1: _Rule(8, _address),  # 64
            2: _Rule(4, _relative, by_stub=True),  # PC32
            4: _Rule(4, _relative, by_stub=True),  # PLT32
            9: _Rule(4, _relative_to_cell, by_cell=True),  # GOTPCREL
            24: _Rule(8, _relative, by_stub=True),  # PC64
            41: _Rule(4, _relative_to_cell, by_cell=True),  # GOTPCRELX
            42: _Rule(4, _relative_to_cell, by_cell=True),  # REX_GOTPCRELX
        },
    )
}


def _is_placed(section: Section) -> bool:
    """Whether a section goes into the image: code and constants, but not unloaded sections or unwind tables."""
    return bool(section.flags & ALLOCATED) and section.size > 0 and not section.name.startswith((".eh_frame", ".note"))


def _problem(section: Section) -> str | None:
    """Why an image cannot hold a section. Tables of addresses are writable only until they are filled."""
    if section.flags & THREAD_LOCAL:
        return "is thread-local: images have no data of their own"
    if section.type == NO_BITS or (section.flags & WRITABLE and not section.name.startswith(".data.rel.ro")):
        return "is writable: images have no data of their own"
    if section.alignment > ALIGNMENT:
        return f"needs an alignment of {section.alignment} bytes, but images are aligned to {ALIGNMENT}"
    return None
