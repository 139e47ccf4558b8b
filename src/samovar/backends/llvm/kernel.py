"""A kernel as an LLVM module, or as one for each of its units: `render` is the whole step from IR to text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from samovar.backends.llvm.control import region
from samovar.backends.llvm.denormals import around
from samovar.backends.llvm.forms import first_line
from samovar.backends.llvm.functions import Copy, render_copy, render_function
from samovar.backends.llvm.indices import address as element_address
from samovar.backends.llvm.memory import read, write
from samovar.backends.llvm.module import (
    AS_WRITTEN,
    BOOLEAN,
    EXTENT,
    OUTLINED,
    PLAIN,
    UNIT,
    WIDE_EXTENT,
    Callee,
    Module,
    Program,
)
from samovar.backends.llvm.sections import run_sections
from samovar.backends.llvm.target import Target, host_target
from samovar.backends.llvm.tasks import launch
from samovar.backends.llvm.types import memory_type
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.backends.protocol import Rendered, RenderOptions, Unit
from samovar.ir import (
    ENTRY,
    PLAIN_LOOP,
    Array,
    Constant,
    Function,
    Kernel,
    LocalArray,
    Operation,
    Parameter,
    Sections,
    Task,
    Value,
    layout_of,
    outlined,
    part_offset,
    serial,
    walk,
    walk_kernel,
)

#: An entry of more operations is worth optimising: it may compute something.
GLUE_OPERATIONS = 40
#: Results that lie together in memory are given by a loop from this many on.
SHORTEST_RUN = 16


class EntryWriter(Writer):
    """The entry: serial code inline, tasks by way of the runtime."""

    def __init__(self, module: Module, kernel: Kernel) -> None:
        super().__init__(module)
        self.kernel = kernel
        self.runs_once = True
        layout = layout_of(kernel)
        self.results = layout.results
        self.offsets = layout.parameters

    def _from_block(self, kind: str, place: int, wanted: str, metadata: str = "") -> str:
        address = self.define_early(f"getelementptr inbounds i8, ptr %block, i64 {place}", "at") if place else "%block"
        return self.define_early(f"load {kind}, ptr {address}{metadata}", wanted)

    def outside(self, value: Value) -> str:
        if not isinstance(value, Parameter):
            raise LookupError("a kernel uses a value before it is computed")
        dtype = dtype_of(value)
        boolean = dtype.kind == "bool"
        name = self._from_block(memory_type(dtype), self.offsets[value], value.name, BOOLEAN if boolean else "")
        if boolean:
            name = self.define_early(f"icmp ne i8 {name}, 0", value.name)
        self.values[value] = name
        return name

    def array_part(self, array: Array, part: str, axis: int) -> str:
        offset = self.offsets[array] + part_offset(array, part, axis)
        metadata = "" if part != "extent" else WIDE_EXTENT if array.wide else EXTENT
        return self._from_block("ptr" if part == "pointer" else "i64", offset, array.name, metadata)

    def context(self) -> str:
        return "%context"

    def leave(self) -> str:
        return "ret i32 1"

    def give(self, operation: Operation) -> None:
        values, at = operation.operands, 0
        fresh = _read_last(self.kernel)
        while at < len(values):
            length = _run_in_memory(values, at, fresh)
            address = self.define(f"getelementptr inbounds i8, ptr %block, i64 {self.results[at]}")
            if length >= SHORTEST_RUN:
                self._give_from_memory(address, values[at], length)
            else:
                length = 1
                write(self, address, self.kernel.returns[at], self.value(values[at]))
            at += length
        self.emit("ret i32 0")

    def _give_from_memory(self, address: str, first: Value, length: int) -> None:
        """Results that follow each other in a local array, by a loop: one by one, many of them take long to compile."""
        assert isinstance(first, Operation)
        array: LocalArray = first.payload
        begin = element_address(self, array, first.operands)
        loop = self.open_loop("result", "0", str(length))
        source = self.define(f"getelementptr inbounds {memory_type(array.dtype)}, ptr {begin}, i64 {loop.counter}")
        slot = self.results[1] - self.results[0]
        place = self.define(f"getelementptr inbounds [{slot} x i8], ptr {address}, i64 {loop.counter}")
        write(self, place, array.dtype, read(self, source, array.dtype))
        self.close_loop(loop, PLAIN_LOOP)

    def launch(self, task: Task) -> None:
        launch(self, task, self.kernel.task_name(task), self.offsets)

    def sections(self, sections: Sections) -> None:
        run_sections(self, self.kernel, self.offsets, sections)


def _read_last(kernel: Kernel) -> set[Value]:
    """What is read from memory after everything else that a kernel does."""
    found: set[Value] = set()
    for operation in reversed(kernel.body.operations[:-1]):
        if operation.code != "load":
            break
        found.add(operation)
    return found


def _run_in_memory(values: Sequence[Value], begin: int, fresh: set[Value]) -> int:
    """How many values from one on are elements of one local array that follow each other there."""
    position, array = 0, None
    for length, value in enumerate(values[begin:]):
        if value not in fresh or not isinstance(value, Operation) or not isinstance(value.payload, LocalArray):
            return length
        if not all(isinstance(index, Constant) for index in value.operands):
            return length
        at = 0
        for index, extent in zip(value.operands, value.payload.shape, strict=True):
            at = at * extent + (int(index.value) if isinstance(index, Constant) else 0)
        if length and (value.payload is not array or at != position + 1):
            return length
        position, array = at, value.payload
    return len(values) - begin


def _is_glue(kernel: Kernel) -> bool:
    """Whether the entry only prepares and starts tasks: a few operations in a row, with nothing for LLVM to improve."""
    steps = kernel.body.operations
    return len(steps) <= GLUE_OPERATIONS and not any(
        each.code in ("if", "for", "while", "call", "sections", "reserve") for each in steps
    )


def _in_entry(kernel: Kernel, has_units: bool) -> Iterator[Operation]:
    """The operations that are rendered with the entry: serial code and tasks, and all functions of a kernel in one piece."""
    if not has_units:
        yield from walk_kernel(kernel)
        return
    for operation in serial(kernel):
        yield operation
        if isinstance(operation, Task) and not operation.separate:
            yield from walk(operation.body)


def render(
    kernel: Kernel, options: RenderOptions, whole: bool = False, target: Target | None = None
) -> Rendered:
    """LLVM text of a kernel, whose loops are outlined, for a target. The same IR gives the same text."""
    has_units = not whole and (
        any(function.separate for function in kernel.functions) or any(task.separate for task in outlined(kernel))
    )

    copies: dict[Function, Copy] = {}

    def in_module(module: Module, function: Function) -> Callee:
        prefix = kernel.name if module.is_entry else "func"
        name = module.function_name(f"{prefix}.{function.name}")
        known = copies.get(function)
        if known is None or known.callee.name != name:
            known = render_copy(module, function, name)
            if known.is_whole:
                copies[function] = known
        else:
            known.put(module)
        return known.callee

    effort, flushes = options.opt_level, options.flush_denormals
    program = Program(
        kernel, target or host_target(), options.fast_math, effort, in_module, has_units, flushes, options.without
    )
    if has_units:
        for function in kernel.functions:
            if function.separate:
                module = program.module(walk(function.body))
                callee = render_function(module, function, UNIT, is_unit=True)
                number = program.add(f"{kernel.name}.{function.name}", module, worth=1 if function.runs_once else 2)
                program.functions[function] = number, callee
    module = program.module(_in_entry(kernel, has_units), is_entry=True)
    module.names.add(ENTRY)
    if not has_units:
        for function in kernel.functions:
            module.callee(function)
    entry = EntryWriter(module, kernel)
    for local in kernel.locals:
        entry.declare_local(local)
    region(entry, kernel.body)
    if not entry.terminated:
        entry.emit("ret i32 0" if not kernel.returns else "unreachable")
    facts = AS_WRITTEN if _is_glue(kernel) else PLAIN
    parameters = "ptr noalias noundef %context, ptr noundef %block"
    if options.flush_denormals:
        module.definitions.append(entry.text(f"define internal i32 @{ENTRY}.flushed({parameters}) {OUTLINED}"))
        call = around(module, [f"  %failed = call i32 @{ENTRY}.flushed(ptr %context, ptr %block)"])
        lines = [f"define i32 @{ENTRY}({parameters}) {AS_WRITTEN} {{", *call, "  ret i32 %failed", "}\n"]
        module.definitions.append("\n".join(lines))
    else:
        module.definitions.append(entry.text(f"define i32 @{ENTRY}({parameters}) {facts}"))
    text = first_line(options.opt_level) + module.text()
    if not has_units:
        return Rendered(text, tuple(module.sites))
    units = (Unit(kernel.name, text, tuple(module.sites), tuple(module.used_units)), *program.units)
    sites = tuple(site for unit in units for site in unit.sites)
    return Rendered("\n".join(f"; --- {unit.name}\n{unit.text}" for unit in units), sites, units)
