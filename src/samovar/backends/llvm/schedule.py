"""The entry's side of a task: how many units there are, running them, and putting partial results together.

What is computed is the plan's and `samovar.ir.schedule`'s; here it becomes instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samovar.backends.llvm.indices import address, index, widened
from samovar.backends.llvm.memory import read, update, write
from samovar.backends.llvm.module import OUTLINED, UNIT, UNLIKELY, Module
from samovar.backends.llvm.operations import combine, convert
from samovar.backends.llvm.tasks import TaskWriter
from samovar.backends.llvm.types import literal, memory_type
from samovar.backends.llvm.writer import HelperWriter, Writer
from samovar.ir import (
    GROUPS_LOG2,
    Arithmetic,
    Array,
    Local,
    Partial,
    Reduction,
    Scatter,
    Task,
    Units,
    Value,
    blocks,
    group,
    group_for_copies,
    length,
    pitch,
    units,
    walk,
    worth_copies,
)


class Instructions(Arithmetic[str]):
    """Arithmetic that is emitted into a function; numbers are names of i64 values or literals."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.define = writer.define

    def number(self, value: int) -> str:
        return str(value)

    def known(self, value: str) -> int | None:
        return int(value) if value.lstrip("-").isdigit() else None

    def add(self, a: str, b: str) -> str:
        return self.define(f"add i64 {a}, {b}")

    def subtract(self, a: str, b: str) -> str:
        return self.define(f"sub i64 {a}, {b}")

    def multiply(self, a: str, b: str) -> str:
        return self.define(f"mul i64 {a}, {b}")

    def divide(self, a: str, b: str) -> str:
        return self.define(f"udiv i64 {a}, {b}")

    def shift_left(self, a: str, b: str) -> str:
        return self.define(f"shl i64 {a}, {b}")

    def shift_right(self, a: str, b: str) -> str:
        return self.define(f"lshr i64 {a}, {b}")

    def bits_of_both(self, a: str, b: str) -> str:
        return self.define(f"and i64 {a}, {b}")

    def bit_length(self, a: str) -> str:
        self.writer.module.declare("llvm.ctlz.i64", "declare i64 @llvm.ctlz.i64(i64, i1)")
        return self.define(f"sub i64 64, {self.define(f'call i64 @llvm.ctlz.i64(i64 {a}, i1 false)')}")

    def larger(self, a: str, b: str) -> str:
        self.writer.module.declare("llvm.smax.i64", "declare i64 @llvm.smax.i64(i64, i64)")
        return self.define(f"call i64 @llvm.smax.i64(i64 {a}, i64 {b})")

    def compare(self, relation: str, a: str, b: str) -> str:
        return self.define(f"icmp {relation} i64 {a}, {b}")

    def both(self, a: str, b: str) -> str:
        return self.define(f"and i1 {a}, {b}")

    def choose(self, condition: str, a: str, b: str) -> str:
        return self.define(f"select i1 {condition}, i64 {a}, i64 {b}")

    def where(self, condition: str, then: Callable[[], Sequence[str]], otherwise: Sequence[str]) -> Sequence[str]:
        writer = self.writer
        before, inside, after = writer.block, writer.label("where"), writer.label("after")
        writer.branch(condition, inside, after)
        writer.start(inside)
        found = then()
        end = writer.block
        writer.jump(after)
        writer.start(after)
        pairs = zip(otherwise, found, strict=True)
        return [self.define(f"phi i64 [ {without}, %{before} ], [ {there}, %{end} ]") for without, there in pairs]


