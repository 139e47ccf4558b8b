"""Computing in front of a task what is the same in all its iterations."""

from __future__ import annotations

from collections.abc import Sequence

from samovar.ir.structure import ParallelFor
from samovar.ir.values import Operation, Value
from samovar.ir.walk import walk


class Hoist:
    """Copies of a task's invariant operations, to be placed in front of it.

    The originals stay for whoever else uses them; `prune` removes those that nobody does. A copy drops the overflow check:
    the original keeps it, and runs only where the program says so.
    """

    def __init__(self, task: ParallelFor) -> None:
        self._task = task
        self._inside: set[Operation] | None = None
        self._copies: dict[Value, Value] = {}
        self.operations: list[Operation] = []

    def outside(self, values: Sequence[Value]) -> tuple[Value, ...]:
        """The same values, defined in front of the task. They must be invariant (see `affine.Form.invariant`)."""
        if self._inside is None:
            self._inside = set(walk(self._task.body))
        for value in values:
            self._copy(value, self._inside)
        return tuple(self._copies.get(value, value) for value in values)

    def _copy(self, value: Value, inside: set[Operation]) -> None:
        # Operands first; an explicit stack, since an expression may be as long as a program.
        stack = [value]
        while stack:
            current = stack[-1]
            if current in self._copies or not isinstance(current, Operation) or current not in inside:
                stack.pop()
                continue
            missing = [each for each in current.operands if each in inside and each not in self._copies]
            if missing:
                stack.extend(missing)
                continue
            operands = tuple(self._copies.get(each, each) for each in current.operands)
            payload = current.payload if current.code in ("shape", "extract", "load_local") else None
            copy = Operation(current.code, current.type, operands, payload, current.line)
            self._copies[current] = copy
            self.operations.append(copy)
            stack.pop()
