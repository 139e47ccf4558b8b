"""Artifacts as plain data, and back."""

from __future__ import annotations

from samovar import _native
from samovar.artifact import Artifact, Fill, Guards
from samovar.lens import PathTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.artifact import Notice, Site


def artifact_data(artifact: Artifact, guards: Guards) -> tuple[Any, ...]:
    """An artifact and its guards without their paths, which the decision tree knows."""
    assert not isinstance(guards.instructions, bytes)  # what was loaded is kept already
    assert not isinstance(artifact.fills, bytes)
    return (
        artifact.image,
        artifact.block_size,
        tuple((dtype.name, offset) for dtype, offset in artifact.results),
        artifact.returns_tuple,
        artifact.tasks,
        artifact.slow_serial,
        tuple(map(_site_data, artifact.sites)),
        _native.encode_program(guards.instructions),
        guards.registers,
        packed_fills(artifact.fills),
        _notices_data(artifact, guards),
        len(guards.paths),
    )


def artifact_of(data: tuple[Any, ...]) -> tuple[Artifact, Guards]:
    """The artifact and the guards that plain data stands for."""
    image, block_size, results, returns_tuple, tasks, slow_serial, sites, instructions, registers, fills, notices, _ = data
    artifact = Artifact(
        image,
        fills,
        block_size,
        tuple([(_dtype(name), offset) for name, offset in results]),
        returns_tuple,
        tasks,
        slow_serial,
        tuple(map(_site_of, sites)),
        _notices_of(notices) if notices else (),
    )
    return artifact, Guards(instructions, registers, ())


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


def image_in(data: tuple[Any, ...]) -> bytes:
    """The image of an artifact that is plain data."""
    image: bytes = data[0]
    return image


def paths_needed(data: tuple[Any, ...]) -> int:
    """How many paths the guards of an artifact that is plain data speak of."""
    paths: int = data[-1]
    return paths


def _dtype(name: str) -> Any:
    return getattr(_native, name)


def _site_data(site: Site) -> tuple[Any, ...]:
    return (
        site.kind,
        tuple(part if isinstance(part, str) else part.parts_of() for part in site.parts),
        tuple(dtype.name for dtype in site.types),
        tuple(frame.parts_of() for frame in site.frames),
    )


def _site_of(data: tuple[Any, ...]) -> Site:
    from samovar.artifact import Frame, Hole, Site

    kind, parts, types, frames = data
    return Site(
        kind,
        tuple(part if isinstance(part, str) else Hole(*part) for part in parts),
        tuple(map(_dtype, types)),
        tuple(Frame(*frame) for frame in frames),
    )
