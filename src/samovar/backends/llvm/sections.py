"""Sections side by side: each is a function, and the runtime runs them as the units of a task.

A section takes the argument block, the context and what it reads of the entry from a frame that all of them share. Serial
code in it is inline, and its tasks go by way of the runtime, as those of the entry do.
"""

from __future__ import annotations

from collections.abc import Callable

from samovar._native import DType
from samovar.backends.llvm.control import region
from samovar.backends.llvm.denormals import around
from samovar.backends.llvm.effects import leave_if
from samovar.backends.llvm.module import AS_WRITTEN, OUTLINED, PLAIN, Module
from samovar.backends.llvm.tasks import launch
from samovar.backends.llvm.types import memory_type
from samovar.backends.llvm.writer import Writer, dtype_of
from samovar.ir import FRAME_SLOT, Array, Kernel, Local, Operation, Parameter, Section, Sections, Task, Value, part_offset

#: In the frame: the argument block, the context, then what sections read of the entry.
BLOCK, CONTEXT, VALUES = 0, 1, 2


class Frame:
    """What sections read of the entry: a slot each. `fill` is what the entry stores there."""

    def __init__(self) -> None:
        self.slots: dict[Value | Local, int] = {}
        self.fill: list[Callable[[], tuple[str, str]]] = []

    def slot(self, of: Value | Local, fill: Callable[[], tuple[str, str]]) -> int:
        """The slot of something, in bytes from the beginning."""
        if of not in self.slots:
            self.slots[of] = VALUES + len(self.fill)
            self.fill.append(fill)
        return FRAME_SLOT * self.slots[of]


class SectionWriter(Writer):
    """The function of one section. `entry` is the writer of what is around it."""

    def __init__(self, module: Module, kernel: Kernel, entry: Writer, offsets: dict[Value, int], frame: Frame) -> None:
        super().__init__(module)
        self.kernel = kernel
        self.runs_once = True
        self.entry = entry
        self.offsets = offsets
        self.frame = frame
        self.prologue += [
            "  %block = load ptr, ptr %frame",
            f"  %context.at = getelementptr inbounds i8, ptr %frame, i64 {FRAME_SLOT * CONTEXT}",
            "  %context = load ptr, ptr %context.at",
        ]

    def _early(self, base: str, place: int, dtype: DType, wanted: str) -> str:
        address = self.define_early(f"getelementptr inbounds i8, ptr {base}, i64 {place}", "at")
        name = self.define_early(f"load {memory_type(dtype)}, ptr {address}", wanted)
        return self.define_early(f"icmp ne i8 {name}, 0", wanted) if dtype.kind == "bool" else name

    def outside(self, value: Value) -> str:
        dtype = dtype_of(value)
        if isinstance(value, Parameter):
            name = self._early("%block", self.offsets[value], dtype, value.name)
        else:
            slot = self.frame.slot(value, lambda: self.entry.stored(self.entry.value(value), dtype))
            name = self._early("%frame", slot, dtype, "v")
        self.values[value] = name
        return name

    def outside_local(self, local: Local) -> str:
        kind = memory_type(local.type)
        slot = self.frame.slot(local, lambda: (kind, self.entry.define(f"load {kind}, ptr {self.entry.local(local)}")))
        address = self.define_early(f"getelementptr inbounds i8, ptr %frame, i64 {slot}", "at")
        value = self.define_early(f"load {kind}, ptr {address}", "v")
        self.declare_local(local)
        self.prologue.append(f"  store {kind} {value}, ptr {self.slots[local]}")
        return self.slots[local]

    def array_part(self, array: Array, part: str, axis: int) -> str:
        place = self.offsets[array] + part_offset(array, part, axis)
        address = self.define_early(f"getelementptr inbounds i8, ptr %block, i64 {place}", "at")
        return self.define_early(f"load {'ptr' if part == 'pointer' else 'i64'}, ptr {address}", array.name)

    def context(self) -> str:
        return "%context"

    def leave(self) -> str:
        return "ret void"

    def give(self, operation: Operation) -> None:
        raise AssertionError("return inside a section")

    def launch(self, task: Task) -> None:
        launch(self, task, self.kernel.task_name(task), self.offsets)


def run_sections(entry: Writer, kernel: Kernel, offsets: dict[Value, int], sections: Sections) -> None:
    """Render sections, and in the entry what runs them."""
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
    module.runtime("sv_sections")
    failed = entry.define(
        f"call i32 @sv_sections(ptr {entry.context()}, i32 {sections.number}, ptr @{name}, ptr {memory}, i64 {len(calls)})"
    )
    leave_if(entry, entry.define(f"icmp ne i32 {failed}, 0"))


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
    """What the runtime calls: a range of sections by their numbers."""
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
