"""Divergence: what differs between neighbouring iterations of a loop if they run side by side, in the lanes of vectors.

A value is varying if it differs between lanes, and uniform otherwise. What lanes do depends on the values: an `if` whose
condition varies is taken by some of them, a loop may be left by some before others, and code that follows such a jump is
reached by some only: it is divided. Memory is touched in one of three ways: the same element by all lanes, elements a fixed
number of places apart, or an element of its own by each lane.

What cannot be done by lanes at all is refused; what is merely slow has a price (`samovar.passes.loops.price`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from samovar._native import DType
from samovar.ir import (
    FAMILIES,
    OPCODES,
    Affine,
    Array,
    Atomic,
    Constant,
    For,
    If,
    Local,
    LoopVariable,
    Operation,
    ReadFlag,
    Region,
    Value,
    While,
    indices,
    memory,
    regions,
    used,
    variables,
    walk,
)

#: Elements that are farther apart are touched one by one: of what lies between, several registers would be for nothing.
FARTHEST = 8
_JUMPS = ("break", "continue")


class Refused(Exception):
    """The iterations of a loop cannot run side by side; the message says why."""


@dataclass(frozen=True)
class Access:
    """How lanes touch memory: `step` elements apart (0 is the same element), or None where each has its own; `even` if these
    are the same number of places apart all the same, which only a launch knows."""

    step: int | None
    even: bool = False


class Divergence:
    """Looks through the body of a loop until nothing more is found to vary. `private` are the locals of an iteration,
    `carried` those that lanes gather in parts, as sums are."""

    def __init__(self, loop: For, affine: Affine, private: set[Local], carried: set[Local]) -> None:
        self.loop = loop
        #: By how much the loop variable grows from lane to lane.
        self.stride = int(getattr(loop.operands[2], "value", 1))
        self.affine = affine
        self.private = private | carried
        self.carried = carried
        self.inside = set(walk(loop.body))
        self.varying: set[Value | Local] = {loop.variable, *carried}
        #: Loops that some lanes may leave, or begin anew, before others.
        self.ragged: set[Operation] = set()
        self.accesses: dict[Operation, Access] = {}
        #: Local arrays of an iteration, of which each lane has its own.
        self.expanded: set[Array] = {each.payload for each in self.inside if each.code == "reserve"}
        self._used = {value for each in self.inside for value in used(each)}
        self._loops: list[For | While] = []
        self._rows: set[Hashable] | None = None
        known = -1
        while known != len(self.varying) + len(self.ragged):
            known = len(self.varying) + len(self.ragged)
            self._region(loop.body, False)

    def varies(self, value: Value) -> bool:
        return value in self.varying

    def loose(self) -> frozenset[Local]:
        """The locals that are read in one outermost loop only: nobody asks what a lane that has left it would find there."""
        readers: dict[Local, set[Operation | None]] = {}
        for operation in self.loop.body.operations:
            around = operation if isinstance(operation, (For, While)) else None
            for each in (operation, *inside(operation)):
                if each.code == "load_local":
                    readers.setdefault(each.payload, set()).add(around)
        return frozenset(local for local, loops in readers.items() if len(loops) == 1 and None not in loops)

    def homes(self) -> dict[Local, Region]:
        """The locals that are used in one region only, and written there before all else: nobody asks what a lane finds in
        them that is not in that region."""
        begun: dict[Region, set[Local]] = {}
        return {local: home for local, home in _homes(self.loop.body, begun).items() if local in begun[home]}

    def groups(self) -> dict[Operation, tuple[Hashable, int]]:
        """The loads that together take all elements between those of neighbouring lanes: a name of the group, and which of
        its elements it is. The first and the last one exist in any case, and so do those between."""
        always = set() if self.loop in self.ragged else set(self.loop.body.operations)
        written = {memory(each) for each in self.accesses if each.code != "load"}
        members: dict[tuple[Hashable, ...], dict[int, list[Operation]]] = {}
        for load, access in self.accesses.items():
            array = memory(load)
            assert isinstance(array, Array)
            if load.code != "load" or array in written or access.step is None or not 1 < access.step <= FARTHEST:
                continue
            *others, last = map(self.affine.form, indices(load))
            if element_strides(array)[-1] == 1 and last.indexes(array):
                key = (array, access.step, last.base(), *((form.base(), form.constant) for form in others))
                members.setdefault(key, {}).setdefault(last.constant, []).append(load)
        found: dict[Operation, tuple[Hashable, int]] = {}
        for key, parts in members.items():
            step: int = key[1]  # type: ignore[assignment]
            free = -(1 << 63)
            for begin in sorted(parts):
                end = begin + step
                if begin < free or end - 1 not in parts:
                    continue
                *_, last = map(self.affine.form, indices(parts[begin][0]))
                array = memory(parts[begin][0])
                assert isinstance(array, Array)
                extent = array.extents[-1]
                in_row = not last.terms and extent is not None and begin >= 0 and end <= extent
                if in_row or not (always.isdisjoint(parts[begin]) or always.isdisjoint(parts[end - 1])):
                    free = end
                    for part in range(step):
                        found.update((load, ((key, begin), part)) for load in parts.get(begin + part, ()))
        return found

    def jumps(self, operation: Operation, variable: LoopVariable) -> bool:
        """Whether an access is one to another row in each iteration of a loop."""
        *others, _ = indices(operation)
        return any(symbol.identity is variable for index in others for symbol, _ in self.affine.form(index).terms)

    def rows(self) -> int:
        """How many rows each lane walks along, each somewhere else."""
        if self._rows is None:
            self._rows = set()
            for operation, access in self.accesses.items():
                if access.even:
                    *others, last = map(self.affine.form, indices(operation))
                    self._rows.add((memory(operation), last.base(), *((each.base(), each.constant) for each in others)))
        return len(self._rows)

    def bounds_vary(self, loop: For) -> tuple[bool, bool]:
        begin, end, _ = loop.operands
        return begin in self.varying, end in self.varying

    # --- the walk

    def _region(self, region: Region, divided: bool) -> bool:
        """`divided`: not all lanes may be here. Gives whether that is so at the end."""
        for operation in region.operations:
            divided = self._operation(operation, divided)
        return divided

    def _operation(self, operation: Operation, divided: bool) -> bool:
        if isinstance(operation, If):
            within = divided or operation.operands[0] in self.varying
            after = [self._region(each, within) for each in (operation.then, operation.orelse)]
            return divided or (any(after) and leaves(operation))
        if isinstance(operation, (For, While)):
            self._loop(operation, divided)
            return divided
        if operation.code in _JUMPS:
            if divided and self._loops:
                self.ragged.add(self._loops[-1])
            elif not self._loops and operation.code == "break":
                raise Refused("the loop ends early")
            elif not self._loops:
                self.ragged.add(self.loop)  # also where all lanes do: what is left over at the end is no loop
            return divided
        self._step(operation, divided)
        return divided

    def _loop(self, loop: For | While, divided: bool) -> None:
        self._loops.append(loop)
        if isinstance(loop, For):
            begins, ends = self.bounds_vary(loop)
            step = loop.operands[2]
            if (begins or ends or step in self.varying) and not (isinstance(step, Constant) and step.value):
                raise Refused("a loop with a step that is not known has other bounds, or steps, in each lane")
            if begins and (ends or int(step.value) != 1):  # type: ignore[attr-defined]
                self.varying.add(loop.variable)
            divided = divided or begins or ends
        else:
            self._region(loop.head, divided or loop in self.ragged)
            if loop.condition in self.varying:
                self.ragged.add(loop)
        self._region(loop.body, divided or loop in self.ragged)
        self._loops.pop()

    def _step(self, operation: Operation, divided: bool) -> None:
        code, payload = operation.code, operation.payload
        varies = any(operand in self.varying for operand in operation.operands)
        if code == "load_local":
            if payload.shared:
                raise Refused("iterations share a variable")
            varies = payload in self.varying
        elif code == "store_local":
            if payload not in self.private or payload.shared:
                raise Refused(f"{payload.name} is carried from one iteration to the next")
            if varies or divided:
                self.varying.add(payload)
            return
        elif code in ("load", "store", "update", "atomic"):
            varies = self._access(operation, divided)
        elif code == "reserve":
            return
        elif not computes(operation):
            raise Refused(f"{code} is done by one iteration at a time")
        if varies:
            self.varying.add(operation)

    def _access(self, operation: Operation, divided: bool) -> bool:
        """Whether what is read varies."""
        array = memory(operation)
        if not isinstance(array, Array) or isinstance(operation, ReadFlag):
            raise Refused("a flag, or a variable that iterations share")
        step = self.step(array, indices(operation))
        if step == 0 and array in self.expanded:
            step = 1
        even = step is None and all(self._step_of(array, index) is not None for index in indices(operation))
        self.accesses[operation] = Access(step, even)
        if operation.code == "load":
            return step != 0
        if isinstance(operation.payload, Atomic):
            action = operation.payload.operation
            if step == 0 and (action not in FAMILIES or operation.payload.step is not None or operation in self._used):
                raise Refused("all iterations update one element in turn")
            return True
        if step == 0:
            raise Refused("all iterations write one element")
        return True

    def step(self, array: Array, at: tuple[Value, ...]) -> int | None:
        """How many elements apart the ones of neighbouring lanes are in memory."""
        steps = [self._step_of(array, index) for index in at]
        if any(step is None for step in steps):
            return None
        strides = element_strides(array)
        total = 0
        for step, stride in zip(steps, strides, strict=True):
            if step:
                if stride is None:
                    return None
                total += step * stride
        if total == 0 and any(steps):
            return None
        return total if abs(total) <= FARTHEST else None

    def _step_of(self, array: Array, index: Value) -> int | None:
        """By how much an index grows from lane to lane."""
        if index not in self.varying:
            return 0
        step = self.affine.step(index, self.loop.variable, self.varying) if self.affine.form(index).indexes(array) else None
        return None if step is None else step * self.stride


def _homes(region: Region, begun: dict[Region, set[Local]]) -> dict[Local, Region]:
    """The smallest regions with all uses of each local; `begun` takes the locals that a region writes first."""
    found: dict[Local, Region] = {}
    begun[region] = set()
    for operation in region.operations:
        here: dict[Local, Region] = {}
        if operation.code in ("load_local", "store_local"):
            here[operation.payload] = region
        for each in regions(operation):
            for local, home in _homes(each, begun).items():
                here[local] = region if local in here else home
        if operation.code == "store_local" and operation.payload not in found:
            begun[region].add(operation.payload)
        for local, home in here.items():
            found[local] = region if local in found else home
    return found


def element_strides(array: Array) -> list[int | None]:
    """How far apart neighbours along each axis are in memory, in elements; None where that is not known."""
    if array.layout is not None and not array.contiguous:
        return [pieces[0][1] if len(pieces) == 1 else None for pieces in array.layout]
    if array.brings_strides:
        return [None] * array.ndim
    order = array.order if array.order is not None else tuple(range(array.ndim))
    if array.apart:
        whole = array.ndim - array.apart
        order = (*range(whole, array.ndim), *range(whole))
    strides: list[int | None] = [None] * array.ndim
    stride: int | None = 1
    for position, axis in enumerate(reversed(order)):
        if array.pitch is not None and position == array.ndim - array.pitch[0]:
            stride = array.pitch[1]
        strides[axis] = stride
        extent = array.extents[axis]
        stride = None if stride is None or extent is None else stride * extent
    return strides


def computes(operation: Operation) -> bool:
    """Whether an operation only computes, in each lane by itself."""
    row = OPCODES[operation.code]
    if row.effect != "pure" or not isinstance(operation.payload, (str, tuple, type(None))):
        return False
    return operation.type is None or has_vectors(operation.code, operation.type)


def has_vectors(code: str, dtype: DType) -> bool:
    """Whether an operation can be done to vectors. A power of integers is a loop of its own."""
    return code not in ("extract", "cas", "exchange") and (code != "pow" or dtype.kind == "float")


def leaves(operation: Operation) -> bool:
    """Whether there is something in an operation that leaves an iteration of a loop around it, or of one inside."""
    return any(each.code in _JUMPS for each in inside(operation))


def inside(operation: Operation) -> Iterator[Operation]:
    """What is in the regions of an operation."""
    for region in regions(operation):
        yield from walk(region)


def exits(region: Region) -> bool:
    """Whether there is something in the body of a loop that ends the loop."""
    for operation in region.operations:
        if operation.code in ("break", "return"):
            return True
        if isinstance(operation, If) and (exits(operation.then) or exits(operation.orelse)):
            return True
        if isinstance(operation, (For, While)) and any(each.code == "return" for each in inside(operation)):
            return True
    return False


def skips(region: Region) -> bool:
    """Whether there is something in the body of a loop that ends an iteration of it."""
    return any(
        each.code == "continue" or (isinstance(each, If) and (skips(each.then) or skips(each.orelse)))
        for each in region.operations
    )


def defined_in(region: Region) -> set[Value]:
    """Everything that a region defines, loop variables and what is inside included."""
    found: set[Value] = set()
    for operation in walk(region):
        found.add(operation)
        found.update(variables(operation))
        if operation.code == "reserve":
            found.add(operation.payload)
    return found
