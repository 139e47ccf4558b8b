"""Constructors of vectors and matrices (`sv.Vector(...)`, `sv.Matrix.zero(...)`, `vec3(...)`), and their annotations."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from samovar._native import DType
from samovar.frontend.dispatch import call_value
from samovar.frontend.lossy import Keeper, kept
from samovar.frontend.matrix_methods import transpose
from samovar.frontend.operators import common_type
from samovar.frontend.returns import result_of, returned
from samovar.frontend.rules import Call, Rule, bind, dtype_argument
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.matrix import (
    LARGEST_IN_REGISTERS,
    Matrix,
    MatrixValue,
    Stored,
    as_matrix,
    described,
    every_index,
    kind_word,
    loop,
    matrix_of,
)
from samovar.frontend.staged.matrix_kind import MatrixKind, UniformMaker
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.ir import Value
from samovar.language import Annotation, NoneAnnotation, ScalarAnnotation
from samovar.values import MatrixType

#: The size limit of a function's local arrays: they are on a thread's stack.
LARGEST_LOCAL = 1 << 16


# --- from elements


def make(stager: Stager, call: Call) -> Staged:
    """`sv.Vector([1, 2, 3], sv.f32)`, `sv.Matrix([[1, 2], [3, 4]])`: lists of numbers, of lists, of vectors."""
    return made_of(stager, call, call["entries"])


def made_of(stager: Stager, call: Call, entries: Staged) -> MatrixValue:
    node, values = call.node, entries.as_operand(stager, call.node)
    matrix = as_matrix(stager, values, node)
    if not isinstance(matrix, MatrixValue):
        stager.fail_type(
            node,
            f"a vector requires numbers, and a matrix rows of numbers, not {values.describe()}",
            "write `sv.Vector([x, y, z])` or `sv.Matrix([[a, b], [c, d]])`",
        )
    return of_type(stager, matrix, wanted_dtype(stager, call) or matrix.dtype(stager, node), node)


def wanted_dtype(stager: Stager, call: Call) -> DType | None:
    wanted = call.get("dt") or call.get("dtype")
    return None if wanted is None or wanted.is_none() else dtype_argument(stager, wanted, call.node)


def of_type(
    stager: Stager, matrix: MatrixValue, dtype: DType, node: ast.AST, keeper: Keeper | None = None
) -> MatrixValue:
    """The same value with elements of a dtype, which compile-time numbers must fit. If the program does not name the
    dtype there, a lossy conversion warns: then there is a `keeper`."""
    if isinstance(matrix, Matrix):
        return Matrix(matrix.shape, tuple(Scalar(entry_of(stager, each, dtype, node, keeper)) for each in matrix.numbers))
    if matrix.is_nobodys() and matrix.dtype(stager, node) is dtype:
        return matrix
    result = new_stored(stager, dtype, matrix.shape, node)
    loop(
        stager,
        matrix.shape,
        lambda at: result.put(stager, at, entry_of(stager, matrix.entry(stager, at), dtype, node, keeper)),
    )
    return result


def entry_of(stager: Stager, value: Staged, dtype: DType, node: ast.AST, keeper: Keeper | None) -> Value:
    return value.as_stored(stager, dtype, node) if keeper is None else kept(stager, value, dtype, node, keeper)


def new_stored(stager: Stager, dtype: DType, shape: tuple[int, ...], node: ast.AST) -> Stored:
    size = math.prod(shape) * dtype.itemsize
    if size > LARGEST_LOCAL:
        stager.fail_type(
            node,
            f"{described(shape)} of {dtype.name} takes {size} bytes, but local values are limited to {LARGEST_LOCAL} bytes",
            "use an array instead",
        )
    return Stored(stager.new_array(kind_word(shape), dtype, shape), (), shape, fresh=True)


def filled(
    stager: Stager, dtype: DType, shape: tuple[int, ...], value: Staged, node: ast.AST, keeper: Keeper | None = None
) -> Staged:
    """The same number in all elements."""
    number = entry_of(stager, value, dtype, node, keeper)
    if math.prod(shape) <= LARGEST_IN_REGISTERS:
        return Matrix(shape, (Scalar(number),) * math.prod(shape))
    result = new_stored(stager, dtype, shape, node)
    loop(stager, shape, lambda at: result.put(stager, at, number))
    return result


def known_size(stager: Stager, value: Staged, node: ast.AST) -> int:
    size = value.number()
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        stager.fail_type(node, "the size of a vector or matrix must be a positive integer known at compile time,"
                               f" not {value.describe()}", "use a constant, or a `sv.Template` parameter")  # fmt: skip
    return size


def known_shape(stager: Stager, call: Call) -> tuple[int, ...]:
    sizes = [call["n"], *([call["m"]] if call.get("m") is not None and not call["m"].is_none() else [])]
    return tuple(known_size(stager, size, call.node) for size in sizes)


def uniform(number: int) -> Callable[[Stager, Call], Staged]:
    """`Matrix.zero(dt, n, m)`, `Matrix.one(dt, n, m)`."""

    def apply(stager: Stager, call: Call) -> Staged:
        dtype = dtype_argument(stager, call["dt"], call.node)
        return filled(stager, dtype, known_shape(stager, call), Static(number), call.node)

    return apply


def with_entries(
    stager: Stager, dtype: DType, shape: tuple[int, ...], entry: Callable[[tuple[int, ...]], Staged], node: ast.AST
) -> Staged:
    entries = tuple(Scalar(entry(indices).as_stored(stager, dtype, node)) for indices in every_index(shape))
    return matrix_of(stager, shape, entries, node)


def identity(stager: Stager, call: Call) -> Staged:
    dtype, size = dtype_argument(stager, call["dt"], call.node), known_size(stager, call["n"], call.node)
    return with_entries(stager, dtype, (size, size), lambda at: Static(int(at[0] == at[1])), call.node)


def unit(stager: Stager, call: Call) -> Staged:
    size, position = known_size(stager, call["n"], call.node), call["i"].number()
    if not isinstance(position, int) or not 0 <= position < size:
        stager.fail_type(call.node, f"the index of a unit vector must be a compile-time integer from 0 to {size - 1}")
    dtype = wanted_dtype(stager, call) or stager.context.default_ip
    return with_entries(stager, dtype, (size,), lambda at: Static(int(at[0] == position)), call.node)


def diagonal(stager: Stager, call: Call) -> Staged:
    """`diag(3, x)`, `diag(3, v)`, `diag(v)`: a number or a vector on the diagonal."""
    given = (call.get("val") or call["dim"]).as_operand(stager, call.node)
    vector = as_matrix(stager, given, call.node)
    if vector is None and not given.is_number():
        stager.fail_type(call.node, f"the diagonal must be a number or a vector, not {given.describe()}")
    entries = vector.entries(stager) if isinstance(vector, MatrixValue) else ()
    size = known_size(stager, call["dim"], call.node) if "val" in call.arguments or not entries else len(entries)
    numbers = entries or (given,) * size
    if vector is not None and vector.component_shape() != (size,):
        stager.fail_type(call.node, f"a diagonal of {size} requires a number or a vector of {size}, not {vector.describe()}")
    dtype = wanted_dtype(stager, call) or common_type(stager, numbers, call.node)
    return with_entries(
        stager, dtype, (size, size), lambda at: numbers[at[0]] if at[0] == at[1] else Static(0), call.node
    )


def from_rows(stager: Stager, call: Call) -> MatrixValue:
    rows = made_of(stager, call, call.values[0])
    if len(rows.shape) != 2:
        stager.fail_type(call.node, f"`{ast.unparse(call.node.func)}` takes vectors, or lists of numbers")
    return rows


def from_columns(stager: Stager, call: Call) -> Staged:
    return transpose(stager, from_rows(stager, call), call)


# --- from a type


@call_value.register(MatrixKind)
def call_type(value: MatrixKind, stager: Stager, node: ast.Call) -> Staged:
    return construct(stager, value.kind, bind(stager, node, "*values"))


@call_value.register(UniformMaker)
def call_uniform(value: UniformMaker, stager: Stager, node: ast.Call) -> Staged:
    bind(stager, node, "")
    dtype = value.kind.resolved(stager.context.lens.options)
    return filled(stager, dtype, value.kind.shape, Static(value.number_everywhere), node)


def construct(stager: Stager, kind: MatrixType, call: Call) -> Staged:
    """`vec3(1, 2, 3)`, `vec3(0)`, `vec4(v3, 1)`, `mat2([[1, 2], [3, 4]])`, `mat2(1, 2, 3, 4)`."""
    node, shape = call.node, kind.shape
    values = [value.as_operand(stager, node) for value in call.values]
    count = math.prod(shape)
    if len(values) == 1 and values[0].is_number():
        return filled(stager, type_of_entries(stager, kind, values, node), shape, values[0], node)
    entries: list[Staged] = []
    for value in values:
        if value.is_number():
            entries.append(value)
            continue
        matrix = as_matrix(stager, value, node)
        if not isinstance(matrix, MatrixValue):
            stager.fail_type(node, f"{kind} requires numbers and vectors, not {value.describe()}")
        if len(values) == 1 and matrix.shape != shape and not (len(matrix.shape) == 1 and matrix.shape[0] == count):
            stager.fail_type(node, f"shapes do not match: {described(shape)} cannot be made from {matrix.describe()}")
        if len(values) == 1 and matrix.shape == shape:
            return converted(stager, kind, matrix, str(kind), node)
        entries.extend(matrix.entries(stager))
    if len(entries) != count:
        stager.fail_type(node, f"{kind} has {count} elements, but got {len(entries)}")
    dtype = type_of_entries(stager, kind, entries, node)
    return with_entries(stager, dtype, shape, lambda at: entries[_flat(shape, at)], node)


def type_of_entries(stager: Stager, kind: MatrixType, entries: list[Staged], node: ast.AST) -> DType:
    """The dtype of a value of a matrix type: the type's own, or that of its arguments."""
    return common_type(stager, entries, node) if kind.is_open else kind.resolved(stager.context.lens.options)


