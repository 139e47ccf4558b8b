"""A tuple or list of staged values, and slices of it."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from samovar._native import u1
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
from samovar.frontend.staged.static import Static, fold

if TYPE_CHECKING:
    from samovar._native import DType
    from samovar.frontend.messages import Message
    from samovar.frontend.staged.space import Counted
    from samovar.frontend.stager import Meaning, Stager
    from samovar.ir import ResultForm, Value
    from samovar.language import Annotation


class Items(Staged):
    """A tuple or list of staged values."""

    __slots__ = ("is_list", "items", "marked")

    def __init__(self, items: tuple[Staged, ...], is_list: bool = False) -> None:
        self.marked = items  # as they were given: what is taken out again is still marked by `static(...)`
        self.items = tuple([item.unforced() for item in items])
        self.is_list = is_list

    def describe(self) -> str:
        return "a list" if self.is_list else "a tuple"

    def truth(self, stager: Stager) -> bool | None:
        return bool(self.items)

    def advice_for_absent(self, node: ast.Attribute) -> str | None:
        return f"{self.describe()} has a fixed length in a kernel: write results into an array, or into `sv.Vector([...])`"

    # --- under operators: `+` joins, `*` repeats

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
                    f"{self.describe()} has a length that is known at compile time, and `{ast.unparse(node)}` has one that"
                    " is known at run time only",
                    "pass an array for it, or make the number a constant or a parameter annotated with `sv.Template`",
                )
        stager.fail_type(node, f"`{operator.sign}` is not defined for {left.describe()} and {right.describe()}")

    def compare(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        """Tuples, or lists, element by element; a tuple is never equal to a list, nor to a simple value."""
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

    # --- its parts

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        if index.is_run_time() and index.is_number():
            found = self.read_at(stager, index, node)
            if found is not None:
                return found
        picked: Any = pick(stager, self, self.marked, index, node)
        return Items(picked, self.is_list) if isinstance(index, Slice) else picked

    def as_vector(self, stager: Stager, node: ast.AST) -> Staged | None:
        """A list of numbers (or of rows of them) as a vector (or matrix), None for other lists and for tuples."""
        from samovar.frontend.staged.matrix import as_matrix

        return as_matrix(stager, self, node) if self.is_list else None

    def read_at(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged | None:
        """An element by a run-time index; also of a tuple, which nobody can change."""
        from samovar.frontend.staged.matrix import as_matrix

        vector = as_matrix(stager, self, node)
        return None if vector is None else vector.subscript(stager, index, node)

    def beside(self, stager: Stager, leader: Staged, node: ast.AST) -> Staged:
        from samovar.frontend.staged.matrix import as_matrix

        return as_matrix(stager, self, node) or self

    def settled(self, stager: Stager, node: ast.AST) -> Staged:
        return Items(tuple(item.settled(stager, node) for item in self.marked), self.is_list)

    def kept(self, stager: Stager, node: ast.AST) -> Staged:
        return Items(tuple(item.kept(stager, node) for item in self.marked), self.is_list)

    def sequence(self, stager: Stager, node: ast.AST) -> tuple[Staged, ...]:
        return self.marked

    def is_unrolled(self) -> bool:
        return True

    def columns(self, stager: Stager, node: ast.AST) -> tuple[Counted, ...] | None:
        """As what a run-time loop counts: its numbers, or the first, second, … of tuples of numbers. None for others."""
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

    # --- its run-time values

    def ir_values(self) -> tuple[Value, ...]:
        return tuple(value for item in self.items for value in item.ir_values())

    def rebuild(self, values: Iterator[Value]) -> Staged:
        return Items(tuple(item.rebuild(values) for item in self.items), self.is_list)

    def form(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("items", self.is_list, tuple(item.form(stager, node) for item in self.items))

    def first_assigned(self, stager: Stager, target: ast.Name, annotated: DType | None) -> Meaning:
        """A list of numbers whose elements are assigned is a vector that is local to the function."""
        if annotated is None and target.id in stager.changed_by_element:
            vector = self.as_vector(stager, target)
            if vector is not None:
                return vector.first_assigned(stager, target, None)
        return super().first_assigned(stager, target, annotated) if annotated is not None else self.kept(stager, target)

    def is_like(self, other: Staged) -> bool:
        if not isinstance(other, Items) or len(self.items) != len(other.items):
            return False
        return all(mine.is_like(its) for mine, its in zip(self.items, other.items, strict=True))

    def result_form(self, numbers: Iterator[int]) -> ResultForm:
        return tuple(item.result_form(numbers) for item in self.items)

    def member_type(self, stager: Stager, node: ast.AST) -> tuple[Annotation, Staged]:
        from samovar.frontend.staged.matrix import as_matrix

        vector = as_matrix(stager, self, node)
        return super().member_type(stager, node) if vector is None else vector.member_type(stager, node)

    def returned(self, stager: Stager, declared: Annotation | None, node: ast.AST) -> Staged:
        from samovar.frontend.returns import returned_items

        return returned_items(stager, self, declared, node)

    # --- outside of the language

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        items = tuple(item.as_outside_argument(stager, node) for item in self.items)
        return stager.context.lens.operate("list", items) if self.is_list else items

    def text_value(self, stager: Stager, node: ast.AST) -> Any:
        values = [item.text_value(stager, node) for item in self.items]
        return values if self.is_list else tuple(values)

    def formatted(self, stager: Stager, conversion: str, form: str, node: ast.AST) -> str:
        from samovar.frontend.formatting import format_value

        return format_value(stager, self.text_value(stager, node), conversion, form, node)

    def write(self, message: Message, node: ast.AST, conversion: str, form: str) -> None:
        message.text("[" if self.is_list else "(")
        for position, item in enumerate(self.items):
            message.text(", " if position else "")
            item.write(message, node, conversion or ("" if form else "r"), form)
        message.text("]" if self.is_list else ",)" if len(self.items) == 1 else ")")

    def write_static(self, message: Message, node: ast.AST) -> None:
        self.write(message, node, "", "")


def matched(
    stager: Stager, target: ast.Tuple | ast.List, items: tuple[Staged, ...]
) -> list[tuple[ast.expr, Staged]]:
    """Which of several targets gets which value. One of them may have a star: it takes a list of what the others leave."""
    targets = target.elts
    starred = [place for place, element in enumerate(targets) if isinstance(element, ast.Starred)]
    if not starred:
        if len(items) != len(targets):
            stager.fail_type(target, f"{len(targets)} names for {len(items)} values")
        return list(zip(targets, items, strict=True))
    if len(items) < len(targets) - 1:
        stager.fail_type(target, f"at least {len(targets) - 1} values are needed, and there are {len(items)}")
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
        axes = "1 axis" if count == 1 else f"{count} axes"
        counted = f"it has `shape[0]` to `shape[{count - 1}]`" if count > 1 else "it has `shape[0]`" if count else None
        stager.fail_axes(node, f"`{self.name}` has {axes}, and no axis {index}", counted)


class ElementShape(Items):
    """The shape of an array's elements: an attribute, which other libraries call, and compare with a list or a tuple."""

    __slots__ = ()

    def call(self, stager: Stager, node: ast.Call) -> Staged:
        if node.args or node.keywords:
            stager.fail_type(node, "`element_shape` takes no arguments")
        return self

    def equals(self, stager: Stager, other: Items, node: ast.AST) -> Staged:
        return super().equals(stager, Items(other.items, is_list=self.is_list), node)


