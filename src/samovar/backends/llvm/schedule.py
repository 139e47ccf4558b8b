"""The entry's side of a task: how many units there are, running them, and putting partial results together.

Sizes of groups are powers of two that depend on the number of iterations only, never on the number of threads: a float sum
comes out the same on every machine. No division happens for a loop of one axis.
"""

from __future__ import annotations

from dataclasses import dataclass

from samovar.backends.llvm.indices import address, index, widened
from samovar.backends.llvm.memory import read, update, write
from samovar.backends.llvm.module import OUTLINED, UNLIKELY, Module
from samovar.backends.llvm.operations import combine, convert
from samovar.backends.llvm.tasks import TaskWriter, accumulator_type, identity, shape_of
from samovar.backends.llvm.types import memory_type
from samovar.backends.llvm.writer import HelperWriter, Writer
from samovar.ir import Array, Local, ParallelFor, Reduction, Scatter, Value

#: Most groups of a task with partial results, as a power of two.
GROUPS_LOG2 = 7
#: A group is worth about this long, in nanoseconds.
GROUP_TIME = 2000.0
#: Private copies are for arrays of at most this many elements, visited at least this often on average.
COPY_ELEMENTS = 65536
VISITS_LOG2 = 2
#: Rows of a nest are cut into parts where there are fewer rows than this; a part is a multiple of as many elements.
FEW_ROWS = 64


@dataclass(frozen=True)
class Units:
    """What there is to do, before grouping: `count` units of `items` iterations each, as LLVM values."""

    count: str
    items: str


def _length(entry: Writer, begin: Value, end: Value) -> str:
    low, high = widened(entry, begin), widened(entry, end)
    if low.lstrip("-").isdigit() and high.lstrip("-").isdigit():
        return str(max(0, int(high) - int(low)))
    some = entry.define(f"icmp slt i64 {low}, {high}")
    length = entry.define(f"sub i64 {high}, {low}") if low != "0" else high
    return entry.define(f"select i1 {some}, i64 {length}, i64 0")


def units_of(entry: Writer, task: ParallelFor, named: dict[str, str]) -> Units:
    """Count the units of a task; `named` gets what the body wants to know."""
    shape = shape_of(task)
    inner = shape.inner_iterations
    lengths = [_length(entry, begin, end) for _, begin, end in shape.dealt]
    if shape.flat:
        return Units(lengths[0], str(inner)) if inner else Units("0", "0")
    *outer, last = lengths
    rows = outer[0]
    for length in outer[1:]:
        rows = entry.define(f"mul i64 {rows}, {length}")
    empty = entry.define(f"icmp eq i64 {last}, 0")
    rows = entry.define(f"select i1 {empty}, i64 0, i64 {rows}")
    # Few long rows are cut, so that there is something to deal out. The divisions are off the path of everything else.
    before, cut, whole = entry.block, entry.label("cut"), entry.label("whole")
    few = entry.define(f"icmp ult i64 {rows}, {FEW_ROWS}")
    long = entry.define(f"icmp ugt i64 {last}, {FEW_ROWS}")
    any_rows = entry.define(f"icmp ne i64 {rows}, 0")
    wanted = entry.define(f"and i1 {few}, {long}")
    wanted = entry.define(f"and i1 {wanted}, {any_rows}")
    entry.branch(wanted, cut, whole)
    entry.start(cut)
    pieces = entry.define(f"udiv i64 {FEW_ROWS}, {rows}")
    piece = entry.define(f"udiv i64 {last}, {entry.define(f'add i64 {pieces}, 1')}")
    piece = entry.define(f"add i64 {piece}, {FEW_ROWS}")
    piece = entry.define(f"and i64 {piece}, {-FEW_ROWS}")
    rounded = entry.define(f"add i64 {last}, {entry.define(f'sub i64 {piece}, 1')}")
    count = entry.define(f"udiv i64 {rounded}, {piece}")
    entry.jump(whole)
    entry.start(whole)
    named["parts"] = entry.define(f"phi i64 [ 1, %{before} ], [ {count}, %{cut} ]")
    named["length"] = entry.define(f"phi i64 [ {last}, %{before} ], [ {piece}, %{cut} ]")
    total = entry.define(f"mul i64 {rows}, {named['parts']}")
    items = entry.define(f"mul i64 {named['length']}, {inner}") if inner != 1 else named["length"]
    return Units(total, items)


