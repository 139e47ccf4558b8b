"""Dependence: whether the iterations of a loop can run in another order, or side by side, and what they gather.

Iterations of a parallel loop can. Those of a serial loop can if none reads what another one writes: each touches elements of
its own in all arrays that the loop writes, and variables have a value in each iteration before they are read. Variables that
iterations only add to, or the like, are gathered: each lane has a part of the sum.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from samovar.ir import (
    FAMILIES,
    Affine,
    Array,
    Atomic,
    Constant,
    For,
    Form,
    If,
    Local,
    LocalArray,
    Operation,
    Region,
    Value,
    While,
    indices,
    memory,
    regions,
    used,
    users,
    walk,
)
from samovar.passes.loops.divergence import Refused, defined_in, inside

#: What changes memory, or may. A local array that is reserved is another one than before.
CHANGES = frozenset(("store", "update", "atomic", "accumulate", "scatter", "scratch", "call"))


@dataclass(frozen=True)
class Gathered:
    """A variable that iterations add to, or the like: by which operation, and the operations that do, each with its operand
    that comes from the variable."""

    local: Local
    operation: str
    updates: dict[Operation, Operation]


@dataclass(frozen=True)
class Independence:
    """The variables that belong to an iteration, and those that are gathered."""

    private: set[Local]
    gathered: dict[Local, Gathered]


def independence(loop: For, body: Region, affine: Affine, fast_math: bool) -> Independence:
    """What iterations of a loop have to themselves, if they can run side by side; `body` is all of the function around it.
    Raises `Refused` where they cannot."""
    gathered = gathered_in(loop, fast_math)
    stored = {each.payload for each in walk(loop.body) if each.code == "store_local"}
    private = stored - gathered.keys()
    for local in private:
        read = "read" in first_touches(loop.body.operations, local)
        after = (read or not loop.hints.parallel) and _is_read_after(loop, body, local)
        # In a parallel loop, what may be read first and is for nobody else was never written.
        if read and (after or not loop.hints.parallel):
            raise Refused(f"{local.name} is carried from one iteration to the next")
        if after:
            raise Refused(f"{local.name} is read after the loop")
    if loop.hints.parallel:
        return Independence(private, gathered)
    _require_own_elements(loop, affine, fast_math)
    return Independence(private, gathered)


# --- variables


def gathered_in(loop: For, fast_math: bool) -> dict[Local, Gathered]:
    """The variables that a loop only adds to, or the like, in an order that does not matter."""
    touches: dict[Local, list[Operation]] = {}
    for operation in walk(loop.body):
        if operation.code in ("load_local", "store_local"):
            touches.setdefault(operation.payload, []).append(operation)
    users_of = users([loop.body]) if touches else {}
    found: dict[Local, Gathered] = {}
    for local, operations in touches.items():
        updates = None if local.shared else _updates(operations, users_of, fast_math)
        if updates:
            family = FAMILIES[next(iter(updates)).code]
            found[local] = Gathered(local, family, updates)
    return found


def _updates(
    touches: list[Operation], users_of: dict[Value, list[Operation]], fast_math: bool
) -> dict[Operation, Operation] | None:
    """The operations by which a variable gets all its values from what it was before, each with the operand that comes from
    it; None if there are others, or their order matters, or something else is done with what comes from the variable."""
    updates: dict[Operation, Operation] = {}
    pending = [each for each in touches if each.code == "load_local"]
    for value in pending:
        for user in users_of.get(value, ()):
            if user in touches:
                continue
            if user in updates or user.operands.count(value) != 1 or not _is_update(user, value, fast_math):
                return None
            updates[user] = value
            pending.append(user)
    stored = [each.operands[0] for each in touches if each.code == "store_local"]
    if len({FAMILIES[each.code] for each in updates}) > 1 or not all(value in updates for value in stored):
        return None
    return updates if stored else None


def _is_update(operation: Operation, old: Operation, fast_math: bool) -> bool:
    if operation.code not in FAMILIES or (operation.code == "sub" and operation.operands[0] is not old):
        return False
    return _is_reordered(operation, fast_math)


def _is_reordered(update: Operation, fast_math: bool) -> bool:
    """Whether updates may be done in any order."""
    if update.type is None or update.type.kind != "float":
        return update.payload is None
    if update.code in ("min", "max"):
        return update.payload is None and update.type.bits > 16
    return update.payload == "reorder" or (fast_math and update.payload is None)


def recurring(operations: Sequence[Operation]) -> set[Local]:
    """The variables of a loop whose next values depend on what the iteration before has left in such variables."""
    found = {each.payload for each in operations if each.code == "store_local"}
    for _ in range(_ROUNDS):
        late: set[Value] = set()
        again: set[Local] = set()
        for operation in operations:
            if operation.code == "load_local" and operation.payload in found:
                late.add(operation)
            elif not late.isdisjoint(operation.operands):
                late.add(operation)
                if operation.code == "store_local":
                    again.add(operation.payload)
        if again == found:
            break
        found = again
    return found


#: Values that go from variable to variable are followed so far.
_ROUNDS = 5


def first_touches(operations: Iterable[Operation], local: Local) -> set[str]:
    """What may happen to a variable first: it is "read", or "written", or code is left without either, by "break",
    "continue" or "return", or at its "end"."""
    found: set[str] = set()
    for operation in operations:
        if operation.code in ("break", "continue", "return"):
            return {*found, operation.code}
        if isinstance(operation, If):
            found |= first_touches(operation.then.operations, local) | first_touches(operation.orelse.operations, local)
            if "end" not in found:
                return found
            found.remove("end")
        elif isinstance(operation, For):
            found |= first_touches(operation.body.operations, local) & {"read", "return"}
        elif isinstance(operation, While):
            head = first_touches(operation.head.operations, local)
            if "end" not in head:
                return found | head
            found |= (head | first_touches(operation.body.operations, local)) & {"read", "return"}
        elif any(_touches(each, local) for each in inside(operation)):
            found.add("read")  # a task, or the like
        elif _touches(operation, local):
            return {*found, "written" if operation.code == "store_local" else "read"}
    return {*found, "end"}


def _touches(operation: Operation, local: Local) -> bool:
    return memory(operation) is local


def _is_read_after(loop: For, body: Region, local: Local) -> bool:
    """Whether a variable may be read after a loop before it gets another value."""
    left = {"end"}
    for rest, around in _rests(loop, body):
        if "end" in left:
            left = (left - {"end"}) | first_touches(rest, local)
        if isinstance(around, (For, While)):
            repeated = left & {"end", "continue"}
            if repeated and any("read" in first_touches(each.operations, local) for each in regions(around)):
                return True
            left = left & {"read"} or ({"end"} if left & {"end", "continue", "break"} else set())
        if "read" in left:
            return True
        left -= {"written", "return"}
    return False


def _rests(
    loop: Operation, region: Region, around: Operation | None = None
) -> list[tuple[Sequence[Operation], Operation | None]]:
    """The rest of the region that a loop is in, then those of the regions around it, each with what it is a region of."""
    for position, operation in enumerate(region.operations):
        rest = region.operations[position + 1 :]
        if operation is loop:
            return [(rest, around)]
        if isinstance(operation, (If, For, While)):
            for each in regions(operation):
                found = _rests(loop, each, operation)
                if found:
                    return [*found, (rest, around)]
    return []


# --- memory


def are_apart(one: Operation, other: Operation, affine: Affine, moving: Container[Value] = ()) -> bool:
    """Whether two accesses to arrays never touch one element, whatever iterations of loops the values in `moving` belong
    to: those of the one need not be those of the other."""
    array, target = memory(one), memory(other)
    assert isinstance(array, Array)
    assert isinstance(target, Array)
    if array is not target:
        return array.alone or target.alone
    for left, right in zip(indices(one), indices(other), strict=True):
        first, second = affine.form(left), affine.form(right)
        steady = not any(symbol.identity in moving for symbol, _ in first.terms)
        if steady and first.base() == second.base() and first.constant != second.constant and first.indexes(array):
            return True
        if affine.differ(left, right, moving):
            return True
    return False


def _require_own_elements(loop: For, affine: Affine, fast_math: bool) -> None:
    """Refuse a loop of which two iterations may touch one element that one of them writes."""
    within = defined_in(loop.body)
    results = {value for operation in walk(loop.body) for value in used(operation)}
    accesses: dict[Array, list[Operation]] = {}
    for operation in walk(loop.body):
        if operation.code == "call":
            raise Refused("what a call touches is not known")
        array = memory(operation)
        if isinstance(array, Array) and array not in within:
            accesses.setdefault(array, []).append(operation)
    written = {array for array, each in accesses.items() if any(access.code != "load" for access in each)}
    for array in written:
        if not array.alone and not isinstance(array, LocalArray):
            raise Refused(f"{array.name} may share memory with another array")
        only_gathers = _only_gathers(accesses[array], results, fast_math)
        if not only_gathers and not own_elements(accesses[array], loop, affine, within):
            raise Refused(f"iterations may touch the same elements of {array.name}")


def _only_gathers(accesses: Sequence[Operation], results: set[Value], fast_math: bool) -> bool:
    """Whether all that is done to an array are updates by one operation, in any order, one after the other; of which nobody
    asks what was there before."""
    if not results.isdisjoint(accesses):
        return False
    families = {
        FAMILIES.get(each.payload.operation) if isinstance(each.payload, Atomic) and each.payload.step is None else None
        for each in accesses
    }
    if len(families) != 1 or None in families:
        return False
    array = memory(accesses[0])
    assert isinstance(array, Array)
    return array.dtype.kind != "float" or fast_math


def own_elements(accesses: Sequence[Operation], loop: For, affine: Affine, within: set[Value]) -> bool:
    """Whether no two iterations of a loop touch one element by some accesses to an array, of which one writes."""
    if len(accesses) > _MOST_ACCESSES:
        return False
    array = memory(accesses[0])
    assert isinstance(array, Array)
    forms = {access: [affine.form(index) for index in indices(access)] for access in accesses}
    return all(
        any(_tells_apart(one, other, array, loop, within) for one, other in zip(forms[write], forms[access], strict=True))
        for write in accesses
        if write.code != "load"
        for access in accesses
    )


#: Of more accesses to an array, not each is compared with each.
_MOST_ACCESSES = 64


def _tells_apart(one: Form, other: Form, array: Array, loop: For, within: set[Value]) -> bool:
    """Whether two indices differ in different iterations: they are apart by what no number of iterations makes up for."""
    if one.base() != other.base() or not one.indexes(array) or not other.indexes(array):
        return False
    step = 0
    for symbol, coefficient in one.terms:
        if symbol.identity is loop.variable:
            step = abs(coefficient * int(getattr(loop.operands[2], "value", 0)))
        elif symbol.identity in within:
            return False
    apart = one.constant - other.constant
    return apart % step != 0 or apart == 0 if step else apart != 0


def iterations_apart(
    load: Operation, store: Operation, loop: For, affine: Affine, within: Container[object]
) -> int | None:
    """How many iterations of a loop before a load the same element was stored; None if it was not, or nobody knows. What is
    defined `within` the loop is another value in each iteration."""
    array, step = memory(load), loop.operands[2]
    if memory(store) is not array or not isinstance(array, Array) or not isinstance(step, Constant) or not step.value:
        return None
    distance: int | None = None
    for read, written in zip(indices(load), indices(store), strict=True):
        one, other = affine.form(read), affine.form(written)
        if one.base() != other.base() or not one.indexes(array):
            return None
        each = affine.step(read, loop.variable, within)
        if each is None:
            return None
        moved = each * int(step.value)
        apart = other.constant - one.constant
        if not moved:
            if apart:
                return None
            continue
        if apart % moved or distance not in (None, apart // moved):
            return None
        distance = apart // moved
    return distance
