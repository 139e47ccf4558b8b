"""Publishing to a tier: new entries go into new segments, then a new manifest lists them with all that was there.

Nothing is overwritten. Two publishers at once leave two manifests: readers use both, and the next publisher, or garbage
collection, merges them. If publishing is interrupted, repeating it uploads only what is missing.
"""

from __future__ import annotations

from functools import partial
from time import time, time_ns
from typing import TYPE_CHECKING

from samovar.cache import Damaged, leaf_entries, opened_leaf
from samovar.tiers.manifest import (
    MOST_ROWS,
    USUAL_SEGMENT_BYTES,
    Manifest,
    Row,
    digest_of,
    file_name,
    is_file_name,
    packed_segment,
    time_in,
)
from samovar.tiers.signing_keys import UNKNOWN_KEY, message_of
from samovar.tiers.tier import Tier, now
from samovar.tiers.transports import INDEX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from samovar.cache import Library
    from samovar.tiers.signing_keys import Signer

#: How long signatures are valid.
VALID_SECONDS = 365 * 86400
#: Files that nothing refers to are kept for so long: another process may be reading or publishing.
GRACE_SECONDS = 3600.0


class Published:
    """What was published, and what the tier had already."""

    __slots__ = ("known", "new", "sent")

    def __init__(self, new: int, known: int, sent: int) -> None:
        self.new = new
        self.known = known
        self.sent = sent


class NewEntry:
    """An entry to be published."""

    __slots__ = ("content", "row")

    def __init__(self, tree: str, leaf: str, target: str, name: str, compiled: float, content: bytes) -> None:
        self.content = content
        self.row = Row(tree, leaf, target, name, compiled, digest_of(content), "", 0, len(content))


def entries_of(library: Library, trees: Iterable[str], wanted: Callable[[str, str], bool]) -> list[NewEntry]:
    """Return the leaves of some trees in a store for which `wanted` says so, given the name of the kernel and the key."""
    found = []
    for tree in trees:
        for leaf, (record, content) in leaf_entries(library, tree).items():
            if wanted(record.name, leaf):
                target = record.salt.get("cpu", "")
                found.append(NewEntry(tree, leaf, target, record.name, record.compiled, content))
    return found


def publish_offered(tier: Tier, offered: Sequence[tuple[Library, str, str]], signer: Signer) -> Published:
    """Publish leaves of libraries."""
    wanted = {leaf for _, _, leaf in offered}
    entries: list[NewEntry] = []
    for library in {id(library): library for library, _, _ in offered}.values():
        trees = dict.fromkeys(tree for each, tree, _ in offered if each is library)
        entries += entries_of(library, trees, lambda _, leaf: leaf in wanted)
    return publish(tier, entries, signer)


def publish(tier: Tier, entries: Sequence[NewEntry], signer: Signer, valid: float = VALID_SECONDS) -> Published:
    """Sign entries and add those that the tier does not have with a valid signature."""
    tier.refresh()
    usable, others = sorted_rows(tier)
    known = {(row.tree, row.leaf) for row in usable}
    new = [entry for entry in entries if (entry.row.tree, entry.row.leaf) not in known]
    if new:
        rows = signed([entry.row for entry in new], signer, valid)
        added = [(row, entry.content) for row, entry in zip(rows, new, strict=True)]
        write_manifest(tier, others + usable, added)
    return Published(len(new), len(entries) - len(new), tier.figures.sent)


def sorted_rows(tier: Tier) -> tuple[list[Row], list[Row]]:
    """Return the entries of a tier with valid signatures by trusted keys, and those by keys that are unknown here, which
    other processes may trust. The rest is of no use to anybody."""
    judged = [(row, tier.trust.objection(row)) for row in sorted(tier.all_rows(), key=lambda row: row.compiled)]
    # Machines that compiled the same kernel have the same leaf, with another time of compilation.
    usable = {(row.tree, row.leaf): row for row, reason in judged if reason is None}
    return list(usable.values()), [row for row, reason in judged if reason == UNKNOWN_KEY]


def signed(rows: Sequence[Row], signer: Signer, valid: float) -> list[Row]:
    """Return entries with new signatures."""
    issued = now()
    made = []
    for row in rows:
        copy = row.at(row.segment, row.offset)
        copy.issued, copy.expires, copy.signer = issued, issued + int(valid), signer.public
        made.append(copy)
    for row, signature in zip(made, signer.sign([message_of(row) for row in made]), strict=True):
        row.signature = signature
    return made


def _write(tier: Tier, path: str, content: bytes) -> None:
    tier.request(lambda: tier.transport.write(f"{tier.folder}/{path}", content))
    tier.figures.sent += len(content)


def _write_segments(tier: Tier, entries: Iterable[tuple[Row, bytes]]) -> list[Row]:
    """Write entries into segments of about the usual size. Return their rows. A segment that an interrupted run has left is
    not uploaded again."""
    there = {name[17:]: name for name in tier.request(lambda: tier.transport.names(f"{tier.folder}/segments"))}
    placed: list[Row] = []
    pending: list[tuple[Row, bytes]] = []

    def flush() -> None:
        content = packed_segment(each for _, each in pending)
        name = file_name(time_ns(), content)
        found = there.get(name[17:])
        if found is None or not is_file_name(found):
            _write(tier, f"segments/{name}", content)
            found = name
        offset = 0
        for row, each in pending:
            placed.append(row.at(found, offset))
            offset += len(each)
        pending.clear()

    size = 0
    for row, content in sorted(entries, key=lambda entry: (entry[0].tree, entry[0].leaf)):
        if pending and (size + len(content) > USUAL_SEGMENT_BYTES or _begins_segment(row, size)):
            flush()
            size = 0
        pending.append((row, content))
        size += len(content)
    if pending:
        flush()
    return placed


