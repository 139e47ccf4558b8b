"""Reading a relocatable ELF object: sections, symbols, relocations.

Only what the linker needs, with `struct`: a general ELF library takes longer to import than a kernel takes to compile
(docs/adr/0011). Supports 64-bit little-endian objects with explicit addends: x86-64 and aarch64.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from samovar.backends.protocol import CannotLink

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")

_RELOCATABLE = 1
UNUSED, SYMBOL_TABLE, RELOCATIONS, NO_BITS = 0, 2, 4, 8
WRITABLE, ALLOCATED, EXECUTABLE, THREAD_LOCAL = 1, 2, 4, 0x400
FUNCTION, INDIRECT_FUNCTION = 2, 10
UNDEFINED = 0


class ObjectError(CannotLink):
    """An object that cannot become an image: not an ELF file for this machine, or with unsupported contents."""


class Section(NamedTuple):
    """A section. The meaning of `link` and `info` depends on its type."""

    name: str
    type: int
    flags: int
    data: bytes
    size: int
    alignment: int
    link: int
    info: int


class Symbol(NamedTuple):
    """A symbol; `section` is `UNDEFINED` if it is defined elsewhere."""

    name: str
    type: int
    section: int
    value: int
    size: int


class Relocation(NamedTuple):
    """A relocation: the `offset` in the patched section, the index of the symbol, and the addend."""

    offset: int
    symbol: int
    type: int
    addend: int


class Object(NamedTuple):
    """An object file. `machine` is ELF's number; `relocations` are by the number of the patched section."""

    machine: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    relocations: dict[int, tuple[Relocation, ...]]


def read_object(data: bytes) -> Object:
    """Parse an object file. Raises `ObjectError` if it is not one, or damaged."""
    try:
        return _read(data)
    except (struct.error, IndexError, OverflowError, ValueError) as error:
        raise ObjectError(f"not a readable ELF object ({error})") from None


def _read(data: bytes) -> Object:
    header = _HEADER.unpack_from(data)
    if data[:6] != b"\x7fELF\x02\x01" or header[1] != _RELOCATABLE:
        raise ObjectError("not a relocatable 64-bit ELF object")
    machine, start, count, names_index = header[2], header[6], header[12], header[13]
    raw = [_SECTION.unpack_from(data, start + _SECTION.size * index) for index in range(count)]
    names = _extent(data, raw[names_index][4], raw[names_index][5])
    sections = tuple(
        Section(
            _text(names, name),
            kind,
            flags,
            b"" if kind in (UNUSED, NO_BITS) else _extent(data, at, size),
            size,
            alignment,
            link,
            info,
        )
        for name, kind, flags, _, at, size, link, info, alignment, _ in raw
    )
    symbols: tuple[Symbol, ...] = ()
    relocations: dict[int, tuple[Relocation, ...]] = {}
    for section in sections:
        if section.type == SYMBOL_TABLE:
            strings = sections[section.link].data
            symbols = tuple(
                Symbol(_text(strings, name), info & 15, where, value, size)
                for name, info, _, where, value, size in _SYMBOL.iter_unpack(section.data)
            )
        elif section.type == RELOCATIONS:
            relocations[section.info] = tuple(
                Relocation(offset, info >> 32, info & 0xFFFFFFFF, addend)
                for offset, info, addend in _RELOCATION.iter_unpack(section.data)
            )
    return Object(machine, sections, symbols, relocations)


def _extent(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise ValueError(f"{size} bytes at {at} of {len(data)}")
    return data[at : at + size]


def _text(table: bytes, offset: int) -> str:
    return table[offset : table.index(0, offset)].decode()
