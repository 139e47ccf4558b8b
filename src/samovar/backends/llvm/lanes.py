"""Iterations side by side: the body of a task for several neighbours at once, in vectors (see `samovar.passes.lanes`).

An operation that varies is rendered as ever, on vectors; one that does not, once. Of a memory access the address is that of
the first lane, or of each lane in turn. Variables that vary are vectors in memory, as others are numbers; LLVM makes
registers of both.

`mask` says in which lanes the code at hand counts: none means all. What is stored in variables elsewhere stays as it was.
A loop that lanes leave one by one runs while there is one left; which ones are is kept in `Turn`, as integers of the size of
the values, because a processor keeps them with those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from samovar._native import DType
from samovar.backends.llvm.control import RENDERINGS, operations, region
from samovar.backends.llvm.extremes import better
from samovar.backends.llvm.indices import address
from samovar.backends.llvm.memory import read, update, write
from samovar.backends.llvm.operations import combine, convert
from samovar.backends.llvm.polling import open_budget, poll, weight_of
from samovar.backends.llvm.sums import chain_of
from samovar.backends.llvm.types import literal, memory_type, register_type
from samovar.backends.llvm.writer import Loop, Writer, dtype_of
from samovar.ir import (
    Array,
    Atomic,
    For,
    If,
    Lanes,
    Local,
    LoopVariable,
    Operation,
    Partial,
    Reduction,
    Region,
    While,
    regions,
    walk,
)


@dataclass
class Turn:
    """A loop that lanes may leave one by one: `running` is where it is kept which are still in it, `here` which of them are
    in this iteration, `mask` is the one that an iteration begins with."""

    running: str
    here: str
    mask: str


class Together:
    """The lanes of a task that is being written."""

    def __init__(
        self, writer: Writer, plan: Lanes, locals: list[Local], accumulators: dict[Reduction, tuple[str, Partial]]
    ) -> None:
        self.writer = writer
        self.locals = locals
        self.plan = plan
        self.width = plan.width
        self.mask: str | None = None
        #: The lanes that there are at all, where the range ends among them.
        self.present: str | None = None
        #: Masks of which it is known here that there is a lane in each.
        self.inhabited: set[str] = set()
        self.turns: list[Turn | None] = []
        bits = {each.type.bits for each in plan.varying if isinstance(each, (Local, Operation)) and each.type is not None}
        self.kept = f"<{self.width} x i{max(32, *bits)}>" if bits else f"<{self.width} x i32>"
        self.masks = f"<{self.width} x i1>"
        self.slots: dict[Local, str] = {}
        self.accumulators = accumulators
        #: Whether partial results are extremes that begin with infinity.
        self.keeps_extremes = False
        self.sums: dict[Reduction, str] = {}

    # Before and after the loop over the blocks.

    def begin(self) -> None:
        """What is there once for all blocks."""
        writer = self.writer
        # In an order that is the same in each process: the text is a key.
        varying = [each for each in self.plan.varying if isinstance(each, Local)]
        places = {local: place for place, local in enumerate(self.locals)}
        for local in sorted(varying, key=lambda each: (places.get(each, len(places)), each.name)):
            kind = f"<{self.width} x {memory_type(local.type)}>"
            self.slots[local] = writer.define_early(f"alloca {kind}", "lanes")
        for reduction, (_, partial) in self.accumulators.items():
            kind = f"<{self.width} x {memory_type(partial.type)}>"
            slot = self.sums[reduction] = writer.define_early(f"alloca {kind}", "sums")
            element = f"{memory_type(partial.type)} {_in_memory(partial.identity, partial.type)}"
            writer.emit(f"store {kind} splat ({element}), ptr {slot}, align {partial.type.itemsize}")

    def end(self) -> None:
        """Add up the lanes of each reduction."""
        writer = self.writer
        flags, writer.flags = writer.flags, writer.flags or "reassoc "
        for reduction, slot in self.sums.items():
            place, partial = self.accumulators[reduction]
            kind = memory_type(partial.type)
            for lane in range(self.width):
                element = writer.define(f"getelementptr inbounds {kind}, ptr {slot}, i64 {lane}")
                update(writer, place, partial.type, reduction.operation, [read(writer, element, partial.type)])
        writer.flags = flags

    def bind(self, variable: LoopVariable, counter: str, low: int, high: int) -> None:
        """Make the variable of the axis one of vectors, of which the counter is the first lane's."""
        writer, kind = self.writer, register_type(dtype_of(variable))
        writer.bind(variable, counter, low, high)
        first = writer.broadcast(kind, writer.values[variable])
        steps = ", ".join(f"{kind} {lane}" for lane in range(self.width))
        writer.values[variable] = writer.define(f"add <{self.width} x {kind}> {first}, <{steps}>")

    # Masks.

    def only_first(self, count: str) -> None:
        """From here on there are only so many lanes, one at least."""
        define, width = self.writer.define, self.width
        number = define(f"insertelement <{width} x i64> poison, i64 {count}, i64 0")
        numbers = define(f"shufflevector <{width} x i64> {number}, <{width} x i64> poison, <{width} x i32> zeroinitializer")
        lanes = ", ".join(f"i64 {lane}" for lane in range(width))
        self.mask = self.present = define(f"icmp sgt <{width} x i64> {numbers}, <{lanes}>")

    def narrowed(self, condition: str, inverted: bool = False) -> str:
        """The mask of those among the lanes here for which something holds, or does not."""
        define, kind = self.writer.define, self.masks
        if inverted:
            condition = define(f"xor {kind} {condition}, splat (i1 true)")
        if self.mask is None:
            return condition
        # By selection: a lane that is not here may have computed its condition from nothing (poison), and `and` would
        # spread that.
        return define(f"select {kind} {self.mask}, {kind} {condition}, {kind} zeroinitializer")

    def keep(self, slot: str, mask: str) -> None:
        wide = self.writer.define(f"sext {self.masks} {mask} to {self.kept}")
        self.writer.emit(f"store {self.kept} {wide}, ptr {slot}")

    def kept_mask(self, slot: str) -> str:
        wide = self.writer.define(f"load {self.kept}, ptr {slot}")
        return self.writer.define(f"icmp slt {self.kept} {wide}, zeroinitializer")

    def is_inhabited(self) -> bool:
        """Whether there is a lane here for certain: code that is not in a loop or an `if` of some lanes, or is passed by
        where there is none."""
        return self.mask is None or self.mask == self.present or self.mask in self.inhabited

    def any(self, mask: str) -> str:
        bits = self.writer.define(f"bitcast {self.masks} {mask} to i{self.width}")
        return self.writer.define(f"icmp ne i{self.width} {bits}, 0")

    def slot(self) -> str:
        return self.writer.define_early(f"alloca {self.kept}", "mask")


