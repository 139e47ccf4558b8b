"""What a `for` runs over: `range`, `ndrange`, the indices of an array."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Hashable
from typing import TYPE_CHECKING

from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.matrix import Matrix
from samovar.frontend.staged.static import Static

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager
    from samovar.ir import FieldLayout, Value


class Axis:
    """One axis of an iteration space: half-open."""

    __slots__ = ("begin", "end")

    def __init__(self, begin: Staged, end: Staged) -> None:
        self.begin = begin
        self.end = end


class Space(Staged):
    """range (one axis and a step), ndrange, an array.

    `order` lists the axes from the outermost to the innermost loop. `grouped` gives one index instead of one name per axis.
    `blocks` is the layout of a field that lies in blocks: a parallel loop follows it.
    """

    __slots__ = ("axes", "blocks", "grouped", "order", "step", "tuple_of_axes")

    def __init__(
        self,
        axes: tuple[Axis, ...],
        step: Staged | None = None,
        *,
        order: tuple[int, ...] | None = None,
        grouped: bool = False,
        tuple_of_axes: bool = False,
        blocks: FieldLayout | None = None,
    ) -> None:
        self.axes = axes
        self.step = step
        self.order = order
        self.grouped = grouped
        self.blocks = blocks
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
                stager.fail(
                    node,
                    "the bounds of an unrolled loop must be known at compile time",
                    "use captured constants or `sv.Template` parameters, or drop `static`",
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

    def form(self, stager: Stager, node: ast.AST) -> Hashable:
        stager.fail_type(node, "an iteration space cannot be an argument", "pass its bounds")
