"""Arrays as values: rows and slices of arrays, and expressions of whole arrays.

None of them owns memory. The elements of an expression are computed where they are used, so an assignment such as
`a[:] = b * c + 1` is one loop without temporaries. A name that holds an expression is valid until something that it reads
changes. Shapes are compared at compile time where they are known, otherwise once per statement at run time, debug mode or
not: `a[0:4] = np.zeros(3)` must not read past the local array.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from samovar import errors
from samovar._native import DType, i32, i64, u1
from samovar.frontend.dispatch import assign_elements, matrix_product
from samovar.frontend.operators import BinaryOperator, Comparison, UnaryOperator, as_index, binary, compare
from samovar.frontend.part_checks import check_part, emit_check
from samovar.frontend.scalars import constant, convert
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.space import Axis, Counted, Space
from samovar.frontend.staged.static import Slice, Static
from samovar.frontend.syntax import FILL
from samovar.ir import Array, Constant, Operation, Value
from samovar.language import loop_type

if TYPE_CHECKING:
    from samovar.frontend.context import Loop
    from samovar.frontend.staged.tensor import Tensor
    from samovar.frontend.stager import Stager

#: The message of debug mode for a slice that is not within the array.
BEYOND = "slice out of range"
#: Methods of arrays in kernels; `array_functions.py` has their rules.
METHODS = ("sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "argmin", "argmax", "dot")

#: What NumPy has and kernels do not.
TRANSPOSED = ("T", "transpose")


class ArrayValue(Staged):
    """The common base of parts of arrays and of expressions of arrays."""

    __slots__ = ()

    advice = "use one element, `a[i]`, or reduce it to a number: `.sum()`, `.max()`, `.any()`, `.all()`"
    advice_for_choice = "use it in each branch of an `if`"

    def extents(self, stager: Stager) -> tuple[Staged, ...]:
        """The number of elements along each dimension."""
        raise NotImplementedError

    def at(self, stager: Stager, indices: tuple[Value, ...]) -> Staged:
        """The element at these indices, from zero."""
        raise NotImplementedError

    def array_extents(self, stager: Stager) -> tuple[Staged, ...]:
        return self.extents(stager)

    def element_beside(self, stager: Stager, indices: tuple[Value, ...]) -> Staged:
        return self.at(stager, matched_indices(self.extents(stager), indices))

    def arrays(self) -> tuple[Value, ...]:
        """All arrays that it reads, local ones included, among other values."""
        return tuple(each.array for each in self.parts_read())

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        raise NotImplementedError

    def describe(self) -> str:
        return "an array expression"

    def is_elementwise(self) -> bool:
        return True

    def is_in_memory(self) -> bool:
        return True

    def as_array_value(self) -> ArrayValue | None:
        return self

    def can_be_chosen(self) -> bool:
        return False

    def is_run_time(self) -> bool:
        return True

    def component_shape(self) -> tuple[int, ...]:
        return ()

    def current(self, stager: Stager, node: ast.AST) -> Staged:
        return self

    def advice_for_truth(self) -> str | None:
        return "reduce it to one condition: `.any()` or `.all()`"

    def fail_as_number(self, stager: Stager, node: ast.AST) -> NoReturn:
        stager.fail_type(node, f"expected a number, got {self.describe()}", self.advice)

    # --- operators

    def binary(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        return combined(stager, operator, self, other, node)

    def reflected(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        return combined(stager, operator, other, self, node)

    def compare(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        return compared(stager, comparison, self, other, node)

    def compare_reflected(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        return compared(stager, comparison, other, self, node)

    def unary(self, stager: Stager, operator: UnaryOperator, node: ast.AST) -> Staged:
        return self.by_components(stager, (self,), node, lambda each: each.unary(stager, operator, node))

    def by_components(
        self, stager: Stager, operands: Sequence[Staged], node: ast.AST, function: Callable[..., Staged]
    ) -> Staged:
        return expression(stager, operands, node, function)

    # --- parts

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        if name in METHODS:
            return ArrayMethod(self, name)
        if name == "shape":
            return Items(self.extents(stager))
        if name == "ndim":
            return Static(self.ndim)
        if name == "size":
            return Scalar(product(stager, self.extents(stager)))
        if name == "dtype":
            return Static(element_type(stager, self, node))
        return super().attribute(stager, name, node)

    def member_names(self) -> tuple[str, ...]:
        return ("shape", "ndim", "size", "dtype", *METHODS)

    def advice_for_absent(self, node: ast.Attribute) -> str | None:
        if node.attr in TRANSPOSED:
            return "swap the indices: `a[j, i]` is the element `[i, j]` of the transpose of `a`"
        return f"its attributes are {', '.join(self.member_names())}"

    def length(self, stager: Stager, node: ast.AST) -> Staged:
        return self.extents(stager)[0]

    def sequence(self, stager: Stager, node: ast.AST) -> tuple[Staged, ...]:
        stager.fail_type(node, f"the length of {self.describe()} is only known at run time", "write a loop over its indices")

    def space(self, stager: Stager, node: ast.AST) -> Space:
        """The space of a loop over it: its indices."""
        return Space(tuple(Axis(Static(0), each) for each in self.extents(stager)), tuple_of_axes=self.ndim != 1)

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        """An element of an expression is computed without the others."""
        parts = index_parts(stager, index, node)
        if len(parts) != self.ndim or any(isinstance(each, Slice) for each in parts):
            stager.fail_type(node, "an array expression can only be indexed to one element", "slice its operands instead")
        indices = tuple(as_index(stager, each, node) for each in parts)
        return self.at(stager, tuple(counted_from_start(stager, self, indices)))


class Range(NamedTuple):
    """What a part of an array takes of one dimension: `length` elements from `start` on, every `step`-th.

    None stands for the beginning and for all elements; a `step` of 0 for the one element at `start`.
    """

    start: Value | None = None
    length: Value | None = None
    step: int = 1


class Section(ArrayValue):
    """A part of an array, as a view of it: rows, columns, slices."""

    __slots__ = ("ranges", "tensor")

    def __init__(self, tensor: Tensor, ranges: tuple[Range, ...]) -> None:
        self.tensor = tensor
        self.ranges = ranges

    @property
    def array(self) -> Array:
        return self.tensor.array

    @property
    def index_type(self) -> DType:
        return i64 if self.array.wide else i32

    @property
    def axes(self) -> tuple[int, ...]:
        """The dimensions of the array that are its own."""
        return tuple(axis for axis, part in enumerate(self.ranges) if part.step)

    @property
    def ndim(self) -> int:
        return len(self.axes)

    def describe(self) -> str:
        return f"a part of the array `{self.tensor.name}`"

    def extents(self, stager: Stager) -> tuple[Staged, ...]:
        found: list[Staged] = []
        for axis in self.axes:
            count = self.ranges[axis].length
            known = count.value if isinstance(count, Constant) else None
            found.append(self.tensor.extent(stager, axis) if count is None else Static(known) if known is not None
                         else Scalar(count))  # fmt: skip
        return tuple(found)

    def at(self, stager: Stager, indices: tuple[Value, ...]) -> Staged:
        return self.place(stager, indices).load(stager)

    def place(self, stager: Stager, indices: tuple[Value, ...]) -> Place:
        """The element at these indices, which can be assigned."""
        own = iter(indices)
        positions: list[Value] = []
        for part in self.ranges:
            if not part.step:
                assert part.start is not None
                positions.append(part.start)
                continue
            position = next(own)
            assert position.type is not None
            with stager.unwritten():
                dtype = loop_type(position.type, self.index_type)
                if part.step != 1:
                    position = stager.emit("mul", dtype, (convert(stager, position, dtype), constant(part.step, dtype)))
                if part.start is not None:
                    operands = convert(stager, position, dtype), convert(stager, part.start, dtype)
                    position = stager.emit("add", dtype, operands)
            positions.append(position)
        return self.tensor.place(tuple(positions))

    def part_of_tensor(self) -> tuple[Tensor, int]:
        return self.tensor, self.ndim

    def parts_read(self) -> tuple[Section, ...]:
        return (self,)

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        if name == "dtype":
            return Static(self.array.element or self.array.dtype)
        if name == FILL:
            return ArrayMethod(self, FILL)
        return super().attribute(stager, name, node)

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        place = self.element(stager, index, node)
        return place.section if isinstance(place, SectionPlace) else place.load(stager)

    def element(self, stager: Stager, index: Staged, node: ast.Subscript) -> Place:
        parts = index_parts(stager, index, node)
        if len(parts) == self.ndim and not any(isinstance(each, Slice) for each in parts):
            indices = tuple(as_index(stager, each, node) for each in parts)
            return self.place(stager, tuple(counted_from_start(stager, self, indices)))
        return SectionPlace(self.part(stager, parts, node))

    def part(self, stager: Stager, parts: Sequence[Staged], node: ast.Subscript) -> Section:
        """A part of the part."""
        if len(parts) > self.ndim:
            indices = "1 index" if len(parts) == 1 else f"{len(parts)} indices"
            stager.fail_axes(node, f"`{self.tensor.name}` is {self.ndim}-dimensional but was indexed with {indices}")
        ranges, extents = list(self.ranges), self.extents(stager)
        for axis, index, extent in zip(self.axes, parts, extents, strict=False):
            inner = ranged(stager, self, index, extent, node)
            ranges[axis] = nested(stager, self.ranges[axis], inner, self.index_type)
        return Section(self.tensor, tuple(ranges))

    def counted(self, stager: Stager, node: ast.AST) -> Counted | None:
        if self.ndim != 1 or self.tensor.inner:
            return self.tensor.counted(stager, node)
        return Counted(self.extents(stager)[0], lambda inner, place, at: self.at(inner, (place.scalar(inner, at),)))

    # --- in calls

    def ir_values(self) -> tuple[Value, ...]:
        bounds = (each for part in self.ranges for each in (part.start, part.length) if each is not None)
        return (*self.tensor.ir_values(), *bounds)

    def rebuild(self, values: Iterator[Value]) -> Staged:
        tensor = self.tensor.rebuild(values)
        assert isinstance(tensor, self.tensor.__class__)
        ranges: list[Range] = []
        for part in self.ranges:
            start, count = (None if each is None else next(values) for each in (part.start, part.length))
            ranges.append(Range(start, count, part.step))
        return Section(tensor, tuple(ranges))

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        ranges = tuple(
            (None if part.start is None else part.start.type, None if part.length is None else part.length.type, part.step)
            for part in self.ranges
        )
        return ("section", self.tensor.specialization_key(stager, node), ranges)


class SectionPlace(Place):
    """A part of an array as the target of an assignment: `a[1:] = x`, `a[i] += b[j]`. `array_functions.py` has the loops."""

    __slots__ = ("section", "value")

    def __init__(self, section: Section, value: Staged | None = None) -> None:
        self.section = section
        self.value = value or section  # what it is when it is read

    @property
    def type(self) -> DType:
        return self.section.array.dtype

    def describe(self) -> str:
        return self.section.describe()

    def load(self, stager: Stager) -> Staged:
        return self.value

    def arrays(self) -> tuple[Array, ...]:
        return (self.section.array,)

    def can_be_referred(self) -> bool:
        return False

    def element(self, stager: Stager, index: Staged, node: ast.Subscript) -> Place:
        return self.section.element(stager, index, node)

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        assign_elements(self.section, stager, value, node)


class Computed(ArrayValue):
    """An expression of arrays: a function of the elements of its operands. Dimensions are matched from the last one on."""

    __slots__ = ("function", "operands", "shape")

    def __init__(self, shape: tuple[Staged, ...], operands: tuple[Staged, ...], function: Callable[..., Staged]) -> None:
        self.shape = shape
        self.operands = operands
        self.function = function

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def extents(self, stager: Stager) -> tuple[Staged, ...]:
        return self.shape

    def at(self, stager: Stager, indices: tuple[Value, ...]) -> Staged:
        return self.function(*(each.element_beside(stager, indices) for each in self.operands))

    def parts_read(self) -> tuple[Section, ...]:
        return tuple(read for each in self.operands for read in each.parts_read())

    def arrays(self) -> tuple[Value, ...]:
        inner = (each.arrays() if isinstance(each, ArrayValue) else each.ir_values() for each in self.operands)
        return tuple(array for arrays in inner for array in arrays)


class Reduced(ArrayValue):
    """A reduction along one dimension: a function of a loop over `count` elements for each of its elements."""

    __slots__ = ("function", "operands", "shape")

    def __init__(
        self,
        shape: tuple[Staged, ...],
        operands: tuple[ArrayValue, ...],
        function: Callable[[tuple[Value, ...]], Staged],
    ) -> None:
        self.shape = shape
        self.operands = operands
        self.function = function

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def extents(self, stager: Stager) -> tuple[Staged, ...]:
        return self.shape

    def at(self, stager: Stager, indices: tuple[Value, ...]) -> Staged:
        return self.function(indices)

    def parts_read(self) -> tuple[Section, ...]:
        return tuple(read for each in self.operands for read in each.parts_read())

    def arrays(self) -> tuple[Value, ...]:
        return tuple(array for each in self.operands for array in each.arrays())


class ArrayMethod(Staged):
    """A bound method of an array, such as `a[i].sum`."""

    __slots__ = ("name", "owner")

    advice = "call it"

    def __init__(self, owner: ArrayValue, name: str) -> None:
        self.owner = owner
        self.name = name

    def describe(self) -> str:
        return f"the method `{self.name}` of {self.owner.describe()}"


class Named(Place):
    """An array expression with a name. It is computed where the name is used, so it must not outlive what it reads."""

    __slots__ = ("loops", "name", "stale", "used_in", "value")

    def __init__(self, name: str, value: ArrayValue, stager: Stager) -> None:
        self.name = name
        self.value = value
        self.loops = tuple(stager.loops)
        self.used_in: list[Loop] = []
        self.stale: str | None = None  # why it cannot be used any more
        stager.context.named_expressions.append(self)

    @property
    def type(self) -> DType:
        raise NotImplementedError

    def describe(self) -> str:
        return "an array expression"

    def load(self, stager: Stager) -> Staged:
        if self.stale is not None:
            self.fail(stager, self.stale)
        self.used_in += [each for each in stager.loops if each not in self.loops and each not in self.used_in]
        return self.value

    def changes(self, stager: Stager, array: Array) -> None:
        """Note that code changes an array."""
        if array not in self.value.arrays():
            return
        if any(loop in self.used_in for loop in stager.loops):
            self.fail(stager, f"the loop changes `{array.name}`, which it reads")
        self.stale = f"`{array.name}`, which it reads, has changed since it was assigned"

    def fail(self, stager: Stager, reason: str) -> NoReturn:
        stager.fail(
            stager.source.node if stager.statement is None else stager.statement,
            f"`{self.name}` is an array expression, which is computed where it is used, but {reason}",
            f"write `{self.name}` out where it is needed, or compute it into an array that you pass: `{self.name}[:] = …`",
        )

    def assign(self, stager: Stager, value: Staged, name: str, node: ast.AST, annotated: DType | None = None) -> None:
        stager.fail(
            node,
            f"`{name}` is an array expression and cannot be assigned again",
            "use a new name, or compute it into an array that you pass: `out[:] = …`",
        )

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        self.assign(stager, value, self.name, node)

    def can_be_referred(self) -> bool:
        return False


# --- expressions


def combined(stager: Stager, operator: BinaryOperator, left: Staged, right: Staged, node: ast.AST) -> Staged | None:
    if operator.code == "matmul":
        return matrix_product(left if isinstance(left, ArrayValue) else right, stager, left, right, node)
    if not (is_operand(left) and is_operand(right)):
        return None
    return expression(stager, (left, right), node, lambda one, two: binary(stager, operator, one, two, node))


def compared(stager: Stager, comparison: Comparison, left: Staged, right: Staged, node: ast.AST) -> Staged | None:
    if not (is_operand(left) and is_operand(right)):
        return None
    return expression(stager, (left, right), node, lambda one, two: compare(stager, comparison, one, two, node))


def is_operand(value: Staged) -> bool:
    """Whether a value can be combined with an array element by element."""
    return value.is_number() or value.is_elementwise() or value.as_array_value() is not None


def expression(stager: Stager, operands: Sequence[Staged], node: ast.AST, function: Callable[..., Staged]) -> Computed:
    """A function of operands, at least one of them an array, element by element."""
    values = [each.as_array_value() or each for each in operands]
    leader = next(each for each in values if isinstance(each, ArrayValue))
    values = [each.beside(stager, leader, node) for each in values]
    return Computed(common_shape(stager, values, node), tuple(values), function)


def common_shape(stager: Stager, operands: Sequence[Staged], node: ast.AST) -> tuple[Staged, ...]:
    """The shape of operands that match; of a dimension of known length 1, the only element is used for all."""
    shapes = [shape for each in operands if (shape := each.array_extents(stager)) is not None]
    longest = max(shapes, key=len)
    result: list[Staged] = []
    for axis in range(-len(longest), 0):
        extents = [shape[axis] for shape in shapes if len(shape) >= -axis and shape[axis].number() != 1]
        for other in extents[1:]:
            require_equal(stager, extents[0], other, node)
        known = [each for each in extents if each.number() is not None]
        result.append((known or extents or [Static(1)])[0])
    return tuple(result)


def require_equal(stager: Stager, first: Staged, second: Staged, node: ast.AST) -> None:
    """Check that two dimensions have the same length: now if both are known, otherwise once when the statement runs."""
    one, two = first.number(), second.number()
    if one is not None and two is not None:
        if one != two:
            stager.fail_type(node, f"shapes do not match: a dimension has {one} elements on one side and {two} on the other")
        return
    with stager.unwritten():
        sides = tuple(convert(stager, each.scalar(stager, node), i64) for each in (first, second))
        if same_value(*sides):
            return
        counts = tuple(stager.emit("max", i64, (each, constant(0, i64))) for each in sides)  # of slices that end early
        same = stager.emit("eq", u1, counts)
    with stager.at(node):
        problem = f"shapes do not match in `{shorten(ast.unparse(node), 80, placeholder=' …')}`"
        emit_check(stager, same, problem, (": dimensions of ", sides[0], " and ", sides[1], " elements."))


def matched_indices(shape: Sequence[Staged], indices: tuple[Value, ...]) -> tuple[Value, ...]:
    """The indices of an operand for an element of the expression: of its dimensions, and 0 where it has one element."""
    own = indices[len(indices) - len(shape) :]
    return tuple(constant(0, i32) if extent.number() == 1 else index for index, extent in zip(own, shape, strict=True))


def element_type(stager: Stager, value: ArrayValue, node: ast.AST) -> DType:
    """The dtype of the elements."""
    from samovar.ir import Region

    with stager.into(Region()):  # not part of the kernel
        sample = value.at(stager, (constant(0, i32),) * value.ndim)
    return sample.type(stager, node)


def product(stager: Stager, extents: Sequence[Staged]) -> Value:
    """The number of elements."""
    total: Value = constant(1, i64)
    with stager.unwritten():
        for extent in extents:
            total = stager.emit("mul", i64, (total, extent.as_type(stager, i64, stager.source.node)))
    return total


# --- indices


def index_parts(stager: Stager, index: Staged, node: ast.Subscript) -> list[Staged]:
    """The indices and slices in the brackets."""
    parts = list(index.items) if isinstance(node.slice, ast.Tuple) and isinstance(index, Items) else [index]
    found: list[Staged] = []
    for part in parts:
        value = part if isinstance(part, Slice) else part.unforced().as_operand(stager, node)
        if value.is_none():
            stager.fail(node, "`None` in an index is not supported in kernels", "write a loop over the elements")
        if isinstance(value, ArrayValue) or value.is_array():
            stager.fail(node, "an array as an index is not supported in kernels", "write a loop over the indices")
        found.extend([value] if isinstance(value, Slice) or value.is_number() else value.sequence(stager, node))
    return [each.unforced() for each in found]


def counted_from_start(stager: Stager, value: ArrayValue, indices: Sequence[Value]) -> list[Value]:
    """Indices with those that the program counts from the end, by a negative number, counted from the start."""
    if not any(isinstance(each, Constant) and each.value < 0 for each in indices):
        return list(indices)
    extents = value.extents(stager)
    return [
        from_end(stager, extent, int(each.value)) if isinstance(each, Constant) and each.value < 0 else each
        for each, extent in zip(indices, extents, strict=True)
    ]


def from_end(stager: Stager, extent: Staged, index: int) -> Value:
    """The position of a negative index."""
    known = extent.number()
    if isinstance(known, int):
        return constant(known + index, i32)
    value = extent.scalar(stager, stager.source.node)
    assert value.type is not None
    with stager.unwritten():
        return stager.emit("add", value.type, (value, constant(index, value.type)))


def ranged(stager: Stager, section: Section, index: Staged, extent: Staged, node: ast.Subscript) -> Range:
    """What an index or a slice takes of a dimension."""
    dtype = section.index_type
    if not isinstance(index, Slice):
        position = counted(stager, as_index(stager, index, node), extent, dtype)
        return Range(position, None, 0)
    lower, upper, stride = index.bounds
    step = 1 if stride.is_none() else stride.number()
    if not isinstance(step, int) or isinstance(step, bool) or step == 0:
        advice = "write a loop: `for i in range(first, last, step)`"
        stager.fail(node, "the step of a slice must be a nonzero integer known at compile time", advice)
    if lower.is_none() and upper.is_none() and step == 1:
        return Range()
    if step < 0 and not (lower.is_none() and upper.is_none() and step == -1):
        stager.fail(node, "of slices with a negative step, kernels support `a[::-1]`", "write a loop that goes backwards")
    size = extent.as_type(stager, dtype, node)
    if step < 0:
        with stager.unwritten():
            return Range(stager.emit("sub", dtype, (size, constant(1, dtype))), size, step)
    begin = None if lower.is_none() else counted(stager, as_index(stager, lower, node), extent, dtype)
    end = size if upper.is_none() else counted(stager, as_index(stager, upper, node), extent, dtype)
    return Range(begin, elements_between(stager, begin, end, step, size, node), step)


def elements_between(stager: Stager, begin: Value | None, end: Value, step: int, size: Value, node: ast.AST) -> Value:
    """The number of elements of a slice. As in Python it ends with the array; debug mode requires its bounds within."""
    dtype = size.type
    assert dtype is not None
    start = constant(0, dtype) if begin is None else begin
    with stager.unwritten():
        length: Value = stager.emit("sub", dtype, (end, start))
    if stager.context.checks_bounds:
        with stager.at(node):
            check_part(stager, BEYOND, start, length, size)
    with stager.unwritten():
        if end is not size:
            end = stager.emit("min", dtype, (end, size))
            length = stager.emit("sub", dtype, (end, start))
        if step != 1:
            length = stager.emit("add", dtype, (length, constant(step - 1, dtype)))
            length = stager.emit("floordiv", dtype, (length, constant(step, dtype)))
        return stager.emit("max", dtype, (length, constant(0, dtype)))


def counted(stager: Stager, position: Value, extent: Staged, dtype: DType) -> Value:
    """A position in the type of indices; a negative constant counts from the end."""
    if isinstance(position, Constant) and position.value < 0:
        position = from_end(stager, extent, int(position.value))
    return convert(stager, position, dtype)


def nested(stager: Stager, outer: Range, inner: Range, dtype: DType) -> Range:
    """A range of a range."""
    if outer == Range():
        return inner
    if inner == Range():
        return outer
    start = inner.start or constant(0, dtype)
    with stager.unwritten():
        if outer.step != 1:
            start = stager.emit("mul", dtype, (start, constant(outer.step, dtype)))
        if outer.start is not None:
            start = stager.emit("add", dtype, (outer.start, start))
    return Range(start, inner.length, outer.step * inner.step)


# --- aliasing


def same_place(one: Section, two: Section) -> bool:
    """Whether elements of two parts of one array at the same indices are the same, or of different rows."""
    pairs = list(zip(one.ranges, two.ranges, strict=True))
    if any(bool(first.step) != bool(second.step) for first, second in pairs):
        return False
    return all(first.step == second.step and same_value(first.start, second.start) for first, second in pairs if first.step)


def same_value(one: Value | None, two: Value | None) -> bool:
    """Whether two values of one statement are certainly equal."""
    if one is two:
        return True
    if isinstance(one, Constant) or isinstance(two, Constant):
        numbers = [0 if each is None else each.value if isinstance(each, Constant) else None for each in (one, two)]
        return None not in numbers and numbers[0] == numbers[1]
    if not (isinstance(one, Operation) and isinstance(two, Operation)) or one.code in ("load", "random", "call"):
        return False
    if (one.code, one.type, one.payload, len(one.operands)) != (two.code, two.type, two.payload, len(two.operands)):
        return False
    return all(same_value(first, second) for first, second in zip(one.operands, two.operands, strict=True))


def require_no_overlap(stager: Stager, target: Section, value: Staged, node: ast.AST) -> None:
    """Reject an assignment that would read elements which it has written."""
    for read in value.parts_read():
        if read.array is not target.array or (read.ndim == target.ndim and same_place(target, read)):
            continue
        stager.fail(
            node,
            f"this assignment reads other elements of `{target.tensor.name}` than it writes, so it needs a copy of them",
            "assign to another array first, or write a loop in the order that you need",
            errors.SamovarSyntaxError,
        )