def _in_memory(value: bool | int | float, dtype: DType) -> str:
    return str(int(value)) if dtype.kind == "bool" else literal(value, dtype)


def together(writer: Writer) -> Together:
    found = getattr(writer, "together", None)
    assert isinstance(found, Together)
    return found


def _varies(writer: Writer, value: object) -> bool:
    return writer.varying is not None and value in writer.varying


def _on_vectors(rendering: Callable[[Writer, Operation], str | None]) -> Callable[[Writer, Operation], str | None]:
    """A rendering for all lanes, where the operation varies."""

    def render(writer: Writer, operation: Operation) -> str | None:
        if not _varies(writer, operation):
            return rendering(writer, operation)
        writer.lanes = writer.width
        result = rendering(writer, operation)
        writer.lanes = 0
        return result

    return render


def _load_local(writer: Writer, operation: Operation) -> str:
    local: Local = operation.payload
    if not _varies(writer, local):
        return read(writer, writer.local(local), local.type)
    writer.lanes = writer.width
    result = read(writer, together(writer).slots[local], local.type)
    writer.lanes = 0
    return result


def _store_local(writer: Writer, operation: Operation) -> None:
    local: Local = operation.payload
    if not _varies(writer, local):
        write(writer, writer.local(local), local.type, writer.value(operation.operands[0]))
        return
    lanes = together(writer)
    slot, mask = lanes.slots[local], lanes.mask
    writer.lanes = writer.width
    value = writer.value(operation.operands[0])
    outermost = lanes.turns[0] if lanes.turns else None
    # Nobody asks what lanes that are not there would find.
    if mask != lanes.present and not (local in lanes.plan.loose and outermost is not None and mask == outermost.mask):
        kind, old = writer.kind(local.type), read(writer, slot, local.type)
        value = writer.define(f"select {lanes.masks} {mask}, {kind} {value}, {kind} {old}")
    write(writer, slot, local.type, value)
    writer.lanes = 0


