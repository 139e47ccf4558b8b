"""Encodes artifacts as plain data, and decodes them."""

from __future__ import annotations

from samovar import _native
from samovar._native import matches_schema, named_fields
from samovar.artifact import Artifact, Fill, Guards
from samovar.cache.entry import Damaged, sealed, unsealed
from samovar.lens import PathTable, dtype_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.artifact import Notice, Site


#: The format of each field. Optional fields, and those that are validated where they are used, are not listed.
_FIELDS = {
    "image": "Y",
    "block_size": "I",
    "fills": "Y",
    "program": "Y",
    "registers": "I",
    "tasks": "{(SFI)}",
    "slow_serial": "B",
    "sites": "{(S{A}{S}{(SSJ)}?(JJS))}",
    "notices": "{(S?I?JJ)}",
    "key": "S",
    "way": "Y",
}
_SECTIONS = {"checkpoints": "(J{(JB?I)})", "units": "{(SS)}", "stack": "I", "bytes": "{J}"}
#: The required fields.
_REQUIRED = frozenset(("image", "block_size", "fills", "program", "registers", "key", "way"))
#: Larger than any argument block.
_LARGEST_BLOCK = 1 << 26


def sealed_artifact(artifact: Artifact, guards: Guards, key: str, way: bytes, seconds: float) -> bytes:
    """Encode an artifact and its guards as named fields, without their paths, which the decision tree has. `way` is the
    digest of the path through the tree, `key` the key of the artifact.

    Empty fields are omitted.
    """
    assert not isinstance(guards.instructions, bytes)  # what was loaded is stored already
    assert not isinstance(artifact.fills, bytes)
    fields = {
        "image": artifact.image,
        "block_size": artifact.block_size,
        "fills": packed_fills(artifact.fills),
        "program": _native.encode_program(guards.instructions),
        "registers": guards.registers,
        "results": artifact.results,
        "tasks": artifact.tasks,
        "slow_serial": artifact.slow_serial,
        "sites": tuple(map(_site_data, artifact.sites)),
        "notices": _notices_data(artifact, guards),
        "sections": tuple(artifact.sections.items()),
        "key": key,
        "way": way,
    }
    return sealed((tuple((name, value) for name, value in fields.items() if value or name in _REQUIRED), seconds))


class StoredArtifact:
    """An artifact as read from a file, decoded on demand."""

    __slots__ = ("_fields", "key", "seconds", "way")

    def __init__(self, content: bytes) -> None:
        data, self.seconds = unsealed(content, "(*F)")
        fields = named_fields(data, _FIELDS)
        if fields is None:
            raise Damaged("a field of its artifact is malformed")
        if fields["block_size"] > _LARGEST_BLOCK:
            raise Damaged("its artifact requests an argument block that is too large")
        self._fields: dict[str, Any] = fields
        self.key: str = fields["key"]
        self.way: bytes = fields["way"]

    @property
    def image(self) -> bytes:
        """The code."""
        image: bytes = self._fields["image"]
        return image

    @property
    def fills(self) -> bytes:
        """How the argument block is filled, packed."""
        fills: bytes = self._fields["fills"]
        return fills

    def made(self) -> tuple[Artifact, Guards]:
        """Return the artifact and its guards. Unknown fields are ignored."""
        fields = self._fields
        field = fields.get
        sites, notices, sections = field("sites"), field("notices"), field("sections")
        artifact = Artifact(
            fields["image"],
            fields["fills"],
            fields["block_size"],
            field("results"),
            field("tasks", ()),
            field("slow_serial", False),
            tuple(map(_site_of, sites)) if sites else (),
            _notices_of(notices) if notices else (),
            _sections_of(sections) if sections else None,
        )
        return artifact, Guards(fields["program"], fields["registers"], ())


def _sections_of(data: Any) -> dict[str, Any]:
    sections = dict(data)
    for name, schema in _SECTIONS.items():
        if name in sections and not matches_schema(sections[name], schema):
            raise Damaged(f"the {name} of its artifact is malformed")
    return sections


def _notices_data(artifact: Artifact, guards: Guards) -> tuple[Any, ...]:
    """Encode notices with path numbers. Guards refer to each function, because they compare its code."""
    numbers: dict[Any, int] = {path: number for number, path in enumerate(guards.paths)}
    return tuple(
        (notice.message, numbers.get(notice.function), notice.place, notice.line) for notice in artifact.notices
    )


def _notices_of(data: tuple[Any, ...]) -> tuple[Notice, ...]:
    from samovar.artifact import Notice

    return tuple(Notice(*notice) for notice in data)


def packed_fills(fills: tuple[Fill, ...]) -> bytes:
    """Pack fills, with the rows of their paths, into bytes. They are unpacked only to create other guards for a loaded
    artifact."""
    paths = PathTable([])
    rows = tuple(
        (paths.number(fill.path), fill.offset, fill.dtype.name, fill.name, fill.is_array, fill.strided, fill.written)
        for fill in fills
    )
    return _native.encode_plain((tuple(paths.rows), rows))


def unpacked_fills(packed: bytes) -> tuple[Fill, ...]:
    """Unpack fills."""
    data = _native.decode_plain(packed)
    if not matches_schema(data, "({R}{(PISSBBB)})", len(data[0])):
        raise ValueError("not a list of fills")
    rows, fills = data
    paths = PathTable(list(rows))
    return tuple(
        Fill(paths.path(path), offset, dtype_named(dtype), name, is_array=is_array, strided=strided, written=written)
        for path, offset, dtype, name, is_array, strided, written in fills
    )


def _site_data(site: Site) -> tuple[Any, ...]:
    return (
        site.kind,
        tuple(part if isinstance(part, str) else part.parts_of() for part in site.parts),
        tuple(dtype.name for dtype in site.types),
        tuple(frame.parts_of() for frame in site.frames),
        site.columns,
    )


def _site_of(data: tuple[Any, ...]) -> Site:
    from samovar.artifact import Frame, Hole, Site

    kind, parts, types, frames, columns = data
    for part in parts:
        if not isinstance(part, str) and not (matches_schema(part, "(ISS)") and part[0] < len(types)):
            raise Damaged("a message of its artifact is malformed")
    return Site(
        kind,
        tuple(part if isinstance(part, str) else Hole(*part) for part in parts),
        tuple(map(dtype_named, types)),
        tuple(Frame(*frame) for frame in frames),
        columns,
    )