def _flat(shape: tuple[int, ...], at: tuple[int, ...]) -> int:
    return at[0] if len(shape) == 1 else at[0] * shape[1] + at[1]


# --- annotations


def converted(
    stager: Stager, kind: MatrixType, value: Staged, what: str, node: ast.AST, keeper: Keeper | None = None
) -> MatrixValue:
    """A value converted to an annotation."""
    matrix = as_matrix(stager, value.as_operand(stager, node), node)
    if not isinstance(matrix, MatrixValue) or matrix.shape != kind.shape:
        stager.fail_type(node, f"{what} must be {described(kind.shape)}, got {value.describe()}")
    if kind.is_open:
        return matrix
    return of_type(stager, matrix, kind.resolved(stager.context.lens.options), node, keeper)


def declared_dtype(stager: Stager, declared: Annotation | None, value: MatrixValue, node: ast.AST) -> DType | None:
    """The dtype that a return annotation declares for a vector or matrix."""
    if declared is None:
        return None
    if isinstance(declared, NoneAnnotation):
        stager.fail_type(node, "the function is annotated as returning None, but returns a value")
    if not isinstance(declared, MatrixType) or declared.shape != value.shape:
        problem = f"the return annotation is {declared}, but {value.describe()} is returned"
        if isinstance(declared, ScalarAnnotation) and stager.function is not stager.context.lens.kernel:
            stager.warn(node, f"{problem}: the annotation is ignored")  # a func returns what it computes
            return None
        stager.fail_type(node, problem)
    return None if declared.is_open else declared.resolved(stager.context.lens.options)