def _log2_at_least(entry: Writer, value: str) -> str:
    """The least k with 2^k >= value, for value >= 1."""
    entry.module.declare("llvm.ctlz.i64", "declare i64 @llvm.ctlz.i64(i64, i1)")
    less = entry.define(f"sub i64 {value}, 1")
    zeros = entry.define(f"call i64 @llvm.ctlz.i64(i64 {less}, i1 false)")
    return entry.define(f"sub i64 64, {zeros}")


def _larger(entry: Writer, a: str, b: str) -> str:
    entry.module.declare("llvm.smax.i64", "declare i64 @llvm.smax.i64(i64, i64)")
    return entry.define(f"call i64 @llvm.smax.i64(i64 {a}, i64 {b})")


def _items_log2(entry: Writer, items: str, least_items: str) -> str:
    """The shift that makes a group of units reach 2^least_items iterations."""
    if items == "1":
        return least_items
    known = _log2_at_least(entry, _larger(entry, items, "1"))
    return entry.define(f"sub i64 {least_items}, {known}")


def group(entry: Writer, units: Units, least_items: str, named: dict[str, str]) -> Units:
    """Put units into at most 2^GROUPS_LOG2 groups of at least 2^least_items iterations."""
    by_count = entry.define(f"sub i64 {_log2_at_least(entry, _larger(entry, units.count, '1'))}, {GROUPS_LOG2}")
    shift = _larger(entry, _larger(entry, by_count, _items_log2(entry, units.items, least_items)), "0")
    named["shift"], named["total"] = shift, units.count
    size = entry.define(f"shl i64 1, {shift}")
    rounded = entry.define(f"add i64 {units.count}, {entry.define(f'sub i64 {size}, 1')}")
    return Units(entry.define(f"lshr i64 {rounded}, {shift}"), entry.define(f"mul i64 {units.items}, {size}"))


def blocks(entry: Writer, task: ParallelFor, units: Units, named: dict[str, str]) -> Units:
    """Units of `block_dim` iterations."""
    assert task.block is not None
    named["total"] = units.count
    rounded = entry.define(f"add i64 {units.count}, {task.block - 1}")
    items = entry.define(f"mul i64 {units.items}, {task.block}")
    return Units(entry.define(f"udiv i64 {rounded}, {task.block}"), items)


