"""A kernel as an LLVM module: `render` is the whole step from IR to text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from samovar.artifact import Site
from samovar.backends.llvm.control import region
from samovar.backends.llvm.forms import ONLY_PLAIN_LOOPS
from samovar.backends.llvm.functions import render_function
from samovar.backends.llvm.memory import write
from samovar.backends.llvm.module import AS_WRITTEN, BOOLEAN, EXTENT, PLAIN, WIDE_EXTENT, Module
from samovar.backends.llvm.plain import has_only_plain_loops
from samovar.backends.llvm.schedule import GROUP_TIME, Launch
from samovar.backends.llvm.types import memory_type
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir import Array, Kernel, Operation, ParallelFor, Parameter, Value, layout_of, part_offset, walk, walk_kernel
from samovar.passes import Estimator

#: Name of a kernel's entry point, the same in every image.
ENTRY = "samovar_entry"

#: Flags of a task: it prints; its cost is a guess because it contains loops of unknown length; it runs on one thread.
SPEAKS = 1
UNKNOWN_COST = 2
SERIAL = 4


#: An entry of more operations is worth optimising: it may compute something.
GLUE_OPERATIONS = 24

#: Serial code that takes longer (nanoseconds) is slow.
SLOW = 50_000.0


class RenderOptions(Protocol):
    """The options that matter here."""

    @property
    def fast_math(self) -> bool: ...


class RenderedTask(NamedTuple):
    """What the launcher knows of a task: a name, nanoseconds per iteration (an estimate), flags."""

    name: str
    cost: float
    flags: int


@dataclass(frozen=True)
class Rendered:
    """A kernel as LLVM text, and what the launcher needs to know beside it.

    `sites` are numbered as the generated code numbers them. `slow_serial`: code outside the tasks may run long.
    """

    text: str
    sites: tuple[Site, ...]
    tasks: tuple[RenderedTask, ...]
    slow_serial: bool


class EntryWriter(Writer):
    """The entry: serial code inline, tasks by way of the runtime."""

    def __init__(self, module: Module, kernel: Kernel, estimator: Estimator) -> None:
        super().__init__(module)
        self.kernel = kernel
        self.estimator = estimator
        layout = layout_of(kernel)
        self.results = layout.results
        self.offsets = layout.parameters
        self.tasks: list[RenderedTask] = []

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

    def parallel(self, task: ParallelFor) -> None:
        cost = self.estimator.region(task.body)
        speaks = any(operation.code == "print" or self._calls_printer(operation) for operation in walk(task.body))
        flags = (SPEAKS if speaks else 0) | (UNKNOWN_COST if cost.unknown else 0) | (SERIAL if task.watched else 0)
        name = f"{self.kernel.name}.{task.name}"
        grain = min(14, max(4, math.ceil(math.log2(GROUP_TIME / max(cost.nanoseconds, 0.1)))))
        Launch(self, task, len(self.tasks), name, self.offsets, grain).render()
        self.tasks.append(RenderedTask(name, cost.nanoseconds, flags))

    def _calls_printer(self, operation: Operation) -> bool:
        return operation.code == "call" and operation.payload in self.estimator.printers


def _is_glue(kernel: Kernel) -> bool:
    """Whether the entry only prepares and starts tasks: a few operations in a row, with nothing for LLVM to improve."""
    steps = kernel.body.operations
    for operation in steps:
        if isinstance(operation, ParallelFor):
            if operation.reductions or operation.scatters:
                return False
        elif operation.code in ("if", "for", "while", "call"):
            return False
    return len(steps) <= GLUE_OPERATIONS


def _roots_are_reciprocal(kernel: Kernel) -> bool:
    codes = {operation.code for operation in walk_kernel(kernel)}
    # LLVM makes roots of some powers.
    return "rsqrt" in codes and not codes & {"sqrt", "pow"}


def render(kernel: Kernel, options: RenderOptions) -> Rendered:
    """LLVM text of a kernel. The same IR gives the same text."""
    fast = options.fast_math
    module = Module(kernel, fast_math=fast, estimate_roots=fast and _roots_are_reciprocal(kernel))
    estimator = Estimator()
    for function in kernel.functions:
        estimator.function(function)
        render_function(module, function, kernel.name)
    module.names.add(ENTRY)
    entry = EntryWriter(module, kernel, estimator)
    for local in kernel.locals:
        entry.declare_local(local)
    region(entry, kernel.body)
    if not entry.terminated:
        entry.emit("ret i32 0" if not kernel.returns else "unreachable")
    facts = AS_WRITTEN if _is_glue(kernel) else PLAIN
    module.definitions.append(entry.text(f"define i32 @{ENTRY}(ptr noalias noundef %context, ptr noundef %block) {facts}"))
    serial = estimator.region(kernel.body, skip_tasks=True)
    slow = serial.unknown or serial.nanoseconds > SLOW
    text = (ONLY_PLAIN_LOOPS if has_only_plain_loops(kernel) else "") + module.text()
    return Rendered(text, tuple(module.sites), tuple(entry.tasks), slow)
