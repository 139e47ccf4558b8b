"""Updates of elements whose places are data, in the private copies of a task.

LLVM joins updates of neighbours (`grid[i] += a`, `grid[i + 1] += b`) into one of two elements. The next iteration then loads
a pair that overlaps the one just stored by half, and has to wait until that has reached the cache, which takes longer than
both updates. Accesses that are atomic without an order stay what they are, and are the same instructions otherwise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from samovar._native import DType
from samovar.backends.llvm.memory import update
from samovar.backends.llvm.operations import combine
from samovar.backends.llvm.types import memory_type
from samovar.backends.llvm.writer import Writer
from samovar.ir import Constant, Operation, Region, Scatter, Value, walk


def of_neighbours(body: Region) -> frozenset[Scatter]:
    """The scatters that have several updates which may overlap those of other iterations by half.

    Entries of the rows of an array (`force[j, 0]`, `force[j, 1]`) are together or apart in all iterations.
    """
    updates: dict[Scatter, list[Operation]] = defaultdict(list)
    for operation in walk(body):
        if operation.code == "scatter":
            updates[operation.payload].append(operation)
    several = (scatter for scatter, operations in updates.items() if len(operations) > 1)
    return frozenset(each for each in several if not any(map(_is_entry, updates[each])))


def _is_entry(operation: Operation) -> bool:
    *indices, _ = operation.operands
    return not indices or isinstance(indices[-1], Constant)


def update_alone(writer: Writer, place: str, dtype: DType, operation: str, values: Sequence[Value]) -> None:
    """A plain read-modify-write that LLVM does not join with others."""
    if dtype.kind == "bool" or dtype.bits < 32 or operation == "cas":
        update(writer, place, dtype, operation, values)
        return
    kind, order = memory_type(dtype), f"unordered, align {dtype.itemsize}"
    old = writer.define(f"load atomic {kind}, ptr {place} {order}", "m")
    new = combine(writer, operation, dtype, old, values[0])
    writer.emit(f"store atomic {kind} {new}, ptr {place} {order}")
