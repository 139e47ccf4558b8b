"""The driver: what a lens sees → IR → passes → LLVM text → object → image, one step after the other.

The steps know nothing of each other; this file knows their order, times them (`SAMOVAR_LOG=compile`) and writes them out on
request (`SAMOVAR_DUMP_IR=directory`, `sv.init(print_ir=True)`).
"""

from __future__ import annotations

import os
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from samovar import passes
from samovar._native import DType
from samovar.backends import llvm
from samovar.compiler import workers
from samovar.frontend import lower
from samovar.ir.layout import Layout, layout_of
from samovar.ir.printer import print_kernel
from samovar.ir.structure import Kernel, Site
from samovar.lens import Lens, Ref


@dataclass(frozen=True)
class Artifact:
    """A compiled kernel and all that a launch needs to know about it.

    `sources` says where each entry of `kernel.parameters` is read from; `layout` where it goes in the argument block.
    """

    kernel: Kernel
    sources: tuple[Ref, ...]
    layout: Layout
    results: tuple[tuple[DType, int], ...]
    returns_tuple: bool
    image: llvm.ImageParts
    sites: tuple[Site, ...]
    tasks: tuple[tuple[str, float, int], ...]
    slow_serial: bool


@dataclass
class Stages:
    """What each step of a compile made, as text: for people."""

    ir: str = ""
    llvm: str = ""
    seconds: dict[str, float] = field(default_factory=dict)


def compile_kernel(lens: Lens) -> Artifact:
    """Compile the kernel that a lens looks at."""
    clock = Clock(lens.kernel.name)
    kernel, sources, returns_tuple = front(lens, clock)
    rendered = llvm.render(kernel, lens.options)
    clock.lap("render")
    code = workers.optimise(rendered.text, llvm.host_target())
    clock.lap("llvm")
    image = llvm.link(code)
    clock.lap("link")
    dump(kernel, rendered.text)
    clock.report()
    layout = layout_of(kernel)
    return Artifact(
        kernel=kernel,
        sources=sources,
        layout=layout,
        results=tuple(zip(kernel.returns, layout.results, strict=True)),
        returns_tuple=returns_tuple,
        image=image,
        sites=rendered.sites,
        tasks=rendered.tasks,
        slow_serial=rendered.slow_serial,
    )


def inspect_kernel(lens: Lens, stage: str) -> str:
    """One stage of a kernel as text: "ir", "llvm" or "asm". Compiles for the purpose and keeps nothing."""
    kernel, _, _ = front(lens, Clock(lens.kernel.name))
    if stage == "ir":
        return print_kernel(kernel)
    text = llvm.render(kernel, lens.options).text
    return text if stage == "llvm" else llvm.assembly(text, llvm.host_target())


def front(lens: Lens, clock: Clock) -> tuple[Kernel, tuple[Ref, ...], bool]:
    """The steps that are ours: staging and passes."""
    lowered = lower(lens)
    clock.lap("frontend")
    passes.run(lowered.kernel, lens.options)
    clock.lap("passes")
    return lowered.kernel, lowered.sources, lowered.returns_tuple


class Clock:
    """The time of each step, shown on request."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.laps: list[tuple[str, float]] = []
        self.last = time.perf_counter()

    def lap(self, step: str) -> None:
        now = time.perf_counter()
        self.laps.append((step, now - self.last))
        self.last = now

    def report(self) -> None:
        if "compile" not in os.environ.get("SAMOVAR_LOG", "").split(","):
            return
        total = sum(seconds for _, seconds in self.laps)
        steps = "  ".join(f"{step} {seconds * 1e3:.2f}" for step, seconds in self.laps)
        print(f"samovar: compiled {self.name} in {total * 1e3:.2f} ms: {steps}", file=sys.stderr)


def dump(kernel: Kernel, text: str) -> None:
    """Write the IR and the LLVM text of a kernel, and the IR of each of its tasks, where `SAMOVAR_DUMP_IR` says."""
    directory = os.environ.get("SAMOVAR_DUMP_IR")
    if not directory:
        return
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"\W", "_", kernel.name)
    printed = print_kernel(kernel)
    (folder / f"{stem}.ir").write_text(printed)
    (folder / f"{stem}.ll").write_text(text)
