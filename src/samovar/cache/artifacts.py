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
    return (
        artifact.image,
        artifact.block_size,
        tuple((dtype.name, offset) for dtype, offset in artifact.results),
        artifact.returns_tuple,
        artifact.tasks,
        artifact.slow_serial,
        tuple(map(_site_data, artifact.sites)),
        _encoded(guards.instructions),
        guards.registers,
        guards.conditions,
    )


def _decoded(instructions: tuple[tuple[Any, ...], ...] | bytes) -> tuple[tuple[Any, ...], ...]:
    """The instructions that `encode_program` has encoded: each with its size before it."""
    if not isinstance(instructions, bytes):
        return instructions
    found, start = [], 0
    while start < len(instructions):
        end = start + 4 + int.from_bytes(instructions[start : start + 4], "little")
        found.append(_native.decode_plain(instructions[start + 4 : end]))
        start = end
    return tuple(found)


def _encoded(instructions: tuple[tuple[Any, ...], ...] | bytes) -> bytes:
    return instructions if isinstance(instructions, bytes) else _native.encode_program(instructions)


def artifact_of(data: tuple[Any, ...]) -> tuple[Artifact, Guards]:
    """The artifact and the guards that plain data stands for."""
    image, block_size, results, returns_tuple, tasks, slow_serial, sites, instructions, registers, conditions = data
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


def paths_needed(guards: Guards) -> int:
    """How many paths guards speak of."""
    numbers = [number for _, number, _ in guards.conditions]
    for instruction in _decoded(guards.instructions):
        for operand in instruction:
            if operand.__class__ is tuple and operand and operand[0] is ... and operand[1] != "key":
                numbers += [part for part in operand[2:] if part.__class__ is int]
    return 1 + max(numbers, default=-1)


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
