"""Making vectors and matrices: `sv.Vector(...)`, `sv.Matrix.zero(...)`, `vec3(...)`; and what annotations want of them."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from samovar._native import DType
from samovar.frontend.lossy import Keeper, kept
from samovar.frontend.operators import common_type
from samovar.frontend.rules import Call, Rule, dtype_argument
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
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.stager import Stager
from samovar.ir import Value
from samovar.language import Annotation, MatrixType, NoneAnnotation, ScalarAnnotation

#: An array of a function's own is no larger: it lives on the stack of a thread.
LARGEST_LOCAL = 1 << 16


# --- of given entries


def make(stager: Stager, call: Call) -> Staged:
    """`sv.Vector([1, 2, 3], sv.f32)`, `sv.Matrix([[1, 2], [3, 4]])`: lists of numbers, of lists, of vectors."""
    return made_of(stager, call, call["entries"])


def made_of(stager: Stager, call: Call, entries: Staged) -> MatrixValue:
    node, values = call.node, entries.as_operand(stager, call.node)
    matrix = as_matrix(stager, values, node)
    if not isinstance(matrix, MatrixValue):
        stager.fail_type(
            node,
            f"a vector is made of numbers, and a matrix of rows, not of {values.describe()}",
            "write `sv.Vector([x, y, z])` or `sv.Matrix([[a, b], [c, d]])`",
        )
    return of_type(stager, matrix, wanted_dtype(stager, call) or matrix.dtype(stager, node), node)


def wanted_dtype(stager: Stager, call: Call) -> DType | None:
    wanted = call.get("dt") or call.get("dtype")
    return None if wanted is None or wanted.is_none() else dtype_argument(stager, wanted, call.node)


def of_type(
    stager: Stager, matrix: MatrixValue, dtype: DType, node: ast.AST, keeper: Keeper | None = None
) -> MatrixValue:
    """The same with entries of a dtype, which numbers that are known must fit. A program that names no dtype there is
    warned of what they may lose: there is a `keeper` then."""
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
            f"{described(shape)} of {dtype.name} takes {size} bytes, and local memory is for at most {LARGEST_LOCAL}",
            "pass an array for it",
        )
    return Stored(stager.new_array(kind_word(shape), dtype, shape), (), shape, fresh=True)


def filled(
    stager: Stager, dtype: DType, shape: tuple[int, ...], value: Staged, node: ast.AST, keeper: Keeper | None = None
) -> Staged:
    """The same number everywhere."""
    number = entry_of(stager, value, dtype, node, keeper)
    if math.prod(shape) <= LARGEST_IN_REGISTERS:
        return Matrix(shape, (Scalar(number),) * math.prod(shape))
    result = new_stored(stager, dtype, shape, node)
    loop(stager, shape, lambda at: result.put(stager, at, number))
    return result


def known_size(stager: Stager, value: Staged, node: ast.AST) -> int:
    size = value.number()
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        stager.fail_type(node, f"the size of a vector or matrix is a whole number that is known at compile time, from 1 on,"
                               f" not {value.describe()}", "use a constant, or a `sv.Template` parameter")  # fmt: skip
    return size


def known_shape(stager: Stager, call: Call) -> tuple[int, ...]:
    sizes = [call["n"], *([call["m"]] if call.get("m") is not None and not call["m"].is_none() else [])]
    return tuple(known_size(stager, size, call.node) for size in sizes)


def uniform(number: int) -> Callable[[Stager, Call], Staged]:
    """`Matrix.zero(dt, n, m)`, `Matrix.one(dt, n, m)`."""

    def apply(stager: Stager, call: Call) -> Staged:
        from samovar.frontend.staged.static import Static

        dtype = dtype_argument(stager, call["dt"], call.node)
        return filled(stager, dtype, known_shape(stager, call), Static(number), call.node)

    return apply


def with_entries(
    stager: Stager, dtype: DType, shape: tuple[int, ...], entry: Callable[[tuple[int, ...]], Staged], node: ast.AST
) -> Staged:
    entries = tuple(Scalar(entry(indices).as_stored(stager, dtype, node)) for indices in every_index(shape))
    return matrix_of(stager, shape, entries, node)


def identity(stager: Stager, call: Call) -> Staged:
    from samovar.frontend.staged.static import Static

    dtype, size = dtype_argument(stager, call["dt"], call.node), known_size(stager, call["n"], call.node)
    return with_entries(stager, dtype, (size, size), lambda at: Static(int(at[0] == at[1])), call.node)


def unit(stager: Stager, call: Call) -> Staged:
    from samovar.frontend.staged.static import Static

    size, position = known_size(stager, call["n"], call.node), call["i"].number()
    if not isinstance(position, int) or not 0 <= position < size:
        stager.fail_type(call.node, f"the axis of a unit vector is a known number from 0 to {size - 1}")
    dtype = wanted_dtype(stager, call) or stager.context.default_ip
    return with_entries(stager, dtype, (size,), lambda at: Static(int(at[0] == position)), call.node)


def diagonal(stager: Stager, call: Call) -> Staged:
    from samovar.frontend.staged.static import Static

    """`diag(3, x)`, `diag(3, v)`, `diag(v)`: a number or a vector on the diagonal."""
    given = (call.get("val") or call["dim"]).as_operand(stager, call.node)
    vector = as_matrix(stager, given, call.node)
    if vector is None and not given.is_number():
        stager.fail_type(call.node, f"the diagonal is a number or a vector, not {given.describe()}")
    entries = vector.entries(stager) if isinstance(vector, MatrixValue) else ()
    size = known_size(stager, call["dim"], call.node) if "val" in call.arguments or not entries else len(entries)
    numbers = entries or (given,) * size
    if vector is not None and vector.component_shape() != (size,):
        stager.fail_type(call.node, f"a diagonal of {size} needs a number or a vector of {size}, not {vector.describe()}")
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
    from samovar.frontend.matrix_methods import transpose

    return transpose(stager, from_rows(stager, call), call)


# --- of a type


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
            stager.fail_type(node, f"{kind} is made of numbers and vectors, not of {value.describe()}")
        if len(values) == 1 and matrix.shape != shape and not (len(matrix.shape) == 1 and matrix.shape[0] == count):
            stager.fail_type(node, f"shapes do not match: {described(shape)} cannot be made of {matrix.describe()}")
        if len(values) == 1 and matrix.shape == shape:
            return converted(stager, kind, matrix, str(kind), node)
        entries.extend(matrix.entries(stager))
    if len(entries) != count:
        stager.fail_type(node, f"{kind} has {count} entries, and {len(entries)} are given")
    dtype = type_of_entries(stager, kind, entries, node)
    return with_entries(stager, dtype, shape, lambda at: entries[_flat(shape, at)], node)


def type_of_entries(stager: Stager, kind: MatrixType, entries: list[Staged], node: ast.AST) -> DType:
    """The dtype of a matrix of a type: the type's own, or that of the numbers that it is made of."""
    return common_type(stager, entries, node) if kind.is_open else kind.resolved(stager.context.lens.options)


