"""Vectorization: consecutive iterations of a loop run in the SIMD lanes of a vector (SPMD on SIMD).

The body is written once for all lanes: varying values (`samovar.passes.loops.divergence`) as vector operations, uniform ones
as scalars. `mask` says which lanes are active: None means all. In the others, variables keep their values and memory is not
accessed. A divergent loop runs until the last lane has left it.

The address of contiguous elements is that of the first lane: the index is recomputed for that lane alone.
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
    identity,
    indices,
    memory,
    retarget,
    walk,
)
from samovar.passes.loops.divergence import Divergence, has_vectors, leaves, skips
from samovar.passes.loops.held import Reuse
from samovar.passes.loops.interleave import Record, interleaved, records

#: Vector loops are final, except for unrolling.
_VECTORS = Hints(vectors=0)
_FALSE = Constant(False, u1)
#: Operations that indices consist of.
_IN_INDICES = frozenset(("add", "sub", "mul", "neg", "cast", "shl"))


@dataclass
class _LoopMask:
    """The masks of a divergent loop: `running` are the lanes still in it, None if no lane leaves for good; `here` those
    active in this iteration; `mask` is the one that an iteration begins with."""

    running: VectorLocal | None
    here: VectorLocal
    mask: Value | None


class Vectorizer:
    """Writes the body of a loop for `width` lanes. `locals` receives the variables that it needs. `kept` are minima and
    maxima, each with its NaN-free operand. No other thread sees the elements of `owned` arrays meanwhile."""

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
        self.unblended = plan.unblended()
        self.homes = plan.homes()
        #: The mask of each region being written.
        self.within: dict[Region, Value | None] = {}
        #: The mask of a side of an `if` → the enclosing mask, and the condition.
        self.sides: dict[Value, tuple[Value | None, Value]] = {}
        #: Conditions that a lane needs to stay in the innermost loop.
        self.vital: set[Value] = set()
        self.values: dict[Value, Value] = {}
        #: Varying values that are indices, for the first lane.
        self.first: dict[Value, Value] = {}
        self.slots: dict[Local, VectorLocal] = {}
        self.arrays: dict[object, Array | Local] = {}
        self.mask: Value | None = None
        #: The active lanes of the last, partial vector.
        self.active: Value | None = None
        #: Masks known to have an active lane.
        self.inhabited: set[Value] = set()
        self.loop_masks: list[_LoopMask | None] = []
        self.groups = plan.groups()
        self.records = {
            access: record
            for access, record in records(plan).items()
            if all(self._has_first(index) for each in record.parts for index in indices(each))
        }
        #: The loaded or computed parts of records.
        self.parts: dict[Record, dict[int, Value]] = {}
        #: Variables assigned in this iteration, in some lanes.
        self.assigned: set[Local] = set()
        #: The loads of a group, by mask.
        self.blocks: dict[tuple[Hashable, Value | None], Value] = {}

    def slot(self, local: Local) -> VectorLocal:
        """A local with a value per lane."""
        if local not in self.slots:
            self.slots[local] = self._local(local.name, local)
        return self.slots[local]

    def _local(self, name: str, like: Local | None = None) -> VectorLocal:
        type = u1 if like is None else like.type
        made = VectorLocal(name, type, self.width, self.lane_bits)
        self.locals.append(made)
        return made

    def body(self, first: Value, mask: Value | None = None) -> None:
        """Write an iteration of all lanes: `first` is the variable's value in the first one, and `mask` has the active
        lanes, at least one."""
        variable = self.plan.loop.variable
        self.values, self.first, self.arrays, self.blocks = {}, {variable: first}, {}, {}
        self.reuse, self.parts, self.assigned = Reuse(self.plan.affine), {}, set()
        self.mask = self.active = mask
        self.inhabited = set() if mask is None else {mask}
        lanes = self.build.make("lane_numbers", variable.type, width=self.width)
        moved = self.build.mul(lanes, Constant(self.plan.stride, variable.type))
        self.values[variable] = self.build.make("add", variable.type, first, moved)
        loop_mask = None
        # A masked body is a remainder, not a loop: `continue` is impossible there.
        if self.plan.loop in self.plan.divergent_loops or (mask is not None and skips(self.plan.loop.body)):
            loop_mask = _LoopMask(None, self._local("here"), mask)
            self.build.set(loop_mask.here, Constant(True, u1) if mask is None else mask)
        self.loop_masks = [loop_mask]
        self._region(self.plan.loop.body)

    # --- values

    def value(self, value: Value) -> Value:
        return self.values.get(value, value)

    def _scalar(self, value: Value) -> Value | None:
        """The value of the first lane, if available."""
        return self.first.get(value) if self.plan.varies(value) else self.value(value)

    def _has_first(self, value: Value) -> bool:
        """Whether a value can be computed for the first lane alone."""
        if value is self.plan.loop.variable or not self.plan.varies(value):
            return True
        if not isinstance(value, Operation) or value.type is None or value.type.kind == "float":
            return False
        return value.code in _IN_INDICES and all(map(self._has_first, value.operands))

    def _for_first_lane(self, operation: Operation) -> None:
        """Recompute a possible index for the first lane, from uniform values and the loop variable."""
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
        """The mask of the active lanes for which a condition holds, or does not."""
        if inverted:
            condition = self.build.make("not", u1, condition)
        if self.mask is None:
            return condition
        mask = self.build.choose(self.mask, condition, _FALSE)
        self.sides[mask] = self.mask, condition
        return mask

    def _relative(self, mask: Value, outer: Value | None) -> Value:
        """The lanes of a mask among those of an outer mask; its value in other lanes does not matter."""
        around, condition = self.sides.get(mask, (None, mask))
        if around is None or around is outer:
            return condition
        further = self._relative(around, outer)
        return mask if further is around else self.build.choose(further, condition, _FALSE)

    def is_inhabited(self) -> bool:
        """Whether a lane is certain to be active: outside divergent loops and branches, or in code that is skipped if there
        is none."""
        return self.mask is None or self.mask in self.inhabited

    def _any(self, mask: Value) -> Value:
        return self.build.make("any", u1, mask, width=0)

    def _if_any(self, mask: Value, write: Callable[[], None]) -> None:
        """Write code that is skipped if no lane is active."""
        some = self._any(mask)
        self.inhabited.add(mask)
        then = self._scope(write)
        self.inhabited.discard(mask)
        self.build.append(If(some, then, Region()))

    # --- regions and control flow

    def _scope(self, write: Callable[[], None], anew: bool = False) -> Region:
        """A nested region: what is loaded in it is not available after it. `anew`: it runs again, after its own writes, so
        what is loaded around it is not available in it either."""
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
        loop_mask = self.loop_masks[-1]
        if loop_mask is not None and leaves(operation):
            self.mask = outer
            self.mask = self._narrowed(self.build.get(loop_mask.here))

    def _side(self, side: Region, mask: Value, vital: bool) -> None:
        """One side of an `if`; a side with loops, or a long one, is skipped if no lane is active. Not if it ends a loop: it
        happens once, and the loop may need the same values."""
        if is_long(side) and not vital:
            self._if_any(mask, lambda: self._region(side))
        else:
            self.build.operations += self._scope(lambda: self._region(side)).operations

    def _jump(self, operation: Operation) -> None:
        loop_mask = self.loop_masks[-1]
        if loop_mask is None:
            self.build.make(operation.code, None)
            return
        dropped = [loop_mask.here]
        if operation.code != "continue" and loop_mask.running is not None:
            dropped.append(loop_mask.running)
        for kept in dropped:
            if self.mask is None:
                self.build.set(kept, _FALSE)
            else:
                self.build.set(kept, self.build.choose(self.mask, _FALSE, self.build.get(kept)))

    def _loop(self, loop: For | While) -> None:
        """Write an inner loop. It is skipped if a jump may have left no lane active: its bounds are then undefined, and
        nothing would end it."""
        write = self._while if isinstance(loop, While) else self._for
        outer = self.mask
        if self.is_inhabited():
            write(loop)  # type: ignore[arg-type]
        else:
            assert outer is not None
            self._if_any(outer, lambda: write(loop))  # type: ignore[arg-type]
        self.mask = outer

    def _open_loop_mask(self) -> _LoopMask:
        """Begin a loop with all active lanes."""
        loop_mask = _LoopMask(self._local("running"), self._local("here"), None)
        assert loop_mask.running is not None
        self.build.set(loop_mask.running, Constant(True, u1) if self.mask is None else self.mask)
        return loop_mask

    def _while(self, loop: While) -> None:
        build = self.build
        if loop not in self.plan.divergent_loops:
            self.loop_masks.append(None)
            head = self._scope(lambda: self._region(loop.head), anew=True)
            condition = self.value(loop.condition)
            body = self._scope(lambda: self._region(loop.body), anew=True)
            self.loop_masks.pop()
            self._append(While(head, condition, body, loop.line), "uniform condition")
            return
        loop_mask = self._open_loop_mask()
        assert loop_mask.running is not None
        self.loop_masks.append(loop_mask)
        found: list[Value] = []

        def head_of() -> None:
            assert loop_mask.running is not None
            self.mask = build.get(loop_mask.running)
            self.vital = _vital(loop)
            self._region(loop.head)
            self.mask = loop_mask.mask = self._narrowed(self.value(loop.condition))
            build.set(loop_mask.running, loop_mask.mask)
            found.append(self._any(loop_mask.mask))

        def body_of() -> None:
            assert loop_mask.mask is not None
            self.inhabited.add(loop_mask.mask)
            self.vital = set()
            build.set(loop_mask.here, loop_mask.mask)
            self._region(loop.body)

        head = self._scope(head_of, anew=True)
        body = self._scope(body_of, anew=True)
        self.loop_masks.pop()
        self._append(While(head, found[0], body, loop.line), "masked, until all lanes have left")

    def _for(self, loop: For) -> None:
        build = self.build
        begins, ends = self.plan.bounds_vary(loop)
        variable = loop.variable
        begin, end, step = (self.value(operand) for operand in loop.operands)
        fresh = LoopVariable(variable.name, variable.type, variable.limits)
        counted: Callable[[], Value] | None = None  # the lanes still in range
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
        loop_mask = self._open_loop_mask() if loop in self.plan.divergent_loops else None
        self.loop_masks.append(loop_mask)

        def body_of() -> None:
            if loop_mask is not None:
                assert loop_mask.running is not None
                self.mask = build.get(loop_mask.running)
                build.append(If(build.make("not", u1, self._any(self.mask)), Region([Operation("break", None)]), Region()))
                self.inhabited.add(self.mask)
            if counted is not None:
                if begins and variable in self.plan.varying:
                    self.values[variable] = self._counter(loop, fresh)
                sure = loop_mask is None and self.is_inhabited()
                self.mask = self._narrowed(counted())
                if sure:  # the lane with the most iterations is active in each
                    self.inhabited.add(self.mask)
            if loop_mask is not None:
                # Lanes that begin later are inactive too, and keep their values.
                loop_mask.mask = None if begins and variable not in self.plan.varying else self.mask
                assert self.mask is not None
                build.set(loop_mask.here, self.mask)
            self._region(loop.body)

        body = self._scope(body_of, anew=True)
        self.loop_masks.pop()
        written = For(fresh, begin, end, step, body, loop.line, replace(loop.hints, vectors=0, interleave=None))
        bounds = "bounds differ, up to the farthest" if begins or ends else "uniform bounds"
        self._append(written, bounds if loop_mask is None else f"{bounds}; masked, until all lanes have left")

    def _append(self, loop: For | While, note: str) -> None:
        loop.note = f"in {self.width} lanes: {note}"
        self.build.append(loop)

    def _as(self, value: Value, other: Value) -> Value:
        """A value converted to the type of another: bounds may have a wider type than their loop variable."""
        assert other.type is not None
        return self.build.cast(value, other.type)

    def _extreme(self, operation: str, vector: Value, other: Value) -> Value:
        """The minimum or maximum of a vector over the active lanes, limited by another value."""
        if self.mask is not None:
            vector = self.build.choose(self.mask, vector, other)
        found = self.build.make("reduce", vector.type, vector, payload=operation, width=0)
        return self.build.min(found, other) if operation == "min" else self.build.max(found, other)

    def _from_zero(
        self, loop: For, fresh: LoopVariable, begin: Value, end: Value, step: Value
    ) -> tuple[Value, Value, Value, Callable[[], Value]]:
        """A loop with different bounds in each lane: it counts from 0 up to the largest trip count."""
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
        """A minimum or maximum with a NaN-free accumulator: a comparison that is false for NaN is enough."""
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
        outermost = self.loop_masks[1] if len(self.loop_masks) > 1 else None
        mask = self.mask
        # The values of inactive lanes, and of those that have left the loop, do not matter; and what the previous iteration
        # left is not a value.
        if local not in self.plan.carried and mask is not None:
            if (
                mask is self.active
                or (home is not None and mask is self.within[home])
                or (local not in self.assigned and len(self.loop_masks) == 1)
                or (local in self.unblended and outermost is not None and mask is outermost.mask)
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
        # A varying value may be the same in all lanes after all: `i + j - i`.
        first = [place for place in map(self._scalar, at) if place is not None]
        if operation in self.plan.runs:
            run, length, part = self.plan.runs[operation]
            self.values[operation] = self._part(array, self._run(array, own, run, length, part), length, part)
        elif step is None or len(first) < len(at):
            if self.plan.accesses[operation].even and self.mask is None and len(first) == len(at):
                own = [self._spaced(array, *each) for each in zip(at, first, strict=True)]
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

    def _spaced(self, array: Array, index: Value, first: Value) -> Value:
        """An index that differs by a constant from lane to lane, written as such: the backend computes one address."""
        step = self.plan.step_of(array, index)
        if not step:
            return first
        lanes = self.build.make("lane_numbers", i64, width=self.width)
        return self.build.add(self.build.cast(first, i64), self.build.mul(lanes, Constant(step, i64)))

    def _part(self, array: Array, block: Value, step: int, part: int) -> Value:
        """One of several contiguous elements of each lane."""
        return self.build.make(
            "shuffle", array.dtype, block, payload=tuple(range(part, block.width, step)), width=self.width
        )

    def _block(self, array: Array, at: list[Value], step: int, group: Hashable, part: int) -> Value:
        """All contiguous elements of all lanes; `at` are the indices of one element of the first lane."""
        block = self.blocks.get((group, self.mask))
        if block is None:
            place, facts = self._contiguous(at, step, part)
            block = self.build.make("load", array.dtype, *place, payload=array, **facts)  # type: ignore[arg-type]
            self.blocks[group, self.mask] = block
        return block

    def _run(self, array: Array, own: list[Value], run: Hashable, length: int, part: int) -> Value:
        """Adjacent elements for each lane, gathered at once; `own` are the indices of one of them."""
        build, mask, width = self.build, self.mask, self.width * length
        block = self.blocks.get((run, mask))
        if block is None:
            lanes = tuple(lane // length for lane in range(width))
            *others, last = (
                build.make("shuffle", index.type, index, payload=lanes, width=width) if index.width else index
                for index in own
            )
            assert last.type is not None
            numbers = build.make("lane_numbers", last.type, width=width)
            parts = build.make("and", last.type, numbers, Constant(length - 1, last.type))
            last = build.add(build.sub(last, Constant(part, last.type)), parts)
            if mask is not None:
                mask = build.make("shuffle", u1, mask, payload=lanes, width=width)
            block = build.make("load", array.dtype, *others, last, payload=array, width=width, mask=mask, step=length)
            self.blocks[run, self.mask] = block
        return block

    def _contiguous(self, at: list[Value], step: int, part: int) -> tuple[list[Value], dict[str, object]]:
        """The start of contiguous elements of all lanes, `step` per lane, and how they are accessed."""
        width, mask = self.width * step, self.mask
        if mask is not None:
            lanes = tuple(lane // step for lane in range(width))
            mask = self.build.make("shuffle", u1, mask, payload=lanes, width=width)
        *others, last = at
        assert last.type is not None
        return [*others, self.build.sub(last, Constant(part, last.type))], {"width": width, "mask": mask}

    def _touch_record(self, operation: Operation, record: Record, at: list[Value]) -> None:
        """A part of a record: all parts are loaded with the first access, and stored with the last write."""
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
            place, facts = self._contiguous(at, record.step, part)
            vectors = [parts[each] for each in range(record.step)]
            build.make("store", None, *place, interleaved(build, vectors), payload=array, **facts)  # type: ignore[arg-type]

    def _touch_one(self, operation: Operation, array: Array, at: list[Value]) -> None:
        """All lanes access one element: it is loaded once, or updated once with the combination of the lanes."""
        build = self.build
        guard = None if self.is_inhabited() else self._any(self.mask)  # type: ignore[arg-type]
        if operation.code == "load":
            self.values[operation] = build.make("load", operation.type, *at, payload=array, width=0, mask=guard)
            return
        self.reuse.write(array)
        action, value = operation.payload.operation, self.value(operation.operands[-1])
        family = "add" if action == "sub" else action
        if not value.width:
            value = build.make("select", array.dtype, Constant(True, u1), value, value, width=self.width)
        if self.mask is not None:
            value = build.choose(self.mask, value, identity(family, array.dtype))
        found = build.make("reduce", array.dtype, value, payload=family, width=0)

        def update() -> None:
            build.make(operation.code, operation.type, *at, found, payload=operation.payload, width=0)

        if guard is None:
            update()
        else:
            build.append(If(guard, build.region(update), Region()))

    def _is_ours(self, array: Array) -> bool:
        """Whether no other thread sees the elements of an array that lanes access."""
        return array.private or array in self.owned

    def _touch(self, operation: Operation, array: Array, own: list[Value], step: int | None, first: list[Value]) -> None:
        """Each lane accesses its own element: at the lane's `own` indices (gather, scatter), or with a constant stride of
        `step` elements from lane to lane; `first` are the indices of the first one."""
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
        distinct = step is not None or array in self.arrays.values()
        if distinct and operation.code == "update" and payload.step is None and has_vectors(payload.operation, array.dtype):
            old = self.values[operation] = load()
            store(build.make(payload.operation, array.dtype, old, *values))
            return
        self.reuse.write(array)
        made = build.make(operation.code, operation.type, *own, *values, payload=payload, width=self.width, mask=mask)
        retarget(made, self.arrays)
        self.values[operation] = made


def _vital(loop: While) -> set[Value]:
    """The conditions that must hold for a lane to stay in a loop."""
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


#: Longer code is skipped if no lane is active.
_LONG = 24


def is_long(region: Region) -> bool:
    """Whether it is worth testing for active lanes."""
    for count, operation in enumerate(walk(region)):
        if count >= _LONG or isinstance(operation, (For, While)) or operation.code == "atomic":
            return True
    return False
