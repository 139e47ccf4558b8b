"""Vectorization: neighbouring iterations of a loop run side by side, one in each lane of a vector (SPMD on SIMD).

The body is written once for all lanes: what varies between them (`samovar.passes.loops.divergence`) as operations on
vectors, what does not as it is. `mask` says in which lanes the code at hand counts: none means all. What is stored in
variables elsewhere stays as it was, memory is not touched there. A loop that lanes leave one by one runs while there is one
left.

Of elements that lie side by side, the address is that of the first lane: the index is computed once more for it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping
from dataclasses import dataclass, replace

from samovar._native import i32, i64, u1
from samovar.ir import (
    Array,
    Atomic,
    Builder,
    Constant,
    For,
    Hints,
    If,
    Local,
    LocalArray,
    LoopVariable,
    Operation,
    Region,
    Value,
    VectorLocal,
    While,
    indices,
    memory,
    retarget,
    walk,
)
from samovar.passes.loops.divergence import Divergence, has_vectors, leaves, skips
from samovar.passes.loops.held import Reuse
from samovar.passes.loops.interleave import Record, interleaved, records
from samovar.passes.outline import identity

#: Loops of vectors are left as they are, but for unrolling.
_VECTORS = Hints(vectors=0)
_FALSE = Constant(False, u1)
#: What indices are made of.
_IN_INDICES = frozenset(("add", "sub", "mul", "neg", "cast", "shl"))


@dataclass
class _Turn:
    """A loop that lanes may leave one by one: `running` keeps which are still in it, None if nobody leaves for good; `here`
    which of them are in this iteration; `mask` is the one that an iteration begins with."""

    running: VectorLocal | None
    here: VectorLocal
    mask: Value | None


class Vectorizer:
    """Writes the body of a loop for `width` lanes. `locals` takes the variables that it needs. `kept` are minima and maxima,
    each with its operand that is no NaN. `owned` are arrays whose elements no other thread sees meanwhile."""

    def __init__(
        self,
        plan: Divergence,
        width: int,
        lane_bits: int,
        build: Builder,
        locals: list[Local],
        kept: Mapping[Operation, Value],
        owned: Container[Array],
    ) -> None:
        self.plan = plan
        self.width = width
        self.lane_bits = lane_bits
        self.build = build
        self.locals = locals
        self.kept = kept
        self.owned = owned
        self.reuse = Reuse(plan.affine)
        self.loose = plan.loose()
        self.homes = plan.homes()
        #: The mask of each region that is being written.
        self.within: dict[Region, Value | None] = {}
        #: The mask of one side of an `if` → the mask around it, and the condition.
        self.sides: dict[Value, tuple[Value | None, Value]] = {}
        #: Conditions without which a lane leaves the innermost loop.
        self.vital: set[Value] = set()
        self.values: dict[Value, Value] = {}
        #: What varies and is an index, for the first lane.
        self.first: dict[Value, Value] = {}
        self.slots: dict[Local, VectorLocal] = {}
        self.arrays: dict[object, Array | Local] = {}
        self.mask: Value | None = None
        #: The lanes that there are at all, where the range ends among them.
        self.present: Value | None = None
        #: Masks of which it is known here that there is a lane in each.
        self.inhabited: set[Value] = set()
        self.turns: list[_Turn | None] = []
        self.groups = plan.groups()
        self.records = {
            access: record
            for access, record in records(plan).items()
            if all(self._has_first(index) for each in record.parts for index in indices(each))
        }
        #: The parts of records that are loaded or computed.
        self.parts: dict[Record, dict[int, Value]] = {}
        #: Variables that have got a value in this iteration, in some lanes.
        self.assigned: set[Local] = set()
        #: What is loaded of a group, by the mask of the lanes.
        self.blocks: dict[tuple[Hashable, Value | None], Value] = {}

    def slot(self, local: Local) -> VectorLocal:
        """A local with a value for each lane."""
        if local not in self.slots:
            self.slots[local] = self._local(local.name, local)
        return self.slots[local]

    def _local(self, name: str, like: Local | None = None) -> VectorLocal:
        type = u1 if like is None else like.type
        made = VectorLocal(name, type, self.width, self.lane_bits)
        self.locals.append(made)
        return made

    def body(self, first: Value, mask: Value | None = None) -> None:
        """Write an iteration of all lanes: `first` is the variable's value in the first one, and `mask` says which lanes
        there are, one at least."""
        variable = self.plan.loop.variable
        assert variable.type is not None
        self.values, self.first, self.arrays, self.blocks = {}, {variable: first}, {}, {}
        self.reuse, self.parts, self.assigned = Reuse(self.plan.affine), {}, set()
        self.mask = self.present = mask
        self.inhabited = set() if mask is None else {mask}
        lanes = self.build.make("lane_numbers", variable.type, width=self.width)
        moved = self.build.mul(lanes, Constant(self.plan.stride, variable.type))
        self.values[variable] = self.build.make("add", variable.type, first, moved)
        turn = None
        # What has a mask is what is left over, and no loop: nothing can be continued there.
        if self.plan.loop in self.plan.ragged or (mask is not None and skips(self.plan.loop.body)):
            turn = _Turn(None, self._local("here"), mask)
            self.build.set(turn.here, Constant(True, u1) if mask is None else mask)
        self.turns = [turn]
        self._region(self.plan.loop.body)

    # --- values

    def value(self, value: Value) -> Value:
        return self.values.get(value, value)

    def _scalar(self, value: Value) -> Value | None:
        """A value for the first lane, if it is there."""
        return self.first.get(value) if self.plan.varies(value) else self.value(value)

    def _has_first(self, value: Value) -> bool:
        """Whether a value can be computed for the first lane alone."""
        if value is self.plan.loop.variable or not self.plan.varies(value):
            return True
        if not isinstance(value, Operation) or value.type is None or value.type.kind == "float":
            return False
        return value.code in _IN_INDICES and all(map(self._has_first, value.operands))

    def _for_first_lane(self, operation: Operation) -> None:
        """Compute what may be an index once more for the first lane, from what is uniform and the loop variable."""
        if operation.type is None or operation.type.kind == "float" or operation.code not in _IN_INDICES:
            return
        operands = [self._scalar(operand) for operand in operation.operands]
        known = [operand for operand in operands if operand is not None]
        if len(known) == len(operands):
            self.first[operation] = self.build.make(
                operation.code, operation.type, *known, payload=operation.payload, width=0
            )

    # --- masks

    def _narrowed(self, condition: Value, inverted: bool = False) -> Value:
        """The mask of those among the lanes here for which something holds, or does not."""
        if inverted:
            condition = self.build.make("not", u1, condition)
        if self.mask is None:
            return condition
        mask = self.build.choose(self.mask, condition, _FALSE)
        self.sides[mask] = self.mask, condition
        return mask

    def _relative(self, mask: Value, outer: Value | None) -> Value:
        """Which lanes of an outer mask a mask has: what it says of others does not matter."""
        around, condition = self.sides.get(mask, (None, mask))
        if around is None or around is outer:
            return condition
        further = self._relative(around, outer)
        return mask if further is around else self.build.choose(further, condition, _FALSE)

    def is_inhabited(self) -> bool:
        """Whether there is a lane here for certain: code that is not in a loop or an `if` of some lanes, or is passed by
        where there is none."""
        return self.mask is None or self.mask in self.inhabited

    def _any(self, mask: Value) -> Value:
        return self.build.make("any", u1, mask, width=0)

    def _if_any(self, mask: Value, write: Callable[[], None]) -> None:
        """Something that is passed by if no lane is there."""
        some = self._any(mask)
        self.inhabited.add(mask)
        then = self._scope(write)
        self.inhabited.discard(mask)
        self.build.append(If(some, then, Region()))

    # --- regions and control flow

    def _scope(self, write: Callable[[], None], anew: bool = False) -> Region:
        """A region of its own: what is loaded in it is not there after it. `anew`: it runs again, after what is written in
        it, so what is loaded around it is not there in it either."""
        held = self.reuse.held
        self.reuse.held = {} if anew else dict(held)
        region = self.build.region(write)
        self.reuse.held = held
        return region

    def _region(self, region: Region) -> None:
        blocks = dict(self.blocks)
        self.within[region] = self.mask
        for operation in region.operations:
            self.build.line, self.build.origin = operation.line, operation.origin
            if isinstance(operation, If):
                self._if(operation)
            elif isinstance(operation, (For, While)):
                self._loop(operation)
            elif operation.code in ("break", "continue"):
                self._jump(operation)
            else:
                self._operation(operation)
        self.blocks = blocks

    def _if(self, operation: If) -> None:
        condition, outer = operation.operands[0], self.mask
        if self.plan.varies(condition):
            chosen = self.value(condition)
            for side, inverted in ((operation.then, False), (operation.orelse, True)):
                if side.operations:
                    self.mask = self._narrowed(chosen, inverted)
                    self._side(side, self.mask, condition in self.vital and not inverted)
                    self.mask = outer
        else:
            then = self._scope(lambda: self._region(operation.then))
            self.mask = outer
            orelse = self._scope(lambda: self._region(operation.orelse))
            self.mask = outer
            self.build.append(If(self.value(condition), then, orelse, operation.line, operation.unlikely))
        turn = self.turns[-1]
        if turn is not None and leaves(operation):
            self.mask = outer
            self.mask = self._narrowed(self.build.get(turn.here))

    def _side(self, side: Region, mask: Value, vital: bool) -> None:
        """One side of an `if`; what has loops, or takes long, is passed by if no lane is there. Not if that ends a loop: it
        happens once, and the loop may need the same values."""
        if is_long(side) and not vital:
            self._if_any(mask, lambda: self._region(side))
        else:
            self.build.operations += self._scope(lambda: self._region(side)).operations

    def _jump(self, operation: Operation) -> None:
        turn = self.turns[-1]
        if turn is None:
            self.build.make(operation.code, None)
            return
        dropped = [turn.here] if operation.code == "continue" or turn.running is None else [turn.here, turn.running]
        for kept in dropped:
            if self.mask is None:
                self.build.set(kept, _FALSE)
            else:
                self.build.set(kept, self.build.choose(self.mask, _FALSE, self.build.get(kept)))

    def _loop(self, loop: For | While) -> None:
        """Where no lane may be left, after a jump, a loop is passed by: its bounds are those of no iteration then, and
        nobody would end it."""
        write = self._while if isinstance(loop, While) else self._for
        outer = self.mask
        if self.is_inhabited():
            write(loop)  # type: ignore[arg-type]
        else:
            assert outer is not None
            self._if_any(outer, lambda: write(loop))  # type: ignore[arg-type]
        self.mask = outer

    def _open_turn(self) -> _Turn:
        """All lanes that are here begin a loop."""
        turn = _Turn(self._local("running"), self._local("here"), None)
        assert turn.running is not None
        self.build.set(turn.running, Constant(True, u1) if self.mask is None else self.mask)
        return turn

    def _while(self, loop: While) -> None:
        build = self.build
        if loop not in self.plan.ragged:
            self.turns.append(None)
            head = self._scope(lambda: self._region(loop.head), anew=True)
            condition = self.value(loop.condition)
            body = self._scope(lambda: self._region(loop.body), anew=True)
            self.turns.pop()
            self._append(While(head, condition, body, loop.line), "uniform condition")
            return
        turn = self._open_turn()
        assert turn.running is not None
        self.turns.append(turn)
        found: list[Value] = []

        def head_of() -> None:
            assert turn.running is not None
            self.mask = build.get(turn.running)
            self.vital = _vital(loop)
            self._region(loop.head)
            self.mask = turn.mask = self._narrowed(self.value(loop.condition))
            build.set(turn.running, turn.mask)
            found.append(self._any(turn.mask))

        def body_of() -> None:
            assert turn.mask is not None
            self.inhabited.add(turn.mask)
            self.vital = set()
            build.set(turn.here, turn.mask)
            self._region(loop.body)

        head = self._scope(head_of, anew=True)
        body = self._scope(body_of, anew=True)
        self.turns.pop()
        self._append(While(head, found[0], body, loop.line), "masked, until all lanes have left")

    def _for(self, loop: For) -> None:
        build = self.build
        begins, ends = self.plan.bounds_vary(loop)
        variable = loop.variable
        assert variable.type is not None
        begin, end, step = (self.value(operand) for operand in loop.operands)
        fresh = LoopVariable(variable.name, variable.type, variable.limits)
        counted: Callable[[], Value] | None = None  # which lanes are still counting
        if begins and variable in self.plan.varying:
            begin, end, step, counted = self._from_zero(loop, fresh, begin, end, step)
        elif begins:
            own, begin = begin, self._extreme("min", begin, end)
            counted = lambda: build.compare("ge", self._as(fresh, own), own)  # noqa: E731
            self.values[variable] = fresh
        elif ends:
            own, upwards = end, int(step.value) > 0  # type: ignore[attr-defined]
            end = self._extreme("max" if upwards else "min", end, begin)
            counted = lambda: build.compare("lt" if upwards else "gt", self._as(fresh, own), own)  # noqa: E731
            self.values[variable] = fresh
        else:
            self.values[variable] = fresh
        turn = self._open_turn() if loop in self.plan.ragged else None
        self.turns.append(turn)

        def body_of() -> None:
            if turn is not None:
                assert turn.running is not None
                self.mask = build.get(turn.running)
                build.append(If(build.make("not", u1, self._any(self.mask)), Region([Operation("break", None)]), Region()))
                self.inhabited.add(self.mask)
            if counted is not None:
                if begins and variable in self.plan.varying:
                    self.values[variable] = self._counter(loop, fresh)
                sure = turn is None and self.is_inhabited()
                self.mask = self._narrowed(counted())
                if sure:  # the lane that counts farthest is there in each iteration
                    self.inhabited.add(self.mask)
            if turn is not None:
                # Lanes that begin later are not here either, and find what they had before.
                turn.mask = None if begins and variable not in self.plan.varying else self.mask
                assert self.mask is not None
                build.set(turn.here, self.mask)
            self._region(loop.body)

        body = self._scope(body_of, anew=True)
        self.turns.pop()
        written = For(fresh, begin, end, step, body, loop.line, replace(loop.hints, vectors=0, interleave=None))
        bounds = "bounds differ, up to the farthest" if begins or ends else "uniform bounds"
        self._append(written, bounds if turn is None else f"{bounds}; masked, until all lanes have left")

    def _append(self, loop: For | While, note: str) -> None:
        loop.note = f"in {self.width} lanes: {note}"
        self.build.append(loop)

    def _as(self, value: Value, other: Value) -> Value:
        """A value in the type of another: bounds may be of a wider type than the variable of their loop."""
        assert other.type is not None
        return self.build.cast(value, other.type)

    def _extreme(self, operation: str, vector: Value, other: Value) -> Value:
        """The least or greatest value of a vector in the lanes that are here, which counts no more than another."""
        if self.mask is not None:
            vector = self.build.choose(self.mask, vector, other)
        found = self.build.make("reduce", vector.type, vector, payload=operation, width=0)
        return self.build.min(found, other) if operation == "min" else self.build.max(found, other)

    def _from_zero(
        self, loop: For, fresh: LoopVariable, begin: Value, end: Value, step: Value
    ) -> tuple[Value, Value, Value, Callable[[], Value]]:
        """A loop with other bounds in each lane: it counts from 0, as far as the lane does that counts farthest."""
        build, type = self.build, loop.variable.type
        assert type is not None
        assert isinstance(step, Constant)
        size = abs(int(step.value))
        low, high = (begin, end) if int(step.value) > 0 else (end, begin)
        distance: Value = build.make("sub", i64, build.cast(high, i64), build.cast(low, i64))
        if size > 1:
            rounded = build.make("add", i64, distance, Constant(size - 1, i64))
            distance = build.make("floordiv", i64, rounded, Constant(size, i64))
        fresh.type, fresh.limits = i64, None
        most = self._extreme("max", distance, Constant(0, i64))
        return Constant(0, i64), most, Constant(1, i64), lambda: build.compare("lt", fresh, distance)

    def _counter(self, loop: For, fresh: LoopVariable) -> Value:
        begin, step = self.value(loop.operands[0]), loop.operands[2]
        moved = self.build.mul(self._as(fresh, begin), self._as(step, begin))
        return self._as(self.build.add(begin, moved), loop.variable)

    # --- operations

    def _operation(self, operation: Operation) -> None:
        code, build = operation.code, self.build
        if code == "load_local":
            local = operation.payload
            self.values[operation] = build.get(self.slot(local) if local in self.plan.varying else local)
        elif code == "store_local":
            self._store_local(operation)
        elif code == "reserve":
            array: LocalArray = operation.payload
            wide = LocalArray(array.name, array.dtype, (*array.shape, self.width), private=array.private)
            self.arrays[array] = wide
            build.make("reserve", None, payload=wide)
        elif operation in self.plan.accesses:
            self._access(operation)
        else:
            if self.plan.varies(operation):
                self._for_first_lane(operation)
            if operation in self.kept:
                self._better(operation)
                return
            operands = [self.value(operand) for operand in operation.operands]
            self.values[operation] = build.make(code, operation.type, *operands, payload=operation.payload)

    def _better(self, operation: Operation) -> None:
        """A minimum or maximum of something and what is kept, which is no NaN: a comparison that fails for NaN is enough."""
        kept = self.kept[operation]
        found = next(self.value(each) for each in operation.operands if each is not kept)
        old = self.value(kept)
        better = self.build.compare("lt" if operation.code == "min" else "gt", found, old)
        self.values[operation] = self.build.choose(better, found, old)

    def _store_local(self, operation: Operation) -> None:
        local: Local = operation.payload
        value = self.value(operation.operands[0])
        if local not in self.plan.varying:
            self.build.set(local, value)
            return
        slot, home = self.slot(local), self.homes.get(local)
        outermost = self.turns[1] if len(self.turns) > 1 else None
        mask = self.mask
        # Nobody asks what lanes that are not there would find, nor those that have left the loop; and what the iteration
        # before has left is no value.
        if local not in self.plan.carried and mask is not None:
            if (
                mask is self.present
                or (home is not None and mask is self.within[home])
                or (local not in self.assigned and len(self.turns) == 1)
                or (local in self.loose and outermost is not None and mask is outermost.mask)
            ):
                mask = None
            elif home is not None:
                mask = self._relative(mask, self.within[home])
        if mask is not None:
            value = self.build.choose(mask, value, self.build.get(slot))
        self.build.set(slot, value)
        self.assigned.add(local)

    def _access(self, operation: Operation) -> None:
        array = memory(operation)
        assert isinstance(array, Array)
        step = self.plan.accesses[operation].step
        at = indices(operation)
        own = [self.value(index) for index in at]
        if array in self.plan.expanded:
            wide = self.arrays[array]
            assert isinstance(wide, Array)
            lanes = self.build.make("lane_numbers", i32, width=self.width)
            if any(self.plan.varies(index) for index in at):
                self._touch(operation, wide, [*own, lanes], None, [])
            else:
                self._touch(operation, wide, [*own, lanes], 1, [*own, Constant(0, i32)])
            return
        # What varies may be the same in all lanes together: `i + j - i`.
        first = [place for place in map(self._scalar, at) if place is not None]
        if step is None or len(first) < len(at):
            self._touch(operation, array, own, None, [])
        elif step == 0:
            self._touch_one(operation, array, first)
        elif operation in self.groups:
            group, part = self.groups[operation]
            self.values[operation] = self._part(array, self._block(array, first, step, group, part), step, part)
        elif operation in self.records:
            self._touch_record(operation, self.records[operation], first)
        else:
            self._touch(operation, array, own, step, first)

    def _part(self, array: Array, block: Value, step: int, part: int) -> Value:
        """One of several elements that lie side by side in each lane."""
        return self.build.make(
            "shuffle", array.dtype, block, payload=tuple(range(part, block.width, step)), width=self.width
        )

    def _block(self, array: Array, at: list[Value], step: int, group: Hashable, part: int) -> Value:
        """All elements that lie side by side in all lanes; `at` is where one of the first lane is."""
        block = self.blocks.get((group, self.mask))
        if block is None:
            place, facts = self._side_by_side(at, step, part)
            block = self.build.make("load", array.dtype, *place, payload=array, **facts)  # type: ignore[arg-type]
            self.blocks[group, self.mask] = block
        return block

    def _side_by_side(self, at: list[Value], step: int, part: int) -> tuple[list[Value], dict[str, object]]:
        """Where the elements of all lanes begin that lie side by side, `step` of each lane, and how they are touched."""
        width, mask = self.width * step, self.mask
        if mask is not None:
            lanes = tuple(lane // step for lane in range(width))
            mask = self.build.make("shuffle", u1, mask, payload=lanes, width=width)
        *others, last = at
        assert last.type is not None
        return [*others, self.build.sub(last, Constant(part, last.type))], {"width": width, "mask": mask}

    def _touch_record(self, operation: Operation, record: Record, at: list[Value]) -> None:
        """A part of a record: all parts are loaded with the first one, and stored with the last one that is written."""
        build, array, part = self.build, record.array, record.parts[operation]
        parts = self.parts.get(record)
        if parts is None:
            parts = self.parts[record] = {}
            if record.is_read:
                block = self._block(array, at, record.step, record, part)
                parts.update((each, self._part(array, block, record.step, each)) for each in range(record.step))
        if operation.code == "load":
            self.values[operation] = parts[part]
            return
        value = self.value(operation.operands[-1])
        if operation.code == "update":
            self.values[operation] = parts[part]
            value = build.make(operation.payload.operation, array.dtype, parts[part], value)
        if not value.width:
            value = build.make("select", array.dtype, Constant(True, u1), value, value, width=self.width)
        parts[part] = value
        if operation is record.last:
            place, facts = self._side_by_side(at, record.step, part)
            vectors = [parts[each] for each in range(record.step)]
            build.make("store", None, *place, interleaved(build, vectors), payload=array, **facts)  # type: ignore[arg-type]

    def _touch_one(self, operation: Operation, array: Array, at: list[Value]) -> None:
        """All lanes touch one element: it is loaded once, or updated once with what they give together."""
        build = self.build
        guard = None if self.is_inhabited() else self._any(self.mask)  # type: ignore[arg-type]
        if operation.code == "load":
            self.values[operation] = build.make("load", operation.type, *at, payload=array, width=0, mask=guard)
            return
        self.reuse.write(array)
        action, value = operation.payload.operation, self.value(operation.operands[-1])
        together = "add" if action == "sub" else action
        if not value.width:
            value = build.make("select", array.dtype, Constant(True, u1), value, value, width=self.width)
        if self.mask is not None:
            value = build.choose(self.mask, value, Constant(identity(together, array.dtype), array.dtype))
        found = build.make("reduce", array.dtype, value, payload=together, width=0)

        def update() -> None:
            build.make(operation.code, operation.type, *at, found, payload=operation.payload, width=0)

        if guard is None:
            update()
        else:
            build.append(If(guard, build.region(update), Region()))

    def _is_ours(self, array: Array) -> bool:
        """Whether no other thread sees the elements of an array that lanes touch."""
        return array.private or array in self.owned

    def _touch(self, operation: Operation, array: Array, own: list[Value], step: int | None, first: list[Value]) -> None:
        """Each lane touches an element of its own: that at the lane's `own` indices, anywhere, or where there is a step,
        `step` elements after that of the lane before; `first` are the indices of the first one."""
        build, mask = self.build, self.mask
        at = own if step is None else first
        key = self.reuse.key(array, indices(operation))
        held = self.reuse.find(key)
        facts = {"width": self.width, "mask": mask, "step": 1 if step is None else step}

        def load() -> Value:
            if held is not None:
                return held.vector
            return build.make("load", array.dtype, *at, payload=array, **facts)  # type: ignore[arg-type]

        def store(value: Value) -> None:
            self.reuse.write(array)
            if held is not None and mask is not held.mask and self._is_ours(array):
                assert mask is not None
                value, facts["mask"] = build.choose(mask, value, held.vector), held.mask
            build.make("store", None, *at, value, payload=array, **facts)  # type: ignore[arg-type]
            if step is not None and value.width:
                self.reuse.hold(key, value, facts["mask"])  # type: ignore[arg-type]

        if operation.code == "load":
            self.values[operation] = load()
            self.reuse.hold(key, self.values[operation], mask if held is None else held.mask)
            return
        values = [self.value(operand) for operand in operation.operands[len(indices(operation)) :]]
        if operation.code == "store":
            store(values[0])
            return
        payload: Atomic = operation.payload
        apart = step is not None or array in self.arrays.values()
        if apart and operation.code == "update" and payload.step is None and has_vectors(payload.operation, array.dtype):
            old = self.values[operation] = load()
            store(build.make(payload.operation, array.dtype, old, *values))
            return
        self.reuse.write(array)
        made = build.make(operation.code, operation.type, *own, *values, payload=payload, width=self.width, mask=mask)
        retarget(made, self.arrays)
        self.values[operation] = made


def _vital(loop: While) -> set[Value]:
    """The values that have to be true for a lane to stay in a loop."""
    stores = [each for each in walk(loop.head) if each.code == "store_local"]
    found: set[Value] = set()
    left = [loop.condition]
    while left:
        value = left.pop()
        if value in found or not isinstance(value, Operation):
            continue
        found.add(value)
        if value.code == "and":
            left += value.operands
        elif value.code == "load_local":
            left += [each.operands[0] for each in stores if each.payload is value.payload]
    return found


#: Code of more operations is passed by where no lane wants it.
_LONG = 24


def is_long(region: Region) -> bool:
    """Whether it is worth a look if any lane is there at all."""
    for count, operation in enumerate(walk(region)):
        if count >= _LONG or isinstance(operation, (For, While)) or operation.code == "atomic":
            return True
    return False
