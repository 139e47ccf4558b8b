"""What a launch needs to know about a kernel besides its code: the contents of the argument block, and its results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from samovar.artifact import Fill
from samovar.frontend import Lowered
from samovar.ir import (
    COST_UNKNOWN,
    SECTIONS,
    SERIAL,
    Array,
    ComplexResult,
    Kernel,
    Layout,
    MatrixResult,
    ResultShape,
    StructResult,
    outlined,
    sections,
)
from samovar.language import complex_type
from samovar.lens import Path


def fills(kernel: Kernel, layout: Layout) -> Iterator[Fill]:
    """The contents of the argument block, in the order of the kernel's parameters."""
    for parameter in kernel.parameters:
        is_array = isinstance(parameter, Array)
        dtype = parameter.dtype if isinstance(parameter, Array) else parameter.type
        assert dtype is not None
        if parameter.source is None:
            continue  # it has no argument
        yield Fill(
            parameter.source,
            layout.parameters[parameter],
            dtype,
            parameter.name,
            is_array=is_array,
            strided=isinstance(parameter, Array) and parameter.brings_strides,
            written=isinstance(parameter, Array) and parameter.written,
        )


def tasks_of(kernel: Kernel) -> Iterator[tuple[str, float, int]]:
    """The description of tasks, and of parallel sections, for the runtime, in the order of their numbers."""
    for task in outlined(kernel):
        yield kernel.task_name(task), task.cost, task.flags
    for each in sections(kernel):
        yield f"{kernel.name}.sections", each.cost, COST_UNKNOWN | SECTIONS | (SERIAL if each.race_checked else 0)


def traffic(kernel: Kernel) -> dict[str, Any]:
    """The data for profiles in an artifact: the bytes that an iteration of each task moves, -1 if unknown."""
    known = tuple(task.traffic for task in outlined(kernel))
    return {"bytes": known} if any(moved > 0 for moved in known) else {}


def derivative_section(lowered: Lowered) -> dict[str, Any]:
    """The derivative section of an artifact, for tapes."""
    return {"derivative": lowered.derivative} if lowered.derivative else {}


def label_paths(lowered: Lowered) -> tuple[Path, ...]:
    """The paths of the enum members that label checkpoints, in the order of their numbers."""
    return tuple(label.path for label in lowered.labels if label.path is not None)


def graph_sections(lowered: Lowered, layout: Layout) -> dict[str, Any]:
    """The graph in an artifact: its nodes. With checkpoints: the slot for the number of the one to resume at, and for each
    its label, whether an enum member stands for it, and the position of that in the result of its path."""
    kernel = lowered.kernel
    if not lowered.is_graph:
        return {}
    drawn = {"graph": lowered.nodes}
    if kernel.result_shape != "status":
        return drawn
    offset = -1 if kernel.resume is None else layout.parameters.get(kernel.resume, -1)
    labels = tuple((label.value, label.path is not None, label.position) for label in lowered.labels)
    return {**drawn, "checkpoints": (offset, labels)}


def result_of(kernel: Kernel, layout: Layout, shape: ResultShape) -> tuple[Any, ...] | None:
    """The result of a launch, as stored in an artifact: its structure with the place of each value in the block."""
    if shape is None:
        return None
    if isinstance(shape, str):
        return (shape, layout.results[0])
    if isinstance(shape, int):
        return ("scalar", kernel.returns[shape].name, layout.results[shape])
    if isinstance(shape, ComplexResult):
        return ("complex", complex_type(kernel.returns[shape.real]).name, layout.results[shape.real])
    if isinstance(shape, MatrixResult):
        first = shape.numbers[0]
        return ("matrix", shape.shape, kernel.returns[first].name, layout.results[first])
    if isinstance(shape, StructResult):
        return ("struct", shape.key, tuple(result_of(kernel, layout, member) for member in shape.members))
    return ("tuple", tuple(result_of(kernel, layout, part) for part in shape))
