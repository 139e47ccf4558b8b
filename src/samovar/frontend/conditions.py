"""`and`, `or` and conditional expressions: short-circuit evaluation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from samovar._native import u1
from samovar.frontend import structs
from samovar.frontend.dispatch import stage, stage_marked
from samovar.frontend.operators import (
    by_components,
    check_shapes,
    common_type,
    component_rows,
    has_truth_of_entries,
    known_truth,
    leading,
    truth,
)
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.complex import Complex, as_complex
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.matrix import MatrixValue, Stored, as_matrix
from samovar.frontend.staged.matrix_places import InMemory
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.stager import Implied, Stager
from samovar.ir import OPCODES, If, Region, Value
from samovar.language import promote

#: A branch of pure operations up to this cost is always evaluated and chosen by `select`.
LARGEST_SELECTED_BRANCH = 12


def stage_logic(stager: Stager, node: ast.BoolOp) -> Staged:
    return logic_from(stager, node, 0)


def logic_from(stager: Stager, node: ast.BoolOp, position: int) -> Staged:
    """The operands from a position on."""
    value = stage_marked(stager, node.values[position])
    if position + 1 == len(node.values):
        return value
    conjunction = isinstance(node.op, ast.And)
    return connect(stager, conjunction, value, lambda: logic_from(stager, node, position + 1), node)


def connect(stager: Stager, conjunction: bool, left: Staged, make_right: Callable[[], Staged], node: ast.AST) -> Staged:
    """`left and right` (or `or`): the result is one of the operands, and right is evaluated only if needed."""
    if has_truth_of_entries(stager, left):
        return joined_entries(stager, conjunction, left, make_right(), node)
    known = known_truth(stager, left, node)
    if known is not None:
        if known is not conjunction:
            return left
        right = make_right()
        return joined_entries(stager, conjunction, left, right, node) if has_truth_of_entries(stager, right) else right
    region, before = Region(), stager.implied_by(left)
    with stager.into(region), stager.operand(before.when_true if conjunction else before.when_false) as names:
        right = make_right().unforced()
        bound = {name: binding for name, binding in names.items() if isinstance(binding, Place)}
    if has_truth_of_entries(stager, right):
        stager.region.operations.extend(region.operations)
        return joined_entries(stager, conjunction, left, right, node)
    result = joined(stager, conjunction, left.unforced(), right, region, node)
    if not stager.used.binds_in_expressions:
        return result
    after = stager.implied_by(right)
    if conjunction:
        stager.implied[result.value] = Implied(when_true={**bound, **after.when_true})
    else:
        stager.implied[result.value] = Implied(when_false={**bound, **after.when_false})
    return result


def joined_entries(stager: Stager, conjunction: bool, left: Staged, right: Staged, node: ast.AST) -> Staged:
    """`left and right` (or `or`) of vectors and matrices: the truth of their entries. Both sides are evaluated."""

    def join(one: Staged, other: Staged) -> Staged:
        sides = (truth(stager, one, node), truth(stager, other, node))
        return Scalar(stager.emit("and" if conjunction else "or", u1, sides))

    result = by_components(stager, (left.unforced(), right.unforced()), node, join)
    assert result is not None
    return result


def joined(
    stager: Stager, conjunction: bool, left: Staged, right: Staged, region: Region, node: ast.AST
) -> Scalar:
    """The value of `left and right` (or `or`); `region` evaluates the right side."""
    dtype = common_type(stager, [left, right], node)
    condition = truth(stager, left, node)
    left_value = left.as_type(stager, dtype, node)
    with stager.into(region):
        right_value = right.as_type(stager, dtype, node)
    if is_cheap(stager, region):
        stager.region.operations.extend(region.operations)
        if dtype is u1:
            return Scalar(stager.emit("and" if conjunction else "or", u1, (left_value, right_value)))
        chosen = (right_value, left_value) if conjunction else (left_value, right_value)
        return Scalar(stager.emit("select", dtype, (condition, *chosen)))
    result = stager.new_local("_", dtype)
    stager.emit("store_local", None, (left_value,), result)
    with stager.into(region):
        stager.emit("store_local", None, (right_value,), result)
    then, orelse = (region, Region()) if conjunction else (Region(), region)
    stager.append(If(condition, then, orelse))
    return Scalar(stager.emit("load_local", dtype, (), result))


def is_cheap(stager: Stager, region: Region) -> bool:
    """Whether code may run even if its result is not needed: few operations, all pure and fast.

    In debug mode operators are checked, and one that is not evaluated must not fail.
    """
    if stager.context.debug:
        return all(operation.code == "load_local" for operation in region.operations)
    return len(region.operations) <= LARGEST_SELECTED_BRANCH and all(
        (OPCODES[operation.code].effect == "pure" and operation.code not in ("floordiv", "mod", "pow"))
        or operation.code == "load_local"
        for operation in region.operations
    )


def stage_conditional(stager: Stager, node: ast.IfExp) -> Staged:
    condition = stage_marked(stager, node.test)
    known = known_truth(stager, condition, node.test)
    if known is not None:
        return stage_marked(stager, node.body if known else node.orelse)
    condition = condition.unforced()
    test = truth(stager, condition, node.test)
    regions, implied = (Region(), Region()), stager.implied_by(condition)
    with stager.into(regions[0]), stager.operand(implied.when_true):
        first = stage(stager, node.body)
    with stager.into(regions[1]), stager.operand(implied.when_false):
        second = stage(stager, node.orelse)
    pairs = item_pairs(stager, first, second, node)
    for side in (each for pair in pairs for each in pair):
        if not side.can_be_chosen():
            stager.fail_type(
                node,
                f"a run-time condition can only choose between numbers, vectors and structs, not {side.describe()}",
                side.advice_for_choice,
            )
    if isinstance(first, Items):
        return choose_items(stager, test, regions, first, pairs, node)
    return choose(stager, test, regions, (first, second), node)


def item_pairs(stager: Stager, first: Staged, second: Staged, node: ast.IfExp) -> list[tuple[Staged, Staged]]:
    """The pairs to choose between: the two sides, or the items of two tuples."""
    if not (isinstance(first, Items) and isinstance(second, Items)):
        return [(first, second)]
    if len(first.items) != len(second.items) or first.is_list != second.is_list:
        lengths = f"{first.describe()} of {len(first.items)} and {second.describe()} of {len(second.items)}"
        stager.fail_type(node, f"a run-time condition cannot choose between {lengths}")
    pairs = zip(first.items, second.items, strict=True)
    return [leaf for one, other in pairs for leaf in item_pairs(stager, one, other, node)]


def choose_items(
    stager: Stager,
    test: Value,
    regions: tuple[Region, Region],
    like: Items,
    pairs: list[tuple[Staged, Staged]],
    node: ast.IfExp,
) -> Staged:
    """One of two tuples, chosen item by item."""
    large = next((side for pair in pairs for side in pair if side.is_in_memory()), None)
    if large is not None:
        message = f"a run-time condition cannot choose between tuples with {large.describe()} in them"
        stager.fail_type(node, message, "use an `if` statement")
    found = [component_rows(stager, pair, node) for pair in pairs]
    results = iter(choose_rows(stager, test, regions, [row for _, rows in found for row in rows], node))
    leaves = iter(
        next(results) if leader is None else leader.with_components(tuple(next(results) for _ in rows))
        for leader, rows in found
    )
    return with_leaves(like, leaves)


def with_leaves(items: Items, leaves: Iterator[Staged]) -> Items:
    """Items of the same structure with other values."""
    parts = (with_leaves(item, leaves) if isinstance(item, Items) else next(leaves) for item in items.items)
    return Items(tuple(parts), is_list=items.is_list)


def choose(
    stager: Stager, test: Value, regions: tuple[Region, Region], sides: tuple[Staged, Staged], node: ast.IfExp
) -> Staged:
    """One of two values by a condition; the regions evaluate them. Element-wise if they have components."""
    if sides[0].is_struct():
        return structs.choose(stager, test, regions, sides, node)
    if any(isinstance(side, Complex) for side in sides):
        return choose_complex(stager, test, regions, sides, node)
    first = leading(sides)
    if first is not None and first.is_in_memory():
        return choose_in_memory(stager, test, regions, sides, node)
    leader, rows = component_rows(stager, sides, node)
    chosen = tuple(choose_rows(stager, test, regions, rows, node))
    return chosen[0] if leader is None else leader.with_components(chosen)


def choose_complex(
    stager: Stager, test: Value, regions: tuple[Region, Region], sides: tuple[Staged, Staged], node: ast.IfExp
) -> Staged:
    """One of two numbers, at least one of which is complex."""
    numbers = [as_complex(side) for side in sides]
    for side, number in zip(sides, numbers, strict=True):
        if number is None:
            side.fail_as_number(stager, node)
    rows = list(zip(*(number.parts for number in numbers if number is not None), strict=True))
    return Complex(*choose_rows(stager, test, regions, rows, node))


def choose_rows(
    stager: Stager, test: Value, regions: tuple[Region, Region], rows: Sequence[Sequence[Staged]], node: ast.IfExp
) -> list[Staged]:
    """One of two numbers in each row, by one condition."""
    types = [common_type(stager, row, node) for row in rows]
    columns: list[list[Value]] = []
    for side, (region, place) in enumerate(zip(regions, (node.body, node.orelse), strict=True)):
        with stager.into(region):
            columns.append([row[side].as_type(stager, dtype, place) for row, dtype in zip(rows, types, strict=True)])
    results: list[Value] = []
    if all(is_cheap(stager, region) for region in regions):
        for region in regions:
            stager.region.operations.extend(region.operations)
        for dtype, first, second in zip(types, *columns, strict=True):
            results.append(stager.emit("select", dtype, (test, first, second)))
    else:
        locals_ = [stager.new_local("_", dtype) for dtype in types]
        for region, values in zip(regions, columns, strict=True):
            with stager.into(region):
                for local, value in zip(locals_, values, strict=True):
                    stager.emit("store_local", None, (value,), local)
        stager.append(If(test, *regions))
        results.extend(stager.emit("load_local", local.type, (), local) for local in locals_)
    return [Scalar(result) for result in results]


def choose_in_memory(
    stager: Stager, test: Value, regions: tuple[Region, Region], sides: tuple[Staged, Staged], node: ast.IfExp
) -> Staged:
    """One of two matrices, one of which is in memory: the other is then stored in memory too."""
    matrices = [matrix for side in sides if isinstance(matrix := as_matrix(stager, side, node), MatrixValue)]
    if len(matrices) != len(sides):
        sides[0].fail_as_number(stager, node)
    check_shapes(stager, matrices[0], matrices, node)
    one, other = (matrix.dtype(stager, node) for matrix in matrices)
    shape = matrices[0].shape
    result = Stored(stager.new_array("chosen", promote(one, other), shape), (), shape, fresh=True)
    for region, matrix in zip(regions, matrices, strict=True):
        with stager.into(region):
            InMemory(result.array, (), result.shape).store(stager, matrix, node)
    stager.append(If(test, *regions))
    return result
