"""Plain loops: tasks of one axis whose vector form is known beforehand, so that LLVM need not look for it.

Left to itself, LLVM weighs several vector lengths, interleaves a small loop four times and makes a second vector loop for
what is left over: for a small kernel that is a third of the time to compile it. Where each iteration reads and writes
neighbouring elements of arrays that do not overlap, and computes little that is not done by one vector instruction, whole
vectors, two at a time (a cache line), are as fast; a thread's range is long, so what is left over does not count.
"""

from __future__ import annotations

from collections.abc import Iterator

from samovar._native import f32, i32
from samovar.ir import Array, Atomic, Constant, For, If, Operation, ParallelFor, Region
from samovar.passes.accesses import base_and_constant

#: A body of more operations is left to LLVM: it would not interleave it anyway.
MOST_OPERATIONS = 32
#: A serial loop inside is unrolled if it is short.
MOST_ITERATIONS = 8

_FLOATS = frozenset("add sub mul div neg abs min max fma sqrt copysign floor ceil trunc round".split())
_INTEGERS = frozenset("add sub neg min max and or xor not".split())
_CHOICES = frozenset("lt le gt ge eq ne isnan select load_local store_local shape".split())
_UPDATES = frozenset(("add", "sub", "mul", "min", "max"))


def element_bits(task: ParallelFor) -> int | None:
    """The size of the elements of a plain loop, 32 or 64 bits; None for every other task."""
    if len(task.variables) != 1 or task.reductions or task.scatters:
        return None
    arrays = [each for each in map(_array, _everything(task.body)) if each is not None]
    if not arrays or any(array.dtype.bits not in (32, 64) for array in arrays):
        return None
    bits = max(array.dtype.bits for array in arrays)
    body = _Body(task, bits)
    return bits if body.plain(task.body) and body.operations <= MOST_OPERATIONS else None


def _everything(region: Region) -> Iterator[Operation]:
    """The operations of a region and of those inside; no deeper than a plain body may be."""
    for operation in region.operations:
        yield operation
        if isinstance(operation, If):
            yield from operation.then.operations
            yield from operation.orelse.operations
        elif isinstance(operation, For):
            yield from operation.body.operations


def _array(operation: Operation) -> Array | None:
    """The array that an operation works on."""
    target = operation.payload.target if isinstance(operation.payload, Atomic) else operation.payload
    return target if isinstance(target, Array) else None


class _Body:
    """Looks through the body of a task. `operations` counts what an iteration executes, unrolled."""

    def __init__(self, task: ParallelFor, bits: int) -> None:
        self.task = task
        self.bits = bits
        self.operations = 0
        self.read: set[tuple[Array, int]] = set()

    def plain(self, region: Region) -> bool:
        return all(self._operation(operation) for operation in region.operations)

    def _operation(self, operation: Operation) -> bool:
        self.operations += 1
        if isinstance(operation, If):
            return self._choice(operation)
        if isinstance(operation, For):
            return self._repetition(operation)
        code = operation.code
        if code in ("load", "store", "update"):
            place = self._place(operation)
            if place is None:
                return False
            if code != "store":
                self.read.add(place)
            return code != "update" or operation.payload.operation in _UPDATES
        return self._computes(operation)

    def _computes(self, operation: Operation) -> bool:
        """One instruction on whole vectors (or none), of a size that vectors of the elements have."""
        code, dtype = operation.code, operation.type
        if code in _CHOICES:
            return code != "store_local" or operation.payload in self.task.locals
        if operation.payload is not None or dtype is None:
            return False
        if dtype.kind == "bool":
            return code in ("and", "or", "xor", "not")
        if dtype.bits < 32 or dtype.bits > self.bits:
            return False
        if code == "cast":
            source = operation.operands[0].type
            return dtype.kind == "float" and source in (i32, f32)
        return code in (_FLOATS if dtype.kind == "float" else _INTEGERS) or (code == "mul" and dtype.bits == 32)

    def _place(self, operation: Operation) -> tuple[Array, int] | None:
        """Which neighbour of the iteration's element is touched; None for what is not a neighbour."""
        array = _array(operation)
        if array is None or array.ndim != 1 or not array.contiguous or not array.alone:
            return None
        base, distance = base_and_constant(operation.operands[0])
        return (array, distance) if base is self.task.variables[0] else None

    def _choice(self, choice: If) -> bool:
        """Both sides are computed and one is chosen: what is read must be read anyway, what is written written anyway."""
        sides = (choice.then.operations, choice.orelse.operations)
        written = [[self._place(operation) for operation in side if operation.code == "store"] for side in sides]
        return (
            written[0] == written[1]
            and all(self._harmless(operation) for side in sides for operation in side)
            and all(operation.code != "store" for side in sides for operation in side[:-1])
        )

    def _harmless(self, operation: Operation) -> bool:
        self.operations += 1
        if operation.code in ("load", "store"):
            place = self._place(operation)
            return place is not None and (operation.code == "store" or place in self.read)
        return self._computes(operation)

    def _repetition(self, loop: For) -> bool:
        """A short loop of nothing but arithmetic is unrolled before LLVM looks for vectors."""
        begin, end, step = loop.operands
        if not (isinstance(begin, Constant) and isinstance(end, Constant) and isinstance(step, Constant)) or not step.value:
            return False
        count = len(range(int(begin.value), int(end.value), int(step.value)))
        self.operations += count * len(loop.body.operations)
        return count <= MOST_ITERATIONS and all(map(self._computes, loop.body.operations))
