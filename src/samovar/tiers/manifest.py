"""Manifests and segments: what a tier has for a program, and the compressed entries.

A manifest lists entries, each with its signature and its place in a segment. It is a hint and not signed itself: whoever
changes it can hide entries, but not add one that is used. All sizes are limited before anything is decompressed or decoded.
"""

from __future__ import annotations

import zlib
from _blake2 import blake2b
from typing import TYPE_CHECKING

from samovar._native import decode_plain, encode_plain, matches_schema
from samovar.cache import MISREADINGS, Damaged

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Part of every path, so that versions of the layout do not meet.
LAYOUT = "samovar-tier-1"
_MANIFEST = b"samovar manifest 1\n"
_SEGMENT = b"samovar segment 1\n"
#: Limits, in bytes of uncompressed data. A segment with a single entry may be larger than the usual size.
MOST_MANIFEST_BYTES = 64 << 20
MOST_SEGMENT_BYTES = 256 << 20
USUAL_SEGMENT_BYTES = 4 << 20
#: How many entries a manifest keeps; the oldest are dropped.
MOST_ROWS = 50_000
_SIZE = 8
_SCHEMA = "({(SS)}{S}{(SI)}{(SSSSFYIIIIIYY)})"


class Row:
    """An entry in a manifest. `tree` and `leaf` are its keys, `target` is the processor it is compiled for, `segment` the
    name of the file that contains it."""

    __slots__ = (
        "compiled", "digest", "expires", "issued", "leaf", "length", "name", "offset", "segment", "signature", "signer",
        "target", "tree", "unusable",
    )  # fmt: skip

    def __init__(
        self,
        tree: str,
        leaf: str,
        target: str,
        name: str,
        compiled: float,
        digest: bytes,
        segment: str,
        offset: int,
        length: int,
        issued: int = 0,
        expires: int = 0,
        signer: bytes = b"",
        signature: bytes = b"",
    ) -> None:
        self.tree = tree
        self.leaf = leaf
        self.target = target
        self.name = name
        self.compiled = compiled
        self.digest = digest
        self.segment = segment
        self.offset = offset
        self.length = length
        self.issued = issued
        self.expires = expires
        self.signer = signer
        self.signature = signature
        #: Whether this process has found that it must not be used.
        self.unusable = False

    def at(self, segment: str, offset: int) -> Row:
        """The same entry at another place. Its signature stays valid."""
        return Row(
            self.tree, self.leaf, self.target, self.name, self.compiled, self.digest, segment, offset, self.length,
            self.issued, self.expires, self.signer, self.signature,
        )  # fmt: skip


class Manifest:
    """The entries of a program. `replaced` are the manifests whose entries it includes, `sizes` those of its segments, and
    `toolchain` describes what its entries were compiled with."""

    __slots__ = ("replaced", "rows", "sizes", "toolchain")

    def __init__(
        self, toolchain: dict[str, str], replaced: Sequence[str], sizes: dict[str, int], rows: Sequence[Row]
    ) -> None:
        self.toolchain = toolchain
        self.replaced = tuple(replaced)
        self.sizes = sizes
        self.rows = rows

    def packed(self) -> bytes:
        """The content of its file."""
        numbers = {name: number for number, name in enumerate(self.sizes)}
        rows = tuple(
            (
                row.tree, row.leaf, row.target, row.name, row.compiled, row.digest, numbers[row.segment], row.offset,
                row.length, row.issued, row.expires, row.signer, row.signature,
            )
            for row in self.rows
        )  # fmt: skip
        return _compressed(
            _MANIFEST, encode_plain((tuple(self.toolchain.items()), self.replaced, tuple(self.sizes.items()), rows))
        )

    @classmethod
    def unpacked(cls, content: bytes) -> Manifest:
        """The manifest in a file; raise `Damaged` for anything else."""
        try:
            data = decode_plain(_decompressed(_MANIFEST, content, MOST_MANIFEST_BYTES))
        except MISREADINGS as error:
            raise Damaged(f"a manifest is malformed: {error}") from error
        if not matches_schema(data, _SCHEMA):
            raise Damaged("a manifest is malformed")
        toolchain, replaced, sizes, rows = data
        names = [name for name, _ in sizes]
        if not all(map(is_file_name, (*replaced, *names))) or any(row[6] >= len(names) for row in rows):
            raise Damaged("a manifest is malformed")
        made = [Row(*(*row[:6], names[row[6]], *row[7:])) for row in rows[-MOST_ROWS:]]
        if not all(is_key(row.tree) and is_key(row.leaf) and len(row.digest) == 32 for row in made):
            raise Damaged("a manifest is malformed")
        return cls(dict(toolchain), replaced, dict(sizes), made)


def packed_segment(contents: Iterable[bytes]) -> bytes:
    """Entries, one after the other, as the content of a file."""
    return _compressed(_SEGMENT, b"".join(contents))


def unpacked_segment(content: bytes, limit: int) -> bytes:
    """The entries in a file, together; raise `Damaged` if they are not of at most a size."""
    return _decompressed(_SEGMENT, content, min(limit, MOST_SEGMENT_BYTES))


def digest_of(content: bytes) -> bytes:
    """The digest of an entry, which its signature covers."""
    return blake2b(content, digest_size=32).digest()


def is_file_name(name: str) -> bool:
    """Whether a text from a store is the name of a manifest or segment, and thus safe as a part of a path."""
    time, dash, digest = name.partition("-")
    return dash == "-" and len(time) == 16 and len(digest) == 32 and set(time + digest) <= set("0123456789abcdef")


def is_key(key: str) -> bool:
    """Whether a text is a key of the cache, which becomes the name of a file."""
    return len(key) == 40 and set(key) <= set("0123456789abcdef")


def file_name(nanoseconds: int, content: bytes) -> str:
    """The name of a new manifest or segment: its time, which orders it, and its digest."""
    return f"{nanoseconds:016x}-{blake2b(content, digest_size=16).hexdigest()}"


def time_in(name: str) -> float:
    """The time in the name of a file, in seconds."""
    return int(name[:16], 16) * 1e-9


def _compressed(magic: bytes, body: bytes) -> bytes:
    return magic + len(body).to_bytes(_SIZE, "little") + zlib.compress(body, 6)


def _decompressed(magic: bytes, content: bytes, limit: int) -> bytes:
    begin = len(magic) + _SIZE
    size = int.from_bytes(content[len(magic) : begin], "little")
    if not content.startswith(magic) or len(content) < begin or size > limit:
        raise Damaged("a file of the tier is truncated, too large, or of another format")
    stream = zlib.decompressobj()
    try:
        body = stream.decompress(memoryview(content)[begin:], size + 1)
    except zlib.error as error:
        raise Damaged(f"a file of the tier is damaged: {error}") from error
    if len(body) != size or not stream.eof or stream.unused_data:
        raise Damaged("a file of the tier has another size than it says")
    return body
