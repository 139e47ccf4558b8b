"""Writing IR: a builder appends operations to a region.

    build = Builder(line)
    build.set(total, build.make("add", f32, build.get(total), x))

The width of an operation is that of its widest operand. Sums and products of known numbers are folded, so callers need not
handle zeros and ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from samovar._native import DType, i32, i64, u1
from samovar.ir.structure import For, Region
from samovar.ir.values import Array, Constant, Local, Operation, Value, VectorOperation


class Builder:
    """The operations written so far; `line` and `origin` apply to those that follow."""

    def __init__(self, line: int = 0, origin: Any = None) -> None:
        self.line = line
        self.origin = origin
        self.operations: list[Operation] = []

    def append(self, operation: Operation) -> Operation:
        self.operations.append(operation)
        return operation

    def region(self, write: Callable[[], object]) -> Region:
        """A new region with the operations that a function writes."""
        outer, self.operations = self.operations, []
        try:
            write()
            return Region(self.operations)
        finally:
            self.operations = outer

    def make(
        self,
        code: str,
        type: DType | None,
        *operands: Value,
        payload: Any = None,
        width: int | None = None,
        mask: Value | None = None,
        step: int = 1,
    ) -> Operation:
        """Any operation except control flow."""
        if width is None:
            width = 0
            for operand in operands:
                if operand.width > width:
                    width = operand.width
        made: Operation
        if width or mask is not None:
            made = VectorOperation(code, type, operands, payload, self.line, width=width, mask=mask, step=step)
        else:
            made = Operation(code, type, operands, payload, self.line)
        made.origin = self.origin
        self.operations.append(made)
        return made

    # --- common operations

    def exact(self, code: str, type: DType, *operands: Value) -> Operation:
        """A float operation without fast-math."""
        return self.make(code, type, *operands, payload="exact")

    def choose(self, condition: Value, then: Value, otherwise: Value) -> Operation:
        return self.make("select", then.type, condition, then, otherwise)

    def compare(self, code: str, left: Value, right: Value) -> Operation:
        return self.make(code, u1, left, right)

    def runs(self, loop: For) -> Operation:
        """Whether a loop with a known step has an iteration."""
        begin, end, _ = loop.operands
        return self.compare("lt" if loop.stride > 0 else "gt", begin, end)

    def cast(self, value: Value, type: DType) -> Value:
        if value.type is type:
            return value
        is_whole = value.type is not None and value.type.kind != "float" and type.kind in ("int", "uint")
        if is_whole and isinstance(value, Constant):
            return Constant(type(value.value), type)
        return self.make("cast", type, value)

    def extent(self, array: Array, axis: int) -> Operation:
        """The length of a dimension at run time."""
        return self.make("shape", i64 if array.wide else i32, payload=(array, axis))

    def get(self, local: Local) -> Operation:
        return self.make("load_local", local.type, payload=local, width=local.width)

    def set(self, local: Local, value: Value) -> Operation:
        return self.make("store_local", None, value, payload=local, width=local.width)

    def read(self, target: Array | Local, at: Sequence[Value] = ()) -> Operation:
        """Load an element, or a local."""
        return self.get(target) if isinstance(target, Local) else self.make("load", target.dtype, *at, payload=target)

    def write(self, target: Array | Local, at: Sequence[Value], value: Value) -> Operation:
        """Store an element, or a local."""
        return self.set(target, value) if isinstance(target, Local) else self.make("store", None, *at, value, payload=target)

    # --- arithmetic of integers and f64, folded

    def add(self, left: Value, right: Value) -> Value:
        return self._folded("add", left, right)

    def sub(self, left: Value, right: Value) -> Value:
        return self._folded("sub", left, right)

    def mul(self, left: Value, right: Value) -> Value:
        return self._folded("mul", left, right)

    def min(self, left: Value, right: Value) -> Value:
        return self._folded("min", left, right)

    def max(self, left: Value, right: Value) -> Value:
        return self._folded("max", left, right)

    def _folded(self, code: str, left: Value, right: Value) -> Value:
        assert left.type is not None
        a, b = (each.value if isinstance(each, Constant) else None for each in (left, right))
        if a is not None and b is not None:
            return Constant(left.type(_FOLDS[code](a, b)), left.type)
        if code in ("add", "sub") and b == 0:
            return left
        if (code == "add" and a == 0) or (code == "mul" and a == 1):
            return right
        if code == "mul" and b == 1:
            return left
        return self.make(code, left.type, left, right)


_FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "min": min,
    "max": max,
}
