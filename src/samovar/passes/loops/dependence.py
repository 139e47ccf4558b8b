"""Dependence analysis: whether the iterations of a loop can be reordered or run in SIMD lanes, and which are reductions.

Iterations of a parallel loop are independent. Those of a serial loop are if none reads what another one writes: each
accesses its own elements in all arrays that the loop writes, and variables are assigned in each iteration before they are
read. Variables that are only added to, or the like, are reductions: each lane has a partial result. Accesses may also be so
far apart that lanes of one vector never collide; if that is only known when the loop begins, it is a condition (`Distance`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from samovar.ir import (
    FAMILIES,
    OPCODES,
    Affine,
    AffineForm,
    Array,
    Atomic,
    Constant,
    For,
    If,
    Local,
    LocalArray,
    Operation,
    Region,
    Value,
    While,
    array_of,
    defined_in,
    indices,
    inside,
    memory,
    regions,
    used,
    users,
    walk,
    walk_regions,
)
from samovar.passes.loops.divergence import Refused

#: Operations that write memory, or may. A reserved local array is a new one each time.
CHANGES = frozenset(("store", "update", "atomic", "accumulate", "scatter", "scratch", "call", "deactivate"))


@dataclass(frozen=True)
class LoopReduction:
    """A reduction variable: its operation, and the updates, each with the operand that comes from the variable. A minimum or
    maximum that is `compared` (`if x < low: low = x`) starts at the value of the variable, and keeps it if that is NaN."""

    local: Local
    operation: str
    updates: dict[Operation, Operation]
    compared: bool = False


@dataclass(frozen=True)
class Distance:
    """The distance of an index of an access from that of a write in the same iteration: Σ coefficient × value + constant
    (mod 2^bits). Both grow by `step` in each iteration. An access that `reads_first` sees the old value if the write reaches
    its element in a later iteration."""

    terms: tuple[tuple[Value, int], ...]
    constant: int
    bits: int
    step: int
    reads_first: bool


@dataclass(frozen=True)
class Independence:
    """The variables private to an iteration, the reductions, and the distances that must be large enough."""

    private: set[Local]
    reductions: dict[Local, LoopReduction]
    distances: tuple[Distance, ...] = ()


def independence(loop: For, body: Region, affine: Affine, fast_math: bool) -> Independence:
    """The private variables and reductions of a loop whose iterations are independent; `body` is the whole enclosing
    function. Raises `Refused` if they are not."""
    reductions = reductions_in(loop, fast_math)
    stored = {each.payload for each in walk(loop.body) if each.code == "store_local"}
    private = stored - reductions.keys()
    for local in private:
        read = "read" in first_touches(loop.body.operations, local)
        after = (read or not loop.hints.parallel) and _is_read_after(loop, body, local)
        # In a parallel loop, a private variable that may be read first was never written.
        if read and (after or not loop.hints.parallel):
            raise Refused(f"{local.name} is carried from one iteration to the next")
        if after:
            raise Refused(f"{local.name} is read after the loop")
    if loop.hints.parallel:
        return Independence(private, reductions)
    return Independence(private, reductions, _require_own_elements(loop, affine, fast_math))


# --- variables


def reductions_in(loop: For, fast_math: bool) -> dict[Local, LoopReduction]:
    """The reduction variables of a loop: only added to, or the like, in an order that does not matter."""
    touches: dict[Local, list[Operation]] = {}
    for operation in walk(loop.body):
        if operation.code in ("load_local", "store_local"):
            touches.setdefault(operation.payload, []).append(operation)
    users_of = users([loop.body]) if touches else {}
    found: dict[Local, LoopReduction] = {}
    for local, operations in touches.items():
        updates = None if local.shared else _updates(operations, users_of, fast_math)
        if updates:
            family = FAMILIES[next(iter(updates)).code]
            found[local] = LoopReduction(local, family, updates)
        elif not local.shared:
            extreme = _compared(operations, loop, users_of, fast_math)
            if extreme is not None:
                found[local] = LoopReduction(local, extreme, {}, compared=True)
    return found


def _compared(touches: list[Operation], loop: For, users_of: dict[Value, list[Operation]], fast_math: bool) -> str | None:
    """Whether a variable is a minimum or maximum by comparison (`if x < low: low = x`): each value that is read is compared
    once, before anything is assigned, and only smaller values, or only larger ones, are assigned."""
    type = touches[0].payload.type
    if type.kind == "bool" or (type.kind == "float" and not (fast_math and type.bits > 16)):
        return None  # which of two zeros is found depends on the order
    found: set[str] = set()
    for old, store in zip_longest(touches[::2], touches[1::2]):
        compares = users_of.get(old, [])
        branches = users_of.get(compares[0], []) if len(compares) == 1 and compares[0].code in _SMALLER else []
        branch = branches[0] if len(branches) == 1 else None
        if not isinstance(branch, If) or branch.orelse.operations:
            return None
        compare, side = compares[0], branch.then.operations
        left, right = compare.operands
        if not side or side[-1] is not store or not _is_same(store.operands[0], right if left is old else left):
            return None
        together = any(old in each.operations and branch in each.operations for each in walk_regions(loop.body))
        if not together or any(OPCODES[each.code].effect != "pure" for each in side[:-1]):
            return None
        found.add("min" if _SMALLER[compare.code] == (right is old) else "max")
    return found.pop() if len(found) == 1 else None


#: Comparisons, and whether the smaller operand is the first.
_SMALLER = {"lt": True, "le": True, "gt": False, "ge": False}


def _is_same(one: Value, other: Value) -> bool:
    """Whether two values of an iteration are equal: computed in the same way."""
    if one is other or not isinstance(one, Operation) or not isinstance(other, Operation):
        constants = isinstance(one, Constant) and isinstance(other, Constant)
        return one is other or (constants and (one.type, one.value) == (other.type, other.value))  # type: ignore[attr-defined]
    same = (one.code, one.type, one.payload) == (other.code, other.type, other.payload)
    return same and OPCODES[one.code].effect == "pure" and all(map(_is_same, one.operands, other.operands))


def _updates(
    touches: list[Operation], users_of: dict[Value, list[Operation]], fast_math: bool
) -> dict[Operation, Operation] | None:
    """All updates of a variable from its old value, each with the operand that comes from it; None if there are other
    writes, if their order matters, or if intermediate values have other uses."""
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
    """Whether updates may be reordered."""
    if update.type is None or update.type.kind != "float":
        return update.payload is None
    if update.code in ("min", "max"):
        return update.payload is None and update.type.bits > 16
    return update.payload == "reorder" or (fast_math and update.payload is None)


def recurring(operations: Sequence[Operation]) -> set[Local]:
    """The variables of a recurrence: their next values depend on what the previous iteration left in such variables."""
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


#: The maximum length of a chain of copies between variables.
_ROUNDS = 5


def first_touches(operations: Iterable[Operation], local: Local) -> set[str]:
    """How code may first touch a variable: "read" or "written"; or how it is left without touching it: "break",
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
    """Whether a variable may be read after a loop before it is assigned."""
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
    """The rest of the region that contains a loop, then those of the enclosing regions, each with its operation."""
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


