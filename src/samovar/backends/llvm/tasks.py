"""Tasks: their bodies as functions of the captures, and the code that runs them.

Two functions per task. The body takes every array pointer as a parameter, `noalias` where that is known (a pointer loaded
from memory cannot be), and is never inlined, so that these facts stay. It takes only the used parts of captured arrays. The
task function, which the runtime calls with the frame and a range of units, loads what the body needs and calls it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from samovar._native import DType
from samovar.backends.llvm.control import region
from samovar.backends.llvm.denormals import around
from samovar.backends.llvm.functions import part_fact
from samovar.backends.llvm.indices import widened
from samovar.backends.llvm.module import AS_WRITTEN, BOOLEAN, OUTLINED, Module
from samovar.backends.llvm.source_lines import mark_lines
from samovar.backends.llvm.types import memory_type, register_type
from samovar.backends.llvm.writer import Writer, extent_range
from samovar.backends.protocol import UNIT
from samovar.ir import (
    FRAME_SLOT,
    FRAME_VALUES,
    Array,
    Captured,
    Local,
    LocalArray,
    Operation,
    Parameter,
    ScratchArray,
    Task,
    Value,
    dtype_of,
    part_offset,
    walk,
)


@dataclass(frozen=True)
class BodyParameter:
    """A parameter of the body, and where the task function finds it.

    In the argument block at `offset`, or in a slot of the frame, which the enclosing code fills with `source`.
    """

    fact: str
    name: str
    dtype: DType | None
    kind: str
    metadata: str = ""
    offset: int = -1
    source: Callable[[], str] | None = None


def _value_of(writer: Writer, local: Local, kind: str) -> str:
    return writer.define(f"load {kind}, ptr {writer.local(local)}")


class TaskWriter(Writer):
    """The body of a task. `outer` is the writer of the enclosing code."""

    def __init__(self, module: Module, task: Task, outer: Writer, offsets: dict[Value, int]) -> None:
        super().__init__(module)
        self.task = task
        self.outer = outer
        self.offsets = offsets
        self.parameters: dict[object, BodyParameter] = {}
        taken = [each.source if isinstance(each, Captured) else each for each in task.captures]
        self.may_use: set[Value | Local] = set(taken)
        # An extent is passed with its array.
        extents = [each for each in taken if isinstance(each, Operation) and each.code == "shape"]
        self.may_use.update(extent.payload[0] for extent in extents)
        self.values.update({task.first: "%first", task.last: "%last"})

    # Values from outside.

    def parameter(
        self,
        key: object,
        wanted: str,
        fact: str,
        source: Callable[[], str] | None = None,
        dtype: DType | None = None,
        offset: int = -1,
        metadata: str = "",
    ) -> str:
        """Make a value of the kernel a parameter of the body, once."""
        found = self.parameters.get(key)
        if found is None:
            kind = fact.split(" ", 1)[0]
            found = BodyParameter(fact, self.name(wanted), dtype, kind, metadata, offset, source)
            self.parameters[key] = found
        return found.name

    def _require(self, value: Value | Local) -> None:
        if value not in self.may_use:
            raise LookupError(f"the task {self.task.name!r} uses a value that it does not capture")

    def outside(self, value: Value) -> str:
        source = value.source if isinstance(value, Captured) else value
        self._require(source)
        if isinstance(source, Operation) and source.code == "shape":
            return self._shape(source)
        dtype = dtype_of(source)
        fact = register_type(dtype) + " noundef"
        if isinstance(source, Parameter):
            return self.parameter(source, source.name, fact, dtype=dtype, offset=self.offsets[source])
        return self.parameter(source, getattr(source, "name", "v"), fact, functools.partial(self.outer.value, source), dtype)

    def _shape(self, value: Operation) -> str:
        array, axis = value.payload
        dtype = dtype_of(value)
        extent = self.extent(array, axis)
        if dtype.bits < 64 and array.extents[axis] is None:
            extent = self.define_early(f"trunc nuw nsw i64 {extent} to {register_type(dtype)}", "n")
        self.values[value] = extent
        return extent

    def array_part(self, array: Array, part: str, axis: int) -> str:
        self._require(array)
        if part == "extent" and isinstance(array, ScratchArray):
            outer = functools.partial(self.outer.extent, array, axis)
            return self.parameter((array, part, axis), f"{array.name}_extent", part_fact(array, part), outer)
        if isinstance(array, (LocalArray, ScratchArray)):
            return self.parameter(array, array.name, part_fact(array, part), functools.partial(self.outer.pointer, array))
        offset = self.offsets[array] + part_offset(array, part, axis)
        key, wanted = (array, part, axis), array.name if part == "pointer" else f"{array.name}_{part}{axis}"
        return self.parameter(key, wanted, part_fact(array, part), offset=offset, metadata=extent_range(array, part))

    def outside_local(self, local: Local) -> str:
        self._require(local)
        if local.shared:
            pointer = self.parameter(local, local.name, "ptr noundef", functools.partial(self.outer.local, local))
            self.slots[local] = pointer
            return pointer
        kind = memory_type(local.type)
        name = self.parameter(local, local.name, kind + " noundef", functools.partial(_value_of, self.outer, local, kind))
        self.declare_local(local)
        self.prologue.append(f"  store {kind} {name}, ptr {self.slots[local]}")
        return self.slots[local]

    def context(self) -> str:
        return self.parameter("context", "context", "ptr noundef", self.outer.context)

    # The text.

    def render(self) -> None:
        """Write the whole body."""
        for local in self.task.locals:
            self.declare_local(local)
        region(self, self.task.body)
        self.emit("ret void")

    def definitions(self, name: str, linkage: str = "internal") -> str:
        """The body, and the task function `name`."""
        parameters = [f"{each.fact} {each.name}" for each in self.parameters.values()]
        listed = ", ".join([*parameters, "i64 noundef %first", "i64 noundef %last"])
        body = self.text(f"define internal void @{name}.body({listed}) {OUTLINED}")
        return "\n".join([body, self._task_function(name, linkage)])

    def _task_function(self, name: str, linkage: str) -> str:
        header = f"void @{name}(ptr noundef %frame, i64 noundef %first, i64 noundef %last) {AS_WRITTEN}"
        lines = [f"define {linkage} {header} {{"]
        if any(parameter.source is None for parameter in self.parameters.values()):
            lines.append("  %block = load ptr, ptr %frame")
        slots = count(FRAME_VALUES)
        arguments = []
        for position, parameter in enumerate(self.parameters.values()):
            boolean = parameter.dtype is not None and parameter.dtype.kind == "bool"
            kind = "i8" if boolean else parameter.kind
            if parameter.source is None:
                base, place = "%block", parameter.offset
            else:
                base, place = "%frame", FRAME_SLOT * next(slots)
            argument = f"%v{position}"
            lines.append(f"  %p{position} = getelementptr inbounds i8, ptr {base}, i64 {place}")
            lines.append(f"  {argument} = load {kind}, ptr %p{position}{BOOLEAN if boolean else parameter.metadata}")
            if boolean:
                lines.append(f"  %b{position} = icmp ne i8 {argument}, 0")
                argument = f"%b{position}"
            arguments.append(f"{parameter.kind} {argument}")
        arguments += ["i64 %first", "i64 %last"]
        called = around(self.module, [f"  call void @{name}.body({', '.join(arguments)})"])
        lines += [*called, "  ret void"]
        if self.marks_lines:
            mark_lines(lines, 1, self.task.line)
        return "\n".join([*lines, "}\n"])

    def frame(self) -> str:
        """In the enclosing code: fill the frame for the task function."""
        outer, parameters = self.outer, list(self.parameters.values())
        handed = [parameter for parameter in parameters if parameter.source is not None]
        frame = outer.define_early(f"alloca [{FRAME_VALUES + len(handed)} x i64]", "frame")
        if len(handed) < len(parameters):
            outer.emit(f"store ptr %block, ptr {frame}")
        for slot, parameter in enumerate(handed, FRAME_VALUES):
            assert parameter.source is not None
            name, kind = parameter.source(), parameter.kind
            if parameter.dtype is not None:
                kind, name = outer.stored(name, parameter.dtype)
            place = outer.define(f"getelementptr inbounds i8, ptr {frame}, i64 {FRAME_SLOT * slot}")
            outer.emit(f"store {kind} {name}, ptr {place}")
        return frame


def launch(writer: Writer, task: Task, name: str, offsets: dict[Value, int]) -> None:
    """Render a task: its functions, its frame and its run. `offsets` are the places of the kernel's parameters."""
    module, program = writer.module, writer.module.program
    if task.separate and program.has_units:
        unit = program.module(walk(task.body))
        body = TaskWriter(unit, task, writer, offsets)
        body.render()
        unit.definitions.append(body.definitions(UNIT, "hidden"))
        name = module.use_unit(program.add(name, unit), "declare hidden void @*(ptr, i64, i64)")
    else:
        body = TaskWriter(module, task, writer, offsets)
        name = module.function_name(name)
        body.render()
        module.definitions.append(body.definitions(name))
    units, items = (widened(writer, operand) for operand in task.operands)
    frame = body.frame()
    failed = writer.runtime("sv_run", str(task.number), f"@{name}", frame, units, items)
    writer.leave_if(writer.define(f"icmp ne i32 {failed}, 0"))
