"""Vectors and matrices as values: small ones in registers, large ones in memory of the function.

Both have value semantics: assignment copies. Up to `LARGEST_IN_REGISTERS` elements, each element is a separate number and
every operation is unrolled. Above, an operation is a loop over local arrays, so that code does not grow with the size.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from samovar._native import DType, i32, u1
from samovar.frontend.operators import (
    BinaryOperator,
    Comparison,
    UnaryOperator,
    binary,
    by_components,
    check_shapes,
    common_type,
    compare,
)
from samovar.frontend.scalars import constant, read
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.matrix_indices import Index, entry_names, is_swizzle, selected, selectors, swizzle
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.ir import Array, Constant, For, If, Local, LoopVariable, MatrixResult, Region, Value

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager
    from samovar.ir import ResultShape

#: Values with more elements than a 4×4 matrix are in memory.
LARGEST_IN_REGISTERS = 16
#: The largest number of elements that a run-time index selects from in registers; larger values go to memory first.
LARGEST_CHOSEN = 4

Entry = Callable[[tuple[Index, ...]], Staged]
MethodRule = Callable[["Stager", "MatrixValue", ast.Call], Staged]

#: The methods of vectors and matrices. `matrix_methods.py` enters them.
METHODS: dict[str, MethodRule] = {}


class MatrixValue(Staged):
    """The common part of vectors and matrices, in registers or in memory. `shape` is (n,) or (n, m)."""

    __slots__ = ("shape",)

    shape: tuple[int, ...]
    advice = "use one element, or reduce it to a number: `.sum()`, `.norm()`, `.any()`, `.all()`"
    advice_for_loop = "loop over its indices, `range(v.n)`, or unroll it: `for x in sv.static(v)`"

    def describe(self) -> str:
        return described(self.shape)

    # --- elements

    def entry(self, stager: Stager, indices: tuple[Index, ...]) -> Staged:
        """The element at compile-time or run-time indices."""
        raise NotImplementedError

    def entries(self, stager: Stager) -> tuple[Staged, ...]:
        """All elements, row by row."""
        return tuple(self.entry(stager, indices) for indices in every_index(self.shape))

    def dtype(self, stager: Stager, node: ast.AST) -> DType:
        """The dtype of the elements."""
        raise NotImplementedError

    def in_memory(self, stager: Stager, node: ast.AST) -> Stored:
        """The same value in memory of the function."""
        raise NotImplementedError

    def is_nobodys(self) -> bool:
        """Whether it is in memory that has no name yet."""
        return False

    def is_run_time(self) -> bool:
        return True

    def is_unrolled_by_static(self) -> bool:
        return True

    def is_elementwise(self) -> bool:
        return True

    def component_shape(self) -> tuple[int, ...]:
        return self.shape

    def array_extents(self, stager: Stager) -> tuple[Staged, ...]:
        return tuple(map(Static, self.shape))

    def element_beside(self, stager: Stager, indices: tuple[Value, ...]) -> Staged:
        own = indices[len(indices) - len(self.shape) :]
        taken = [0 if extent == 1 else each for each, extent in zip(own, self.shape, strict=True)]
        return self.entry(stager, tuple([int(each.value) if isinstance(each, Constant) else each for each in taken]))

    def fail_to_match(self, stager: Stager, operands: Sequence[Staged], node: ast.AST) -> NoReturn:
        shapes = [operand.describe() for operand in operands if operand.is_elementwise()]
        advice = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and any("matrix" in each for each in shapes):
            product = ast.unparse(ast.BinOp(node.left, ast.MatMult(), node.right))
            advice = f"`*` is element-wise; use `{product}` for the matrix product"
        stager.fail_type(node, f"shapes do not match: {' and '.join(dict.fromkeys(shapes))}", advice)

    # --- operators

    def binary(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        return self.combine(stager, operator, self, other, node)

    def reflected(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        return self.combine(stager, operator, other, self, node)

    def combine(
        self, stager: Stager, operator: BinaryOperator, left: Staged, right: Staged, node: ast.AST
    ) -> Staged | None:
        from samovar.frontend.matrix_products import multiply

        if operator.code == "matmul":
            return multiply(stager, left.beside(stager, self, node), right.beside(stager, self, node), node)
        return by_components(
            stager, (left, right), node, lambda one, two: binary(stager, operator, one, two, node)
        )

    def compare(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        return by_components(stager, (self, other), node, lambda one, two: compare(stager, comparison, one, two, node))

    def compare_reflected(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        return by_components(stager, (other, self), node, lambda one, two: compare(stager, comparison, one, two, node))

    def unary(self, stager: Stager, operator: UnaryOperator, node: ast.AST) -> Staged:
        done = by_components(stager, (self,), node, lambda entry: entry.unary(stager, operator, node))
        assert done is not None
        return done

    # --- parts

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        if name in METHODS:
            return Method(self, name)
        known = self.facts(stager, node).get(name)
        if known is not None:
            return known()
        places = swizzle(self.shape, name)
        if places is None:
            return super().attribute(stager, name, node)
        entries = tuple(self.entry(stager, (place,)) for place in places)
        return entries[0] if len(entries) == 1 else Matrix((len(entries),), entries)

    def facts(self, stager: Stager, node: ast.AST) -> dict[str, Callable[[], Staged]]:
        """Attributes known at compile time."""
        return {
            "n": lambda: Static(self.shape[0]),
            "m": lambda: Static(self.shape[1] if len(self.shape) == 2 else 1),
            "ndim": lambda: Static(len(self.shape)),
            "shape": lambda: Items(tuple(map(Static, self.shape))),
            "dtype": lambda: Static(self.dtype(stager, node)),
        }

    def member_names(self) -> tuple[str, ...]:
        return ("n", "m", "shape", "dtype", *METHODS)

    def advice_for_absent(self, node: ast.Attribute) -> str | None:
        if is_swizzle(node.attr):
            return entry_names(self.shape)
        return f"its attributes are {', '.join(self.member_names())}"

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        chosen = selectors(stager, self.shape, index, node)
        shape, places = selected(chosen)
        entries = tuple(self.entry(stager, place) for place in places)
        return entries[0] if not shape else matrix_of(stager, shape, entries, node)

    def sequence(self, stager: Stager, node: ast.AST) -> tuple[Staged, ...]:
        """The components of a vector, the rows of a matrix."""
        if len(self.shape) == 1:
            return self.entries(stager)
        rows, columns = self.shape
        return tuple(
            matrix_of(stager, (columns,), tuple(self.entry(stager, (row, column)) for column in range(columns)), node)
            for row in range(rows)
        )

    def length(self, stager: Stager, node: ast.AST) -> Staged:
        return Static(self.shape[0])

    # --- as a variable, an argument, a result

    def result_shape(self, numbers: Iterator[int]) -> ResultShape:
        return MatrixResult(self.shape, tuple(itertools.islice(numbers, len(self.ir_values()))))

    def fail_as_number(self, stager: Stager, node: ast.AST) -> NoReturn:
        stager.fail_type(node, f"expected a number, got {self.describe()}", self.advice)


class Matrix(MatrixValue):
    """Elements in registers, row by row: run-time or compile-time numbers."""

    __slots__ = ("numbers",)

    def __init__(self, shape: tuple[int, ...], numbers: tuple[Staged, ...]) -> None:
        self.shape = shape
        self.numbers = numbers

    def entry(self, stager: Stager, indices: tuple[Index, ...]) -> Staged:
        if all(isinstance(index, int) for index in indices):
            return self.numbers[flat_position(self.shape, indices)]
        if len(self.numbers) <= LARGEST_CHOSEN and not stager.context.debug:
            return chosen(stager, self.shape, self.numbers, indices)
        return self.in_memory(stager, stager.source.node).entry(stager, indices)

    def entries(self, stager: Stager) -> tuple[Staged, ...]:
        return self.numbers

    def dtype(self, stager: Stager, node: ast.AST) -> DType:
        return common_type(stager, self.numbers, node)

    def in_memory(self, stager: Stager, node: ast.AST) -> Stored:
        dtype = self.dtype(stager, node)
        stored = Stored(stager.new_array(kind_word(self.shape), dtype, self.shape), (), self.shape, fresh=True)
        for indices, number in zip(every_index(self.shape), self.numbers, strict=True):
            stored.put(stager, indices, number.as_type(stager, dtype, node))
        return stored

    def is_run_time(self) -> bool:
        return any(number.is_run_time() for number in self.numbers)

    def wanted_by_static(self) -> tuple[Value, ...]:
        return tuple(value for number in self.numbers for value in number.wanted_by_static())

    def spread(self, count: int) -> tuple[Staged, ...]:
        return self.numbers

    def with_components(self, components: tuple[Staged, ...]) -> Staged:
        return Matrix(self.shape, components)

    def ir_values(self) -> tuple[Value, ...]:
        return tuple(value for number in self.numbers for value in number.ir_values())

    def rebuild(self, values: Iterator[Value]) -> Staged:
        return Matrix(self.shape, tuple(number.rebuild(values) for number in self.numbers))

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("matrix", self.shape, tuple(number.specialization_key(stager, node) for number in self.numbers))

    def as_argument(self, stager: Stager, node: ast.AST) -> Staged:
        return self.of_type(stager, self.dtype(stager, node), node)

    def of_type(self, stager: Stager, dtype: DType, node: ast.AST) -> Matrix:
        """The same with run-time elements of a dtype."""
        return Matrix(self.shape, tuple(Scalar(number.as_type(stager, dtype, node)) for number in self.numbers))

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        return tuple(number.as_outside_argument(stager, node) for number in self.numbers)

    def text_value(self, stager: Stager, node: ast.AST) -> Any:
        return [number.text_value(stager, node) for number in self.numbers]


class Stored(MatrixValue):
    """Elements in an array, after leading indices. A `fresh` value has no name yet: the first name may take its memory."""

    __slots__ = ("array", "fresh", "leading")

    def __init__(
        self, array: Array, leading: tuple[Value, ...], shape: tuple[int, ...], fresh: bool = False
    ) -> None:
        self.array = array
        self.leading = leading
        self.shape = shape
        self.fresh = fresh

    def entry(self, stager: Stager, indices: tuple[Index, ...]) -> Staged:
        place = (*self.leading, *map(index_value, indices))
        return Scalar(read(stager, stager.emit("load", self.array.dtype, place, self.array)))

    def put(self, stager: Stager, indices: tuple[Index, ...], value: Value) -> None:
        """Store a value of its dtype in an element."""
        stager.emit("store", None, (*self.leading, *map(index_value, indices), value), self.array)

    def dtype(self, stager: Stager, node: ast.AST) -> DType:
        return self.array.dtype

    def in_memory(self, stager: Stager, node: ast.AST) -> Stored:
        return self

    def is_nobodys(self) -> bool:
        return self.fresh

    def is_in_memory(self) -> bool:
        return True

    def current(self, stager: Stager, node: ast.AST) -> Staged:
        return self if self.fresh else self.copy(stager, node)

    def kept(self, stager: Stager, node: ast.AST) -> Staged:
        own = self if self.fresh else self.copy(stager, node)
        own.fresh = False
        return own

    def copy(self, stager: Stager, node: ast.AST) -> Stored:
        """A copy of the current elements."""
        return computed(stager, self.shape, node, lambda indices: self.entry(stager, indices))

    def by_components(
        self, stager: Stager, operands: Sequence[Staged], node: ast.AST, function: Callable[..., Staged]
    ) -> Staged:
        operands = [operand.beside(stager, self, node) for operand in operands]
        check_shapes(stager, self, operands, node)

        def at(indices: tuple[Index, ...]) -> Staged:
            return function(*(each.component(stager, indices) for each in operands))

        return computed(stager, self.shape, node, at)

    def component(self, stager: Stager, indices: tuple[Index, ...]) -> Staged:
        return self.entry(stager, indices)

    def ir_values(self) -> tuple[Value, ...]:
        return (self.array, *self.leading)

    def rebuild(self, values: Iterator[Value]) -> Staged:
        array = next(values)
        assert isinstance(array, Array)
        return Stored(array, tuple(next(values) for _ in self.leading), self.shape, self.fresh)

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        array = self.array
        kind = (array.dtype, array.boundary, array.private, array.order)
        layout = (array.contiguous, array.wide, array.extents, array.layout, array.record_stride, array.soa_ndim)
        return ("stored", self.shape, kind, layout, tuple(index.type for index in self.leading))


class Method(Staged):
    """A bound method of a vector or matrix."""

    __slots__ = ("name", "owner")

    advice = "call it"

    def __init__(self, owner: MatrixValue, name: str) -> None:
        self.owner = owner
        self.name = name

    def describe(self) -> str:
        return f"the method `{self.name}`"


# --- constructors


def matrix_of(stager: Stager, shape: tuple[int, ...], entries: tuple[Staged, ...], node: ast.AST) -> MatrixValue:
    """A vector or matrix of these elements."""
    matrix = Matrix(shape, entries)
    return matrix if len(entries) <= LARGEST_IN_REGISTERS else matrix.in_memory(stager, node)


def registered(stager: Stager, value: Stored) -> MatrixValue:
    """A matrix in memory, or in registers if it is small enough."""
    small = math.prod(value.shape) <= LARGEST_IN_REGISTERS
    return Matrix(value.shape, value.entries(stager)) if small else value


def as_matrix(stager: Stager, value: Staged, node: ast.AST) -> Staged | None:
    """The matrix for a list of numbers or rows; a matrix unchanged; None for everything else."""
    if isinstance(value, MatrixValue):
        return value
    if value.known_array(stager) is not None:
        value = Items(value.sequence(stager, node), is_list=True)
    if not isinstance(value, Items):
        return None
    items = value.items
    if items and all(item.is_number() for item in items):
        return matrix_of(stager, (len(items),), items, node)
    rows = [as_matrix(stager, item, node) for item in items]
    if not rows or not all(isinstance(row, MatrixValue) and len(row.shape) == 1 for row in rows):
        return None
    vectors = [row for row in rows if isinstance(row, MatrixValue)]
    if len({row.shape for row in vectors}) != 1:
        lengths = ", ".join(str(row.shape[0]) for row in vectors)
        stager.fail_type(node, f"the rows of a matrix have different lengths: {lengths}")
    entries = tuple(entry for row in vectors for entry in row.entries(stager))
    return matrix_of(stager, (len(rows), *vectors[0].shape), entries, node)


def computed(stager: Stager, shape: tuple[int, ...], node: ast.AST, entry: Entry) -> Stored:
    """A matrix in memory whose elements are computed in a loop."""
    result: list[Stored] = []

    def fill(indices: tuple[Index, ...]) -> None:
        value = entry(indices).scalar(stager, node)
        assert value.type is not None
        # The size of an element is known once one is computed. Memory is reserved before everything else.
        result.append(Stored(stager.new_array(kind_word(shape), value.type, shape), (), shape, fresh=True))
        result[0].put(stager, indices, value)

    loop(stager, shape, fill)
    return result[0]


def loop(stager: Stager, shape: tuple[int, ...], body: Callable[[tuple[Index, ...]], None]) -> None:
    """A loop over the indices of a shape."""
    variables = tuple(LoopVariable("ij"[axis], i32) for axis in range(len(shape)))
    regions = [Region() for _ in shape]
    line = stager.line
    with stager.into(regions[-1]):
        body(variables)
    for axis in reversed(range(len(shape))):
        step = For(variables[axis], Constant(0, i32), Constant(shape[axis], i32), Constant(1, i32), regions[axis], line)
        (stager.region if axis == 0 else regions[axis - 1]).operations.append(step)


# --- elements


def kind_word(shape: tuple[int, ...]) -> str:
    """The description of a value without a name."""
    return "vector" if len(shape) == 1 else "matrix"


def described(shape: tuple[int, ...]) -> str:
    return f"a vector of {shape[0]}" if len(shape) == 1 else f"a matrix of {shape[0]}×{shape[1]}"


def every_index(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The indices of all elements, row by row."""
    return itertools.product(*map(range, shape))


