"""The text of one LLVM function under construction: lines, blocks, names, and the locations of values and arrays.

Subclasses define how to access a value that the function does not compute itself (a parameter, a slot of the argument block,
a captured value) and how to leave the function.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from samovar._native import DType
from samovar.backends.llvm.module import BOOLEAN, EXTENT, UNLIKELY, WIDE_EXTENT, Module
from samovar.backends.llvm.types import literal, local_type, memory_type, register_type
from samovar.ir import (
    Array,
    Constant,
    Hints,
    Kernel,
    Local,
    LocalArray,
    LoopVariable,
    Operation,
    Parameter,
    Sections,
    Task,
    Value,
    VectorOperation,
    dtype_of,
    part_offset,
)

_UNSAFE = re.compile(r"[^A-Za-z0-9_]")


#: With each condition, LLVM takes twice as long to decide whether a loop can be vectorized: with 25 of them, a minute.
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
    """The text of a function. `values` maps computed values to names; `block` is the label of the open block."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.flags = module.flags
        self.marks_lines = module.program.marks_lines
        self.lines: list[str] = ["start:"]
        self.prologue: list[str] = []
        self.cold: list[str] = []
        self.values: dict[Value, str] = {}
        #: Loop variables as 64-bit counters, the innermost loop last.
        self.counters: dict[Value, str] = {}
        self.slots: dict[Local, str] = {}
        self.parts: dict[tuple[Array, str, int], str] = {}
        #: The tables of array parameters of called functions (see `samovar.backends.llvm.array_tables`).
        self.filled_tables: dict[tuple[object, ...], str] = {}
        self.exits: list[tuple[str, str]] = []
        self.branches = 0  # conditional branches so far
        self.budget: tuple[str, str] | None = None  # see `samovar.backends.llvm.polling`
        self.runs_once = False  # the code is not in a loop
        self.independent = ""  # metadata of accesses that are independent between iterations
        self.aliases: Callable[[Array], str] = lambda array: ""  # and of arrays that do not overlap
        self.block = "start"
        self.terminated = False
        self.carried = 0
        self._count = 0

    # Locations.

    @abstractmethod
    def outside(self, value: Value) -> str:
        """A value that this function does not compute."""

    @abstractmethod
    def array_part(self, array: Array, part: str, axis: int) -> str:
        """The `pointer`, an `extent` or a `stride` of an array, as an LLVM value."""

    @abstractmethod
    def context(self) -> str:
        """The pointer to the launch's context."""

    def leave(self) -> str:
        """The instruction that leaves the function after a failure."""
        return "ret void"

    def give(self, operation: Operation) -> None:
        """Render `return`."""
        raise AssertionError("return inside a task or section")

    def outside_local(self, local: Local) -> str:
        """The address of a local that this function does not declare."""
        raise LookupError(f"the local {local.name!r} is not declared")

    def launch(self, task: Task) -> None:
        """Render a task."""
        raise AssertionError(f"the task {task.name!r} is not at the top of a kernel")

    def sections(self, sections: Sections) -> None:
        """Render parallel sections."""
        raise AssertionError("sections are not at the top of a kernel")

    def access_of(self, array: Array) -> str:
        """The metadata of an access to an array. Local memory is shared by all iterations."""
        return self.aliases(array) + ("" if isinstance(array, LocalArray) else self.independent)

    def value(self, value: Value, width: int = 0) -> str:
        """The name (or literal) of a value; broadcast to a vector if a width is requested and it has none."""
        name = self.values.get(value)
        if name is None:
            if isinstance(value, Constant):
                return self.constant(value.value, value.type, width)
            name = self.outside(value)
        return self.broadcast(register_type(dtype_of(value)), name, width) if width and not value.width else name

    def operands(self, operation: Operation) -> list[str]:
        """All operands of an operation, in its width."""
        return [self.value(operand, operation.width) for operand in operation.operands]

    def hold(self, name: str, dtype: DType, width: int = 0) -> Value:
        """A register as an IR value."""
        held = VectorOperation("load_local", dtype, width=width) if width else Value(dtype)
        self.values[held] = name
        return held

    def broadcast(self, kind: str, name: str, width: int) -> str:
        """Broadcast a register to every lane."""
        vector = f"<{width} x {kind}>"
        first = self.define(f"insertelement {vector} poison, {kind} {name}, i64 0")
        return self.define(f"shufflevector {vector} {first}, {vector} poison, <{width} x i32> zeroinitializer")

    def constant(self, value: bool | int | float, dtype: DType, width: int = 0) -> str:
        """A number as an operand."""
        written = literal(value, dtype)
        return f"splat ({register_type(dtype)} {written})" if width else written

    def local(self, local: Local) -> str:
        """The address of a local."""
        return self.slots.get(local) or self.outside_local(local)

    def pointer(self, array: Array) -> str:
        return self._part(array, "pointer", 0)

    def extent(self, array: Array, axis: int) -> str:
        """The length of a dimension, i64."""
        known = array.extents[axis]
        return self._part(array, "extent", axis) if known is None else str(known)

    def stride(self, array: Array, axis: int) -> str:
        """The stride of a dimension in elements, i64, for arrays that are not contiguous."""
        return self._part(array, "stride", axis)

    def part(self, array: Array, part: str, axis: int) -> str:
        """A part of an array, by name."""
        return self.pointer(array) if part == "pointer" else getattr(self, part)(array, axis)

    def early_part(self, array: Array, part: str, axis: int) -> str:
        """A part of an array, computed at the beginning of the function."""
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
        """Emit `%name = expression` and return the name."""
        self._count += 1
        name = f"%{wanted}.{self._count}"
        self.lines.append(f"  {name} = {expression}")
        return name

    def call(self, result: str, name: str, operands: Iterable[tuple[str, str]], flags: str = "", mark: str = "") -> str:
        """Call a function with operands, each with its LLVM type; the result is a register, or "" for `void`."""
        text = f"call {flags}{result} @{name}({', '.join(f'{kind} {operand}' for kind, operand in operands)}){mark}"
        if result != "void":
            return self.define(text)
        self.emit(text)
        return ""

    def intrinsic(self, result: str, name: str, *operands: tuple[str, str], flags: str = "", mark: str = "") -> str:
        """Call an intrinsic of LLVM, with its whole name."""
        self.module.declare(name, f"declare {result} @{name}({', '.join(kind for kind, _ in operands)})")
        return self.call(result, name, operands, flags, mark)

    def runtime(self, name: str, *arguments: str) -> str:
        """Call an entry point of the runtime, with the context and these arguments."""
        result, kinds = self.module.runtime(name)
        return self.call(result, name, zip(kinds, (self.context(), *arguments), strict=True))

    def leave_if(self, condition: str) -> None:
        """End the launch if a condition holds: something has failed."""
        bad, good = self.label("failed"), self.label("good")
        self.branch(condition, bad, good, UNLIKELY)
        self.cold += [f"{bad}:", "  " + self.leave()]
        self.start(good)

    def shuffle(self, vector: str, one: str, other: str, lanes: Sequence[int | None]) -> str:
        """Lanes of two vectors of one type, by number; None for any value."""
        chosen = ", ".join("i32 poison" if lane is None else f"i32 {lane}" for lane in lanes)
        return self.define(f"shufflevector {vector} {one}, {vector} {other}, <{len(lanes)} x i32> <{chosen}>")

    def joined(self, kind: str, parts: Sequence[str], lanes: int) -> str:
        """Concatenate registers of one type, or vectors of so many lanes: a power of two of them."""
        if lanes == 1:
            whole = "poison"
            for lane, part in enumerate(parts):
                whole = self.define(f"insertelement <{len(parts)} x {kind}> {whole}, {kind} {part}, i64 {lane}")
            return whole
        while len(parts) > 1:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self.shuffle(f"<{lanes} x {kind}>", *pair, range(2 * lanes)) for pair in pairs]
            lanes *= 2
        return parts[0]

    def define_early(self, expression: str, wanted: str) -> str:
        """Like `define`, at the top of the function."""
        name = self.name(wanted)
        self.prologue.append(f"  {name} = {expression}")
        return name

    def start(self, label: str) -> None:
        """Open a block."""
        self.lines.append(f"{label}:")
        self.block = label
        self.terminated = False

    def jump(self, label: str) -> None:
        """End the block with a jump, unless it has already ended."""
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
        # The counter never exceeds its end by more than a step, and stays within 64 bits (see the callers).
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
        """Set the targets of `continue` and `break`."""
        self.exits.append((again, out))
        self.module.entered += 1
        self.module.deepest = max(self.module.deepest, len(self.exits))

    def close_loop(self, loop: Loop, hints: Hints, group: str = "") -> None:
        """End the body of a loop and continue after it."""
        self.exits.pop()
        if self.branches - loop.branches > MOST_BRANCHES:
            hints = replace(hints, vectors=0)
        self.jump(loop.latch)
        self.start(loop.latch)
        self.emit(f"{loop.counter}.next = {loop.advance}")
        self.emit(f"br label %{loop.header}{self.module.loop_mark(hints, group)}")
        self.start(loop.exit)

    def bind(self, variable: LoopVariable, counter: str, low: int) -> None:
        """Make a 64-bit counter the value of a loop variable, which is at least `low`."""
        dtype = dtype_of(variable)
        self.counters[variable] = counter
        self.values[variable] = counter if dtype.bits == 64 else self.define(narrowed(counter, dtype, low), "i")

    # Values as eight-byte slots.

    def memory_value(self, value: Value) -> tuple[str, str]:
        """A value in its memory representation: LLVM type and name."""
        return self.stored(self.value(value), dtype_of(value))

    def stored(self, name: str, dtype: DType, width: int = 0) -> tuple[str, str]:
        """A register in its memory representation: LLVM type and name."""
        kind = memory_type(dtype, width)
        if dtype.kind == "bool":
            return kind, self.define(f"zext {register_type(dtype, width)} {name} to {kind}")
        return kind, name

    def text(self, header: str, beginning: Sequence[str] = ("  br label %start",)) -> str:
        """The whole function, given its `define …` line without the brace, and the jump from its prologue to its code."""
        first = ["entry:", *([f"  %carried = alloca [{self.carried} x i64]"] if self.carried else [])]
        return "\n".join([f"{header} {{", *first, *self.prologue, *beginning, *self.lines, *self.cold, "}\n"])