def are_distinct(one: Operation, other: Operation, affine: Affine, moving: Container[Value] = ()) -> bool:
    """Whether two array accesses never touch the same element, for any iterations of the loops that the values in `moving`
    belong to; the two may be in different iterations."""
    array, target = array_of(one), array_of(other)
    if array is not target:
        return array.alone or target.alone
    for left, right in zip(indices(one), indices(other), strict=True):
        first, second = affine.form(left), affine.form(right)
        invariant = not any(symbol.identity in moving for symbol, _ in first.terms)
        near = first.base(array) == second.base(array) and first.indexes(array)
        if invariant and near and first.constant != second.constant:
            return True
        if affine.differ(left, right, moving):
            return True
    return False


def _require_own_elements(loop: For, affine: Affine, fast_math: bool) -> tuple[Distance, ...]:
    """Refuse a loop with iterations that may touch the same element, one of them writing, unless distances exclude it."""
    within = defined_in(loop.body)
    results = {value for operation in walk(loop.body) for value in used(operation)}
    accesses: dict[Array, list[Operation]] = {}
    for operation in walk(loop.body):
        if operation.code == "call":
            raise Refused("the memory accesses of a call are unknown")
        array = memory(operation)
        if isinstance(array, Array) and array not in within:
            accesses.setdefault(array, []).append(operation)
    distances: dict[Distance, None] = {}
    for array in [array for array, each in accesses.items() if any(access.code != "load" for access in each)]:
        if not array.alone and not isinstance(array, LocalArray):
            raise Refused(f"{array.name} may share memory with another array")
        if not _only_reduces(accesses[array], results, fast_math):
            found = _distances(accesses[array], loop, affine, within)
            if found is None or len(found.keys() | distances.keys()) > _MOST_DISTANCES:
                raise Refused(f"iterations may touch the same elements of {array.name}")
            distances.update(found)
    return tuple(distances)


def _only_reduces(accesses: Sequence[Operation], results: set[Value], fast_math: bool) -> bool:
    """Whether all accesses to an array are updates by one operation, in any order, one after the other, with unused
    results."""
    if not results.isdisjoint(accesses):
        return False
    families = {
        FAMILIES.get(each.payload.operation) if isinstance(each.payload, Atomic) and each.payload.step is None else None
        for each in accesses
    }
    if len(families) != 1 or None in families:
        return False
    return array_of(accesses[0]).dtype.kind != "float" or fast_math


