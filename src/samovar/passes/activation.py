"""Activation: an element of a sparse field that is written is in an active cell.

Before each write of an element this pass adds the operation `activate` with the number of the cell, unless an operation
before it in the same region has activated it, or the loop runs over the active cells of the field and writes at its own
indices. Fields of one node share their cells; `same` knows which those are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from samovar.ir import (
    Affine,
    Array,
    Builder,
    Kernel,
    Operation,
    ParallelFor,
    Region,
    Value,
    bodies,
    cell_numbers,
    indices,
    memory,
    regions,
    walk_kernel,
)

#: Cells that are active: an array with the indices of an element in them, as far as these matter.
Active = tuple[Array, tuple[object, ...]]
Same = Callable[[Array, Array], bool]


def activate_cells(kernel: Kernel, same: Same) -> None:
    """Activate the cells of elements before they are written, in place."""
    arrays = [each for owner in (*kernel.functions, kernel) for each in owner.parameters if isinstance(each, Array)]
    if any(each.cells is not None for each in arrays):
        clears = any(operation.code == "deactivate" for operation in walk_kernel(kernel))
        for body in bodies(kernel):
            _Activation(Affine(body), same, clears).region(body, ())


class _Activation:
    """A walk that knows which cells are active; none if the kernel `clears` cells."""

    def __init__(self, affine: Affine, same: Same, clears: bool) -> None:
        self.affine = affine
        self.same = same
        self.clears = clears

    def region(self, region: Region, active: Sequence[Active]) -> None:
        known = list(active)
        region.operations = [each for operation in region.operations for each in self._expanded(operation, known)]

    def _expanded(self, operation: Operation, known: list[Active]) -> Iterator[Operation]:
        inner: Sequence[Active] = known
        if isinstance(operation, ParallelFor) and operation.active is not None:
            array, at = operation.active
            inner = (*known, (array, self._places(array, at)))
        for each in regions(operation):
            self.region(each, inner)
        array = memory(operation)
        if (
            isinstance(array, Array)
            and array.cells is not None
            and array.cells.activates
            and not array.cells.is_own
            and operation.code in ("store", "atomic", "update")
            and not any(isinstance(each, Operation) and each.code == "list_append" for each in indices(operation))
        ):
            places = self._places(array, indices(operation))
            if self.clears or not any(places == each and self.same(array, other) for other, each in known):
                known.append((array, places))
                yield from activation(array, indices(operation), operation)
        yield operation


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