class BlockWriter(Writer):
    """Serial code of a kernel, which finds its parameters in the argument block; `offsets` says where."""

    def __init__(self, module: Module, kernel: Kernel, offsets: dict[Value, int]) -> None:
        super().__init__(module)
        self.kernel = kernel
        self.offsets = offsets
        self.runs_once = True

    def early_load(self, base: str, place: int, kind: str, wanted: str, metadata: str = "") -> str:
        """Load from an address plus a byte offset, at the beginning of the function."""
        address = self.define_early(f"getelementptr inbounds i8, ptr {base}, i64 {place}", "at") if place else base
        return self.define_early(f"load {kind}, ptr {address}{metadata}", wanted)

    def early_number(self, base: str, place: int, dtype: DType, wanted: str) -> str:
        """Load a number that way."""
        name = self.early_load(base, place, memory_type(dtype), wanted, BOOLEAN if dtype.kind == "bool" else "")
        return self.define_early(f"icmp ne i8 {name}, 0", wanted) if dtype.kind == "bool" else name

    def outside(self, value: Value) -> str:
        if not isinstance(value, Parameter):
            raise LookupError("a kernel uses a value before it is computed")
        name = self.values[value] = self.early_number("%block", self.offsets[value], value.type, value.name)
        return name

    def array_part(self, array: Array, part: str, axis: int) -> str:
        place = self.offsets[array] + part_offset(array, part, axis)
        return self.early_load("%block", place, "ptr" if part == "pointer" else "i64", array.name, extent_range(array, part))

    def context(self) -> str:
        return "%context"


def extent_range(array: Array, part: str) -> str:
    """The range metadata of a loaded part of an array."""
    return "" if part != "extent" else WIDE_EXTENT if array.wide else EXTENT


def narrowed(counter: str, dtype: DType, low: int) -> str:
    """A 64-bit integer truncated to a type that holds it; it is at least `low`."""
    flags = "nuw " if dtype.kind == "uint" else "nuw nsw " if low >= 0 else "nsw "
    return f"trunc {flags}i64 {counter} to {register_type(dtype)}"


def parts_taken(array: Array, length: bool) -> tuple[tuple[str, int], ...]:
    """The parts of an array that a function takes: its pointer, unknown extents, strides.

    No address depends on the first extent of an array in C order: it is passed only if the `length` is requested.
    """
    if array.ndim == 1 and array.contiguous and not length and not array.brings_strides:
        return _POINTER
    axes = range(array.ndim)
    extents = [axis for axis in axes if array.extents[axis] is None and (axis or length or not array.contiguous)]
    strides = axes if array.brings_strides else ()
    return (*_POINTER, *(("extent", axis) for axis in extents), *(("stride", axis) for axis in strides))