def flat_position(shape: tuple[int, ...], indices: Sequence[Any]) -> int:
    position: int = indices[0]
    for extent, index in zip(shape[1:], indices[1:], strict=True):
        position = position * extent + index
    return position


def index_value(index: Index) -> Value:
    return Constant(index, i32) if isinstance(index, int) else index


def chosen(stager: Stager, shape: tuple[int, ...], numbers: tuple[Staged, ...], indices: tuple[Index, ...]) -> Staged:
    """The element at a run-time index, selected among a few."""
    node = stager.source.node
    index, rest = indices[0], indices[1:]
    size = math.prod(shape[1:])
    rows = [numbers[row * size : (row + 1) * size] for row in range(shape[0])]
    if rest:
        columns = [chosen(stager, shape[1:], row, rest) for row in rows]
    else:
        columns = [row[0] for row in rows]
    if isinstance(index, int):
        return columns[index]
    dtype = common_type(stager, columns, node)
    result = columns[-1].as_type(stager, dtype, node)
    assert index.type is not None
    for position in reversed(range(len(columns) - 1)):
        here = stager.emit("eq", u1, (index, constant(position, index.type)))
        result = stager.emit("select", dtype, (here, columns[position].as_type(stager, dtype, node), result))
    return Scalar(result)


def accumulate(
    stager: Stager, value: MatrixValue, node: ast.AST, join: Callable[[Staged, Staged], Staged]
) -> Staged:
    """Reduce all elements to one number, in order."""
    if isinstance(value, Matrix):
        result = value.numbers[0]
        for number in value.numbers[1:]:
            result = join(result, number)
        return result
    first = value.entry(stager, (0,) * len(value.shape))
    total: list[Local] = []

    def add(indices: tuple[Index, ...]) -> None:
        old = stager.emit("load_local", total[0].type, (), total[0])
        joined = join(Scalar(old), value.entry(stager, indices)).as_type(stager, total[0].type, node)
        stager.emit("store_local", None, (joined,), total[0])

    dtype = join(first, first).type(stager, node)
    total.append(stager.new_local("_", dtype))
    stager.emit("store_local", None, (first.as_type(stager, dtype, node),), total[0])
    loop_after_first(stager, value.shape, add)
    return Scalar(stager.emit("load_local", dtype, (), total[0]))


def loop_after_first(stager: Stager, shape: tuple[int, ...], body: Callable[[tuple[Index, ...]], None]) -> None:
    """A loop over all elements except the first."""
    if len(shape) == 1:
        variable, region = LoopVariable("i", i32), Region()
        with stager.into(region):
            body((variable,))
        stager.append(For(variable, Constant(1, i32), Constant(shape[0], i32), Constant(1, i32), region))
        return

    def unless_first(indices: tuple[Index, ...]) -> None:
        later = stager.emit("gt", u1, (stager.emit("or", i32, tuple(map(index_value, indices))), Constant(0, i32)))
        region = Region()
        with stager.into(region):
            body(indices)
        stager.append(If(later, region, Region()))

    loop(stager, shape, unless_first)
