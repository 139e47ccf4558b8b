"""What a kernel does with its parameters, found in its operations: which are used, read, written, and indexed by constants.

A parameter that nothing touches is not passed: a member that goes from func to func and is never read, an array whose only
use was removed. What is known of the arrays of a kernel is handed down to the arrays that its functions take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from samovar.ir import Array, Constant, Function, Kernel, Operation, Parameter, Value, memory, used, walk

Item = TypeVar("Item")
Place = tuple[str, int]  # file, line

#: So many axes at the end, of which it helps to know the length.
TRAILING_AXES = 2
#: Rows of more elements are written faster one by one than across.
LONGEST_WRITTEN_ROW = 4


@dataclass
class ConstantAxis:
    """A trailing axis of a contiguous array that is indexed by constants: where the first of them is, and at which of them
    is written. Where the length of such an axis is known, the distance between neighbours along the axes before it is."""

    place: Place
    written: set[int] = field(default_factory=set)


@dataclass
class Uses:
    """What was found: the calls, those in callees first, and the axes that are indexed by constants, by array and axis."""

    calls: list[Operation] = field(default_factory=list)
    constant_axes: dict[Array, dict[int, ConstantAxis]] = field(default_factory=dict)

    def helpful_axes(self, array: Array) -> Iterator[tuple[int, Place, int | None]]:
        """The axes of which it helps to know the length, with the only length that does; None if any does.

        Of an array that is written, it does if all of a row is, and the row is short: LLVM makes vectors across rows then,
        which is slow if they have gaps or are put together from many parts.
        """
        axes = self.constant_axes.get(array, {})
        for axis, found in sorted(axes.items()):
            length = len(found.written)
            if not array.written:
                yield axis, found.place, None
            elif len(axes) == 1 and 1 < length <= LONGEST_WRITTEN_ROW and found.written == set(range(length)):
                yield axis, found.place, length


def drop_untouched(kernel: Kernel) -> Uses:
    """Remove parameters without a use from a kernel and its functions, and note of its arrays what is read and written."""
    kept: dict[Function, list[bool]] = {}
    uses = Uses()
    # Callees first: what a call passes on depends on what its callee takes.
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
    """Is it an argument that a launch reads to check it, whatever the code does?"""
    return isinstance(parameter, Parameter) and parameter.is_checked


def _touched_values(owner: Function | Kernel, kept: dict[Function, list[bool]], uses: Uses) -> set[Value]:
    """The values that a body uses. Calls lose the operands that their callee does not take any more."""
    touched: set[Value] = set()
    for operation in walk(owner.body):
        code = operation.code
        if operation.payload is None:
            pass  # most of them compute something
        elif code == "call":
            operation.operands = tuple(_chosen(operation.operands, kept[operation.payload]))
            uses.calls.append(operation)
            _use_as_callee(operation, uses)
        elif code == "shape":
            touched.add(operation.payload[0])
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
    """A caller does with an array what the callee does with it."""
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


def hand_down(kernel: Kernel, uses: Uses) -> None:
    """Tell functions what is known of the arrays that they are given: what holds for all calls."""
    reached: set[Array] = set()
    taking: set[Function] = set()  # those that are given arrays
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
                # An array that a call passes twice, or that does not stand alone in the caller, does not in the callee.
                parameter.alone &= operand.alone and not (repeats and call.operands.count(operand) > 1)
                if parameter not in reached:
                    parameter.extents = operand.extents
                    reached.add(parameter)
                elif parameter.extents != operand.extents:
                    pairs = zip(parameter.extents, operand.extents, strict=True)
                    parameter.extents = tuple(one if one == other else None for one, other in pairs)