class Launch:
    """Renders one task in the entry: its functions, its frame, its run, and what follows the run."""

    def __init__(self, entry: Writer, task: Task, name: str, offsets: dict[Value, int]) -> None:
        self.entry = entry
        self.task = task
        self.plan = task.plan
        self.name = name
        self.offsets = offsets
        self.instructions = Instructions(entry)

    def render(self) -> None:
        entry = self.entry
        if not self.plan.copies:
            self._run(private=False)
            return
        work = self._units()
        iterations = self.instructions.multiply(work.count, work.items)
        worth_it = worth_copies(self.instructions, iterations, self._elements())
        private, atomic, after = entry.label("private"), entry.label("atomic"), entry.label("after")
        entry.branch(worth_it, private, atomic)
        entry.start(private)
        self._run(private=True)
        entry.jump(after)
        entry.start(atomic)
        self._run(private=False)
        entry.jump(after)
        entry.start(after)

    def _units(self) -> Units[str]:
        entry, of = self.entry, self.instructions
        lengths = [length(of, widened(entry, begin), widened(entry, end)) for _, begin, end in self.task.dealt()]
        return units(of, self.plan, lengths)

    def _elements(self) -> list[str]:
        """The number of elements of each array that has copies."""
        result = []
        for copy in self.plan.copies:
            array, count = copy.scatter.array, "1"
            for axis in range(array.ndim):
                count = self.instructions.multiply(count, self.entry.extent(array, axis))
            result.append(count)
        return result

    def _run(self, private: bool) -> None:
        entry, plan = self.entry, self.plan
        module, wanted = entry.module, self.name + (".private" if private else "")
        if self.task.separate and module.program.has_units:
            body, name = self._unit(wanted, private)
        else:
            name = module.function_name(wanted)
            body = self._body(module, private)
            module.definitions.append(body.definitions(name))
        named = body.named
        work = self._units()
        elements: list[str] = []
        if private:
            elements = self._elements()
            work = group_for_copies(self.instructions, plan, work, elements)
            self._allocate_copies(work, elements, named)
        elif plan.partials:
            work = group(self.instructions, work, self.instructions.number(plan.grain_log2))
        elif plan.block is not None:
            work = blocks(self.instructions, work, plan.block)
        told = {"length": work.length, "total": work.total, "shift": work.shift}
        named.update({name: value for name, value in told.items() if value is not None})
        for position, partial in enumerate(plan.partials):
            kind = memory_type(partial.type)
            named[f"partials{position}"] = entry.define_early(f"alloca [{1 << GROUPS_LOG2} x {kind}]", "partials")
        frame = entry.define_early(f"alloca [{body.frame_slots()} x i64]", "frame")
        body.fill_frame(name, frame, "%block")
        module.runtime("sv_run")
        failed = entry.define(
            f"call i32 @sv_run(ptr {entry.context()}, i32 {plan.number}, ptr @{body.function(name)}, ptr {frame},"
            f" i64 {work.count}, i64 {work.items})"
        )
        self._leave_if(entry.define(f"icmp ne i32 {failed}, 0"))
        for position, partial in enumerate(plan.partials):
            self._combine(partial, named[f"partials{position}"], work.count)
        if private:
            self._merge(work.count, elements, named)

    def _body(self, module: Module, private: bool) -> TaskWriter:
        body = TaskWriter(module, self.task, self.entry, self.offsets, private)
        body.render()
        return body

    def _unit(self, wanted: str, private: bool) -> tuple[TaskWriter, str]:
        """The body in a unit of its own, and the name by which the entry knows it."""
        program = self.entry.module.program
        module = program.module(walk(self.task.body))
        body = self._body(module, private)
        module.definitions.append(body.definitions(UNIT, "hidden"))
        is_plain = self.plan.plain is not None and not module.callees
        number = program.add(wanted, module, is_plain)
        line = "@* = external hidden constant i8" if body.described else "declare hidden void @*(ptr, i64, i64)"
        return body, self.entry.module.use_unit(number, line)

    def _leave_if(self, condition: str) -> None:
        entry = self.entry
        bad, good = entry.label("failed"), entry.label("ran")
        entry.branch(condition, bad, good, UNLIKELY)
        entry.cold += [f"{bad}:", "  " + entry.leave()]
        entry.start(good)

    def _allocate_copies(self, groups: Units[str], elements: list[str], named: dict[str, str]) -> None:
        of = self.instructions
        self.entry.module.runtime("sv_scratch")
        for position, (copy, count) in enumerate(zip(self.plan.copies, elements, strict=True)):
            distance = pitch(of, count)
            size = of.multiply(distance, of.number(copy.scatter.array.dtype.itemsize))
            named[f"copies{position}"] = self._scratch(of.multiply(groups.count, size))
            named[f"pitch{position}"] = distance
            named[f"elements{position}"] = count

    def _scratch(self, size: str) -> str:
        """Memory of the launch. A task inside a loop uses what it had before, where that is enough."""
        entry = self.entry
        slot, had = (entry.define_early(f"alloca {kind}", "scratch") for kind in ("ptr", "i64"))
        entry.prologue.append(f"  store i64 0, ptr {had}")
        more, ready = entry.label("more"), entry.label("ready")
        entry.branch(entry.define(f"icmp ugt i64 {size}, {entry.define(f'load i64, ptr {had}')}"), more, ready)
        entry.start(more)
        memory = entry.define(f"call ptr @sv_scratch(ptr {entry.context()}, i64 {size})")
        self._leave_if(entry.define(f"icmp eq ptr {memory}, null"))
        entry.emit(f"store ptr {memory}, ptr {slot}")
        entry.emit(f"store i64 {size}, ptr {had}")
        entry.jump(ready)
        entry.start(ready)
        return entry.define(f"load ptr, ptr {slot}")

    def _combine(self, partial: Partial, partials: str, count: str) -> None:
        """Apply the partial results to the target, in order; nothing if there are none or the target does not exist."""
        entry, reduction, dtype = self.entry, partial.reduction, partial.type
        kind = memory_type(dtype)
        some, done = entry.label("combine"), entry.label("combined")
        entry.branch(self._exists(reduction, entry.define(f"icmp ne i64 {count}, 0")), some, done)
        entry.start(some)
        total = entry.define_early(f"alloca {kind}", "total")
        write(entry, total, dtype, literal(partial.identity, dtype))
        loop = entry.open_loop("partial", "0", count)
        place = entry.define(f"getelementptr inbounds {kind}, ptr {partials}, i64 {loop.counter}")
        update(entry, total, dtype, reduction.operation, [read(entry, place, dtype)])
        entry.close_loop(loop, entry.module.small_loop(vectorise=False))
        target = reduction.target
        if isinstance(target, Local):
            where, stored = entry.local(target), target.type
        else:
            where, stored = address(entry, target, reduction.indices), target.dtype
        old = convert(entry, read(entry, where, stored), stored, dtype)
        new = combine(entry, reduction.operation, dtype, old, read(entry, total, dtype))
        write(entry, where, stored, convert(entry, new, dtype, stored))
        entry.jump(done)
        entry.start(done)

    def _exists(self, reduction: Reduction, condition: str) -> str:
        entry, target = self.entry, reduction.target
        if isinstance(target, Array):
            for axis, value in enumerate(reduction.indices):
                number, extent = index(entry, target, value), entry.extent(target, axis)
                inside = entry.define(f"icmp ult i64 {number}, {extent}")
                condition = entry.define(f"and i1 {condition}, {inside}")
        return condition

    def _merge(self, groups: str, elements: list[str], named: dict[str, str]) -> None:
        """Add the private copies to the arrays, group by group."""
        module = self.entry.module
        for position, copy in enumerate(self.plan.copies):
            scatter = copy.scatter
            name = f"samovar.merge.{scatter.operation}.{scatter.array.dtype.name}"
            module.helper(name, lambda name=name, scatter=scatter: _merge_text(module, name, scatter))  # type: ignore[misc]
            self.entry.emit(
                f"call void @{name}(ptr {self.entry.pointer(scatter.array)}, ptr {named[f'copies{position}']},"
                f" i64 {groups}, i64 {named[f'pitch{position}']}, i64 {elements[position]})"
            )


def _merge_text(module: Module, name: str, scatter: Scatter) -> str:
    """A function that merges copies into an array."""
    writer = HelperWriter(module)
    dtype = scatter.array.dtype
    kind = memory_type(dtype)
    outer = writer.open_loop("merge", "0", "%groups")
    start = writer.define(f"mul nsw i64 {outer.counter}, %pitch")
    copy = writer.define(f"getelementptr inbounds {kind}, ptr %copies, i64 {start}")
    inner = writer.open_loop("element", "0", "%elements")
    source = writer.define(f"getelementptr inbounds {kind}, ptr {copy}, i64 {inner.counter}")
    place = writer.define(f"getelementptr inbounds {kind}, ptr %array, i64 {inner.counter}")
    update(writer, place, dtype, scatter.operation, [read(writer, source, dtype)])
    writer.close_loop(inner, module.small_loop(vectorise=True))
    writer.close_loop(outer, module.small_loop(vectorise=True))
    writer.emit("ret void")
    parameters = "ptr noalias noundef %array, ptr noalias noundef %copies, i64 noundef %groups, i64 noundef %pitch"
    return writer.text(f"define internal void @{name}({parameters}, i64 noundef %elements) {OUTLINED}")
