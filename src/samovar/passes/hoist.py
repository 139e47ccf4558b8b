"""Computing in front of a task what is the same in all its iterations."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from samovar.ir import OPCODES, Affine, Operation, ParallelFor, Value, variables, walk


class Hoist:
    """Copies of a task's invariant operations, to be placed in front of it.

    The originals stay for whoever else uses them; `prune` removes those that nobody does. A copy drops the overflow check:
    the original keeps it, and runs only where the program says so.
    """

    def __init__(self, task: ParallelFor, affine: Affine) -> None:
        self._task = task
        self._affine = affine
        self._inside: set[Value] = set()
        self._possible: dict[Value, bool] = {}
        self._copies: dict[Value, Value] = {}
        self.operations: list[Operation] = []

    def possible(self, value: Value) -> bool:
        """Whether a value can be computed in front of the task.

        More than an invariant form is needed: `i - i + n` has one, and cannot be computed where there is no i.
        """
        if not self._inside:
            self._inside.update(self._task.variables)
            for operation in walk(self._task.body):
                self._inside.add(operation)
                self._inside.update(variables(operation))
        for each in self._operands_first(value, self._possible):
            self._possible[each] = (
                isinstance(each, Operation)
                and (OPCODES[each.code].effect == "pure" or each.code == "load_local")
                and self._affine.form(each).invariant()
                and all(self._possible.get(operand, True) for operand in each.operands)
            )
        return self._possible.get(value, True)

    def outside(self, values: Sequence[Value]) -> tuple[Value, ...]:
        """The same values, defined in front of the task, which must be possible."""
        for value in values:
            for each in self._operands_first(value, self._copies):
                assert isinstance(each, Operation)
                operands = tuple(self._copies.get(operand, operand) for operand in each.operands)
                payload = each.payload if each.code in ("shape", "extract", "load_local") else None
                copy = self._copies[each] = Operation(each.code, each.type, operands, payload, each.line)
                self.operations.append(copy)
        return tuple(self._copies.get(value, value) for value in values)

    def _operands_first(self, value: Value, done: Container[Value]) -> Iterator[Value]:
        """What a value is computed from inside the task, operands before users, except what is done."""
        # An explicit stack, since an expression may be as long as a program.
        stack = [value]
        while stack:
            current = stack[-1]
            if current in done or current not in self._inside:
                stack.pop()
                continue
            operands = current.operands if isinstance(current, Operation) else ()
            missing = [each for each in operands if each in self._inside and each not in done]
            if missing:
                stack.extend(missing)
            else:
                yield current
                stack.pop()