def _in_each_lane(writer: Writer, then: Callable[[int], None]) -> None:
    """Do something once for each lane, with its view of all values."""
    variable = next(each for each in together(writer).plan.varying if isinstance(each, LoopVariable))
    first = writer.counters[variable]
    for lane in range(writer.width):
        writer.lane = lane
        writer.counters[variable] = writer.define(f"add nsw i64 {first}, {lane}") if lane else first
        then(lane)
    writer.lane, writer.counters[variable] = 0, first


def _load(writer: Writer, operation: Operation) -> str:
    array: Array = operation.payload
    lanes = together(writer)
    if not _varies(writer, operation):
        place = address(writer, array, operation.operands)
        return read(writer, place, array.dtype) if lanes.is_inhabited() else _read_if_any(writer, place, array.dtype)
    if operation not in lanes.plan.apart:
        place = address(writer, array, operation.operands)
        writer.lanes = writer.width
        result = read(writer, place, array.dtype) if lanes.mask is None else _masked_read(writer, place, array.dtype)
        writer.lanes = 0
        return result
    vector, kind = f"<{writer.width} x {register_type(array.dtype)}>", register_type(array.dtype)
    names = ["poison"]

    def one(lane: int) -> None:
        element = read(writer, address(writer, array, operation.operands), array.dtype)
        names.append(writer.define(f"insertelement {vector} {names[-1]}, {kind} {element}, i64 {lane}"))

    _in_each_lane(writer, one)
    return names[-1]


def _store(writer: Writer, operation: Operation) -> None:
    array: Array = operation.payload
    *indices, value = operation.operands
    if operation not in together(writer).plan.apart:
        place = address(writer, array, indices)
        writer.lanes = writer.width
        if together(writer).mask is None:
            write(writer, place, array.dtype, writer.value(value))
        else:
            _masked_write(writer, place, array.dtype, writer.value(value))
        writer.lanes = 0
        return
    _in_each_lane(writer, lambda lane: write(writer, address(writer, array, indices), array.dtype, writer.value(value)))


def _read_if_any(writer: Writer, place: str, dtype: DType) -> str:
    """An element that all lanes read which are here, if there are any: elsewhere it need not exist. It is some number then
    too, because what is computed from it may decide where code goes."""
    mask = together(writer).mask
    assert mask is not None
    before, some, after = writer.block, writer.label("some"), writer.label("none")
    writer.branch(together(writer).any(mask), some, after)
    writer.start(some)
    found = read(writer, place, dtype)
    writer.jump(after)
    writer.start(after)
    return writer.define(f"phi {register_type(dtype)} [ {literal(0, dtype)}, %{before} ], [ {found}, %{some} ]")


def _masked_read(writer: Writer, place: str, dtype: DType) -> str:
    kind, masks = writer.kind(dtype), together(writer).masks
    name = f"llvm.masked.load.{writer.suffix(dtype)}.p0"
    writer.module.declare(name, f"declare {kind} @{name}(ptr, {masks}, {kind})")
    mask = f"{masks} {together(writer).mask}"
    # What decides where code goes may be computed from it, in lanes that do not count too: it must be some number.
    return writer.define(f"call {kind} @{name}(ptr align {dtype.itemsize} {place}, {mask}, {kind} zeroinitializer)", "m")


def _masked_write(writer: Writer, place: str, dtype: DType, value: str) -> None:
    kind, masks = writer.kind(dtype), together(writer).masks
    name = f"llvm.masked.store.{writer.suffix(dtype)}.p0"
    writer.module.declare(name, f"declare void @{name}({kind}, ptr, {masks})")
    mask = f"{masks} {together(writer).mask}"
    writer.emit(f"call void @{name}({kind} {value}, ptr align {dtype.itemsize} {place}, {mask})")


def _update(writer: Writer, operation: Operation) -> str:
    atomic: Atomic = operation.payload
    assert isinstance(atomic.target, Array)
    place, dtype = address(writer, atomic.target, operation.operands[:-1]), atomic.target.dtype
    value = operation.operands[-1]
    writer.lanes = writer.width
    if together(writer).mask is None:
        result = update(writer, place, dtype, atomic.operation, [value])
    else:
        result = _masked_read(writer, place, dtype)
        _masked_write(writer, place, dtype, combine(writer, atomic.operation, dtype, result, value))
    writer.lanes = 0
    return result


