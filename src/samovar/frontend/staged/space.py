"""Iteration spaces of `for`: `range`, `ndrange`, the indices of an array."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any

from samovar.frontend.operators import BINARY, binary
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.matrix import Matrix
from samovar.frontend.staged.static import Static

if TYPE_CHECKING:
    from samovar.frontend.staged.domain import Domain
    from samovar.frontend.stager import Stager
    from samovar.ir import FieldLayout, Value


ADD, SUB, MUL, DIVIDE = (BINARY[each] for each in (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv))


class Axis:
    """One dimension of an iteration space, half-open."""

    __slots__ = ("begin", "end")

    def __init__(self, begin: Staged, end: Staged) -> None:
        self.begin = begin
        self.end = end


class Counted:
    """The elements of a run-time loop: their number, and a function from position to element."""

    __slots__ = ("count", "element")

    def __init__(self, count: Staged, element: Callable[[Stager, Staged, Any], Staged]) -> None:
        self.count = count
        self.element = element


class Space(Staged):
    """A range (one dimension and a step), an ndrange, or the indices of an array.

    `order` lists the dimensions from the outermost to the innermost loop. `grouped` yields a single index instead of one
    name per dimension. `blocks` is the layout of a blocked field: a parallel loop follows it. `columns` computes the values
    of the loop's names from the index of its one dimension. `domain` restricts it to the active cells of a sparse field.
    `unordered` is the same space for loops without an order. `is_marked` is true for `prange`.
    """

    __slots__ = (
        "axes", "blocks", "columns", "domain", "grouped", "is_marked", "order", "step", "tuple_of_axes", "unordered",
    )  # fmt: skip

    def __init__(
        self,
        axes: tuple[Axis, ...],
        step: Staged | None = None,
        *,
        order: tuple[int, ...] | None = None,
        grouped: bool = False,
        tuple_of_axes: bool = False,
        blocks: FieldLayout | None = None,
        columns: tuple[Counted, ...] | None = None,
        unordered: Space | None = None,
        domain: Domain | None = None,
    ) -> None:
        self.axes = axes
        self.step = step
        self.order = order
        self.grouped = grouped
        self.blocks = blocks
        self.columns = columns
        self.domain = domain
        self.is_marked = False
        self.unordered = unordered or self
        self.tuple_of_axes = tuple_of_axes  # a multi-dimensional ndrange: a single name gets all indices as a tuple

    def as_grouped(self) -> Space:
        return Space(
            self.axes, self.step, order=self.order, grouped=True, tuple_of_axes=self.tuple_of_axes, blocks=self.blocks,
            domain=self.domain,
        )  # fmt: skip

    def describe(self) -> str:
        return "an iteration space"

    def space(self, stager: Stager, node: ast.AST) -> Space:
        return self

    def wanted_by_static(self) -> tuple[Value, ...]:
        return tuple(value for axis in self.axes for bound in (axis.begin, axis.end) for value in bound.ir_values())

    def sequence(self, stager: Stager, node: ast.AST) -> tuple[Staged, ...]:
        """All points of a space whose bounds are known at compile time."""
        if self.domain is not None:
            stager.fail(node, "a loop over a sparse field cannot be unrolled: its active cells are known at run time")
        ranges: list[range] = []
        step = 1 if self.step is None else self.step.number()
        for axis in self.axes:
            begin, end = axis.begin.number(), axis.end.number()
            if not isinstance(begin, int) or not isinstance(end, int) or not isinstance(step, int):
                stager.fail_signature(
                    node,
                    "the bounds of an unrolled loop must be known at compile time",
                    "write an ordinary loop, without `sv.static`, comprehension or generator; or make the bounds"
                    " captured constants or `sv.Template` parameters",
                )
            if step == 0:
                stager.fail(node, "the step of a range must not be zero")
            ranges.append(range(begin, end, step))
        if not (self.tuple_of_axes or self.grouped):
            return tuple(Static(point) for point in ranges[0])
        order = self.order or tuple(range(len(ranges)))
        points = []
        for point in itertools.product(*(ranges[axis] for axis in order)):
            items: list[Staged] = [Static(0)] * len(order)
            for place, position in zip(order, point, strict=True):
                items[place] = Static(position)
            points.append(Matrix((len(items),), tuple(items)) if self.grouped else Items(tuple(items)))
        return tuple(points)

    def is_range(self) -> bool:
        return len(self.axes) == 1 and not (self.grouped or self.columns or self.blocks or self.domain)

    def backwards(self, stager: Stager, node: ast.AST) -> Staged | None:
        """The range in reverse."""
        if stager.static_depth or not self.is_range():
            return None
        counted, step = self.counted(stager, node), self.known_step(stager, node)
        with stager.unwritten():
            before = binary(stager, SUB, self.axes[0].begin, Static(step), node)
            distance = binary(stager, MUL, counted.count, Static(step), node)
            last = binary(stager, ADD, before, distance, node)
        return Space((Axis(last, before),), Static(-step), unordered=self)

    def counted(self, stager: Stager, node: ast.AST) -> Counted:
        if not self.is_range():
            stager.fail_type(node, "only a `range` can be combined with other sequences", "loop over a `range`")
        begin, end, step = self.axes[0].begin, self.axes[0].end, self.known_step(stager, node)
        with stager.unwritten():
            first, last = (begin, end) if step > 0 else (end, begin)
            count = last if first.number() == 0 else binary(stager, SUB, last, first, node)
            if abs(step) != 1:
                count = binary(stager, ADD, count, Static(abs(step) - 1), node)
                count = binary(stager, DIVIDE, count, Static(abs(step)), node)

        def element(inner: Stager, place: Staged, at: Any) -> Staged:
            with inner.unwritten():
                distance = place if step == 1 else binary(inner, MUL, place, Static(step), at)
                return distance if begin.number() == 0 else binary(inner, ADD, begin, distance, at)

        return Counted(count, element)

    def known_step(self, stager: Stager, node: ast.AST) -> int:
        step = 1 if self.step is None else self.step.number()
        if not isinstance(step, int) or step == 0:
            stager.fail_type(node, "the step of this range must be known at compile time and not be zero")
        return step

    def bounds(self) -> tuple[Staged, ...]:
        """Begin and end of each dimension, and the step if there is one."""
        bounds = tuple(bound for axis in self.axes for bound in (axis.begin, axis.end))
        return bounds if self.step is None else (*bounds, self.step)

    def with_bounds(self, bounds: tuple[Staged, ...]) -> Space:
        """The same space with other bounds."""
        count = len(self.axes)
        axes = tuple(Axis(*bounds[2 * axis : 2 * axis + 2]) for axis in range(count))
        return Space(
            axes, bounds[2 * count] if self.step is not None else None, order=self.order, grouped=self.grouped,
            tuple_of_axes=self.tuple_of_axes, blocks=self.blocks, domain=self.domain,
        )  # fmt: skip

    def ir_values(self) -> tuple[Value, ...]:
        return tuple(value for bound in self.bounds() for value in bound.ir_values())

    def rebuild(self, values: Iterator[Value]) -> Staged:
        return self.with_bounds(tuple(bound.rebuild(values) for bound in self.bounds()))

    def is_like(self, other: Staged) -> bool:
        if not isinstance(other, Space) or len(self.axes) != len(other.axes) or self.grouped != other.grouped:
            return False
        numbers = ([bound.number() for bound in each.bounds()] for each in (self, other))
        return next(numbers) == next(numbers)

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        stager.fail_type(node, "an iteration space cannot be passed as an argument", "pass its bounds")