# --- results


@returned.register(Matrix)
def return_matrix(value: Matrix, stager: Stager, declared: Annotation | None, node: ast.AST) -> Staged:
    dtype = declared_dtype(stager, declared, value, node) or value.dtype(stager, node)
    return of_type(stager, value, dtype, node, result_of(stager))


@returned.register(Stored)
def return_stored(value: Stored, stager: Stager, declared: Annotation | None, node: ast.AST) -> Staged:
    dtype, keeper = declared_dtype(stager, declared, value, node) or value.array.dtype, result_of(stager)
    if stager.expanded is not None:
        return of_type(stager, value, dtype, node, keeper)
    if stager.specialized is None:
        return of_type(stager, Matrix(value.shape, value.entries(stager)), dtype, node, keeper)
    result = Stored(stager.result_array(dtype, value.shape), (), value.shape, fresh=True)
    loop(
        stager,
        value.shape,
        lambda at: result.put(stager, at, entry_of(stager, value.entry(stager, at), dtype, node, keeper)),
    )
    return result


INTRINSICS: dict[str, Rule] = {
    "samovar.Vector": Rule(make, "entries dt? dtype?"),
    "samovar.Matrix": Rule(make, "entries dt? dtype?"),
    **{
        f"samovar.{home}.{name}": rule
        for home in ("Vector", "Matrix")
        for name, rule in {
            "zero": Rule(uniform(0), "dt n m?"),
            "one": Rule(uniform(1), "dt n m?"),
            "unit": Rule(unit, "n i dt?"),
            "identity": Rule(identity, "dt n"),
            "diag": Rule(diagonal, "dim val? dt?"),
            "rows": Rule(from_rows, "rows dt?"),
            "cols": Rule(from_columns, "columns dt?"),
        }.items()
    },
}
