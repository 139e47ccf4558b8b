"""How a kernel uses its parameters, from its operations: which are used, read, written, and indexed by constants.

Unused parameters are not passed: a member that is only passed from func to func, an array whose only use was removed. Facts
about the arrays of a kernel are propagated to the array parameters of its functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from samovar.ir import CELL_OPERATIONS, Array, Constant, Function, Kernel, Operation, Parameter, Value, memory, used, walk

Item = TypeVar("Item")
Place = tuple[str, int]  # file, line

#: The number of trailing dimensions whose length is worth knowing.
TRAILING_AXES = 2
#: Rows with more elements are written faster one by one than across rows.
LONGEST_WRITTEN_ROW = 4


@dataclass
class ConstantAxis:
    """A trailing dimension of a contiguous array that is indexed by constants: where the first index is, and which indices
    are written. If the length of such a dimension is known, so is the stride of the dimensions before it."""

    place: Place
    written: set[int] = field(default_factory=set)


@dataclass
class Uses:
    """The calls, those in callees first, and the dimensions that are indexed by constants, by array and dimension."""

    calls: list[Operation] = field(default_factory=list)
    constant_axes: dict[Array, dict[int, ConstantAxis]] = field(default_factory=dict)

    def helpful_axes(self, array: Array) -> Iterator[tuple[int, Place, int | None]]:
        """The dimensions whose length is worth knowing, with the only length that helps; None if any does.

        For a written array, the length helps if whole, short rows are written: LLVM then vectorizes across rows, which is
        slow if the rows have gaps or are assembled from many parts.
        """
        axes = self.constant_axes.get(array, {})
        for axis, found in sorted(axes.items()):
            length = len(found.written)
            if not array.written:
                yield axis, found.place, None
            elif len(axes) == 1 and 1 < length <= LONGEST_WRITTEN_ROW and found.written == set(range(length)):
                yield axis, found.place, length


def drop_untouched(kernel: Kernel) -> Uses:
    """Remove unused parameters from a kernel and its functions, and record which of its arrays are read and written."""
    kept: dict[Function, list[bool]] = {}
    uses = Uses()
    # Callees first: what a call passes depends on the parameters of its callee.
    owners: list[Function | Kernel] = [*kernel.functions, kernel]
    for owner in owners:
        for parameter in owner.parameters:
            if isinstance(parameter, Array):
                parameter.read = parameter.written = False
        touched = _touched_values(owner, kept, uses)
        needed = [parameter in touched or is_checked(parameter) for parameter in owner.parameters]
        if isinstance(owner, Function):
            kept[owner] = needed
        owner.parameters = _chosen(owner.parameters, needed)
    return uses


def is_checked(parameter: Value) -> bool:
    """Whether it is an argument that a launch reads in order to check it, even if the code does not use it."""
    return isinstance(parameter, Parameter) and parameter.is_checked


def _touched_values(owner: Function | Kernel, kept: dict[Function, list[bool]], uses: Uses) -> set[Value]:
    """The values that a body uses. Operands of removed parameters are removed from calls."""
    touched: set[Value] = set()
    for operation in walk(owner.body):
        code = operation.code
        if operation.payload is None:
            pass  # pure operations, the most common case
        elif code == "call":
            operation.operands = tuple(_chosen(operation.operands, kept[operation.payload]))
            uses.calls.append(operation)
            _use_as_callee(operation, uses)
        elif code == "shape":
            touched.add(operation.payload[0])
        elif code in CELL_OPERATIONS:
            touched.add(operation.payload)
        elif isinstance(target := memory(operation), Array):
            touched.add(target)
            target.read |= code != "store"
            target.written |= code != "load"
            if target.ndim > 1 and target.contiguous and target.layout is None and code != "accumulate":
                for axis in range(max(1, target.ndim - TRAILING_AXES), target.ndim):
                    index = operation.operands[axis]
                    if isinstance(index, Constant):
                        place = (operation.origin or owner).file, int(operation.line)
                        found = uses.constant_axes.setdefault(target, {}).setdefault(axis, ConstantAxis(place))
                        if code != "load":
                            found.written.add(int(index.value))
        touched.update(used(operation))
    return touched


def _use_as_callee(call: Operation, uses: Uses) -> None:
    """Attribute the accesses of a callee to the arrays of its caller."""
    for operand, parameter in zip(call.operands, call.payload.parameters, strict=True):
        if isinstance(operand, Array):
            operand.read |= parameter.read
            operand.written |= parameter.written
            for axis, found in uses.constant_axes.get(parameter, {}).items():
                known = uses.constant_axes.setdefault(operand, {}).setdefault(axis, ConstantAxis(found.place))
                known.written |= found.written


def _chosen(items: Iterable[Item], marks: Iterable[bool]) -> list[Item]:
    """The items that are marked."""
    return [item for item, mark in zip(items, marks, strict=True) if mark]


def propagate_facts(kernel: Kernel, uses: Uses) -> None:
    """Propagate facts about arrays to the functions that take them: what holds for all calls."""
    reached: set[Array] = set()
    taking: set[Function] = set()  # functions with array arguments
    for function in kernel.functions:
        for parameter in function.parameters:
            if isinstance(parameter, Array):
                parameter.alone = kernel.disjoint
                taking.add(function)
    for call in reversed(uses.calls):  # callers first
        if call.payload not in taking:
            continue
        repeats = len(set(call.operands)) < len(call.operands)
        for parameter, operand in zip(call.payload.parameters, call.operands, strict=True):
            if isinstance(parameter, Array) and isinstance(operand, Array):
                # An array that a call passes twice, or that may alias in the caller, may alias in the callee.
                parameter.alone &= operand.alone and not (repeats and call.operands.count(operand) > 1)
                if parameter not in reached:
                    parameter.extents = operand.extents
                    reached.add(parameter)
                elif parameter.extents != operand.extents:
                    pairs = zip(parameter.extents, operand.extents, strict=True)
                    parameter.extents = tuple(one if one == other else None for one, other in pairs)