def _accumulate(writer: Writer, operation: Operation) -> None:
    reduction: Reduction = operation.payload
    lanes = together(writer)
    dtype = lanes.accumulators[reduction][1].type
    writer.lanes = writer.width
    value = convert(writer, writer.value(operation.operands[0]), reduction.type, dtype)
    if lanes.mask is not None:
        kind, nothing = writer.kind(dtype), writer.constant(lanes.accumulators[reduction][1].identity, dtype)
        value = writer.define(f"select {lanes.masks} {lanes.mask}, {kind} {value}, {kind} {nothing}")
    if lanes.keeps_extremes:
        slot = lanes.sums[reduction]
        write(writer, slot, dtype, better(writer, reduction.operation, dtype, value, read(writer, slot, dtype)))
        writer.lanes = 0
        return
    # The order of a parallel sum is unspecified, whatever fast_math says.
    flags, writer.flags = writer.flags, writer.flags or "reassoc "
    update(writer, lanes.sums[reduction], dtype, reduction.operation, [value])
    writer.flags, writer.lanes = flags, 0


# Control flow.


def _leaves(operation: Operation) -> bool:
    """Whether there is something in an operation that leaves an iteration."""
    return any(each.code in ("break", "continue") for inside in regions(operation) for each in walk(inside))


def _if(writer: Writer, operation: Operation) -> None:
    assert isinstance(operation, If)
    lanes, condition = together(writer), operation.operands[0]
    outer = lanes.mask
    if _varies(writer, condition):
        chosen = writer.values[condition]
        for side, inverted in ((operation.then, False), (operation.orelse, True)):
            if side.operations:
                lanes.mask = lanes.narrowed(chosen, inverted)
                _side(writer, side, lanes.mask)
                lanes.mask = outer
    else:
        _choice(writer, operation)
    turn = lanes.turns[-1] if lanes.turns else None
    if turn is not None and _leaves(operation):
        lanes.mask = outer
        lanes.mask = lanes.narrowed(lanes.kept_mask(turn.here))


def _choice(writer: Writer, operation: If) -> None:
    """An `if` of which all lanes take the same side."""
    lanes, outer, end = together(writer), together(writer).mask, writer.label("endif")
    then, other = writer.label("then"), writer.label("else") if operation.orelse.operations else end
    condition = writer.value(operation.operands[0])
    if not lanes.is_inhabited():
        # Where there is no lane, it may be made of what no iteration would have computed: then either side will do.
        condition = writer.define(f"freeze i1 {condition}")
    writer.branch(condition, then, other)
    for label, side in ((then, operation.then), (other, operation.orelse)):
        if label != end:
            writer.start(label)
            region(writer, side)
            lanes.mask = outer
            writer.jump(end)
    writer.start(end)


def _side(writer: Writer, side: Region, mask: str) -> None:
    """One side of an `if`; what has loops is passed by if no lane is there."""
    if any(isinstance(operation, (For, While)) for operation in walk(side)):
        _if_any(writer, mask, lambda: region(writer, side))
    else:
        region(writer, side)


def _if_any(writer: Writer, mask: str, then: Callable[[], None]) -> None:
    """Something that is passed by if no lane is there."""
    some, none, known = writer.label("some"), writer.label("none"), together(writer).inhabited
    writer.branch(together(writer).any(mask), some, none)
    writer.start(some)
    known.add(mask)
    then()
    known.discard(mask)
    writer.jump(none)
    writer.start(none)


def _loop(rendering: Callable[[Writer, Operation], None]) -> Callable[[Writer, Operation], None]:
    """A loop. Where no lane may be left, after `break` and `continue`, it is passed by: its bounds are those of no iteration
    then, and nobody would end it."""

    def render(writer: Writer, operation: Operation) -> None:
        lanes = together(writer)
        if lanes.is_inhabited():
            rendering(writer, operation)
        else:
            assert lanes.mask is not None
            _if_any(writer, lanes.mask, lambda: rendering(writer, operation))

    return render


def _open_turn(writer: Writer) -> Turn:
    """All lanes that are here begin a loop."""
    lanes = together(writer)
    turn = Turn(lanes.slot(), lanes.slot(), "")
    if lanes.mask is None:
        writer.emit(f"store {lanes.kept} splat ({lanes.kept.split()[-1][:-1]} -1), ptr {turn.running}")
    else:
        lanes.keep(turn.running, lanes.mask)
    return turn


