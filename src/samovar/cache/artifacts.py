"""Artifacts as plain data, and back."""

from __future__ import annotations

from samovar import _native
from samovar.artifact import Artifact, Fill
from samovar.sites import Frame, Hole, Site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from samovar.lens.path import Path


def artifact_data(artifact: Artifact) -> tuple[Any, ...]:
    """An artifact without the paths of its arguments, which the decision tree knows."""
    return (
        artifact.image,
        tuple((f.offset, f.dtype.name, f.name, f.is_array, f.strided, f.written) for f in artifact.fills),
        artifact.block_size,
        tuple((dtype.name, offset) for dtype, offset in artifact.results),
        artifact.returns_tuple,
        artifact.tasks,
        artifact.slow_serial,
        tuple(map(_site_data, artifact.sites)),
    )


def artifact_of(data: tuple[Any, ...], paths: Sequence[Path]) -> Artifact:
    """The artifact that plain data stands for, with the paths of its arguments."""
    image, fills, block_size, results, returns_tuple, tasks, slow_serial, sites = data
    return Artifact(
        image,
        tuple(
            Fill(path, offset, _dtype(dtype), name, is_array=is_array, strided=strided, written=written)
            for path, (offset, dtype, name, is_array, strided, written) in zip(paths, fills, strict=True)
        ),
        block_size,
        tuple((_dtype(name), offset) for name, offset in results),
        returns_tuple,
        tasks,
        slow_serial,
        tuple(map(_site_of, sites)),
    )


def image_in(data: tuple[Any, ...]) -> bytes:
    """The image of an artifact that is plain data."""
    image: bytes = data[0]
    return image


def argument_count(data: tuple[Any, ...]) -> int:
    """How many paths `artifact_of` wants to know."""
    return len(data[1])


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
    kind, parts, types, frames = data
    return Site(
        kind,
        tuple(part if isinstance(part, str) else Hole(*part) for part in parts),
        tuple(map(_dtype, types)),
        tuple(Frame(*frame) for frame in frames),
    )
