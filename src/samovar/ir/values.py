"""Values of the IR: constants, parameters, arrays, loop variables, locals and operations."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from samovar._native import DType

if TYPE_CHECKING:
    from samovar.lens import Path


#: For each axis, the (extent, stride) of its pieces.
FieldLayout = tuple[tuple[tuple[int, int], ...], ...]


class Value:
    """Something with a type that an operation can use. Scalars have a `DType`; `Array` and void operations have none.

    `width` is the number of SIMD lanes of a vector, each of which holds a number of that type, and 0 for everything else.
    """

    __slots__ = ("type",)

    width = 0

    def __init__(self, type: DType | None) -> None:
        self.type = type


class Constant(Value):
    """A number known at compile time, already in the range of its type."""

    __slots__ = ("value",)

    def __init__(self, value: bool | int | float, type: DType) -> None:
        self.type = type
        self.value = value


class Parameter(Value):
    """A scalar parameter of a kernel or of a function. `source` is where a launch finds that of a kernel; one that
    `is_checked` is read there although nothing uses it, so that what is no number is refused."""

    __slots__ = ("is_checked", "name", "source")

    def __init__(self, name: str, type: DType, source: Path | None = None) -> None:
        self.type = type
        self.name = name
        self.source = source
        self.is_checked = False


class Array(Value):
    """An array that a kernel or function works on: an argument, a captured array, or a function's array parameter.

    `contiguous` arrays are in C order, the others bring strides. `wide` arrays have an axis of 2^31 elements or more and
    are indexed in i64, the others in i32. `alone` states that no other array of the kernel overlaps it and that it does not
    overlap itself: guaranteed by the launcher for the kernel's arrays when the kernel is compiled as `disjoint`. `extents`
    are the lengths of the axes that are known, None for the others. `layout` is that of a field: for each axis the (extent,
    stride) of the pieces that its index is split into, from the outermost on, see `_native/layout.h`; all extents are known
    then. `pitch` is known of a member of an array of structs, (axes, distance): elements are in C order of their first axes
    and so many numbers apart, and the other axes are those of an element, in C order. `apart` axes at the end vary slowest,
    before all others: the array is in C order with these moved to the front. `order` lists the axes from the outermost to
    the innermost where they lie in another order, without gaps. Indices of the IR count from 0, and `offset` is what the
    user's count from. `private` states that the memory belongs to one iteration (or to serial code), so that nobody else can
    come in between. `source` is where a launch finds that of a kernel. What is `read` and `written` is found out by
    `samovar.passes.drop_untouched`.
    """

    __slots__ = (
        "alone", "apart", "boundary", "contiguous", "dtype", "extents", "layout", "name", "ndim", "offset", "order", "pitch",
        "private", "read", "source", "wide", "written",
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
        pitch: tuple[int, int] | None = None,
        apart: int = 0,
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
        self.pitch = pitch
        self.apart = apart
        self.order = order
        self.offset = (0,) * ndim if offset is None else offset
        self.source = source
        self.read = False
        self.written = False

    def under(self, name: str) -> Array:
        """The same array as a function takes it, whatever it is called there. Large kernels hand thousands of them down, so
        nothing is worked out again."""
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
        taken.pitch = self.pitch
        taken.apart = self.apart
        taken.order = self.order
        taken.offset = self.offset
        taken.source = None
        taken.read = taken.written = False
        return taken

    @property
    def brings_strides(self) -> bool:
        """Whether a launch brings its strides: they are neither those of C order nor known."""
        return not self.contiguous and self.layout is None and self.pitch is None and not self.apart and self.order is None

    def as_parameter(self) -> Array:
        """The parameter of a function that takes this array, and is called for no other: all that is known holds there."""
        parameter = self.under(self.name)
        parameter.alone, parameter.read, parameter.written = self.alone, self.read, self.written
        return parameter


class LocalArray(Array):
    """An array of a fixed size that the code makes itself, with the operation `reserve`: its elements have no values yet.

    It exists from there to the end of the region, once for each time the region runs. One of the kernel is shared by the
    iterations of its tasks; one of a task or of a function is `private`.
    """

    __slots__ = ()

    def __init__(self, name: str, dtype: DType, shape: tuple[int, ...], *, private: bool) -> None:
        super().__init__(name, dtype, len(shape), alone=True, extents=shape, private=private)

    @property
    def byte_size(self) -> int:
        """The bytes that it takes."""
        return prod(self.shape) * self.dtype.itemsize

    def copy(self) -> LocalArray:
        """Another one like it."""
        return LocalArray(self.name, self.dtype, self.shape, private=self.private)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes, all of which are known."""
        return tuple(extent for extent in self.extents if extent is not None)


class ScratchArray(Array):
    """Memory of the launch, of one axis, that the operation `scratch` makes: as many elements as its operand says."""

    __slots__ = ()

    def __init__(self, name: str, dtype: DType) -> None:
        super().__init__(name, dtype, 1, wide=True, alone=True)


class LoopVariable(Value):
    """The variable of a loop: one value per iteration, never assigned by the body. `limits` are the least and the greatest
    value that it can have, where more is known than the bounds of its loop tell; `bounds` where it begins and ends in all,
    if its loop is a part of the one that was written."""

    __slots__ = ("bounds", "limits", "name")

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
    where it gets its first value.
    """

    __slots__ = ("line", "name", "shared", "type")

    width = 0

    def __init__(self, name: str, type: DType, line: int = 0) -> None:
        self.name = name
        self.type = type
        self.line = line
        self.shared = False


class VectorLocal(Local):
    """A local with a number for each SIMD lane. `lane_bits` are those of a lane that a mask is kept in, 0 for one bit."""

    __slots__ = ("lane_bits", "width")

    def __init__(self, name: str, type: DType, width: int, lane_bits: int = 0) -> None:
        super().__init__(name, type)
        self.width = width
        self.lane_bits = lane_bits


class Spot(int):
    """A line and the columns in it, as a site has them: what `line` of an operation is where messages show an expression."""

    columns: tuple[int, int, str]

    def __new__(cls, line: int, begin: int, end: int, text: str) -> Spot:
        made = super().__new__(cls, line)
        made.columns = begin, end, text
        return made


def columns_of(line: int) -> tuple[int, int, str] | None:
    """The columns that are known with a line."""
    return line.columns if isinstance(line, Spot) else None


class Operation(Value):
    """One step of a program, and its result. `code` is a key of `samovar.ir.opcodes.OPCODES`.

    `payload` is what the operation needs besides operands (an `Array`, a `Local`, a `Site`, …: the opcode table says what).
    `line` is the line in the file of the function that the user wrote it in, 0 where nobody did. That function is the one
    around it, or `origin`, if the operation was copied from there.
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
    """An operation on vectors: each lane computes by itself, and an operand that is no vector is the same for all lanes.

    Exists after loops are planned (`samovar.passes.loops`). In lanes where `mask` does not hold, memory is not touched, and
    what is loaded is 0. A memory operation whose indices are no vectors touches elements that lie `step` elements apart in
    memory, from the one that the indices name on; one with a vector among its indices touches one element for each lane,
    one lane after the other. With a width of 0, it is an ordinary operation that a condition guards.
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
