"""Parallel sections: each is a function, and the runtime runs them as the units of a task.

A section takes the argument block, the context and the values that it reads of the entry from a frame shared by all of them.
Its serial code is inline, and its tasks run through the runtime, as those of the entry do.
"""

from __future__ import annotations

from collections.abc import Callable

from samovar.backends.llvm.control import region
from samovar.backends.llvm.denormals import around
from samovar.backends.llvm.module import AS_WRITTEN, OUTLINED, PLAIN, Module
from samovar.backends.llvm.tasks import launch
from samovar.backends.llvm.types import memory_type
from samovar.backends.llvm.writer import BlockWriter, Writer
from samovar.ir import FRAME_SLOT, Kernel, Local, Parameter, Section, Sections, Task, Value, dtype_of

#: The slots of the frame: the argument block, the context, then the values that sections read of the entry.
BLOCK, CONTEXT, VALUES = 0, 1, 2


class Frame:
    """The values that sections read of the entry: a slot each. `fill` is what the entry stores there."""

    def __init__(self) -> None:
        self.slots: dict[Value | Local, int] = {}
        self.fill: list[Callable[[], tuple[str, str]]] = []

    def slot(self, of: Value | Local, fill: Callable[[], tuple[str, str]]) -> int:
        """The offset of a slot in bytes, allocated on first use."""
        if of not in self.slots:
            self.slots[of] = VALUES + len(self.fill)
            self.fill.append(fill)
        return FRAME_SLOT * self.slots[of]


class SectionWriter(BlockWriter):
    """The function of one section. `entry` is the writer of the enclosing code."""

    def __init__(self, module: Module, kernel: Kernel, entry: Writer, offsets: dict[Value, int], frame: Frame) -> None:
        super().__init__(module, kernel, offsets)
        self.entry = entry
        self.frame = frame
        self.prologue += [
            "  %block = load ptr, ptr %frame",
            f"  %context.at = getelementptr inbounds i8, ptr %frame, i64 {FRAME_SLOT * CONTEXT}",
            "  %context = load ptr, ptr %context.at",
        ]

    def outside(self, value: Value) -> str:
        if isinstance(value, Parameter):
            return super().outside(value)
        dtype = dtype_of(value)
        slot = self.frame.slot(value, lambda: self.entry.stored(self.entry.value(value), dtype))
        name = self.values[value] = self.early_number("%frame", slot, dtype, "v")
        return name

    def outside_local(self, local: Local) -> str:
        kind = memory_type(local.type)
        slot = self.frame.slot(local, lambda: (kind, self.entry.define(f"load {kind}, ptr {self.entry.local(local)}")))
        value = self.early_load("%frame", slot, kind, "v")
        self.declare_local(local)
        self.prologue.append(f"  store {kind} {value}, ptr {self.slots[local]}")
        return self.slots[local]

    def launch(self, task: Task) -> None:
        launch(self, task, self.kernel.task_name(task), self.offsets)


def run_sections(entry: Writer, kernel: Kernel, offsets: dict[Value, int], sections: Sections) -> None:
    """Render sections, and in the entry the code that runs them."""
    module, frame = entry.module, Frame()
    name = module.function_name(f"{kernel.name}.sections")
    calls: list[str] = []
    for position, part in enumerate(sections.parts):
        own = module.function_name(f"{name}.{position}")
        _render(SectionWriter(module, kernel, entry, offsets, frame), part, own)
        calls.append(own)
    module.definitions.append(_chosen(name, calls))
    memory = entry.define_early(f"alloca [{VALUES + len(frame.fill)} x i64]", "frame")
    _store(entry, memory, BLOCK, "ptr", "%block")
    _store(entry, memory, CONTEXT, "ptr", entry.context())
    for slot, fill in enumerate(frame.fill, VALUES):
        _store(entry, memory, slot, *fill())
    failed = entry.runtime("sv_sections", str(sections.number), f"@{name}", memory, str(len(calls)))
    entry.leave_if(entry.define(f"icmp ne i32 {failed}, 0"))


def _store(entry: Writer, frame: str, slot: int, kind: str, value: str) -> None:
    place = entry.define(f"getelementptr inbounds i8, ptr {frame}, i64 {FRAME_SLOT * slot}")
    entry.emit(f"store {kind} {value}, ptr {place}")


def _render(writer: SectionWriter, part: Section, name: str) -> None:
    for local in part.locals:
        writer.declare_local(local)
    region(writer, part.body)
    if not writer.terminated:
        writer.emit("ret void")
    module = writer.module
    if not module.program.flush_denormals:
        module.definitions.append(writer.text(f"define internal void @{name}(ptr noundef %frame) noinline {PLAIN}"))
        return
    module.definitions.append(writer.text(f"define internal void @{name}.flushed(ptr noundef %frame) {OUTLINED}"))
    call = around(module, [f"  call void @{name}.flushed(ptr %frame)"])
    lines = [f"define internal void @{name}(ptr noundef %frame) {AS_WRITTEN} {{", *call, "  ret void", "}\n"]
    module.definitions.append("\n".join(lines))


def _chosen(name: str, calls: list[str]) -> str:
    """The function that the runtime calls: runs a range of sections by number."""
    cases = " ".join(f"i64 {number}, label %section.{number}" for number in range(len(calls)))
    lines = [
        f"define internal void @{name}(ptr noundef %frame, i64 noundef %begin, i64 noundef %end) {AS_WRITTEN} {{",
        "entry:",
        "  br label %head",
        "head:",
        "  %number = phi i64 [ %begin, %entry ], [ %next, %latch ]",
        "  %more = icmp slt i64 %number, %end",
        "  br i1 %more, label %choose, label %done",
        "choose:",
        f"  switch i64 %number, label %latch [ {cases} ]",
    ]
    for number, each in enumerate(calls):
        lines += [f"section.{number}:", f"  call void @{each}(ptr %frame)", "  br label %latch"]
    lines += ["latch:", "  %next = add nsw i64 %number, 1", "  br label %head", "done:", "  ret void", "}\n"]
    return "\n".join(lines)
