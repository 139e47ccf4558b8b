"""A kernel as an LLVM module, or as one per compile unit: `render` is the whole step from IR to text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from samovar.backends.llvm.control import region
from samovar.backends.llvm.denormals import around
from samovar.backends.llvm.effort import first_line
from samovar.backends.llvm.functions import Copy, render_copy, render_function
from samovar.backends.llvm.indices import address as element_address
from samovar.backends.llvm.memory import read, write
from samovar.backends.llvm.module import AS_WRITTEN, OUTLINED, PLAIN, Callee, Module, Program
from samovar.backends.llvm.sections import run_sections
from samovar.backends.llvm.target import Target, chosen_target
from samovar.backends.llvm.tasks import launch
from samovar.backends.llvm.types import memory_type
from samovar.backends.llvm.writer import BlockWriter
from samovar.backends.protocol import UNIT, Rendered, RenderOptions, Unit
from samovar.ir import (
    ENTRY,
    PLAIN_LOOP,
    Constant,
    Function,
    Kernel,
    LocalArray,
    Operation,
    Sections,
    Task,
    Value,
    layout_of,
    memory,
    outlined,
    serial,
    walk,
    walk_kernel,
)

#: An entry with more operations is worth optimizing: it may compute something.
GLUE_OPERATIONS = 40
#: Contiguous results are stored by a loop from this many on.
SHORTEST_RUN = 16
#: The maximum number of arrays of serial code with alias metadata: each one names all others.
MOST_SCOPES = 64


class EntryWriter(BlockWriter):
    """The entry point: serial code inline, tasks through the runtime."""

    def __init__(self, module: Module, kernel: Kernel) -> None:
        layout = layout_of(kernel)
        super().__init__(module, kernel, layout.parameters)
        self.results = layout.results
        # Pointers loaded from the block cannot be `noalias`.
        touched = {memory(each): None for each in serial(kernel.body)}
        if len(touched) <= MOST_SCOPES:
            written = {memory(each) for each in serial(kernel.body) if each.code != "load"}
            self.aliases = module.alias_scopes(touched, written)

    def leave(self) -> str:
        return "ret i32 1"

    def give(self, operation: Operation) -> None:
        values, at = operation.operands, 0
        places = _places(self.kernel, values)
        while at < len(values):
            length, place = 1, places[at]
            while place is not None and at + length < len(values) and places[at + length] == (place[0], place[1] + length):
                length += 1
            address = self.define(f"getelementptr inbounds i8, ptr %block, i64 {self.results[at]}")
            if length >= SHORTEST_RUN:
                self._give_from_memory(address, values[at], length)
            else:
                length = 1
                write(self, address, self.kernel.returns[at], self.value(values[at]))
            at += length
        self.emit("ret i32 0")

    def _give_from_memory(self, address: str, first: Value, length: int) -> None:
        """Store contiguous results from a local array by a loop: many single stores take long to compile."""
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


def _places(kernel: Kernel, values: Sequence[Value]) -> list[tuple[LocalArray, int] | None]:
    """The elements of local arrays, by array and number, that values are loaded from at the very end of a kernel; None for
    other values."""
    fresh = set(takewhile(lambda each: each.code == "load", reversed(kernel.body.operations[:-1])))
    return [_place(value) if value in fresh else None for value in values]


def _place(value: Value) -> tuple[LocalArray, int] | None:
    if not isinstance(value, Operation) or not isinstance(value.payload, LocalArray):
        return None
    at = 0
    for index, extent in zip(value.operands, value.payload.shape, strict=True):
        if not isinstance(index, Constant):
            return None
        at = at * extent + int(index.value)
    return value.payload, at


def _is_glue(kernel: Kernel) -> bool:
    """Whether the entry only prepares and starts tasks: a few operations in sequence, with nothing for LLVM to improve."""
    steps = kernel.body.operations
    return len(steps) <= GLUE_OPERATIONS and not any(
        each.code in ("if", "for", "while", "call", "sections", "reserve") for each in steps
    )


def _in_entry(kernel: Kernel, has_units: bool) -> Iterator[Operation]:
    """The operations rendered with the entry: serial code and tasks, and without units all functions of a kernel."""
    if not has_units:
        yield from walk_kernel(kernel)
        return
    for operation in serial(kernel.body):
        yield operation
        if isinstance(operation, Task) and not operation.separate:
            yield from walk(operation.body)


def render(
    kernel: Kernel, options: RenderOptions, whole: bool = False, target: Target | None = None, marks_lines: bool = False
) -> Rendered:
    """The LLVM text of a kernel with outlined loops, for a target. The same IR gives the same text. `marks_lines` is for
    `samovar.backends.llvm.source_lines`."""
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
        kernel, target or chosen_target(), options.fast_math, effort, in_module, has_units, flushes, options.without,
        marks_lines,
    )  # fmt: skip
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