def _while(writer: Writer, operation: Operation) -> None:
    assert isinstance(operation, While)
    lanes = together(writer)
    if operation not in lanes.plan.ragged:
        lanes.turns.append(None)
        RENDERINGS["while"](writer, operation)
        lanes.turns.pop()
        return
    head, body, again, end = (writer.label(name) for name in ("while", "do", "again", "endwhile"))
    if writer.polls:
        open_budget(writer)
    outer, turn = lanes.mask, _open_turn(writer)
    chain, writer.chain = writer.chain, chain_of(operation) if writer.module.fast_math else None
    lanes.turns.append(turn)
    writer.jump(head)
    writer.start(head)
    lanes.mask = lanes.kept_mask(turn.running)
    region(writer, operation.head)
    writer.lanes = writer.width
    condition = writer.value(operation.condition)
    writer.lanes = 0
    lanes.mask = turn.mask = lanes.narrowed(condition)
    lanes.keep(turn.running, turn.mask)
    writer.branch(lanes.any(turn.mask), body, end)
    lanes.inhabited.add(turn.mask)
    writer.start(body)
    lanes.keep(turn.here, turn.mask)
    writer.enter(again, end)
    region(writer, operation.body)
    writer.exits.pop()
    writer.jump(again)
    writer.start(again)
    if writer.polls:
        looping = writer.module.looping
        poll(writer, max(weight_of(operation.head, looping), weight_of(operation.body, looping)))
    writer.jump(head)
    writer.start(end)
    lanes.turns.pop()
    lanes.mask, writer.chain = outer, chain


#: How many groups of lanes a walk over rows is done for at a time, at most: a processor reads ahead along a row, so more of
#: it is better, as long as the variables of all groups stay in the first cache.
GROUPS = 32


def blocks(
    lanes: Together, variable: LoopVariable, bounds: tuple[int, int], first: str, count: str, steps: list[Operation]
) -> None:
    """The iterations of `count` groups of lanes from `first` on, with walks over rows among their steps: what comes before,
    between and after them group by group, and each step of a walk for all groups.

    All variables are kept for each group. Values from before a walk that are used later are kept as well.
    """
    writer, walks = lanes.writer, lanes.plan.walks
    kept = _used_later(steps, walks)
    groups = _Groups(lanes, variable, bounds, first, count, kept)
    pending: list[Operation] = []
    for step in (*steps, None):
        if step is not None and step not in walks:
            pending.append(step)
            continue
        groups.open()
        groups.load()
        operations(writer, pending)
        groups.save([each for each in pending if each in kept])
        groups.close()
        # What bounds of walks are made of is needed outside of the groups.
        operations(writer, [each for each in pending if each.code == "shape"])
        groups.load_uniform()
        pending = []
        if isinstance(step, For):
            _walk(lanes, groups, step)


def _used_later(steps: list[Operation], walks: tuple[Operation, ...]) -> list[Operation]:
    """The values that are used in a walk or after one that comes later."""
    kept: list[Operation] = []
    for place, walk_over in enumerate(steps):
        if walk_over in walks:
            later = {operand for step in steps[place:] for each in _with_inside(step) for operand in each.operands}
            kept += [each for each in steps[:place] if each in later and each.code != "shape" and each not in kept]
    return kept


def _walk(lanes: Together, groups: _Groups, walk_over: For) -> None:
    writer = lanes.writer
    body = Region([_Group("continue", groups, True), *walk_over.body.operations, _Group("continue", groups, False)])
    begin, end, step = walk_over.operands
    lanes.turns.append(None)
    RENDERINGS["for"](writer, For(walk_over.variable, begin, end, step, body, walk_over.line))
    lanes.turns.pop()


def _with_inside(operation: Operation) -> list[Operation]:
    return [operation, *(each for inside in regions(operation) for each in walk(inside))]


class _Group(Operation):
    """Around the body of a walk: where the loop over the groups begins, and where it ends."""

    __slots__ = ("begins", "groups")

    def __init__(self, code: str, groups: _Groups, begins: bool) -> None:
        super().__init__(code, None)
        self.groups = groups
        self.begins = begins