class Slice(Staged):
    """What stands between the brackets of `t[a:b:c]`; a bound that is left out is None."""

    __slots__ = ("bounds",)

    def __init__(self, lower: Staged, upper: Staged, step: Staged) -> None:
        self.bounds = (lower, upper, step)

    def describe(self) -> str:
        return "a slice"

    def known(self, stager: Stager, node: ast.AST) -> slice:
        """The slice that Python takes, which must be known at compile time."""
        for bound in self.bounds:
            if not isinstance(bound, Static) or (bound.value is not None and bound.number() is None):
                stager.fail_type(node, "the bounds of a slice must be known at compile time")
        return slice(*(bound.number() for bound in self.bounds))


def pick(stager: Stager, owner: Staged, values: Any, index: Staged, node: ast.AST) -> Any:
    """What Python picks from compile-time values by an index or a slice."""
    if isinstance(index, Slice):
        key: Any = index.known(stager, node)
    elif isinstance(index, Static):
        key = index.value
    else:
        stager.fail_type(
            node,
            f"the index into {owner.describe()} must be known at compile time",
            "loop over it with `static(range(...))`",
        )
    if isinstance(key, int) and not -len(values) <= key < len(values):
        owner.fail_beyond(stager, key, len(values), node)
    try:
        return values[key]
    except (LookupError, TypeError, ValueError) as problem:
        stager.fail_type(node, f"this fails at compile time: {problem}")
