"""Activity analysis: which values, locals and arrays carry derivatives from arrays with gradients to such arrays."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from samovar._native import DType
from samovar.ir import Array, Kernel, Local, LocalArray, Operation, ScratchArray, Value, memory, use_counts, walk_kernel
from samovar.passes.derivatives.rules import RULES


class NotDifferentiable(Exception):
    """There is no derivative, or not a correct one: the operation where it is lost, the reason, and what to do."""

    def __init__(self, operation: Operation, message: str, advice: str) -> None:
        super().__init__(message)
        self.operation = operation
        self.message = message
        self.advice = advice

    @classmethod
    def at_return(cls, operation: Operation) -> NotDifferentiable:
        """What the kernel returns carries derivatives."""
        message = "what is returned here depends on arrays that have a gradient, and what is done with it has none"
        return cls(operation, message, "write it into an array with a gradient, or return it from another kernel")


def is_real(type: DType | None) -> bool:
    """Whether values of a type carry derivatives: floats do; integers and booleans do not."""
    return type is not None and type.kind == "float"


class Activity:
    """What carries derivatives in a kernel without calls: it depends on an array with a gradient, and such an array, or what
    is returned, depends on it. `lost` are updates of arrays without a gradient."""

    def __init__(self, kernel: Kernel, arrays: Collection[Array]) -> None:
        self.values: set[Value] = set()
        self.memory: set[Array | Local] = set(arrays)
        self.lost: dict[Array, Operation] = {}
        self.stacked = False  # something on the stack carries derivatives
        operations = list(walk_kernel(kernel))
        self.stopped = {operation.payload for operation in operations if operation.code == "stop_gradient"}
        # Loops propagate activity from their end to their beginning: iterate to a fixpoint.
        size = -1
        while size != len(self.values) + len(self.memory) + self.stacked:
            size = len(self.values) + len(self.memory) + self.stacked
            for operation in operations:
                self._spread(operation)
        for operation in operations:
            array = operation.payload
            if operation.code == "load" and array in self.lost and is_real(operation.type):
                store = self.lost[array]
                raise NotDifferentiable(
                    store,
                    f"`{array.name}` has no gradient, but values that depend on arrays with gradients pass through it",
                    "complex arrays have no gradient: keep real and imaginary parts in arrays of their own"
                    if array.element is not None and array.element.kind == "complex"
                    else "create it with `needs_grad=True`",
                )
        self._require_use(operations, use_counts([kernel.body]), set(arrays))

    def _require_use(self, operations: list[Operation], uses: Mapping[Value, int], wanted: set[Array | Local]) -> None:
        """Drop what nothing depends on that has a gradient or is returned."""
        values: set[Value] = set()
        size = -1
        while size != len(values) + len(wanted):
            size = len(values) + len(wanted)
            for operation in reversed(operations):
                target = memory(operation)
                if operation.code in ("load", "load_local"):
                    if operation in values and target is not None:
                        wanted.add(target)
                elif target is not None:
                    if uses[operation]:  # the old value of an update: how it depends on the target is not known
                        wanted.add(target)
                    if target in wanted:
                        values.update(operation.operands[-1:])
                elif operation in values or operation.code in ("push", "return"):
                    values.update(each for place, each in enumerate(operation.operands) if _passes(operation, place))
        self.values &= values
        self.memory &= wanted

    def _spread(self, operation: Operation) -> None:
        target = memory(operation)
        if target is not None and operation.code not in ("load", "load_local") and target not in self.stopped:
            value = operation.operands[-1]
            if value in self.values and target not in self.memory:
                if isinstance(target, Array) and not isinstance(target, (LocalArray, ScratchArray)):
                    self.lost.setdefault(target, operation)
                elif is_real(target.dtype if isinstance(target, Array) else target.type):
                    self.memory.add(target)
        if operation.code == "push" and operation.operands[0] in self.values:
            self.stacked = True
        if not is_real(operation.type):
            return
        if operation.code == "pop" and self.stacked:
            self.values.add(operation)
        if operation.code in ("load", "load_local"):
            if target in self.memory and target not in self.stopped:
                self.values.add(operation)
        elif target is None and any(
            each in self.values and _passes(operation, place) for place, each in enumerate(operation.operands)
        ):
            self.values.add(operation)

    def returned(self, kernel: Kernel) -> Operation | None:
        """What returns a value that carries derivatives."""
        last = kernel.body.operations[-1] if kernel.body.operations else None
        return last if last is not None and last.code == "return" and not self.values.isdisjoint(last.operands) else None

    def __contains__(self, value: object) -> bool:
        return value in self.values or value in self.memory


def _passes(operation: Operation, place: int) -> bool:
    """Whether a derivative may go from an operand to the result. What has no rule is refused where it matters."""
    rule = RULES.get(operation.code)
    return rule is None or rule[place] is not None
