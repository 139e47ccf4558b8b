"""Activation: an element of a sparse field that is written is in an active cell.

Before each write of an element this pass adds the operation `activate` with the number of the cell, unless an operation
before it in the same region has activated it, or the loop runs over the active cells of the field and writes at its own
indices. Fields of one node share their cells; `same` knows which those are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from samovar._native import i32, i64, u1
from samovar.ir import (
    Affine,
    Array,
    Builder,
    Function,
    Kernel,
    Operation,
    ParallelFor,
    Region,
    Value,
    cell_numbers,
    indices,
    memory,
    regions,
    walk_kernel,
)
from samovar.passes.checks import site_of

#: Cells that are active: an array with the indices of an element in them, as far as these matter.
Active = tuple[Array, tuple[object, ...]]
Same = Callable[[Array, Array], bool]


def activate_cells(kernel: Kernel, same: Same, checked: bool = False) -> None:
    """Activate the cells of elements before they are written, in place. With `checked`, those of fields that the kernel
    names in `sv.no_activate` must be active."""
    owners: list[Function | Kernel] = [*kernel.functions, kernel]
    arrays = [each for owner in owners for each in owner.parameters if isinstance(each, Array)]
    if any(each.cells is not None for each in arrays):
        clears = any(operation.code == "deactivate" for operation in walk_kernel(kernel))
        for owner in owners:
            _Activation(owner, same, clears, checked).region(owner.body, ())


class _Activation:
    """A walk that knows which cells are active; none if the kernel `clears` cells."""

    def __init__(self, owner: Function | Kernel, same: Same, clears: bool, checked: bool) -> None:
        self.owner = owner
        self.affine = Affine(owner.body)
        self.same = same
        self.clears = clears
        self.checked = checked

    def region(self, region: Region, active: Sequence[Active]) -> None:
        known = list(active)
        region.operations = [each for operation in region.operations for each in self._expanded(operation, known)]

    def _expanded(self, operation: Operation, known: list[Active]) -> Iterator[Operation]:
        inner: Sequence[Active] = known
        if isinstance(operation, ParallelFor) and operation.active is not None:
            field, at = operation.active
            inner = (*known, (field, self._places(field, at)))
        for each in regions(operation):
            self.region(each, inner)
        array = memory(operation)
        if (
            isinstance(array, Array)
            and array.cells is not None
            and not array.cells.is_own
            and operation.code in ("store", "atomic", "update")
            and not self._is_appended(array, operation)
        ):
            places = self._places(array, indices(operation))
            if not array.cells.activates:
                yield from self._check(array, operation)
            elif self.clears or not any(places == each and self.same(array, other) for other, each in known):
                known.append((array, places))
                yield from activation(array, indices(operation), operation)
        yield operation

    def _is_appended(self, array: Array, write: Operation) -> bool:
        """Whether a list was just extended to the element."""
        added = [each for each in indices(write) if isinstance(each, Operation) and each.code == "list_append"]
        return any(self.same(array, each.payload) for each in added)

    def _check(self, array: Array, write: Operation) -> list[Operation]:
        """Check that the cell of an element is active."""
        build = Builder(0, write.origin)
        if self.checked:
            assert array.cells is not None
            number, *position = cell_numbers(build, array, indices(write))
            if position:
                length = build.cast(build.make("list_length", i32, number, payload=array), i64)
                holds = build.compare("lt", position[0], length)
            else:
                holds = build.make("cell_active", u1, number, payload=array)
            text = f"an inactive element of `{array.name}` is written, although `sv.no_activate` names it"
            build.make("check", None, holds, payload=site_of("assertion", [text], (), write, self.owner))
        return build.operations

    def _places(self, array: Array, at: Sequence[Value]) -> tuple[object, ...]:
        """The indices of an element that its cell depends on."""
        assert array.cells is not None
        forms = [self.affine.form(at[axis]) for axis in dict.fromkeys(axis for axis, *_ in array.cells.terms)]
        return tuple((form.base(), form.constant) for form in forms)


def activation(array: Array, at: Sequence[Value], before: Operation) -> list[Operation]:
    """Activate the cell of an element."""
    build = Builder(0, before.origin)
    build.make("activate", None, *cell_numbers(build, array, at), payload=array)
    return build.operations
