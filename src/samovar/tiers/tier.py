"""One tier, as this process sees it: the manifests of a program, segments in memory, and what was counted.

Everything that waits for the network is in `refresh` and `fetch`; the rest works on what is in memory. A tier that failed
once is not asked again by this process.
"""

from __future__ import annotations

from time import monotonic, perf_counter, time
from typing import TYPE_CHECKING

from samovar.cache import MISREADINGS, Damaged, base_parts, opened_leaf
from samovar.tiers.addresses import without_secrets
from samovar.tiers.figures import TierFigures
from samovar.tiers.manifest import (
    LAYOUT,
    Manifest,
    Row,
    digest_of,
    is_file_name,
    unpacked_segment,
)
from samovar.tiers.transports import transport_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from samovar.cache import StoredLeaf
    from samovar.tiers.signing_keys import Trust
    from samovar.tiers.transports import Transport

    Result = TypeVar("Result")

#: How many entries of one tree are tried, and how many concurrent manifests are read: whoever can write to the store can
#: add any number.
_MOST_TRIED = 64
_MOST_MANIFESTS = 16
#: How many bytes of segments stay in memory.
_MOST_KEPT = 64 << 20
#: How often a miss makes a running process look for new manifests.
RELIST_SECONDS = 60.0


class Tier:
    """The entries of one program in a tier. `folder` is relative to the address."""

    def __init__(self, address: str, program: str, toolchain: dict[str, str], trust: Trust, seconds: float) -> None:
        from samovar._native import plain_digest

        self.url = address
        #: For messages and figures.
        self.address = without_secrets(address)
        self._seconds = seconds
        self._transport: Transport | None = None
        self.program = program
        self.toolchain = toolchain
        self.trust = trust
        #: The toolchain is part of the path: other versions have other manifests.
        self.folder = f"{LAYOUT}/{program}/{plain_digest(tuple(toolchain.items()))[:16]}"
        self.figures = TierFigures()
        self.failure = ""
        self.manifests: dict[str, Manifest] = {}
        self._by_tree: dict[str, list[Row]] = {}
        self._listed = float("-inf")
        self._segments: dict[str, bytes] = {}
        #: Whether a segment was gone: the manifests are outdated.
        self.is_outdated = False

    # --- what waits for the network

    @property
    def transport(self) -> Transport:
        """The transport, whose libraries are imported when it is first used."""
        if self._transport is None:
            self._transport = transport_to(self.url, self._seconds)
        return self._transport

    def request(self, run: Callable[[], Result]) -> Result:
        """Make a request, and count it."""
        begun = perf_counter()
        try:
            return run()
        finally:
            self.figures.requests += 1
            self.figures.seconds += perf_counter() - begun

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, or None."""
        content = self.request(lambda: self.transport.read(f"{self.folder}/{path}"))
        self.figures.received += len(content or b"")
        return content

    def refresh(self) -> None:
        """Read the manifests that this process does not know, newest first, without those that others include."""
        names = self.request(lambda: self.transport.names(f"{self.folder}/manifests"))
        included: set[str] = set()
        current: dict[str, Manifest] = {}
        for name in sorted(filter(is_file_name, names), reverse=True):
            if name in included:
                continue
            if len(current) == _MOST_MANIFESTS:
                break
            manifest = self.manifests.get(name) or self._read_manifest(name)
            if manifest is not None:
                current[name] = manifest
                included.update(manifest.replaced)
        self.manifests = {name: each for name, each in current.items() if name not in included}
        by_tree: dict[str, list[Row]] = {}
        for manifest in self.manifests.values():
            for row in manifest.rows:
                by_tree.setdefault(row.tree, []).append(row)
        self._by_tree = by_tree
        self._listed, self.is_outdated = monotonic(), False

    def _read_manifest(self, name: str) -> Manifest | None:
        content = self.read(f"manifests/{name}")
        try:
            manifest = None if content is None else Manifest.unpacked(content)
        except Damaged:
            manifest = None
            self.figures.reject("damaged")
        if manifest is not None and manifest.toolchain != self.toolchain:
            self.figures.reject("damaged")
            return None
        return manifest

    def is_current(self, seconds: float = RELIST_SECONDS) -> bool:
        """Whether the manifests were read a short time ago."""
        return monotonic() - self._listed < seconds

    def fetch(self, rows: Iterable[Row]) -> None:
        """Read the segments of some entries into memory."""
        for name in dict.fromkeys(row.segment for row in rows):
            if name in self._segments:
                continue
            content = self.read(f"segments/{name}")
            size = max((manifest.sizes.get(name, 0) for manifest in self.manifests.values()), default=0)
            try:
                if content is None:
                    self.is_outdated = True
                self._segments[name] = b"" if content is None else unpacked_segment(content, size)
            except Damaged:
                self._segments[name] = b""
                self.figures.reject("damaged")
            while sum(map(len, self._segments.values())) > _MOST_KEPT and len(self._segments) > 1:
                self._segments.pop(next(iter(self._segments)))

    # --- what is in memory

    def rows(self, tree: str, known: Iterable[str] = ()) -> list[Row]:
        """Return the entries listed for a tree, without leaves that are known. Their signatures are not verified."""
        if tree not in self._by_tree:
            return []
        without = frozenset(known)
        return [row for row in self._by_tree[tree] if row.leaf not in without and not row.unusable][:_MOST_TRIED]

    def all_rows(self) -> list[Row]:
        """Return every entry of the program, each once."""
        found = {
            (row.tree, row.leaf, row.digest, row.signer): row
            for manifest in self.manifests.values()
            for row in manifest.rows
        }
        return list(found.values())

    def lacks(self, rows: Iterable[Row]) -> bool:
        """Whether a segment of some entries is not in memory."""
        return any(row.segment not in self._segments for row in rows)

    def size_of(self, segment: str) -> int:
        """Return the size of a segment that is in memory, else 0."""
        return len(self._segments.get(segment, b""))

    def content(self, row: Row) -> bytes | None:
        """Return the content of an entry whose segment is in memory, if it is what the manifest lists."""
        segment = self._segments.get(row.segment, b"")
        content = segment[row.offset : row.offset + row.length]
        if len(content) != row.length or digest_of(content) != row.digest:
            return None
        return content

    def leaf(self, row: Row) -> StoredLeaf | None:
        """Return an entry with a valid signature whose segment is in memory; count why another is not used."""
        if not self._segments.get(row.segment):
            return None  # it is missing or damaged, which was counted
        objection = self.trust.objection(row)
        if objection is not None:
            row.unusable = True
            self.figures.reject(objection)
            return None
        content = self.content(row)
        try:
            found = None if content is None else opened_leaf(row.tree, content)
        except MISREADINGS:
            found = None
        if found is None or found.key != row.leaf:
            row.unusable = True
            self.figures.reject("damaged")
            return None
        return found


def tier_at(address: str, program: str, trust: Trust, seconds: float) -> Tier:
    """A tier for the program and toolchain of this process; nothing is read yet."""
    return Tier(address, program, base_parts(), trust, seconds)


def programs_at(address: str, seconds: float) -> list[str]:
    """The programs that a tier has something for."""
    return sorted(transport_to(address, seconds).names(LAYOUT))


def now() -> int:
    """The time of issue of new signatures."""
    return int(time())