def _distances(
    accesses: Sequence[Operation], loop: For, affine: Affine, within: set[Value]
) -> dict[Distance, None] | None:
    """The distances that ensure that no two lanes touch the same element by some accesses to an array, one of them writing,
    except for reads before writes, each once, in order; None if nothing does."""
    if len(accesses) > _MOST_ACCESSES:
        return None
    array = array_of(accesses[0])
    forms = {access: [affine.form(index) for index in indices(access)] for access in accesses}
    found: dict[Distance, None] = {}
    reading = not any(isinstance(each, (For, While)) for each in walk(loop.body))  # and nothing is written so far
    outside: dict[object, Value] | None = None
    for access in accesses:
        reading = reading and access.code == "load"
        for write in accesses:
            pairs = list(zip(forms[write], forms[access], strict=True))
            if write.code == "load" or any(_never_collide(one, other, array, loop, within) for one, other in pairs):
                continue
            outside = _outside(loop, affine, within) if outside is None else outside
            possible = [_distance(one, other, array, loop, outside, reading) for one, other in pairs]
            known = [each for each in possible if each is not None]
            if not any(not each.terms for each in known):
                if not known:
                    return None
                found[known[0]] = None
    return found


def _distance(
    write: AffineForm, access: AffineForm, array: Array, loop: For, outside: Mapping[object, Value], reads_first: bool
) -> Distance | None:
    """The distance of two indices with the same step; None if steps differ, or if it is unknown or too small. It is unknown
    for a write and itself in another iteration, if its index has a symbol that is defined within the loop."""
    difference = access.plus(write, -1)
    step = loop.stride * sum(factor for symbol, factor in write.terms if symbol.identity is loop.variable)
    known = write.indexes(array) and access.indexes(array) and all(each.identity in outside for each, _ in difference.terms)
    if not step or not known or not (difference.terms or (reads_first and difference.constant * step > 0)):
        return None
    terms = tuple((outside[symbol.identity], coefficient) for symbol, coefficient in difference.terms)
    return Distance(terms, difference.constant, difference.bits, step, reads_first)


def _outside(loop: For, affine: Affine, within: set[Value]) -> dict[object, Value]:
    """The values available before a loop, among those that it uses and their operands, by symbol."""
    found: dict[object, Value] = {}
    values = dict.fromkeys(operand for each in walk(loop.body) for operand in each.operands if operand not in within)
    pending = [value for value in values if value is not loop.variable]
    for value in islice(pending, _MOST_OUTSIDE):  # which grows during the iteration
        if value.type is not None and value.type.kind in ("int", "uint"):
            form = affine.form(value)
            if form.bits == 64 and not form.constant and len(form.terms) == 1 and form.terms[0][1] == 1:
                found.setdefault(form.terms[0][0].identity, value)
            pending += value.operands if isinstance(value, Operation) else ()
    return found


#: Limits: the number of accesses to an array compared pairwise, of values examined, and of distances checked when a loop
#: begins.
_MOST_ACCESSES, _MOST_OUTSIDE, _MOST_DISTANCES = 64, 64, 4


def _never_collide(one: AffineForm, other: AffineForm, array: Array, loop: For, within: set[Value]) -> bool:
    """Whether two indices differ in different iterations: no number of iterations makes up for their distance."""
    if one.base(array) != other.base(array) or not one.indexes(array):
        return False
    step = 0
    for symbol, coefficient in one.terms:
        if symbol.identity is loop.variable:
            step = abs(coefficient * loop.stride)
        elif symbol.identity in within:
            return False
    difference = one.constant - other.constant
    return difference % step != 0 or difference == 0 if step else difference != 0


def iteration_distance(
    load: Operation, store: Operation, loop: For, affine: Affine, within: Container[object]
) -> int | None:
    """How many iterations before a load the same element was stored; None if it was not, or if that is unknown. Values
    defined `within` the loop differ between iterations."""
    array = memory(load)
    if memory(store) is not array or not isinstance(array, Array) or not loop.stride:
        return None
    distance: int | None = None
    for read, written in zip(indices(load), indices(store), strict=True):
        one, other = affine.form(read), affine.form(written)
        if one.base(array) != other.base(array) or not one.indexes(array):
            return None
        each = affine.step(read, loop.variable, within)
        if each is None:
            return None
        moved = each * loop.stride
        difference = other.constant - one.constant
        if not moved:
            if difference:
                return None
            continue
        if difference % moved or distance not in (None, difference // moved):
            return None
        distance = difference // moved
    return distance
