"""Values of the IR: constants, parameters, arrays, loop variables, locals and operations."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from samovar._native import DType

if TYPE_CHECKING:
    from samovar.lens import Path


#: For each dimension, the (extent, stride) of the parts that its index is split into.
FieldLayout = tuple[tuple[tuple[int, int], ...], ...]


class Value:
    """A typed operand of operations. Scalars have a `DType`; `Array` and void operations have none.

    `width` is the number of SIMD lanes of a vector of that type, and 0 for everything else.
    """

    __slots__ = ("type",)

    width = 0

    def __init__(self, type: DType | None) -> None:
        self.type = type


def dtype_of(value: Value) -> DType:
    """The dtype of a scalar, or of the lanes of a vector."""
    dtype = value.type
    assert dtype is not None
    return dtype


class Constant(Value):
    """A number known at compile time, already in the range of its type."""

    __slots__ = ("value",)

    type: DType

    def __init__(self, value: bool | int | float, type: DType) -> None:
        self.type = type
        self.value = value


class Parameter(Value):
    """A scalar parameter of a kernel or of a function. `source` is where a launch finds the argument of a kernel; one that
    `is_checked` is read although nothing uses it, so that arguments of a wrong type are rejected."""

    __slots__ = ("is_checked", "name", "source")

    type: DType

    def __init__(self, name: str, type: DType, source: Path | None = None) -> None:
        self.type = type
        self.name = name
        self.source = source
        self.is_checked = False


class Cells:
    """How the elements of a sparse field find the cells that they are in: cells of the nearest sparse node above, which are
    numbered. A cell's number is a sum over `terms` (axis, divisor, modulus, factor) of index / divisor % modulus * factor.

    A node has a byte per cell at a distance of `mask` bytes from the first element of the field, and memory for the
    numbers of the active ones, of 64 bits if `is_wide`, at a distance of `listed`. A node with `is_list` has lists of at
    most `capacity` elements instead, and their lengths, of 32 bits, in place of the mask; the last term is the position in
    a list, with the factor 0. Unless `activates`, writes do not activate cells (`sv.no_activate`).
    """

    __slots__ = ("activates", "capacity", "facts", "is_list", "is_wide", "listed", "mask", "terms")

    def __init__(self, facts: tuple[Any, ...]) -> None:
        kind, self.mask, self.listed, wide, self.capacity, self.terms = self.facts = facts
        self.is_list = bool(kind)
        self.is_wide = bool(wide)
        self.activates = True

    @property
    def is_own(self) -> bool:
        """Whether the field is that of the mask or the lengths itself."""
        return bool(self.mask == 0)


class Array(Value):
    """An array that a kernel or function works on: an argument, a captured array, or a function's array parameter.

    `contiguous` arrays are in C order; others have strides in the argument block. `wide` arrays have a dimension of 2^31
    elements or more and are indexed in i64, others in i32. `alone` means noalias: the array overlaps neither itself nor
    any other array of the kernel; the launcher guarantees it for the kernel's arrays if the kernel is compiled as
    `disjoint`. `extents` are the known lengths of dimensions, None for the others. `layout` is that of a field: for each
    dimension the (extent, stride) of the parts that its index is split into, outermost first, see
    `_native/array/layout.h`; all extents are then known. `record_stride` describes a member of an array of structs,
    (dimensions, stride): elements are in C order of their first dimensions, that many numbers apart, and the other
    dimensions are those of an element, in C order. The last `soa_ndim` vary slowest (SoA): the array is in C order with
    them moved to the front. `order` lists the dimensions from the outermost to the innermost if they are stored in
    another order, without gaps. A sparse field has `cells`; its elements have the addresses of a dense one. Indices of
    the IR count from 0; `offset` is where the user's indices start. `element` is the dtype of the elements if they are not
    numbers of the IR: complex ones are two numbers in a last dimension. `private` memory belongs to one iteration (or to
    serial code), so no other thread accesses it. `source` is where a launch finds the argument of a kernel.
    `samovar.passes.drop_untouched` sets `read` and `written`.
    """

    __slots__ = (
        "alone", "boundary", "cells", "contiguous", "dtype", "element", "extents", "layout", "name", "ndim", "offset",
        "order", "private", "read", "record_stride", "soa_ndim", "source", "wide", "written",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        dtype: DType,
        ndim: int,
        *,
        contiguous: bool = True,
        wide: bool = False,
        alone: bool = False,
        boundary: str = "unsafe",
        extents: tuple[int | None, ...] | None = None,
        private: bool = False,
        layout: FieldLayout | None = None,
        record_stride: tuple[int, int] | None = None,
        soa_ndim: int = 0,
        order: tuple[int, ...] | None = None,
        offset: tuple[int, ...] | None = None,
        source: Path | None = None,
    ) -> None:
        self.type = None
        self.name = name
        self.dtype = dtype
        self.ndim = ndim
        self.contiguous = contiguous
        self.wide = wide
        self.alone = alone
        self.boundary = boundary
        self.extents = (None,) * ndim if extents is None else extents
        self.private = private
        self.layout = layout
        self.record_stride = record_stride
        self.soa_ndim = soa_ndim
        self.order = order
        self.offset = (0,) * ndim if offset is None else offset
        self.source = source
        self.element: DType | None = None
        self.cells: Cells | None = None
        self.read = False
        self.written = False

    def under(self, name: str) -> Array:
        """The same array as the parameter of a function, under another name. Large kernels pass thousands of them, so
        nothing is computed again."""
        taken = Array.__new__(Array)
        taken.type = None
        taken.name = name
        taken.dtype = self.dtype
        taken.ndim = self.ndim
        taken.contiguous = self.contiguous
        taken.wide = self.wide
        taken.alone = False
        taken.boundary = self.boundary
        taken.extents = self.extents
        taken.private = self.private
        taken.layout = self.layout
        taken.record_stride = self.record_stride
        taken.soa_ndim = self.soa_ndim
        taken.order = self.order
        taken.offset = self.offset
        taken.source = None
        taken.element = self.element
        taken.cells = self.cells
        taken.read = taken.written = False
        return taken

    def hold_parts(self, element: DType, part: DType) -> None:
        """Make its elements pairs of numbers, which are a last dimension."""
        self.element, self.dtype = element, part
        self.extents, self.offset = (*self.extents, 2), (*self.offset, 0)
        if self.layout is not None:
            pieces = (tuple((extent, 2 * stride) for extent, stride in axis) for axis in self.layout)
            self.layout = (*pieces, ((2, 1),))
        if self.order is not None:
            self.order = (*self.order, self.ndim)
        self.ndim += 1

    @property
    def rank(self) -> int:
        """The number of dimensions without that of the parts of an element."""
        return self.ndim - (self.element is not None)

    @property
    def brings_strides(self) -> bool:
        """Whether its strides are in the argument block: they are neither those of C order nor known."""
        if self.contiguous or self.layout is not None:
            return False
        return self.record_stride is None and not self.soa_ndim and self.order is None

    def axes(self) -> tuple[int, ...]:
        """The dimensions from the outermost to the innermost, in memory order."""
        if self.order is not None:
            return self.order
        whole = self.ndim - self.soa_ndim
        return (*range(whole, self.ndim), *range(whole))

    def as_parameter(self) -> Array:
        """The parameter of a function that is only called with this array: all that is known of it holds there."""
        parameter = self.under(self.name)
        parameter.alone, parameter.read, parameter.written = self.alone, self.read, self.written
        return parameter


class LocalArray(Array):
    """An array of fixed size that the code creates with the operation `reserve`, uninitialized.

    It exists until the end of the region, once for each execution of the region. One of the kernel is shared by the
    iterations of its tasks; one of a task or of a function is `private`.
    """

    __slots__ = ()

    def __init__(self, name: str, dtype: DType, shape: tuple[int, ...], *, private: bool) -> None:
        super().__init__(name, dtype, len(shape), alone=True, extents=shape, private=private)

    @property
    def byte_size(self) -> int:
        """Its size in bytes."""
        return prod(self.shape) * self.dtype.itemsize

    def copy(self) -> LocalArray:
        """Another array like it."""
        return LocalArray(self.name, self.dtype, self.shape, private=self.private)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its dimensions, all of which are known."""
        return tuple(extent for extent in self.extents if extent is not None)


