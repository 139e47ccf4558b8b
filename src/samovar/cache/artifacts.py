"""Artifacts as plain data, and back."""

from __future__ import annotations

from samovar import _native
from samovar.artifact import Artifact, Fill, Guards
from samovar.lens import PathTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.artifact import Notice, Site


def artifact_data(artifact: Artifact, guards: Guards) -> tuple[tuple[str, Any], ...]:
    """An artifact and its guards as named fields, without their paths, which the decision tree knows.

    Fields that are empty are left out.
    """
    assert not isinstance(guards.instructions, bytes)  # what was loaded is kept already
    assert not isinstance(artifact.fills, bytes)
    fields = {
        "image": artifact.image,
        "block_size": artifact.block_size,
        "fills": packed_fills(artifact.fills),
        "program": _native.encode_program(guards.instructions),
        "registers": guards.registers,
        "paths": len(guards.paths),
        "results": artifact.results,
        "tasks": artifact.tasks,
        "slow_serial": artifact.slow_serial,
        "sites": tuple(map(_site_data, artifact.sites)),
        "notices": _notices_data(artifact, guards),
        "sections": tuple(artifact.sections.items()),
    }
    return tuple((name, value) for name, value in fields.items() if value or name in _REQUIRED)


#: Without these, it is no artifact.
_REQUIRED = frozenset(("image", "block_size", "fills", "program", "registers", "paths"))


def artifact_of(data: tuple[tuple[str, Any], ...]) -> tuple[Artifact, Guards]:
    """The artifact and the guards that plain data stands for. Fields that are not known here are passed over."""
    fields = dict(data)
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
        dict(sections) if sections else None,
    )
    return artifact, Guards(fields["program"], fields["registers"], ())


def _notices_data(artifact: Artifact, guards: Guards) -> tuple[Any, ...]:
    """Notices with numbers of paths: the guards speak of each function, because they compare its code."""
    numbers: dict[Any, int] = {path: number for number, path in enumerate(guards.paths)}
    return tuple(
        (notice.message, numbers.get(notice.function), notice.place, notice.line) for notice in artifact.notices
    )


def _notices_of(data: tuple[Any, ...]) -> tuple[Notice, ...]:
    from samovar.artifact import Notice

    return tuple(Notice(*notice) for notice in data)


def packed_fills(fills: tuple[Fill, ...]) -> bytes:
    """Fills as bytes, with the rows of their paths: only who makes other guards for a loaded artifact takes them apart."""
    paths = PathTable([])
    rows = tuple(
        (paths.number(fill.path), fill.offset, fill.dtype.name, fill.name, fill.is_array, fill.strided, fill.written)
        for fill in fills
    )
    return _native.encode_plain((tuple(paths.rows), rows))


def unpacked_fills(packed: bytes) -> tuple[Fill, ...]:
    """The fills that bytes stand for."""
    rows, fills = _native.decode_plain(packed)
    paths = PathTable(list(rows))
    return tuple(
        Fill(paths.path(path), offset, _dtype(dtype), name, is_array=is_array, strided=strided, written=written)
        for path, offset, dtype, name, is_array, strided, written in fills
    )


def image_in(data: tuple[tuple[str, Any], ...]) -> bytes:
    """The image of an artifact that is plain data."""
    image: bytes = dict(data)["image"]
    return image


def paths_needed(data: tuple[tuple[str, Any], ...]) -> int:
    """How many paths the guards of an artifact that is plain data speak of."""
    paths: int = dict(data)["paths"]
    return paths


def _dtype(name: str) -> Any:
    return getattr(_native, name)


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
    return Site(
        kind,
        tuple(part if isinstance(part, str) else Hole(*part) for part in parts),
        tuple(map(_dtype, types)),
        tuple(Frame(*frame) for frame in frames),
        columns,
    )
