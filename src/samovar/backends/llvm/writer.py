"""The text of one LLVM function under construction: lines, blocks, names, and where values and arrays are found.

Subclasses say how a value that the function does not compute itself is reached (a parameter, a slot of the argument block,
a captured value) and how the function is left.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from samovar._native import DType
from samovar.backends.llvm.module import Module
from samovar.backends.llvm.types import literal, local_type, memory_type, register_type
from samovar.ir import (
    Array,
    Constant,
    Hints,
    Local,
    LocalArray,
    LoopVariable,
    Operation,
    Sections,
    Task,
    Value,
)

_UNSAFE = re.compile(r"[^A-Za-z0-9_]")


#: LLVM takes twice as long with each condition to see whether a loop can run in vectors: with 25 of them, a minute.
MOST_BRANCHES = 15


_POINTER = (("pointer", 0),)


class Loop:
    """A loop over a counter whose body is being written."""

    __slots__ = ("advance", "branches", "counter", "exit", "header", "latch")

    def __init__(self, name: str, advance: str, branches: int) -> None:
        self.header = f"{name}.head"
        self.latch = f"{name}.latch"
        self.exit = f"{name}.end"
        self.counter = f"%{name}"
        self.advance = advance
        self.branches = branches  # that the function had before


class Writer(ABC):
    """A function's text. `values` maps what is computed to its name; `block` is the label of the open block."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.flags = module.flags
        self.lines: list[str] = ["start:"]
        self.prologue: list[str] = []
        self.cold: list[str] = []
        self.values: dict[Value, str] = {}
        #: Loop variables as 64-bit counters, the innermost loop last.
        self.counters: dict[Value, str] = {}
        self.slots: dict[Local, str] = {}
        self.parts: dict[tuple[Array, str, int], str] = {}
        #: Where the tables are that called functions find arrays in (see `samovar.backends.llvm.array_tables`).
        self.filled_tables: dict[tuple[object, ...], str] = {}
        self.exits: list[tuple[str, str]] = []
        self.branches = 0  # on conditions, so far
        self.budget: tuple[str, str] | None = None  # see `samovar.backends.llvm.polling`
        self.runs_once = False  # the code is not that of many iterations
        self.independent = ""  # a mark of accesses of which those of different iterations do not meet
        self.block = "start"
        self.terminated = False
        self.carried = 0
        self._count = 0

    # Where things are.

    @abstractmethod
    def outside(self, value: Value) -> str:
        """A value that this function did not compute."""

    @abstractmethod
    def array_part(self, array: Array, part: str, axis: int) -> str:
        """The `pointer`, an `extent` or a `stride` of an array, as an LLVM value."""

    @abstractmethod
    def context(self) -> str:
        """The pointer to the launch's context."""

    @abstractmethod
    def leave(self) -> str:
        """The instruction that leaves the function after a failure."""

    @abstractmethod
    def give(self, operation: Operation) -> None:
        """Render `return`."""

    def outside_local(self, local: Local) -> str:
        """The address of a local that this function does not declare."""
        raise LookupError(f"the local {local.name!r} is not declared")

    def launch(self, task: Task) -> None:
        """Render a task."""
        raise AssertionError(f"the task {task.name!r} is not at the top of a kernel")

    def sections(self, sections: Sections) -> None:
        """Render sections side by side."""
        raise AssertionError("sections are not at the top of a kernel")

    def access_of(self, array: Array) -> str:
        """What LLVM is told of an access to an array. Local memory is the same for all iterations."""
        return "" if isinstance(array, LocalArray) else self.independent

    def value(self, value: Value, width: int = 0) -> str:
        """The name (or the literal) of a value; as a vector, if it is to have a width and has none."""
        name = self.values.get(value)
        if name is None:
            if isinstance(value, Constant):
                assert value.type is not None
                return self.constant(value.value, value.type, width)
            name = self.outside(value)
        return self.broadcast(register_type(dtype_of(value)), name, width) if width and not value.width else name

    def operands(self, operation: Operation) -> list[str]:
        """All operands of an operation, as wide as it is."""
        return [self.value(operand, operation.width) for operand in operation.operands]

    def hold(self, name: str, dtype: DType) -> Value:
        """A register as a value of its own."""
        held = Value(dtype)
        self.values[held] = name
        return held

    def broadcast(self, kind: str, name: str, width: int) -> str:
        """A register of one value as one of every lane."""
        vector = f"<{width} x {kind}>"
        first = self.define(f"insertelement {vector} poison, {kind} {name}, i64 0")
        return self.define(f"shufflevector {vector} {first}, {vector} poison, <{width} x i32> zeroinitializer")

    def constant(self, value: bool | int | float, dtype: DType, width: int = 0) -> str:
        """A number as a register."""
        written = literal(value, dtype)
        return f"splat ({register_type(dtype)} {written})" if width else written

    def local(self, local: Local) -> str:
        """The address of a local."""
        return self.slots.get(local) or self.outside_local(local)

    def pointer(self, array: Array) -> str:
        return self._part(array, "pointer", 0)

    def extent(self, array: Array, axis: int) -> str:
        """The length of an axis, i64."""
        known = array.extents[axis]
        return self._part(array, "extent", axis) if known is None else str(known)

    def stride(self, array: Array, axis: int) -> str:
        """The stride of an axis in elements, i64; of arrays that are not contiguous."""
        return self._part(array, "stride", axis)

    def part(self, array: Array, part: str, axis: int) -> str:
        """One of them, by name."""
        return self.pointer(array) if part == "pointer" else getattr(self, part)(array, axis)

    def early_part(self, array: Array, part: str, axis: int) -> str:
        """The same where the function begins."""
        return self._part(array, part, axis)

    def _part(self, array: Array, part: str, axis: int) -> str:
        key = (array, part, axis)
        name = self.parts.get(key)
        if name is None:
            name = self.parts[key] = self.array_part(array, part, axis)
        return name

    # Lines.

    def name(self, wanted: str = "t") -> str:
        """A fresh register name."""
        self._count += 1
        return f"%{_UNSAFE.sub('_', wanted)}.{self._count}"

    def label(self, wanted: str) -> str:
        """A fresh label, without the percent sign."""
        self._count += 1
        return f"{wanted}.{self._count}"

    def emit(self, line: str) -> None:
        self.lines.append("  " + line)

    def define(self, expression: str, wanted: str = "t") -> str:
        """Emit `%name = expression` and give the name."""
        self._count += 1
        name = f"%{wanted}.{self._count}"
        self.lines.append(f"  {name} = {expression}")
        return name

    def define_early(self, expression: str, wanted: str) -> str:
        """As define, at the top of the function."""
        name = self.name(wanted)
        self.prologue.append(f"  {name} = {expression}")
        return name

    def start(self, label: str) -> None:
        """Open a block."""
        self.lines.append(f"{label}:")
        self.block = label
        self.terminated = False

    def jump(self, label: str) -> None:
        """End the block with a jump, unless it has ended."""
        if not self.terminated:
            self.emit(f"br label %{label}")
            self.terminated = True

    def branch(self, condition: str, then: str, otherwise: str, weights: str = "") -> None:
        self.emit(f"br i1 {condition}, label %{then}, label %{otherwise}{weights}")
        self.branches += 1
        self.terminated = True

    def declare_local(self, local: Local) -> None:
        self.slots[local] = self.define_early(f"alloca {local_type(local)}", _UNSAFE.sub("_", local.name))

    # Loops over a 64-bit counter.

    def open_loop(self, wanted: str, begin: str, end: str, step: str = "1", compare: str = "slt") -> Loop:
        """Start `for (i64 counter = begin; counter < end; counter += step)`; leaves the body's block open."""
        name = self.label(_UNSAFE.sub("_", wanted))
        # The counter never passes its end by more than a step, and stays within 64 bits (see the callers).
        wrap = "nsw" if compare.startswith("s") else "nuw" if not step.startswith("-") else ""
        loop = Loop(name, f"add {wrap} i64 %{name}, {step}", self.branches)
        before = self.block
        self.jump(loop.header)
        self.start(loop.header)
        self.emit(f"{loop.counter} = phi i64 [ {begin}, %{before} ], [ {loop.counter}.next, %{loop.latch} ]")
        self.emit(f"{loop.counter}.more = icmp {compare} i64 {loop.counter}, {end}")
        self.branch(f"{loop.counter}.more", f"{name}.body", loop.exit)
        self.start(f"{name}.body")
        self.enter(loop.latch, loop.exit)
        return loop

    def enter(self, again: str, out: str) -> None:
        """Say where `continue` and `break` go."""
        self.exits.append((again, out))
        self.module.entered += 1
        self.module.deepest = max(self.module.deepest, len(self.exits))

    def close_loop(self, loop: Loop, hints: Hints, group: str = "") -> None:
        """End the body of a loop and go on after it."""
        self.exits.pop()
        if self.branches - loop.branches > MOST_BRANCHES:
            hints = replace(hints, vectors=0)
        self.jump(loop.latch)
        self.start(loop.latch)
        self.emit(f"{loop.counter}.next = {loop.advance}")
        self.emit(f"br label %{loop.header}{self.module.loop_mark(hints, group)}")
        self.start(loop.exit)

    def bind(self, variable: LoopVariable, counter: str, low: int) -> None:
        """Make a 64-bit counter the value of a loop variable, which is never less than `low`."""
        dtype = dtype_of(variable)
        self.counters[variable] = counter
        self.values[variable] = counter if dtype.bits == 64 else self.define(narrowed(counter, dtype, low), "i")

    # Values as eight-byte slots.

    def memory_value(self, value: Value) -> tuple[str, str]:
        """A value as it is stored: LLVM type and name."""
        return self.stored(self.value(value), dtype_of(value))

    def stored(self, name: str, dtype: DType, width: int = 0) -> tuple[str, str]:
        """A register as it is stored: LLVM type and name."""
        kind = memory_type(dtype, width)
        if dtype.kind == "bool":
            return kind, self.define(f"zext {register_type(dtype, width)} {name} to {kind}")
        return kind, name

    def text(self, header: str, beginning: Sequence[str] = ("  br label %start",)) -> str:
        """The whole function, given its `define …` line without the brace, and what leads from its prologue to its code."""
        first = ["entry:", *([f"  %carried = alloca [{self.carried} x i64]"] if self.carried else [])]
        return "\n".join([f"{header} {{", *first, *self.prologue, *beginning, *self.lines, *self.cold, "}\n"])


def narrowed(counter: str, dtype: DType, low: int) -> str:
    """A 64-bit integer as a type that holds it, and which is never less than `low`."""
    flags = "nuw " if dtype.kind == "uint" else "nuw nsw " if low >= 0 else "nsw "
    return f"trunc {flags}i64 {counter} to {register_type(dtype)}"


def parts_taken(array: Array, length: bool) -> tuple[tuple[str, int], ...]:
    """The parts of an array that a function takes: its pointer, the extents that are not known, strides.

    No address depends on the first extent of an array in C order: it is taken only where the `length` is asked for.
    """
    if array.ndim == 1 and array.contiguous and not length and not array.brings_strides:
        return _POINTER
    axes = range(array.ndim)
    extents = [axis for axis in axes if array.extents[axis] is None and (axis or length or not array.contiguous)]
    strides = axes if array.brings_strides else ()
    return (*_POINTER, *(("extent", axis) for axis in extents), *(("stride", axis) for axis in strides))


def dtype_of(value: Value) -> DType:
    """The dtype of a scalar value."""
    dtype = value.type
    assert dtype is not None
    return dtype
