"""Artifacts as plain data, and back."""

from __future__ import annotations

from samovar import _native
from samovar.artifact import Artifact, Guards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.sites import Site


def artifact_data(artifact: Artifact, guards: Guards) -> tuple[Any, ...]:
    """An artifact and its guards without their paths, which the decision tree knows."""
    assert not isinstance(guards.instructions, bytes)  # what was loaded is kept already
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
        guards.conditions,
        len(guards.paths),
    )


def artifact_of(data: tuple[Any, ...]) -> tuple[Artifact, Guards]:
    """The artifact and the guards that plain data stands for."""
    image, block_size, results, returns_tuple, tasks, slow_serial, sites, instructions, registers, conditions, _ = data
    artifact = Artifact(
        image,
        (),
        block_size,
        tuple([(_dtype(name), offset) for name, offset in results]),
        returns_tuple,
        tasks,
        slow_serial,
        tuple(map(_site_of, sites)),
    )
    return artifact, Guards(instructions, registers, conditions, ())


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
    from samovar.sites import Frame, Hole, Site

    kind, parts, types, frames = data
    return Site(
        kind,
        tuple(part if isinstance(part, str) else Hole(*part) for part in parts),
        tuple(map(_dtype, types)),
        tuple(Frame(*frame) for frame in frames),
    )
