"""Divergence analysis: what differs between consecutive iterations of a loop that run in SIMD lanes.

A value is varying if it differs between lanes, else uniform. Some lanes may take an `if` with a varying condition, or leave
a loop before others, and only some reach the code after such a jump: it is divergent. Lanes access memory in one of three
ways: all the same element, elements with a constant stride, or a gather or scatter of arbitrary elements.

Code that lanes cannot run is rejected; code that is merely slow has a cost (`samovar.passes.loops.price`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property

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
    array_of,
    indices,
    inside,
    memory,
    outside_loops,
    regions,
    used,
    walk,
)

#: Elements with a larger stride are accessed one by one: most of the registers in between would be wasted.
FARTHEST = 8
#: Adjacent elements of this many bits are gathered at once.
RUN_BITS = 128
_JUMPS = ("break", "continue")


class Refused(Exception):
    """The iterations of a loop cannot run in SIMD lanes; the message says why."""


@dataclass(frozen=True)
class Access:
    """How lanes access memory: with a stride of `step` elements (0 is the same element), or None for a gather or scatter;
    `even` if its stride is constant all the same, but only known at launch."""

    step: int | None
    even: bool = False


class Divergence:
    """Analyzes the body of a loop up to a fixpoint. `private` are the locals of an iteration, `carried` those of
    reductions."""

    def __init__(self, loop: For, affine: Affine, private: set[Local], carried: set[Local]) -> None:
        self.loop = loop
        #: The increment of the loop variable from lane to lane, also if the loop counts down.
        self.stride = abs(loop.stride)
        self.affine = affine
        self.private = private | carried
        self.carried = carried
        self.inside = set(walk(loop.body))
        self.varying: set[Value | Local] = {loop.variable, *carried}
        #: Divergent loops: some lanes may leave them, or continue, before others.
        self.divergent_loops: set[Operation] = set()
        self.accesses: dict[Operation, Access] = {}
        #: Local arrays of an iteration: each lane has its own.
        self.expanded: set[Array] = {each.payload for each in self.inside if each.code == "reserve"}
        self._used = {value for each in self.inside for value in used(each)}
        self._loops: list[For | While] = []
        self._rows: set[Hashable] | None = None
        known = -1
        while known != len(self.varying) + len(self.divergent_loops):
            known = len(self.varying) + len(self.divergent_loops)
            self._region(loop.body, False)
        loads = [each for each in outside_loops(loop.body) if each.code == "load" and each in self.accesses]
        gathers = [each for each in loads if self.accesses[each].step is None and not self.accesses[each].even]
        #: The number of gathers outside inner loops; a run counts once.
        self.gathers = len({self.runs[each][0] if each in self.runs else each for each in gathers})

    def varies(self, value: Value) -> bool:
        return value in self.varying

    def unblended(self) -> frozenset[Local]:
        """The locals that are read in one outermost loop only: inactive lanes need not keep their values (no blend)."""
        readers: dict[Local, set[Operation | None]] = {}
        for operation in self.loop.body.operations:
            around = operation if isinstance(operation, (For, While)) else None
            for each in (operation, *inside(operation)):
                if each.code == "load_local":
                    readers.setdefault(each.payload, set()).add(around)
        return frozenset(local for local, loops in readers.items() if len(loops) == 1 and None not in loops)

    def homes(self) -> dict[Local, Region]:
        """The locals that are used in one region only and assigned there first: their values in lanes outside that region do
        not matter."""
        begun: dict[Region, set[Local]] = {}
        return {local: home for local, home in _homes(self.loop.body, begun).items() if local in begun[home]}

    def groups(self) -> dict[Operation, tuple[Hashable, int]]:
        """The loads that together access all elements between those of adjacent lanes: a name of the group, and the position
        in it. The first and the last one are in bounds, and so are those between."""
        always = set() if self.loop in self.divergent_loops else set(self.loop.body.operations)
        written = {memory(each) for each in self.accesses if each.code != "load"}
        members: dict[tuple[int, Hashable], dict[int, list[Operation]]] = {}
        for load, access in self.accesses.items():
            array = array_of(load)
            if load.code != "load" or array in written or access.step is None or not 1 < access.step <= FARTHEST:
                continue
            row, last = self.affine.row(load)
            if element_strides(array)[-1] == 1 and last.indexes(array):
                key = (access.step, row)
                members.setdefault(key, {}).setdefault(last.constant, []).append(load)
        found: dict[Operation, tuple[Hashable, int]] = {}
        for key, parts in members.items():
            step, free = key[0], -(1 << 63)
            for begin in sorted(parts):
                end = begin + step
                if begin < free or end - 1 not in parts:
                    continue
                _, last = self.affine.row(parts[begin][0])
                extent = array_of(parts[begin][0]).extents[-1]
                in_row = not last.terms and extent is not None and begin >= 0 and end <= extent
                if in_row or not (always.isdisjoint(parts[begin]) or always.isdisjoint(parts[end - 1])):
                    free = end
                    for part in range(step):
                        found.update((load, ((key, begin), part)) for load in parts.get(begin + part, ()))
        return found

    @cached_property
    def runs(self) -> dict[Operation, tuple[Hashable, int, int]]:
        """The gathers that together load adjacent elements for each lane: a name of the run, its length, and the position in
        it. The same lanes are active at all of them, so all elements are in bounds at the first one."""
        written = {memory(each) for each in self.accesses if each.code != "load"}
        members: dict[Hashable, dict[int, list[Operation]]] = {}
        for stretch, load in _stretches(self.loop.body):
            array = array_of(load) if load in self.accesses and load.code == "load" else None
            if array is None or self.accesses[load].step is not None or array in written or not array.alone:
                continue
            row, last = self.affine.row(load)
            if array.dtype.bits >= 32 and element_strides(array)[-1] == 1 and last.indexes(array):
                members.setdefault((*stretch, row), {}).setdefault(last.constant, []).append(load)
        found: dict[Operation, tuple[Hashable, int, int]] = {}
        for key, parts in members.items():
            left = set(parts)
            for begin, length in ((begin, length) for length in (4, 2) for begin in sorted(parts)):
                run = range(begin, begin + length)
                if left.issuperset(run) and length * array_of(parts[begin][0]).dtype.bits <= RUN_BITS:
                    left.difference_update(run)
                    found.update((load, ((key, begin), length, at - begin)) for at in run for load in parts[at])
        return found

    def jumps(self, operation: Operation, variable: LoopVariable) -> bool:
        """Whether an access moves to another row in each iteration of a loop."""
        others = indices(operation)[:-1]
        return any(symbol.identity is variable for index in others for symbol, _ in self.affine.form(index).terms)

    def rows(self) -> int:
        """The number of rows that each lane walks along, each at a different place."""
        if self._rows is None:
            self._rows = {self.affine.row(each)[0] for each, access in self.accesses.items() if access.even}
        return len(self._rows)

    def bounds_vary(self, loop: For) -> tuple[bool, bool]:
        begin, end, _ = loop.operands
        return begin in self.varying, end in self.varying

    # --- the analysis

    def _region(self, region: Region, divergent: bool) -> bool:
        """Analyze a region; `divergent`: not all lanes may be active. Return whether that holds at its end."""
        for operation in region.operations:
            divergent = self._operation(operation, divergent)
        return divergent

    def _operation(self, operation: Operation, divergent: bool) -> bool:
        if isinstance(operation, If):
            within = divergent or operation.operands[0] in self.varying
            after = [self._region(each, within) for each in (operation.then, operation.orelse)]
            return divergent or (any(after) and leaves(operation))
        if isinstance(operation, (For, While)):
            self._loop(operation, divergent)
            return divergent
        if operation.code in _JUMPS:
            if divergent and self._loops:
                self.divergent_loops.add(self._loops[-1])
            elif not self._loops and operation.code == "break":
                raise Refused("the loop ends early")
            elif not self._loops:
                self.divergent_loops.add(self.loop)  # even if all lanes do: the remainder is not a loop
            return divergent
        self._step(operation, divergent)
        return divergent

    def _loop(self, loop: For | While, divergent: bool) -> None:
        self._loops.append(loop)
        if isinstance(loop, For):
            begins, ends = self.bounds_vary(loop)
            step = loop.operands[2]
            if (begins or ends or step in self.varying) and not (isinstance(step, Constant) and step.value):
                raise Refused("an inner loop with an unknown step has different bounds or steps in each lane")
            if begins and (ends or int(step.value) != 1):  # type: ignore[attr-defined]
                self.varying.add(loop.variable)
            divergent = divergent or begins or ends
        else:
            self._region(loop.head, divergent or loop in self.divergent_loops)
            if loop.condition in self.varying:
                self.divergent_loops.add(loop)
        self._region(loop.body, divergent or loop in self.divergent_loops)
        self._loops.pop()

    def _step(self, operation: Operation, divergent: bool) -> None:
        code, payload = operation.code, operation.payload
        varies = any(operand in self.varying for operand in operation.operands)
        if code == "load_local":
            if payload.shared:
                raise Refused("iterations share a variable")
            varies = payload in self.varying
        elif code == "store_local":
            if payload not in self.private or payload.shared:
                raise Refused(f"{payload.name} is carried from one iteration to the next")
            if varies or divergent:
                self.varying.add(payload)
            return
        elif code in ("load", "store", "update", "atomic"):
            varies = self._access(operation, divergent)
        elif code == "reserve":
            return
        elif not computes(operation):
            raise Refused(f"{code} cannot run in lanes")
        if varies:
            self.varying.add(operation)

    def _access(self, operation: Operation, divergent: bool) -> bool:
        """Whether the loaded value varies."""
        array = memory(operation)
        if not isinstance(array, Array) or isinstance(operation, ReadFlag):
            raise Refused("a flag, or a variable that iterations share")
        step = self.step(array, indices(operation))
        if step == 0 and array in self.expanded:
            step = 1
        even = step is None and all(self.step_of(array, index) is not None for index in indices(operation))
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
        """The distance in memory of the elements of adjacent lanes."""
        steps = [self.step_of(array, index) for index in at]
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

    def step_of(self, array: Array, index: Value) -> int | None:
        """The increment of an index from lane to lane."""
        if index not in self.varying:
            return 0
        step = self.affine.step(index, self.loop.variable, self.varying) if self.affine.form(index).indexes(array) else None
        return None if step is None else step * self.stride


def _homes(region: Region, begun: dict[Region, set[Local]]) -> dict[Local, Region]:
    """The smallest region with all uses of each local; `begun` receives the locals that a region writes first."""
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


def _stretches(region: Region) -> Iterator[tuple[tuple[Region, int], Operation]]:
    """The operations of a region, each with its stretch: the same lanes are active in all of a stretch."""
    left = 0
    for operation in region.operations:
        yield (region, left), operation
        for each in regions(operation):
            yield from _stretches(each)
        left += leaves(operation) or operation.code in _JUMPS


def element_strides(array: Array) -> list[int | None]:
    """The stride of each dimension in elements; None if unknown."""
    if array.layout is not None and not array.contiguous:
        return [pieces[0][1] if len(pieces) == 1 else None for pieces in array.layout]
    if array.brings_strides:
        return [None] * array.ndim
    strides: list[int | None] = [None] * array.ndim
    stride: int | None = 1
    for position, axis in enumerate(reversed(array.axes())):
        if array.record_stride is not None and position == array.ndim - array.record_stride[0]:
            stride = array.record_stride[1]
        strides[axis] = stride
        extent = array.extents[axis]
        stride = None if stride is None or extent is None else stride * extent
    return strides


def computes(operation: Operation) -> bool:
    """Whether an operation is pure and works on each lane by itself."""
    row = OPCODES[operation.code]
    if operation.code == "listed":
        return True
    if row.effect != "pure" or not isinstance(operation.payload, (str, tuple, type(None))):
        return False
    return operation.type is None or has_vectors(operation.code, operation.type)


def has_vectors(code: str, dtype: DType) -> bool:
    """Whether an operation has a vector version. An integer power is a loop of its own."""
    return code not in ("extract", "cas", "exchange") and (code != "pow" or dtype.kind == "float")


def leaves(operation: Operation) -> bool:
    """Whether an operation contains a jump out of an iteration of an enclosing loop, or of one inside."""
    return any(each.code in _JUMPS for each in inside(operation))


def exits(region: Region) -> bool:
    """Whether the body of a loop contains a jump that ends the loop."""
    return any(
        each.code in ("break", "return")
        or (isinstance(each, (For, While)) and any(inner.code == "return" for inner in inside(each)))
        for each in outside_loops(region)
    )


def skips(region: Region) -> bool:
    """Whether the body of a loop contains a jump that ends the iteration."""
    return any(each.code == "continue" for each in outside_loops(region))
