"""What a `for` runs over: `range`, `ndrange`, the indices of an array."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from samovar.frontend.operators import BINARY, binary
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.matrix import Matrix
from samovar.frontend.staged.static import Static

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager
    from samovar.ir import FieldLayout, Value


ADD, SUB, MUL, DIVIDE = (BINARY[each] for each in (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv))


class Axis:
    """One axis of an iteration space: half-open."""

    __slots__ = ("begin", "end")

    def __init__(self, begin: Staged, end: Staged) -> None:
        self.begin = begin
        self.end = end


class Counted:
    """What a run-time loop counts: how many elements there are, and each of them by its place."""

    __slots__ = ("count", "element")

    def __init__(self, count: Staged, element: Callable[[Stager, Staged, Any], Staged]) -> None:
        self.count = count
        self.element = element


class Space(Staged):
    """range (one axis and a step), ndrange, an array.

    `order` lists the axes from the outermost to the innermost loop. `grouped` gives one index instead of one name per axis.
    `blocks` is the layout of a field that lies in blocks: a parallel loop follows it. `columns` makes the values of the
    loop's names from the index of its one axis. `unordered` is the same space for a loop whose iterations have no order.
    """

    __slots__ = ("axes", "blocks", "columns", "grouped", "order", "step", "tuple_of_axes", "unordered")

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
    ) -> None:
        self.axes = axes
        self.step = step
        self.order = order
        self.grouped = grouped
        self.blocks = blocks
        self.columns = columns
        self.unordered = unordered or self
        self.tuple_of_axes = tuple_of_axes  # an ndrange of several axes: one name takes them all as a tuple

    def as_grouped(self) -> Space:
        return Space(
            self.axes, self.step, order=self.order, grouped=True, tuple_of_axes=self.tuple_of_axes, blocks=self.blocks
        )

    def describe(self) -> str:
        return "an iteration space"

    def space(self, stager: Stager, node: ast.AST) -> Space:
        return self

    def wanted_by_static(self) -> tuple[Value, ...]:
        return tuple(value for axis in self.axes for bound in (axis.begin, axis.end) for value in bound.ir_values())

    def sequence(self, stager: Stager, node: ast.AST) -> tuple[Staged, ...]:
        """All points of a space whose bounds are known at compile time."""
        ranges: list[range] = []
        step = 1 if self.step is None else self.step.number()
        for axis in self.axes:
            begin, end = axis.begin.number(), axis.end.number()
            if not isinstance(begin, int) or not isinstance(end, int) or not isinstance(step, int):
                stager.fail_signature(
                    node,
                    "the bounds of an unrolled loop must be known at compile time",
                    "write an ordinary loop, without `sv.static`, comprehension or generator; or let the bounds be captured"
                    " constants or `sv.Template` parameters",
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
        return len(self.axes) == 1 and not (self.grouped or self.columns or self.blocks)

    def backwards(self, stager: Stager, node: ast.AST) -> Staged | None:
        """The same range from its last number to its first one."""
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
            stager.fail_type(node, "only a `range` is counted along with something else", "loop over a `range` of it")
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
            stager.fail_type(node, "the step of this range must be known at compile time, and not be zero")
        return step

    def form(self, stager: Stager, node: ast.AST) -> Hashable:
        stager.fail_type(node, "an iteration space cannot be an argument", "pass its bounds")
