"""Methods of vectors and matrices."""

from __future__ import annotations

import ast
from collections.abc import Callable

from samovar._native import u1
from samovar.frontend.conversions import cast
from samovar.frontend.dispatch import call_value
from samovar.frontend.operators import BINARY, binary, by_components, common_type, truth
from samovar.frontend.rules import Call, bind
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.callee import Callee
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.matrix import (
    METHODS,
    Matrix,
    MatrixValue,
    Method,
    MethodRule,
    accumulate,
    computed,
    every_index,
    matrix_of,
)
from samovar.frontend.staged.matrix_indices import Index
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.values import METHODS as LIBRARY_METHODS

ADD, SUBTRACT, MULTIPLY, DIVIDE = (BINARY[each] for each in (ast.Add, ast.Sub, ast.Mult, ast.Div))

Apply = Callable[[Stager, MatrixValue, Call], Staged]


def method(apply: Apply, parameters: str = "") -> MethodRule:
    """A method staged by a function of the matrix and its other arguments."""

    def call(stager: Stager, owner: MatrixValue, node: ast.Call) -> Staged:
        return apply(stager, owner, bind(stager, node, parameters))

    return call


# --- reductions


def total(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    """The sum; for conditions, the number that hold."""
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
    """any, all: whether elements are nonzero."""

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


# --- other shapes


def transpose(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    """The transposed matrix; a vector becomes a matrix of one row."""
    rows, columns = (value.shape[0], 1) if len(value.shape) == 1 else value.shape
    shape = (columns, rows)

    def at(indices: tuple[Index, ...]) -> Staged:
        row, column = indices
        return value.entry(stager, (column,) if len(value.shape) == 1 else (column, row))

    if isinstance(value, Matrix):
        return matrix_of(stager, shape, tuple(at(indices) for indices in every_index(shape)), call.node)
    return computed(stager, shape, call.node, at)


# --- conversion


def converted(stager: Stager, value: MatrixValue, dtype: Staged, node: ast.Call) -> MatrixValue:
    done = by_components(stager, (value,), node, lambda each: cast(stager, Call(node, {"obj": each, "dtype": dtype}, {})))
    assert isinstance(done, MatrixValue)
    return done


def cast_entries(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    return converted(stager, value, call["dtype"], call.node)


def of_library(name: str) -> MethodRule:
    """A method that calls a library function with the matrix as its first argument."""

    def call(stager: Stager, owner: MatrixValue, node: ast.Call) -> Staged:
        return call_value(Callee(stager.context.lens.library(name), owner), stager, node)

    return call


def inner(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    """The sum of the element-wise products, also for matrices."""
    products = binary(stager, MULTIPLY, value, call["other"], call.node)
    assert isinstance(products, MatrixValue)
    return total(stager, products, call)


def extents(stager: Stager, value: MatrixValue, call: Call) -> Staged:
    """The shape, as a method."""
    return Items(tuple(map(Static, value.shape)))


METHODS |= {
    "sum": method(total),
    "min": method(extreme("min")),
    "max": method(extreme("max")),
    "any": method(conditions("or")),
    "all": method(conditions("and")),
    "transpose": method(transpose),
    "cast": method(cast_entries, "dtype"),
    "frobenius_inner": method(inner, "other"),
    "get_shape": method(extents),
    **{name: of_library(f"samovar.math.{function.__name__}") for name, function in LIBRARY_METHODS.items()},
}


@call_value.register(Method)
def call_method(value: Method, stager: Stager, node: ast.Call) -> Staged:
    return METHODS[value.name](stager, value.owner, node)