class ScratchArray(Array):
    """A 1-D array in memory of the launch, allocated by the operation `scratch` with as many elements as its operand
    says."""

    __slots__ = ()

    def __init__(self, name: str, dtype: DType) -> None:
        super().__init__(name, dtype, 1, wide=True, alone=True)


class LoopVariable(Value):
    """The variable of a loop: one value per iteration, never assigned by the body. `limits` are its minimum and maximum, if
    they are known better than from the bounds of its loop; `bounds` are those of the whole loop in the source, if its loop
    is a part of that one."""

    __slots__ = ("bounds", "limits", "name")

    type: DType

    def __init__(
        self,
        name: str,
        type: DType,
        limits: tuple[int, int] | None = None,
        bounds: tuple[Value, Value] | None = None,
    ) -> None:
        self.type = type
        self.name = name
        self.limits = limits
        self.bounds = bounds


class Local:
    """A mutable scalar variable of a kernel, a task or a function.

    A local of the kernel that a parallel task writes is shared by its iterations: the frontend sets `shared`. `line` is
    where it is first assigned.
    """

    __slots__ = ("line", "name", "shared", "type")

    width = 0

    def __init__(self, name: str, type: DType, line: int = 0) -> None:
        self.name = name
        self.type = type
        self.line = line
        self.shared = False


    def zero(self) -> Constant:
        """The number 0 of its type."""
        return Constant(self.type(0), self.type)

    def load(self, line: int = 0) -> Operation:
        """An operation that reads it."""
        return Operation("load_local", self.type, (), self, line)

    def store(self, value: Value, line: int = 0) -> Operation:
        """An operation that sets it."""
        return Operation("store_local", None, (value,), self, line)