def _flat(shape: tuple[int, ...], at: tuple[int, ...]) -> int:
    return at[0] if len(shape) == 1 else at[0] * shape[1] + at[1]


# --- what annotations want


def converted(
    stager: Stager, kind: MatrixType, value: Staged, what: str, node: ast.AST, keeper: Keeper | None = None
) -> MatrixValue:
    """A value as an annotation wants it."""
    matrix = as_matrix(stager, value.as_operand(stager, node), node)
    if not isinstance(matrix, MatrixValue) or matrix.shape != kind.shape:
        stager.fail_type(node, f"{what} must be {described(kind.shape)}, got {value.describe()}")
    if kind.is_open:
        return matrix
    return of_type(stager, matrix, kind.resolved(stager.context.lens.options), node, keeper)


def declared_dtype(stager: Stager, declared: Annotation | None, value: MatrixValue, node: ast.AST) -> DType | None:
    """The dtype that a return annotation gives to a vector or matrix."""
    if declared is None:
        return None
    if isinstance(declared, NoneAnnotation):
        stager.fail_type(node, "the function is annotated as returning None, and returns a value")
    if not isinstance(declared, MatrixType) or declared.shape != value.shape:
        problem = f"the annotation promises {declared}, and {value.describe()} is returned"
        if isinstance(declared, ScalarAnnotation) and stager.function is not stager.context.lens.kernel:
            stager.warn(node, f"{problem}: it means nothing here")  # a func gives back what it computes
            return None
        stager.fail_type(node, problem)
    return None if declared.is_open else declared.resolved(stager.context.lens.options)


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