class Launch:
    """Renders one task in the entry: its functions, its frame, its run, and what follows the run."""

    def __init__(
        self, entry: Writer, task: ParallelFor, number: int, name: str, offsets: dict[Value, int], grain_log2: int
    ) -> None:
        self.entry = entry
        self.task = task
        self.number = number
        self.name = name
        self.offsets = offsets
        self.grain_log2 = grain_log2

    def render(self) -> None:
        entry, task = self.entry, self.task
        if not task.scatters:
            self._run(private=False)
            return
        if not all(scatter.array.contiguous for scatter in task.scatters):
            self._run(private=False)
            return
        units = units_of(entry, task, {})
        iterations = entry.define(f"mul i64 {units.count}, {units.items}")
        elements = self._elements()
        total = elements[0]
        for more in elements[1:]:
            total = entry.define(f"add i64 {total}, {more}")
        small = entry.define(f"icmp ule i64 {total}, {COPY_ELEMENTS}")
        enough = entry.define(f"icmp uge i64 {entry.define(f'lshr i64 {iterations}, {VISITS_LOG2}')}, {total}")
        private, atomic, after = entry.label("private"), entry.label("atomic"), entry.label("after")
        entry.branch(entry.define(f"and i1 {small}, {enough}"), private, atomic)
        entry.start(private)
        self._run(private=True)
        entry.jump(after)
        entry.start(atomic)
        self._run(private=False)
        entry.jump(after)
        entry.start(after)

    def _elements(self) -> list[str]:
        result = []
        for scatter in self.task.scatters:
            count = "1"
            for axis in range(scatter.array.ndim):
                count = self.entry.define(f"mul i64 {count}, {self.entry.extent(scatter.array, axis)}")
            result.append(count)
        return result

    def _run(self, private: bool) -> None:
        entry, task = self.entry, self.task
        module = entry.module
        name = module.function_name(self.name + (".private" if private else ""))
        body = TaskWriter(module, task, entry, self.offsets, private)
        body.render()
        module.definitions.append(body.definitions(name))
        named = body.named
        units = units_of(entry, task, named)
        elements: list[str] = []
        if private:
            elements = self._elements()
            units = self._private_groups(units, elements, named)
        elif task.reductions:
            units = group(entry, units, str(self.grain_log2), named)
        elif task.block is not None and body.shape.flat:
            units = blocks(entry, task, units, named)
        for position, reduction in enumerate(task.reductions):
            kind = memory_type(accumulator_type(reduction.type))
            named[f"partials{position}"] = entry.define_early(f"alloca [{1 << GROUPS_LOG2} x {kind}]", "partials")
        frame = entry.define_early(f"alloca [{body.frame_slots()} x i64]", "frame")
        body.fill_frame(name, frame, "%block")
        module.runtime("sv_run")
        failed = entry.define(
            f"call i32 @sv_run(ptr {entry.context()}, i32 {self.number}, ptr @{body.function(name)}, ptr {frame},"
            f" i64 {units.count}, i64 {units.items})"
        )
        self._leave_if(entry.define(f"icmp ne i32 {failed}, 0"))
        for position, reduction in enumerate(task.reductions):
            self._combine(reduction, named[f"partials{position}"], units.count)
        if private:
            self._merge(units.count, elements, named)

    def _leave_if(self, condition: str) -> None:
        entry = self.entry
        bad, good = entry.label("failed"), entry.label("ran")
        entry.branch(condition, bad, good, UNLIKELY)
        entry.cold += [f"{bad}:", "  " + entry.leave()]
        entry.start(good)

    def _private_groups(self, units: Units, elements: list[str], named: dict[str, str]) -> Units:
        """Groups with private copies, each large enough to be worth its copy; allocates the copies."""
        entry = self.entry
        total = elements[0]
        for more in elements[1:]:
            total = entry.define(f"add i64 {total}, {more}")
        visits = entry.define(f"add i64 {_log2_at_least(entry, _larger(entry, total, '1'))}, {VISITS_LOG2}")
        groups = group(entry, units, _larger(entry, visits, str(self.grain_log2)), named)
        entry.module.runtime("sv_scratch")
        for position, (scatter, count) in enumerate(zip(self.task.scatters, elements, strict=True)):
            # Copies begin on cache lines of their own.
            pitch = entry.define(f"and i64 {entry.define(f'add i64 {count}, 63')}, -64")
            size = entry.define(f"mul i64 {pitch}, {scatter.array.dtype.itemsize}")
            named[f"copies{position}"] = self._scratch(entry.define(f"mul i64 {groups.count}, {size}"))
            named[f"pitch{position}"] = pitch
            named[f"elements{position}"] = count
        return groups

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

    def _combine(self, reduction: Reduction, partials: str, count: str) -> None:
        """Apply the partial results to the target, in order; nothing if there are none or the target does not exist."""
        entry = self.entry
        dtype = accumulator_type(reduction.type)
        kind = memory_type(dtype)
        some, done = entry.label("combine"), entry.label("combined")
        entry.branch(self._exists(reduction, entry.define(f"icmp ne i64 {count}, 0")), some, done)
        entry.start(some)
        total = entry.define_early(f"alloca {kind}", "total")
        write(entry, total, dtype, identity(reduction.operation, dtype))
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
        for position, scatter in enumerate(self.task.scatters):
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