def _begins_segment(row: Row, size: int) -> bool:
    """Whether an entry begins a segment although the one before is not full. This depends on its key: so a few new entries
    change few segments, and when publishing is interrupted and repeated, the others are uploaded only once."""
    return size > USUAL_SEGMENT_BYTES // 2 and int(row.leaf[:8], 16) % 16 == 0


def write_manifest(tier: Tier, rows: Sequence[Row], added: Sequence[tuple[Row, bytes]] = ()) -> None:
    """Publish new entries, and a manifest with these and those of `rows`, which replaces all that were read. If there are
    too many, the first are left out."""
    rows = _with_segments(tier, rows, added)[-MOST_ROWS:]
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row.segment] = max(sizes.get(row.segment, 0), row.offset + row.length)
    for manifest in tier.manifests.values():  # a segment is also read for entries that are not listed any more
        for name, size in manifest.sizes.items():
            if name in sizes:
                sizes[name] = max(sizes[name], size)
    content = Manifest(tier.toolchain, sorted(_listed(tier)), sizes, rows).packed()
    _write(tier, f"manifests/{file_name(_later_than(tier), content)}", content)
    _write_index(tier)


def _write_index(tier: Tier) -> None:
    """List the manifests for servers that cannot. It is the only file that is replaced."""
    names = tier.request(lambda: tier.transport.names(f"{tier.folder}/manifests"))
    _write(tier, f"manifests/{INDEX}", "\n".join(sorted(filter(is_file_name, names))).encode())


def _listed(tier: Tier) -> set[str]:
    """The manifests that were read, with those that they include."""
    return set(tier.manifests).union(*(manifest.replaced for manifest in tier.manifests.values()))


def _later_than(tier: Tier) -> int:
    """A time for a new manifest, later than those of the known ones, whatever the clocks of their publishers say."""
    return max(time_ns(), *(int(name[:16], 16) + 1 for name in tier.manifests), 0) if tier.manifests else time_ns()


def _with_segments(tier: Tier, rows: Sequence[Row], added: Sequence[tuple[Row, bytes]]) -> list[Row]:
    """Write new entries into segments, together with those of small segments: a worker reads few files."""
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row.segment] = sizes.get(row.segment, 0) + row.length
    small = {name for name, size in sizes.items() if size < USUAL_SEGMENT_BYTES // 4}
    if len(small) + bool(added) < 2:
        small = set()
    moved = contents(tier, [row for row in rows if row.segment in small])
    if tier.is_outdated:
        raise OSError("a segment was removed while its entries were read: try again")
    return [row for row in rows if row.segment not in small] + _write_segments(tier, [*moved, *added])


def contents(tier: Tier, rows: Sequence[Row]) -> list[tuple[Row, bytes]]:
    """Read entries. Those that are damaged are left out."""
    found = []
    tier.fetch(rows)
    for row in rows:
        if tier.lacks([row]):
            tier.fetch([row])
        content = tier.content(row)
        if content is not None:
            found.append((row, content))
    return found


# --- maintenance


def sign_again(tier: Tier, signer: Signer, valid: float = VALID_SECONDS) -> int:
    """Sign all usable entries with another key, or for another time. Return their number."""
    tier.refresh()
    rows = []
    usable, others = sorted_rows(tier)
    for row, content in contents(tier, usable):
        try:
            opened_leaf(row.tree, content)
        except Damaged:
            continue
        rows.append(row)
    if rows:
        write_manifest(tier, others + signed(rows, signer, valid))
    return len(rows)


class Collected:
    """What garbage collection removed."""

    __slots__ = ("entries", "files")

    def __init__(self, entries: int, files: int) -> None:
        self.entries = entries
        self.files = files


def collect_garbage(
    tier: Tier, *, older_than: float | None = None, unknown: bool = False, grace: float = GRACE_SECONDS
) -> Collected:
    """Remove entries that nobody can use (unsigned, expired, revoked, forged) or that were compiled long ago, and files that
    nothing refers to. `unknown` removes the entries of unknown signers as well."""
    tier.refresh()
    listed = tier.all_rows()
    usable, others = sorted_rows(tier)
    kept = usable if unknown else others + usable
    if older_than is not None:
        kept = [row for row in kept if row.compiled >= time() - older_than]
    if len(kept) != len(listed) or len(tier.manifests) > 1:
        write_manifest(tier, kept)
        tier.refresh()
    used = {row.segment for manifest in tier.manifests.values() for row in manifest.rows}
    files = _remove(tier, "manifests", set(tier.manifests), grace) + _remove(tier, "segments", used, grace)
    if files:
        _write_index(tier)
    return Collected(len(listed) - len(kept), files)


def _remove(tier: Tier, folder: str, needed: set[str], grace: float) -> int:
    """Remove old files that are not needed, and return their number."""
    names = tier.request(lambda: tier.transport.names(f"{tier.folder}/{folder}"))
    unneeded = [name for name in filter(is_file_name, names) if name not in needed and time_in(name) < time() - grace]
    for path in (f"{tier.folder}/{folder}/{name}" for name in unneeded):
        tier.request(partial(tier.transport.remove, path))
    return len(unneeded)
