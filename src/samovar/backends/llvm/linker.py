"""Linking an object into an image: one flat position-independent blob that is copied anywhere and run.

Inside the blob every reference is relative and resolved here. Outside it, code reaches symbols only through cells of eight
bytes, which the loader fills: directly (a load from the cell) or by a stub that jumps through it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from samovar.backends.llvm.elf import ALLOCATED, FUNCTION, WRITABLE, Object, ObjectError, Relocation, Section, read_object

_ALIGNMENT = 64

# Relocations of x86-64 that position-independent code uses.
_ABSOLUTE_64, _RELATIVE_32, _CALL_32, _RELATIVE_64 = 1, 2, 4, 24
_THROUGH_CELL = {9, 41, 42}  # GOTPCREL, GOTPCRELX, REX_GOTPCRELX


@dataclass(frozen=True)
class ImageParts:
    """What `_native.Image` takes: the blob, (offset of a cell, symbol) pairs, and (name, offset, size) of functions."""

    code: bytes
    slots: tuple[tuple[int, str], ...]
    functions: tuple[tuple[str, int, int], ...]


def link(data: bytes) -> ImageParts:
    """Link an object file."""
    return _Linker(read_object(data)).run()


@dataclass
class _Linker:
    object: Object
    code: bytearray = field(default_factory=bytearray)
    places: dict[int, int] = field(default_factory=dict)
    cells: dict[str, int] = field(default_factory=dict)
    stubs: dict[str, int] = field(default_factory=dict)
    slots: list[tuple[int, str]] = field(default_factory=list)

    def run(self) -> ImageParts:
        for number, section in enumerate(self.object.sections):
            if _is_placed(section):
                self._place(number, section)
        self._reserve()
        for number in self.places:
            for relocation in self.object.relocations.get(number, ()):
                self._relocate(number, relocation)
        functions = sorted(
            (self.places[symbol.section] + symbol.value, symbol.name, symbol.size)
            for symbol in self.object.symbols
            if symbol.type == FUNCTION and symbol.section in self.places
        )
        slots = sorted([*self.slots, *((offset, name) for name, offset in self.cells.items())])
        return ImageParts(bytes(self.code), tuple(slots), tuple((name, offset, size) for offset, name, size in functions))

    def _place(self, number: int, section: Section) -> None:
        if section.flags & WRITABLE:
            raise ObjectError(f"section {section.name} is writable: code in an image has no data of its own")
        if section.alignment > _ALIGNMENT:
            raise ObjectError(f"section {section.name} wants an alignment of {section.alignment} bytes")
        self._align(_ALIGNMENT)
        self.places[number] = len(self.code)
        self.code += section.data

    def _align(self, alignment: int) -> None:
        self.code += bytes(-len(self.code) % alignment)

    def _reserve(self) -> None:
        """Make room for the stubs and cells of every external symbol that is used."""
        for number in self.places:
            for relocation in self.object.relocations.get(number, ()):
                symbol = self.object.symbols[relocation.symbol]
                if symbol.section == 0 and relocation.type in _THROUGH_CELL | {_CALL_32}:
                    self.cells.setdefault(symbol.name, 0)
                    if relocation.type == _CALL_32:
                        self.stubs.setdefault(symbol.name, 0)
        self._align(_ALIGNMENT)
        for name in self.stubs:
            self.stubs[name] = len(self.code)
            self.code += bytes(8)
        for name in self.cells:
            self.cells[name] = len(self.code)
            self.code += bytes(8)
        for name, stub in self.stubs.items():
            # jmp *cell(%rip), then two bytes that are never run.
            self.code[stub : stub + 8] = struct.pack("<2si2s", b"\xff\x25", self.cells[name] - (stub + 6), b"\xcc\xcc")

    def _relocate(self, number: int, relocation: Relocation) -> None:
        section = self.object.sections[number]
        symbol = self.object.symbols[relocation.symbol]
        place = self.places[number] + relocation.offset
        kind = relocation.type
        inside = self.places.get(symbol.section)
        if kind in (_RELATIVE_32, _CALL_32, _RELATIVE_64) and inside is not None:
            target = inside + symbol.value
        elif kind == _CALL_32 and symbol.section == 0:
            target = self.stubs[symbol.name]
        elif kind in _THROUGH_CELL and symbol.section == 0:
            target = self.cells[symbol.name]
        elif kind == _ABSOLUTE_64 and symbol.section == 0 and relocation.addend == 0:
            self.slots.append((place, symbol.name))
            return
        else:
            where = f"{section.name}+{relocation.offset:#x}"
            raise ObjectError(f"unknown use of {symbol.name or 'a section'!r} at {where}: relocation {kind} of x86-64")
        form = "<q" if kind == _RELATIVE_64 else "<i"
        struct.pack_into(form, self.code, place, target + relocation.addend - place)


def _is_placed(section: Section) -> bool:
    """Code and constants; neither what is not loaded nor tables for unwinding, which nobody reads here."""
    return bool(section.flags & ALLOCATED) and section.size > 0 and not section.name.startswith((".eh_frame", ".note"))
