"""Common subexpression elimination: a value computed or loaded twice becomes one, so that one adjoint collects all its uses.

A walk in program order that knows the computed values. Inside a branch or loop everything before it is known; what a loop
writes is forgotten at its beginning, and what a branch or loop writes at its end.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from samovar.ir import (
    OPCODES,
    Array,
    Constant,
    If,
    Local,
    Operation,
    Region,
    Value,
    While,
    memory,
    regions,
    substitute,
    walk,
)


def join_common(body: Region) -> None:
    """Replace known values by their first occurrence, in place."""
    joining = _Joining()
    joining.region(body, {})
    for operation in walk(body):
        if isinstance(operation, While):
            substitute(operation, joining.replaced)


#: The memory that a loaded value came from.
_Known = dict[Hashable, tuple[Operation, Array | Local | None]]


class _Joining:
    def __init__(self) -> None:
        self.replaced: dict[Value, Value] = {}

    def region(self, region: Region, known: _Known) -> None:
        kept: list[Operation] = []
        for operation in region.operations:
            substitute(operation, self.replaced)
            inner = regions(operation)
            if inner:
                kept.append(operation)
                written = {memory(each) for part in inner for each in walk(part) if _writes(each)}
                if not isinstance(operation, If):
                    _forget(known, written)
                for part in inner:
                    self.region(part, dict(known))
                _forget(known, written)
                continue
            key = _key(operation)
            found = known.get(key) if key is not None else None
            if found is not None:
                self.replaced[operation] = found[0]
                continue
            kept.append(operation)
            if _writes(operation):
                _forget(known, (memory(operation),))
            elif key is not None:
                known[key] = operation, memory(operation)
        region.operations = kept


def _writes(operation: Operation) -> bool:
    return operation.code not in ("load", "load_local") and memory(operation) is not None


def _forget(known: _Known, written: Iterable[Array | Local | None]) -> None:
    gone = set(written)
    for key in [key for key, (_, source) in known.items() if source is not None and source in gone]:
        del known[key]


def _key(operation: Operation) -> Hashable | None:
    """The key of an operation: equal for equal operations."""
    if operation.code not in ("load", "load_local") and OPCODES[operation.code].effect != "pure":
        return None
    if operation.payload is not None and operation.code not in ("load", "load_local", "shape"):
        return None
    operands = tuple(
        (each.type, type(each.value), repr(each.value)) if isinstance(each, Constant) else each
        for each in operation.operands
    )
    return operation.code, operation.type, operation.payload, operands
