"""Kernels that return early, for differentiation: what follows a return is skipped, and the kernel returns at its end.

Tasks stay at the top level. After a return they have no iterations; serial code between them moves into a branch, and its
results go through variables.
"""

from __future__ import annotations

from samovar.ir import Builder, If, Kernel, Local, Operation, ParallelFor, Region, Value, dtype_of, substitute, used, walk
from samovar.passes.inline import Returns

#: Operations that stay at the top level: they do nothing at run time.
_DECLARATIONS = ("reserve", "stop_gradient")


def return_at_end(kernel: Kernel) -> None:
    """Remove the early returns of a kernel without calls, in place."""
    operations = kernel.body.operations
    returns = [operation for operation in walk(kernel.body) if operation.code == "return"]
    if any(each is not operations[-1] for each in returns):
        _Skipping(kernel, Returns(kernel.body, kernel.name, kernel.returns, returns[0].line), returns[0].line).run()


class _Skipping:
    def __init__(self, kernel: Kernel, removed: Returns, line: int) -> None:
        self._kernel = kernel
        self._removed = removed
        self._line = line
        self._replaced: dict[Value, Value] = {}
        self._result: list[Operation] = [removed.begin()]
        #: The position of the last operation of the kernel that uses a value.
        self._last_use = {
            value: position
            for position, outer in enumerate(kernel.body.operations)
            for operation in walk(Region([outer]))
            for value in used(operation)
        }

    def run(self) -> None:
        kernel, removed = self._kernel, self._removed
        kernel.locals += [*removed.results, removed.returned]
        first = next(at for at, each in enumerate(kernel.body.operations) if removed.is_among(each))
        self._result += kernel.body.operations[:first]
        skipped: list[Operation] = []
        for position, operation in enumerate(kernel.body.operations[first:], first):
            for each in walk(Region([operation])):
                substitute(each, self._replaced)
            if isinstance(operation, ParallelFor):
                self._code(skipped, position - 1)
                skipped = []
                for each in walk(Region([operation])):
                    substitute(each, self._replaced)
                self._task(operation)
            elif operation.code in _DECLARATIONS:
                self._result.append(operation)
            else:
                skipped.append(operation)
        self._code(skipped, len(kernel.body.operations))
        results = [local.load(self._line) for local in removed.results]
        if results:
            self._result += [*results, Operation("return", None, tuple(results), None, self._line)]
        kernel.body.operations = self._result

    def _code(self, operations: list[Operation], last: int) -> None:
        """Serial code, up to some position: skipped after a return. What is used behind it goes through variables."""
        if not operations:
            return
        body, after = Region(list(operations)), list[Operation]()
        for operation in operations:
            if self._last_use.get(operation, -1) > last:
                kept = Local("kept", dtype_of(operation), operation.line)
                self._kernel.locals.append(kept)
                self._result.append(kept.store(kept.zero()))
                place = body.operations.index(operation)
                body.operations.insert(place + 1, kept.store(operation))
                after.append(kept.load())
                self._replaced[operation] = after[-1]
        self._removed.lower(body)
        returned = self._removed.returned.load(self._line)
        self._result += [returned, If(returned, Region(), body, self._line), *after]

    def _task(self, task: ParallelFor) -> None:
        """A task: without iterations after a return."""
        build = Builder(task.line, task.origin)
        returned = build.get(self._removed.returned)
        begin, end = task.operands[:2]
        task.operands = (begin, build.choose(returned, begin, end), *task.operands[2:])
        self._result += [*build.operations, task]
