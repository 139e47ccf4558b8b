"""Recognizing updates written as load and store: `o[0] = o[0] + x[i]` in a task is the update `o[0] += x[i]`.

Applies only where iterations are certain to share the element, because a variable of the task is not in the indices: there
a plain load and store would lose updates. If every iteration may have its own element (`a[p[i]] = a[p[i]] + 1`), the
program is left as written.
"""

from __future__ import annotations

from samovar.ir import (
    Affine,
    AffineForm,
    Array,
    Atomic,
    Builder,
    Kernel,
    LoopVariable,
    Operation,
    ParallelFor,
    Region,
    Update,
    bodies,
    indices,
    memory,
    tasks,
    update_of,
    use_counts,
    walk,
    walk_regions,
)


def recognize_updates(kernel: Kernel) -> None:
    """Turn loads and stores in tasks into updates if iterations share the element."""
    analysis: _Analysis | None = None
    for task in tasks(kernel):
        for region in walk_regions(task.body):
            for store in [each for each in region.operations if each.code == "store"]:
                update = _update(store)
                if update is not None:
                    analysis = analysis or _Analysis(kernel)
                    if analysis.is_update(update, store, region) and analysis.is_shared(store, task):
                        _replace(region, store, update)


def _update(store: Operation) -> Update | None:
    """The update that a store may be, from the stored value."""
    array: Array = store.payload
    if array.private:
        return None
    return update_of(store.operands[-1], array.dtype, lambda each: each.code == "load" and each.payload is array)


class _Analysis:
    """Analyses of a kernel, computed on demand."""

    def __init__(self, kernel: Kernel) -> None:
        self._affine = Affine(kernel.body)
        self._uses = use_counts(bodies(kernel))

    def is_update(self, update: Update, store: Operation, region: Region) -> bool:
        """Whether the old value is that of the same element, with no other use and no write in between."""
        number = self._affine.number
        if [number(each) for each in update.old.operands] != [number(each) for each in indices(store)]:
            return False
        if any(self._uses[each] != 1 for each in update.replaced) or update.old not in region.operations:
            return False
        between = region.operations[region.operations.index(update.old) + 1 : region.operations.index(store)]
        return not any(map(_writes, between))

    def is_shared(self, store: Operation, task: ParallelFor) -> bool:
        """Whether there is a variable of the task that the element does not depend on."""
        forms = [self._affine.form(index) for index in indices(store)]
        return any(all(self._is_free_of(variable, form, task) for form in forms) for variable in task.variables)

    def _is_free_of(self, variable: LoopVariable, form: AffineForm, task: ParallelFor) -> bool:
        if form.invariant():
            return True
        return form.exact() and all(
            symbol.task is None or self._is_other(symbol.identity, variable, task) for symbol, _ in form.terms
        )

    def _is_other(self, symbol: object, variable: LoopVariable, task: ParallelFor) -> bool:
        """Whether it is another variable of the task, or of a loop that is the same in each iteration."""
        if not isinstance(symbol, LoopVariable) or symbol is variable:
            return False
        if symbol in task.variables:
            return True
        return all(self._affine.form(bound).invariant() for bound in self._affine.bounds(symbol))


def _writes(operation: Operation) -> bool:
    """Whether an operation may write to an array."""
    inside = walk(Region([operation]))
    return any(each.code == "call" or (each.code != "load" and isinstance(memory(each), Array)) for each in inside)


def _replace(region: Region, store: Operation, update: Update) -> None:
    array: Array = store.payload
    build = Builder(store.line, store.origin)
    value = update.contribution(array.dtype, lambda code, type, operands: build.make(code, type, *operands))
    build.make("atomic", array.dtype, *indices(store), value, payload=Atomic(update.operation, array))
    operations: list[Operation] = []
    for each in region.operations:
        if each is store:
            operations += build.operations
        elif each not in update.replaced:
            operations.append(each)
    region.operations = operations
