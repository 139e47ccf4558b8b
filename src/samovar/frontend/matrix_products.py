"""Products of vectors and matrices: unrolled where they are small, loops where an operand is in memory."""

from __future__ import annotations

import ast
import math

from samovar.frontend.operators import BINARY, binary
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.matrix import (
    LARGEST_IN_REGISTERS,
    Matrix,
    MatrixValue,
    Stored,
    computed,
    every_index,
    registered,
)
from samovar.frontend.staged.matrix_indices import Index
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.stager import Stager
from samovar.ir import Constant, For, LoopVariable, Region

ADD, MULTIPLY = BINARY[ast.Add], BINARY[ast.Mult]


def multiply(stager: Stager, left: Staged, right: Staged, node: ast.AST) -> Staged:
    """`left @ right`: of two matrices, or of a matrix and a vector; for two vectors, their dot product."""
    if not isinstance(left, MatrixValue) or not isinstance(right, MatrixValue):
        side = right if isinstance(left, MatrixValue) else left
        stager.fail_type(node, f"`@` requires matrices or vectors, got {side.describe()}", "use `*` for numbers")
    rows, columns = left.shape[:-1], right.shape[1:]
    if left.shape[-1] != right.shape[0]:
        stager.fail_type(node, f"shapes do not match: {left.describe()} @ {right.describe()}")
    shape = (*rows, *columns)
    if not left.is_in_memory() and not right.is_in_memory() and math.prod(shape) <= LARGEST_IN_REGISTERS:
        products = tuple(dot_of(stager, left, right, at[: len(rows)], at[len(rows) :], node) for at in every_index(shape))
        return Matrix(shape, products) if shape else products[0]
    one, two = left.in_memory(stager, node), right.in_memory(stager, node)
    if not shape:
        return summed(stager, one, two, (), (), node)
    result = computed(stager, shape, node, lambda at: summed(stager, one, two, at[: len(rows)], at[len(rows) :], node))
    return registered(stager, result)


def dot_of(
    stager: Stager, left: MatrixValue, right: MatrixValue, row: tuple[Index, ...], column: tuple[Index, ...], node: ast.AST
) -> Staged:
    total: Staged | None = None
    for position in range(right.shape[0]):
        one, two = left.entry(stager, (*row, position)), right.entry(stager, (position, *column))
        product = binary(stager, MULTIPLY, one, two, node)
        total = product if total is None else binary(stager, ADD, total, product, node)
    assert total is not None
    return total


def summed(
    stager: Stager, left: Stored, right: Stored, row: tuple[Index, ...], column: tuple[Index, ...], node: ast.AST
) -> Staged:
    """Like `dot_of`, as a loop."""
    from samovar._native import i32

    def product(position: Index) -> Staged:
        one, two = left.entry(stager, (*row, position)), right.entry(stager, (position, *column))
        return binary(stager, MULTIPLY, one, two, node)

    first = product(0)
    dtype = first.type(stager, node)
    total = stager.new_local("_", dtype)
    stager.emit("store_local", None, (first.scalar(stager, node),), total)
    variable, region = LoopVariable("k", i32), Region()
    with stager.into(region):
        old = Scalar(stager.emit("load_local", dtype, (), total))
        new = binary(stager, ADD, old, product(variable), node)
        stager.emit("store_local", None, (new.scalar(stager, node),), total)
    stager.append(For(variable, Constant(1, i32), Constant(right.shape[0], i32), Constant(1, i32), region))
    return Scalar(stager.emit("load_local", dtype, (), total))
