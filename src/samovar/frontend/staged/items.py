"""A tuple or list of staged values, and slices of it."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from samovar._native import u1
from samovar.frontend.dispatch import call_value
from samovar.frontend.operators import (
    EQUAL,
    BinaryOperator,
    Comparison,
    compare,
    negate,
    truth,
)
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Slice, Static, fold, pick

if TYPE_CHECKING:
    from samovar.frontend.staged.space import Counted
    from samovar.frontend.stager import Stager
    from samovar.ir import ResultShape, Value


class Items(Staged):
    """A tuple or list of staged values."""

    __slots__ = ("is_list", "items", "marked")

    def __init__(self, items: tuple[Staged, ...], is_list: bool = False) -> None:
        self.marked = items  # as given: items are still marked by `static(...)` when read
        self.items = tuple([item.unforced() for item in items])
        self.is_list = is_list

    def describe(self) -> str:
        return "a list" if self.is_list else "a tuple"

    def truth(self, stager: Stager) -> bool | None:
        return bool(self.items)

    def advice_for_absent(self, node: ast.Attribute) -> str | None:
        return f"{self.describe()} has a fixed length in a kernel: use an array or `sv.Vector([...])`"

    # --- operators: `+` concatenates, `*` repeats

    def binary(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        return self.combine(stager, operator, self, other, node)

    def reflected(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        if operator.sign == "%" and isinstance(other, Static) and isinstance(other.value, str):
            return fold(stager, node, operator.python, other.value, self.text_value(stager, node))
        return self.combine(stager, operator, other, self, node)

    def combine(
        self, stager: Stager, operator: BinaryOperator, left: Staged, right: Staged, node: ast.AST
    ) -> Staged | None:
        if operator.code == "matmul":
            return None
        if left.is_elementwise() or right.is_elementwise():
            return None
        if isinstance(left, Items) and isinstance(right, Items):
            if operator.sign == "+" and left.is_list == right.is_list:
                return Items(left.items + right.items, is_list=left.is_list)
        elif operator.sign == "*":
            count = (right if left is self else left).number()
            if isinstance(count, int):
                return Items(self.items * count, is_list=self.is_list)
            if (right if left is self else left).is_number():
                stager.fail_type(
                    node,
                    f"the length of {self.describe()} must be known at compile time, but that of `{ast.unparse(node)}` is"
                    " only known at run time",
                    "use an array, or make the number a constant or a parameter annotated with `sv.Template`",
                )
        stager.fail_type(node, f"`{operator.sign}` is not defined for {left.describe()} and {right.describe()}")

    def compare(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        """Compare tuples or lists element-wise; a tuple is never equal to a list, nor to a simple value."""
        if comparison.sign not in ("==", "!="):
            return None
        if isinstance(other, Static):
            return Static(comparison.sign == "!=")
        if not isinstance(other, Items):
            return None
        equal = self.equals(stager, other, node)
        return equal if comparison.sign == "==" else negate(stager, equal, node)

    def compare_reflected(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        return self.compare(stager, comparison, other, node)

    def equals(self, stager: Stager, other: Items, node: ast.AST) -> Staged:
        if len(self.items) != len(other.items) or self.is_list != other.is_list:
            return Static(False)
        result: Staged = Static(True)
        for mine, its in zip(self.items, other.items, strict=True):
            equal = compare(stager, EQUAL, mine.as_operand(stager, node), its.as_operand(stager, node), node)
            known = equal.truth(stager)
            if known is False:
                return Static(False)
            if isinstance(result, Static):
                result = equal
            elif known is None:
                result = Scalar(stager.emit("and", u1, (truth(stager, result, node), truth(stager, equal, node))))
        return result

    # --- parts

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        if index.is_run_time() and index.is_number():
            found = self.read_at(stager, index, node)
            if found is not None:
                return found
        picked: Any = pick(stager, self, self.marked, index, node)
        return Items(picked, self.is_list) if isinstance(index, Slice) else picked

    def as_vector(self, stager: Stager, node: ast.AST) -> Staged | None:
        """A list of numbers (or of rows of them) as a vector (or matrix); None for other lists and for tuples."""
        from samovar.frontend.staged.matrix import as_matrix

        return as_matrix(stager, self, node) if self.is_list else None

    def read_at(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged | None:
        """An element at a run-time index; also of a tuple, since tuples are immutable."""
        from samovar.frontend.staged.matrix import as_matrix

        vector = as_matrix(stager, self, node)
        return None if vector is None else vector.subscript(stager, index, node)

    def beside(self, stager: Stager, leader: Staged, node: ast.AST) -> Staged:
        from samovar.frontend.staged.matrix import as_matrix

        return as_matrix(stager, self, node) or self

    def current(self, stager: Stager, node: ast.AST) -> Staged:
        return Items(tuple(item.current(stager, node) for item in self.marked), self.is_list)

    def kept(self, stager: Stager, node: ast.AST) -> Staged:
        return Items(tuple(item.kept(stager, node) for item in self.marked), self.is_list)

    def sequence(self, stager: Stager, node: ast.AST) -> tuple[Staged, ...]:
        return self.marked

    def is_unrolled(self) -> bool:
        return True

    def columns(self, stager: Stager, node: ast.AST) -> tuple[Counted, ...] | None:
        """The columns of a run-time loop over it: its numbers, or the items of tuples of numbers. None for others."""
        from samovar.frontend.staged.matrix import as_matrix
        from samovar.frontend.staged.space import Counted

        rows = [item.as_operand(stager, node) for item in self.items]
        cells = [row.items if isinstance(row, Items) else (row,) for row in rows]
        is_alike = len({(len(row), isinstance(whole, Items)) for row, whole in zip(cells, rows, strict=True)}) == 1
        if not is_alike or not all(cell.is_number() for row in cells for cell in row):
            return None
        columns = []
        for numbers in zip(*cells, strict=True):
            vector = as_matrix(stager, Items(numbers), node)
            if vector is None:
                return None
            columns.append(Counted(Static(len(cells)), vector.kept(stager, node).subscript))
        return tuple(columns)

    # --- run-time values

    def ir_values(self) -> tuple[Value, ...]:
        return tuple(value for item in self.items for value in item.ir_values())

    def rebuild(self, values: Iterator[Value]) -> Staged:
        return Items(tuple(item.rebuild(values) for item in self.items), self.is_list)

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("items", self.is_list, tuple(item.specialization_key(stager, node) for item in self.items))

    def is_like(self, other: Staged) -> bool:
        if not isinstance(other, Items) or len(self.items) != len(other.items):
            return False
        return all(mine.is_like(its) for mine, its in zip(self.items, other.items, strict=True))

    def result_shape(self, numbers: Iterator[int]) -> ResultShape:
        return tuple(item.result_shape(numbers) for item in self.items)

    # --- Python objects

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        items = tuple(item.as_outside_argument(stager, node) for item in self.items)
        return stager.context.lens.operate("list", items) if self.is_list else items

    def text_value(self, stager: Stager, node: ast.AST) -> Any:
        values = [item.text_value(stager, node) for item in self.items]
        return values if self.is_list else tuple(values)


def matched(
    stager: Stager, target: ast.Tuple | ast.List, items: tuple[Staged, ...]
) -> list[tuple[ast.expr, Staged]]:
    """Pairs of targets and values. A starred target takes a list of the remaining values."""
    targets = target.elts
    starred = [place for place, element in enumerate(targets) if isinstance(element, ast.Starred)]
    if not starred:
        if len(items) != len(targets):
            stager.fail_signature(target, f"cannot unpack {len(items)} values into {len(targets)} names")
        return list(zip(targets, items, strict=True))
    if len(items) < len(targets) - 1:
        stager.fail_signature(target, f"expected at least {len(targets) - 1} values, got {len(items)}")
    first, after = starred[0], len(targets) - starred[0] - 1
    star = targets[first]
    assert isinstance(star, ast.Starred)
    rest = len(items) - after
    return [
        *zip(targets[:first], items[:first], strict=True),
        (star.value, Items(items[first:rest], is_list=True)),
        *zip(targets[first + 1 :], items[rest:], strict=True),
    ]


class Shape(Items):
    """The extents of an array."""

    __slots__ = ("name",)

    def __init__(self, items: tuple[Staged, ...], name: str) -> None:
        super().__init__(items)
        self.name = name

    def fail_beyond(self, stager: Stager, index: int, count: int, node: ast.AST) -> NoReturn:
        counted = f"use `shape[0]` to `shape[{count - 1}]`" if count > 1 else "use `shape[0]`" if count else None
        stager.fail_axes(node, f"`{self.name}` is {count}-dimensional and has no `shape[{index}]`", counted)


class ElementShape(Items):
    """The shape of an array's elements: an attribute, which other frameworks call, and compare with a list or tuple."""

    __slots__ = ()

    def equals(self, stager: Stager, other: Items, node: ast.AST) -> Staged:
        return super().equals(stager, Items(other.items, is_list=self.is_list), node)


@call_value.register(ElementShape)
def call_shape(shape: ElementShape, stager: Stager, node: ast.Call) -> Staged:
    if node.args or node.keywords:
        stager.fail_type(node, "`element_shape` takes no arguments")
    return shape
