"""Files of arrays in the format of NumPy (`.npz`: a ZIP archive of `.npy` entries), written and read without NumPy.

Nothing in a file is executed: entries that contain pickled objects are rejected.
"""

from __future__ import annotations

import zipfile
from math import prod
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from samovar.errors import SamovarError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

MAGIC = b"\x93NUMPY"
#: Bytes per step: what is in memory at a time, and how often progress is counted.
CHUNK = 16 << 20
#: Headers are text of a few hundred characters. A longer one is damage.
_LONGEST_HEADER = 1 << 16


class Header(NamedTuple):
    """What an entry says about its array."""

    typestr: str
    shape: tuple[int, ...]
    is_fortran: bool = False

    @property
    def itemsize(self) -> int:
        digits = self.typestr[2:]
        return int(digits) * (4 if self.typestr[1] == "U" else 1)

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.itemsize


def encoded_header(header: Header) -> bytes:
    """The bytes before the elements, padded so that the elements are aligned."""
    text = f"{{'descr': {header.typestr!r}, 'fortran_order': False, 'shape': {header.shape!r}, }}"
    padded = text + " " * (-(len(MAGIC) + 4 + len(text) + 1) % 64) + "\n"
    return MAGIC + b"\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode("latin-1")


class _Pieces:
    """What a ZIP archive writes, until it is taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(piece)
        return len(piece)

    def flush(self) -> None:
        pass

    def take(self) -> list[bytes]:
        taken, self._pieces = self._pieces, []
        return taken


def archive(entries: Iterable[tuple[str, Header, Iterable[bytes]]], count: Callable[[], object]) -> Iterator[bytes]:
    """The bytes of an archive, block by block, given name, header and elements of each array."""
    pieces = _Pieces()
    with zipfile.ZipFile(cast("BinaryIO", pieces), "w", zipfile.ZIP_STORED) as file:
        for name, header, blocks in entries:
            # A fixed time: the same state has the same bytes.
            about = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            with file.open(about, "w", force_zip64=True) as entry:
                entry.write(encoded_header(header))
                for block in blocks:
                    entry.write(block)
                    yield from pieces.take()
                    count()
            yield from pieces.take()
    yield from pieces.take()


class Archive:
    """An open file of arrays."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        import os

        self.path = os.fspath(path)
        try:
            self._file = zipfile.ZipFile(self.path)
        except zipfile.BadZipFile as error:
            raise self.damaged(f"it is not a ZIP archive ({error})") from None
        self._entries = {each.filename.removesuffix(".npy"): each for each in self._file.infolist()}
        self.names = list(self._entries)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def damaged(self, why: str) -> SamovarError:
        return SamovarError(f"{self.path} cannot be loaded: {why}\n  help: load an older file, or save again")

    def header(self, name: str) -> Header:
        """Read the header of an entry, and check that the entry has as many bytes as the header says."""
        return self._opened(name)[1]

    def size(self, name: str) -> int:
        """The number of bytes of an entry."""
        return self._entries[name].file_size

    def check(self, name: str, count: Callable[[], object]) -> None:
        """Read an entry to its end, which compares its checksum."""
        for _ in self.blocks(name):
            count()

    def blocks(self, name: str) -> Iterator[bytes]:
        """The elements of an entry, block by block."""
        entry, header = self._opened(name)
        left = header.nbytes
        with entry:
            while left:
                block = self._reading(name, lambda: entry.read(min(CHUNK, left)))  # noqa: B023
                if not block:
                    raise self.damaged(f"{name} ends early")
                left -= len(block)
                yield block
            self._reading(name, lambda: entry.read(1))  # the end, where the checksum is compared

    def _opened(self, name: str) -> tuple[Any, Header]:
        entry = self._reading(name, lambda: self._file.open(self._entries[name]))
        header, size = self._reading(name, lambda: _decoded_header(entry))
        if header is None:
            raise self.damaged(f"{name} is not an array in the format of NumPy")
        if "O" in header.typestr:
            raise SamovarError(
                f"{self.path}: {name} contains pickled Python objects, which are not loaded, because they could run code\n"
                "  help: save numbers, for example with sv.save"
            )
        if header.nbytes + size != self._entries[name].file_size:
            raise self.damaged(f"{name} has another size than its header says")
        return entry, header

    def _reading(self, name: str, read: Callable[[], Any]) -> Any:
        from zlib import error as decompression_error

        try:
            return read()
        except (zipfile.BadZipFile, decompression_error, EOFError, NotImplementedError, ValueError, RuntimeError) as error:
            raise self.damaged(f"{name}: {error}") from None


def _decoded_header(entry: Any) -> tuple[Header | None, int]:
    """The header of an open entry, or None, and its length in bytes."""
    from ast import literal_eval

    start = entry.read(8)
    if start[:6] != MAGIC or len(start) != 8 or start[6] not in (1, 2, 3):
        return None, 0
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(entry.read(width), "little")
    if length > _LONGEST_HEADER:
        return None, 0
    try:
        found = literal_eval(entry.read(length).decode("utf-8" if start[6] == 3 else "latin-1"))
        typestr, shape = found["descr"], found["shape"]
        if "O" in str(typestr):
            return Header("|O8", ()), 0  # pickled objects
        if not isinstance(typestr, str):
            return None, 0  # structs of NumPy
        header = Header(typestr, tuple(map(int, shape)), bool(found["fortran_order"]))
        header.nbytes  # noqa: B018 — raises for a type without a size
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError):
        return None, 0
    return None if min(header.shape, default=0) < 0 else header, 8 + width + length
