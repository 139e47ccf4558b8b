"""What a launch needs to know of a kernel beside its code: what goes into the argument block, and what comes out of it."""

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
    Kernel,
    Layout,
    MatrixForm,
    ResultForm,
    StructForm,
    outlined,
    sections,
)
from samovar.lens import Path


def fills(kernel: Kernel, layout: Layout) -> Iterator[Fill]:
    """What goes into the argument block, in the order of the kernel's parameters."""
    for parameter in kernel.parameters:
        is_array = isinstance(parameter, Array)
        dtype = parameter.dtype if isinstance(parameter, Array) else parameter.type
        assert dtype is not None
        if parameter.source is None:
            continue  # nobody gives it
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
    """What the runtime is told of tasks, and of sections that run side by side, in the order of their numbers."""
    for task in outlined(kernel):
        yield kernel.task_name(task), task.cost, task.flags
    for each in sections(kernel):
        yield f"{kernel.name}.sections", each.cost, COST_UNKNOWN | SECTIONS | (SERIAL if each.watched else 0)


def traffic(kernel: Kernel) -> dict[str, Any]:
    """What an artifact keeps for profiles: the bytes that an iteration of each task moves, -1 where they are not known."""
    known = tuple(task.traffic for task in outlined(kernel))
    return {"bytes": known} if any(moved > 0 for moved in known) else {}


def label_paths(lowered: Lowered) -> tuple[Path, ...]:
    """Where a launch finds the enum members that checkpoints are called by, in the order of their numbers."""
    return tuple(label.path for label in lowered.labels if label.path is not None)


def graph_sections(lowered: Lowered, layout: Layout) -> dict[str, Any]:
    """What an artifact keeps of a graph: its nodes. With checkpoints: where the number of the one to begin at is in the
    block, and of each its label, whether an enum member stands for it, and where that is in what its path leads to."""
    kernel = lowered.kernel
    if not lowered.is_graph:
        return {}
    drawn = {"graph": lowered.nodes}
    if kernel.result_form != "status":
        return drawn
    offset = -1 if kernel.resume is None else layout.parameters.get(kernel.resume, -1)
    labels = tuple((label.value, label.path is not None, label.position) for label in lowered.labels)
    return {**drawn, "checkpoints": (offset, labels)}


def result_of(kernel: Kernel, layout: Layout, form: ResultForm) -> tuple[Any, ...] | None:
    """What a launch returns, as an artifact has it: a form with the place of each value in the block."""
    if form is None:
        return None
    if isinstance(form, str):
        return (form, layout.results[0])
    if isinstance(form, int):
        return ("scalar", kernel.returns[form].name, layout.results[form])
    if isinstance(form, MatrixForm):
        first = form.numbers[0]
        return ("matrix", form.shape, kernel.returns[first].name, layout.results[first])
    if isinstance(form, StructForm):
        return ("struct", form.key, tuple(result_of(kernel, layout, member) for member in form.members))
    return ("tuple", tuple(result_of(kernel, layout, part) for part in form))