class VectorLocal(Local):
    """A local with a value per SIMD lane. `lane_bits` is the size of a mask's lane, 0 for one bit."""

    __slots__ = ("lane_bits", "width")

    def __init__(self, name: str, type: DType, width: int, lane_bits: int = 0) -> None:
        super().__init__(name, type)
        self.width = width
        self.lane_bits = lane_bits


class Spot(int):
    """A line number with columns, for messages that show an expression: a value of an operation's `line`."""

    columns: tuple[int, int, str]

    def __new__(cls, line: int, begin: int, end: int, text: str) -> Spot:
        made = super().__new__(cls, line)
        made.columns = begin, end, text
        return made


def columns_of(line: int) -> tuple[int, int, str] | None:
    """The columns of a line number, if known."""
    return line.columns if isinstance(line, Spot) else None


class Operation(Value):
    """One step of a program, and its result. `code` is a key of `samovar.ir.opcodes.OPCODES`.

    `payload` is what the operation needs besides operands (an `Array`, a `Local`, a `Site`, …: see the opcode table). `line`
    is the line of the user's source, 0 for generated code. It is in the file of the enclosing function, or of `origin`,
    if the operation was copied from there.
    """

    __slots__ = ("code", "line", "operands", "origin", "payload")

    def __init__(
        self, code: str, type: DType | None, operands: tuple[Value, ...] = (), payload: Any = None, line: int = 0
    ) -> None:
        self.code = code
        self.type = type
        self.operands = operands
        self.payload = payload
        self.line = line
        self.origin: Any = None


class VectorOperation(Operation):
    """An operation on vectors: it applies to each lane, and a scalar operand is the same for all lanes.

    Vector operations exist after loop planning (`samovar.passes.loops`). Where `mask` is false, memory is not accessed and
    loads give 0. A memory operation with scalar indices accesses elements with a stride of `step` elements in memory,
    starting at the indexed one; one with a vector index is a gather or scatter, one lane after the other. The elements of
    each `step` lanes of a gather are adjacent. With a width of 0, it is a scalar operation guarded by a condition.
    """

    __slots__ = ("mask", "step", "width")

    def __init__(
        self,
        code: str,
        type: DType | None,
        operands: tuple[Value, ...] = (),
        payload: Any = None,
        line: int = 0,
        *,
        width: int,
        mask: Value | None = None,
        step: int = 1,
    ) -> None:
        super().__init__(code, type, operands, payload, line)
        self.width = width
        self.mask = mask
        self.step = step