class _Groups:
    """Code for each group of lanes in turn."""

    def __init__(
        self,
        lanes: Together,
        variable: LoopVariable,
        bounds: tuple[int, int],
        first: str,
        count: str,
        kept: list[Operation],
    ) -> None:
        self.lanes = lanes
        self.variable = variable
        self.bounds = bounds
        self.first = first
        self.count = count
        writer = lanes.writer
        self.places: dict[Local | Operation, tuple[str, str]] = {}
        held: list[Local | Operation] = [*lanes.locals, *kept]
        for each in held:
            assert each.type is not None
            kind = memory_type(each.type)
            if _varies(writer, each):
                kind = f"<{lanes.width} x {kind}>"
            self.places[each] = kind, writer.define_early(f"alloca [{GROUPS} x {kind}]", "groups")
        self.saved: list[Operation] = []
        self.loop: Loop | None = None

    def open(self) -> None:
        writer = self.lanes.writer
        self.loop = writer.open_loop("group", "0", self.count)
        moved = writer.define(f"mul nuw nsw i64 {self.loop.counter}, {self.lanes.width}")
        varying, writer.varying = writer.varying, None
        self.lanes.bind(self.variable, writer.define(f"add nsw i64 {self.first}, {moved}"), *self.bounds)
        writer.varying = varying
        for local in self.lanes.locals:
            slots = self.lanes.slots if _varies(writer, local) else writer.slots
            slots[local] = self._place(local)

    def _place(self, of: Local | Operation) -> str:
        assert self.loop is not None
        kind, base = self.places[of]
        writer = self.lanes.writer
        return writer.define(f"getelementptr inbounds {kind}, ptr {base}, i64 {self.loop.counter}")

    def save(self, values: list[Operation]) -> None:
        for each in values:
            self._transfer(each, saves=True)
        self.saved += values

    def load(self) -> None:
        for each in self.saved:
            self._transfer(each, saves=False)

    def load_uniform(self) -> None:
        """What is the same for all groups, for the bounds of walks."""
        writer = self.lanes.writer
        for each in self.saved:
            if not _varies(writer, each):
                writer.values[each] = read(writer, self.places[each][1], dtype_of(each))

    def _transfer(self, each: Operation, saves: bool) -> None:
        writer, dtype = self.lanes.writer, dtype_of(each)
        place = self._place(each)
        writer.lanes = writer.width if _varies(writer, each) else 0
        if saves:
            write(writer, place, dtype, writer.values[each])
        else:
            writer.values[each] = read(writer, place, dtype)
        writer.lanes = 0

    def close(self) -> None:
        assert self.loop is not None
        writer = self.lanes.writer
        writer.close_loop(self.loop, writer.module.small_loop(vectorise=False))
        self.loop = None


class _Enter(Operation):
    """In front of the body of a `for` that lanes leave one by one: goes on with those that are left, or leaves the loop."""

    __slots__ = ()


def _for(writer: Writer, operation: Operation) -> None:
    assert isinstance(operation, For)
    lanes, outer, loop = together(writer), together(writer).mask, operation
    ragged = operation in lanes.plan.ragged
    if ragged:
        body = Region([_Enter("continue", None), *operation.body.operations])
        begin, end, step = operation.operands
        loop = For(operation.variable, begin, end, step, body, operation.line)
    lanes.turns.append(_open_turn(writer) if ragged else None)
    RENDERINGS["for"](writer, loop)
    lanes.turns.pop()
    lanes.mask = outer


def _continue(writer: Writer, operation: Operation) -> None:
    lanes = together(writer)
    if isinstance(operation, _Group):
        if operation.begins:
            operation.groups.open()
            operation.groups.load()
        else:
            operation.groups.close()
        return
    turn = lanes.turns[-1]
    if isinstance(operation, _Enter):
        assert turn is not None
        lanes.mask = turn.mask = lanes.kept_mask(turn.running)
        lanes.keep(turn.here, turn.mask)
        some = writer.label("some")
        writer.branch(lanes.any(turn.mask), some, writer.exits[-1][1])
        lanes.inhabited.add(turn.mask)
        writer.start(some)
    elif turn is None:
        RENDERINGS["continue"](writer, operation)
    else:
        _drop(lanes, turn.here)


def _break(writer: Writer, operation: Operation) -> None:
    lanes = together(writer)
    turn = lanes.turns[-1]
    if turn is None:
        RENDERINGS["break"](writer, operation)
    else:
        _drop(lanes, turn.running)
        _drop(lanes, turn.here)


def _drop(lanes: Together, slot: str) -> None:
    """Take the lanes that are here out of those that are kept somewhere."""
    assert lanes.mask is not None
    others = lanes.writer.define(f"xor {lanes.masks} {lanes.mask}, splat (i1 true)")
    lanes.keep(slot, lanes.writer.define(f"and {lanes.masks} {lanes.kept_mask(slot)}, {others}"))


IN_LANES: dict[str, Callable[[Writer, Operation], str | None]] = {
    **{code: _on_vectors(rendering) for code, rendering in RENDERINGS.items()},
    "load_local": _load_local,
    "store_local": _store_local,
    "load": _load,
    "store": _store,
    "update": _update,
    "accumulate": _accumulate,
    "if": _if,
    "while": _loop(_while),
    "for": _loop(_for),
    "break": _break,
    "continue": _continue,
}
