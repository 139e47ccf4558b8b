"""Methods of vectors and matrices."""

from __future__ import annotations

import ast
from collections.abc import Callable

from samovar._native import u1
from samovar.frontend.conversions import cast
from samovar.frontend.matrix_products import multiply
from samovar.frontend.operators import BINARY, as_float, binary, by_components, common_type, truth
from samovar.frontend.rules import Call, bind
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.matrix import (
    Matrix,
    MatrixValue,
    accumulate,
    as_matrix,
    computed,
    every_index,
    matrix_of,
)
from samovar.frontend.staged.matrix_indices import Index
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager

ADD, SUBTRACT, MULTIPLY, DIVIDE = (BINARY[each] for each in (ast.Add, ast.Sub, ast.Mult, ast.Div))

Apply = Callable[[Stager, MatrixValue, Call], Staged]
Method = Callable[[Stager, MatrixValue, ast.Call], Staged]


def method(apply: Apply, parameters: str = "") -> Method:
    """A method that is staged by a function of the matrix and its other arguments."""

    def call(stager: Stager, owner: MatrixValue, node: ast.Call) -> Staged:
        return apply(stager, owner, bind(stager, node, parameters))

    return call


# --- one number


def total(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    """The sum; of conditions, how many hold."""
    if value.dtype(stager, call.node) is u1:
        value = converted(stager, value, Static(stager.context.default_ip), call.node)
    return accumulate(stager, value, call.node, lambda one, two: binary(stager, ADD, one, two, call.node))


def extreme(code: str) -> Apply:
    def apply(stager: Stager, value: MatrixValue, call: Call) -> Staged:
        def join(one: Staged, two: Staged) -> Staged:
            dtype = common_type(stager, (one, two), call.node)
            operands = (one.as_type(stager, dtype, call.node), two.as_type(stager, dtype, call.node))
            return Scalar(stager.emit(code, dtype, operands))

        return accumulate(stager, value, call.node, join)

    return apply


def conditions(code: str) -> Apply:
    """any, all: of entries that are not zero."""

    def apply(stager: Stager, value: MatrixValue, call: Call) -> Staged:
        tests = by_components(stager, (value,), call.node, lambda each: Scalar(truth(stager, each, call.node)))
        assert isinstance(tests, MatrixValue)
        return accumulate(
            stager,
            tests,
            call.node,
            lambda one, two: Scalar(
                stager.emit(code, u1, (one.scalar(stager, call.node), two.scalar(stager, call.node)))
            ),
        )

    return apply


def dot(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    other = as_matrix(stager, call["other"], call.node)
    if not isinstance(other, MatrixValue) or other.shape != value.shape or len(value.shape) != 1:
        stager.fail_type(
            call.node, f"shapes do not match: the dot product of {value.describe()} and {call['other'].describe()}"
        )
    return multiply(stager, value, other, call.node)


def squared(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    products = by_components(stager, (value,), call.node, lambda each: binary(stager, MULTIPLY, each, each, call.node))
    assert isinstance(products, MatrixValue)
    return total(stager, products, call)


def norm(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    """The root of the sum of squares, plus `eps` under the root."""
    square = squared(stager, value, call)
    eps = call.get("eps")
    if eps is not None and eps.number() != 0:
        square = binary(stager, ADD, square, eps, call.node)
    operand = as_float(stager, square, call.node)
    return Scalar(stager.emit("sqrt", operand.type, (operand,)))


def inverse_norm(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    return binary(stager, DIVIDE, Static(1), norm(stager, value, call), call.node)


def normalized(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    length = norm(stager, value, call)
    inverse = binary(stager, DIVIDE, Static(1), length, call.node)
    return binary(stager, MULTIPLY, value, inverse, call.node)


def trace(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    require_square(stager, value, "trace", call.node)
    result = value.entry(stager, (0, 0))
    for position in range(1, value.shape[0]):
        result = binary(stager, ADD, result, value.entry(stager, (position, position)), call.node)
    return result


def require_square(stager: Stager, value: MatrixValue, what: str, node: ast.AST) -> None:
    if len(value.shape) != 2 or value.shape[0] != value.shape[1]:
        stager.fail_type(node, f"`{what}` needs a square matrix, got {value.describe()}")


# --- others of another shape


def transpose(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    """A vector becomes a matrix of one row."""
    rows, columns = (value.shape[0], 1) if len(value.shape) == 1 else value.shape
    shape = (columns, rows)

    def at(indices: tuple[Index, ...]) -> Staged:
        row, column = indices
        return value.entry(stager, (column,) if len(value.shape) == 1 else (column, row))

    if isinstance(value, Matrix):
        return matrix_of(stager, shape, tuple(at(indices) for indices in every_index(shape)), call.node)
    return computed(stager, shape, call.node, at)


def cross(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    other, node = as_matrix(stager, call["other"], call.node), call.node
    if not isinstance(other, MatrixValue) or other.shape != value.shape or value.shape not in ((2,), (3,)):
        stager.fail_type(
            node,
            f"the cross product of {value.describe()} and {call['other'].describe()}",
            "both have to be vectors of 2, or of 3",
        )

    def minor(first: int, second: int) -> Staged:
        one = binary(stager, MULTIPLY, value.entry(stager, (first,)), other.entry(stager, (second,)), node)
        two = binary(stager, MULTIPLY, value.entry(stager, (second,)), other.entry(stager, (first,)), node)
        return binary(stager, SUBTRACT, one, two, node)

    if value.shape == (2,):
        return minor(0, 1)
    return Matrix((3,), (minor(1, 2), minor(2, 0), minor(0, 1)))


def outer_product(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    other = as_matrix(stager, call["other"], call.node)
    if not isinstance(other, MatrixValue) or len(value.shape) != 1 or len(other.shape) != 1:
        stager.fail_type(
            call.node, f"the outer product of {value.describe()} and {call['other'].describe()}: both have to be vectors"
        )
    column = reshaped(stager, value, (value.shape[0], 1), call.node)
    return multiply(stager, column, reshaped(stager, other, (1, other.shape[0]), call.node), call.node)


def reshaped(stager: Stager, value: MatrixValue, shape: tuple[int, ...], node: ast.AST) -> Staged:
    """The entries of a vector as a matrix of one row or column."""
    return matrix_of(stager, shape, value.entries(stager), node)


# --- conversion


def converted(stager: Stager, value: MatrixValue, dtype: Staged, node: ast.Call) -> MatrixValue:
    done = by_components(stager, (value,), node, lambda each: cast(stager, Call(node, {"value": each, "dtype": dtype}, {})))
    assert isinstance(done, MatrixValue)
    return done


def cast_entries(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    return converted(stager, value, call["dtype"], call.node)


METHODS: dict[str, Method] = {
    "sum": method(total),
    "min": method(extreme("min")),
    "max": method(extreme("max")),
    "any": method(conditions("or")),
    "all": method(conditions("and")),
    "dot": method(dot, "other"),
    "cross": method(cross, "other"),
    "outer_product": method(outer_product, "other"),
    "norm": method(norm, "eps?"),
    "norm_sqr": method(squared),
    "norm_inv": method(inverse_norm, "eps?"),
    "normalized": method(normalized, "eps?"),
    "transpose": method(transpose),
    "trace": method(trace),
    "cast": method(cast_entries, "dtype"),
}
