"""Images: the output of the linker, and the flat format in which they are stored and loaded.

The format is described in `_native/machine_code/image.c`, which reads it; its version number changes there and here
together.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

ALIGNMENT = 64
CELL = 8
X86_64 = 62

_MAGIC, _FORMAT = b"samovar\0", 1
_HEADER = struct.Struct("<8s7I")


@dataclass(frozen=True)
class ImageParts:
    """A linked image: code and constants, and the tables for the loader.

    `slots` are (offset of a cell, symbol): the loader fills in the address of the symbol. `relatives` are offsets of cells
    that hold an offset in the image: the loader turns it into an address. `functions` are (name, offset, size). `machine` is
    ELF's number.
    """

    code: bytes
    slots: tuple[tuple[int, str], ...]
    functions: tuple[tuple[str, int, int], ...]
    relatives: tuple[int, ...] = ()
    machine: int = X86_64

    def flat(self) -> bytes:
        """The bytes that `_native.Image.from_flat` loads."""
        names = _Names()
        functions = b"".join(
            struct.pack("<3I", names.place(name), offset, size)
            for name, offset, size in sorted(self.functions, key=lambda function: function[1:])
        )
        slots = b"".join(struct.pack("<2I", offset, names.place(symbol)) for offset, symbol in sorted(self.slots))
        relatives = struct.pack(f"<{len(self.relatives)}I", *sorted(self.relatives))
        counts = len(self.code), len(self.functions), len(names.text), len(self.slots), len(self.relatives)
        tables = _HEADER.pack(_MAGIC, _FORMAT, self.machine, *counts) + functions + names.text + slots + relatives
        return tables + bytes(-len(tables) % ALIGNMENT) + self.code


class _Names:
    """Zero-terminated names, each once."""

    def __init__(self) -> None:
        self.text = bytearray()
        self.places: dict[str, int] = {}

    def place(self, name: str) -> int:
        if name not in self.places:
            self.places[name] = len(self.text)
            self.text += name.encode() + b"\0"
        return self.places[name]
