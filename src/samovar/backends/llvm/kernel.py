"""A kernel as an LLVM module: `render` is the whole step from IR to text."""

from __future__ import annotations

from samovar.backends.llvm.control import region
from samovar.backends.llvm.forms import ONLY_PLAIN_LOOPS
from samovar.backends.llvm.functions import render_function
from samovar.backends.llvm.memory import write
from samovar.backends.llvm.module import AS_WRITTEN, BOOLEAN, EXTENT, PLAIN, WIDE_EXTENT, Module
from samovar.backends.llvm.schedule import Launch
from samovar.backends.llvm.sections import run_sections
from samovar.backends.llvm.types import memory_type
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.backends.protocol import Rendered, RenderOptions
from samovar.ir import (
    ENTRY,
    Array,
    Kernel,
    Operation,
    Parameter,
    Sections,
    Task,
    Value,
    layout_of,
    part_offset,
    serial,
    walk_kernel,
)

#: An entry of more operations is worth optimising: it may compute something.
GLUE_OPERATIONS = 24


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
        for place, dtype, value in zip(self.results, self.kernel.returns, operation.operands, strict=True):
            address = self.define(f"getelementptr inbounds i8, ptr %block, i64 {place}")
            write(self, address, dtype, self.value(value))
        self.emit("ret i32 0")

    def launch(self, task: Task) -> None:
        Launch(self, task, self.kernel.task_name(task), self.offsets).render()

    def sections(self, sections: Sections) -> None:
        run_sections(self, self.kernel, self.offsets, sections)


def _is_glue(kernel: Kernel) -> bool:
    """Whether the entry only prepares and starts tasks: a few operations in a row, with nothing for LLVM to improve."""
    steps = kernel.body.operations
    for operation in steps:
        if isinstance(operation, Task):
            if operation.reductions or operation.scatters:
                return False
        elif operation.code in ("if", "for", "while", "call", "sections"):
            return False
    return len(steps) <= GLUE_OPERATIONS


def _has_only_plain_loops(kernel: Kernel) -> bool:
    """Whether all loops of a kernel are plain; what is repeated inside one does not count, because LLVM unrolls it."""
    found = False
    for operation in serial(kernel):
        if isinstance(operation, Task):
            found = True
            if operation.plan.plain is None:
                return False
        elif operation.code in ("for", "while", "call", "sections"):
            return False
    return found


def _roots_are_reciprocal(kernel: Kernel) -> bool:
    codes = {operation.code for operation in walk_kernel(kernel)}
    # LLVM makes roots of some powers.
    return "rsqrt" in codes and not codes & {"sqrt", "pow"}


def render(kernel: Kernel, options: RenderOptions) -> Rendered:
    """LLVM text of a kernel, whose loops are outlined. The same IR gives the same text."""
    fast = options.fast_math
    module = Module(kernel, fast_math=fast, estimate_roots=fast and _roots_are_reciprocal(kernel))
    for function in kernel.functions:
        render_function(module, function, kernel.name)
    module.names.add(ENTRY)
    entry = EntryWriter(module, kernel)
    for local in kernel.locals:
        entry.declare_local(local)
    region(entry, kernel.body)
    if not entry.terminated:
        entry.emit("ret i32 0" if not kernel.returns else "unreachable")
    facts = AS_WRITTEN if _is_glue(kernel) else PLAIN
    module.definitions.append(entry.text(f"define i32 @{ENTRY}(ptr noalias noundef %context, ptr noundef %block) {facts}"))
    text = (ONLY_PLAIN_LOOPS if _has_only_plain_loops(kernel) else "") + module.text()
    return Rendered(text, tuple(module.sites))
