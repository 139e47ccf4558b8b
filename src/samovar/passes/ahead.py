"""Reading ahead: elements that a condition decides about are read before it, where that cannot be out of bounds.

`count == 3 or (count == 2 and cells[i, j] == 1)` reads the cell in some iterations only. LLVM may not read it in the others,
for all it knows there is no such element, so the loop stays one of branches; for bytes it has no vector instruction that
leaves some out either. But an element that lies between two that every iteration reads anyway is there.

Elements at constant places (`lo[0] <= x <= hi[0] and lo[1] <= y <= hi[1]`) are the same for all iterations. They are read
before the first one, whether they are there or not (`ReadAnyway`): a comparison with the length of the array says from
where. Not for iterations with loops, which may run in lanes.

The array must be one that the task does not write, so that reading sooner gives the same.
"""

from __future__ import annotations

from samovar.ir import (
    Array,
    Constant,
    For,
    If,
    Kernel,
    Operation,
    ParallelFor,
    ReadAnyway,
    Value,
    While,
    memory,
    substitute,
    tasks,
    walk,
)
from samovar.passes.accesses import base_and_constant


def read_ahead(kernel: Kernel) -> None:
    """Move loads out of conditions, in place."""
    for task in tasks(kernel):
        if not task.watched and any(isinstance(each, If) for each in task.body.operations):
            _Task(task).move()


class _Task:
    """One task: what its iterations have read for certain, as places along rows."""

    def __init__(self, task: ParallelFor) -> None:
        self.body = task.body
        self.written = {memory(each) for each in walk(task.body) if each.code != "load" and isinstance(memory(each), Array)}
        self.calls = any(each.code == "call" for each in walk(task.body))
        self.rows: dict[tuple[object, ...], list[int]] = {}
        self.known: set[Value] = set()
        self.has_loops = any(isinstance(each, (For, While)) for each in walk(task.body))
        self.replaced: dict[Value, Value] = {}

    def move(self) -> None:
        if self.calls:
            return
        steps: list[Operation] = []
        for operation in self.body.operations:
            if isinstance(operation, If):
                self._take_out(operation, steps)
            elif operation.code == "load" and self._is_steady(operation):
                row, place = _place(operation)
                self.rows.setdefault(row, []).append(place)
            steps.append(operation)
            self.known.add(operation)
        self.body.operations = steps
        if self.replaced:
            for operation in walk(self.body):
                substitute(operation, self.replaced)

    def _is_steady(self, load: Operation) -> bool:
        """Whether an element is one of a row that stays as it is during the task."""
        array = load.payload
        if not load.operands:
            return False
        return array.contiguous and array not in self.written and (array.alone or not self.written)

    def _take_out(self, choice: If, steps: list[Operation]) -> None:
        for region in (choice.then, choice.orelse):
            kept = []
            for operation in region.operations:
                if isinstance(operation, If):
                    self._take_out(operation, steps)
                if operation.code == "load" and self._is_steady(operation) and self._is_there(operation):
                    steps.append(operation)
                    self.known.add(operation)
                elif operation.code == "load" and self._is_steady(operation) and self._is_the_same(operation):
                    steps.append(ReadAnyway(operation))
                    self.replaced[operation] = steps[-1]
                else:
                    kept.append(operation)
            region.operations = kept

    def _is_the_same(self, load: Operation) -> bool:
        """Whether all iterations read the same element, if they do."""
        array = load.payload
        in_c_order = array.layout is None and array.pitch is None and not array.apart and array.order is None
        is_plain = in_c_order and array.dtype.kind != "bool"
        at_constants = all(isinstance(index, Constant) and index.value >= 0 for index in load.operands)
        return is_plain and at_constants and not self.has_loops

    def _is_there(self, load: Operation) -> bool:
        """Whether a load can be done before the condition, and does no harm there."""
        if any(isinstance(index, Operation) and index not in self.known for index in load.operands):
            return False
        row, place = _place(load)
        places = self.rows.get(row, ())
        return any(each <= place for each in places) and any(each >= place for each in places)


def _place(load: Operation) -> tuple[tuple[object, ...], int]:
    """The row of an element, and where it is along it."""
    *outer, last = map(base_and_constant, load.operands)
    return (load.payload, *outer, last[0]), last[1]
