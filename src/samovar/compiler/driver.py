"""The driver: what a lens sees → IR → passes → LLVM text → object → image, one step after the other.

The steps know nothing of each other; this file knows their order, times them (`SAMOVAR_LOG=compile`) and writes them out on
request (`SAMOVAR_DUMP_IR=directory`, `sv.init(print_ir=True)`).
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samovar import passes
from samovar._native import DType
from samovar.backends import llvm
from samovar.compiler import workers
from samovar.errors import SamovarCompilationError
from samovar.fingerprint import CachedStep, stable_fingerprinter
from samovar.frontend import Lowered, lower
from samovar.ir.layout import Layout, layout_of
from samovar.ir.printer import print_arguments, print_kernel, print_task
from samovar.ir.structure import Kernel, ParallelFor, Site
from samovar.ir.walk import walk
from samovar.lens import Lens, Ref
from samovar.options import Options

#: How many objects of earlier compiles are kept, a few kilobytes each.
MOST_OBJECTS = 256
#: Frames while a kernel is staged and rendered; the stack of a thread has room for them.
RECURSION_LIMIT = 10_000


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
    tasks: tuple[llvm.RenderedTask, ...]
    slow_serial: bool


@dataclass(frozen=True)
class Prepared:
    """A kernel that has gone through our own steps and waits for LLVM."""

    lowered: Lowered
    rendered: llvm.Rendered
    options: Options
    clock: Clock


def compile_kernel(lens: Lens) -> Artifact:
    """Compile the kernel that a lens looks at."""
    prepared = prepare(lens)
    return finish(prepared, objects((prepared.rendered.text, llvm.host_target())))


class Recent(OrderedDict[str, bytes]):
    """The objects of the last compiles; the one that was not asked for longest goes when there are too many."""

    def get(self, key: str, default: Any = None) -> Any:
        found = super().get(key, default)
        if key in self:
            self.move_to_end(key)
        return found

    def __setitem__(self, key: str, value: bytes) -> None:
        super().__setitem__(key, value)
        while len(self) > MOST_OBJECTS:
            self.popitem(last=False)


def to_object(job: tuple[str, llvm.Target]) -> bytes:
    """The step that takes most of the time: LLVM."""
    return workers.optimise(*job)


#: LLVM text and target → object. Kernels that come to the same text (closures, another generation of options) share it.
objects = CachedStep(to_object, key_function=stable_fingerprinter, cache=Recent())


def compile_kernels(lenses: Sequence[Lens]) -> list[Artifact]:
    """Compile many kernels at once: LLVM runs in this process and in worker processes."""
    prepared = [prepare(lens) for lens in lenses]
    objects = workers.optimise_all([each.rendered.text for each in prepared], llvm.host_target())
    return [finish(each, code) for each, code in zip(prepared, objects, strict=True)]


def prepare(lens: Lens) -> Prepared:
    """The steps up to LLVM text."""
    clock = Clock(lens.kernel.name)
    with room_for_nesting(lens.kernel.name):
        lowered = front(lens, clock)
        rendered = llvm.render(lowered.kernel, lens.options)
    clock.lap("render")
    return Prepared(lowered, rendered, lens.options, clock)


def finish(prepared: Prepared, code: bytes) -> Artifact:
    """The steps after LLVM."""
    clock, lowered, rendered = prepared.clock, prepared.lowered, prepared.rendered
    clock.lap("llvm")
    image = llvm.link(code)
    clock.lap("link")
    dump(lowered.kernel, rendered.text, prepared.options)
    clock.report(prepared.options.log_level)
    layout = layout_of(lowered.kernel)
    return Artifact(
        kernel=lowered.kernel,
        sources=lowered.sources,
        layout=layout,
        results=tuple(zip(lowered.kernel.returns, layout.results, strict=True)),
        returns_tuple=lowered.returns_tuple,
        image=image,
        sites=rendered.sites,
        tasks=rendered.tasks,
        slow_serial=rendered.slow_serial,
    )


def inspect_kernel(lens: Lens, stage: str) -> str:
    """One stage of a kernel as text: "arguments", "ir", "llvm" or "asm". Compiles for the purpose and keeps nothing."""
    kernel = front(lens, Clock(lens.kernel.name)).kernel
    if stage == "arguments":
        return print_arguments(kernel)
    if stage == "ir":
        return print_kernel(kernel)
    text = llvm.render(kernel, lens.options).text
    return text if stage == "llvm" else llvm.assembly(text, llvm.host_target())


def front(lens: Lens, clock: Clock) -> Lowered:
    """The steps that know nothing of a backend: staging and passes."""
    lowered = lower(lens)
    clock.lap("frontend")
    passes.run(lowered.kernel, lens.options)
    clock.lap("passes")
    return lowered


@contextmanager
def room_for_nesting(name: str) -> Iterator[None]:
    """Deep expressions and long `elif` chains are deep trees: more room than Python gives a program by default."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        yield
    except RecursionError:
        raise SamovarCompilationError(
            f"{name}: expressions or branches are nested too deeply\n  help: split them with local variables or funcs"
        ) from None
    finally:
        sys.setrecursionlimit(limit)


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

    def report(self, level: str) -> None:
        """One line per compile at log level "info", with the steps at "debug" and with `SAMOVAR_LOG=compile`."""
        detailed = level == "debug" or "compile" in os.environ.get("SAMOVAR_LOG", "").split(",")
        if not detailed and level != "info":
            return
        total = sum(seconds for _, seconds in self.laps)
        steps = "  ".join(f"{step} {seconds * 1e3:.2f}" for step, seconds in self.laps)
        details = f": {steps}" if detailed else ""
        print(f"samovar: compiled {self.name} in {total * 1e3:.2f} ms{details}", file=sys.stderr)


def dump(kernel: Kernel, text: str, options: Options) -> None:
    """Show a kernel on request: print its IR, and write its IR and LLVM text, with a file for each task.

    A name carries a digest of the text, so that the specialisations of a kernel have files of their own.
    """
    directory = os.environ.get("SAMOVAR_DUMP_IR")
    if not (directory or options.print_ir):
        return
    printed = print_kernel(kernel)
    if options.print_ir:
        print(printed, file=sys.stderr)
    if not directory:
        return
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.blake2b(text.encode(), digest_size=4).hexdigest()
    stem = f"{re.sub(r'[^A-Za-z0-9_]', '_', kernel.name)}-{digest}"
    (folder / f"{stem}.ir").write_text(printed)
    (folder / f"{stem}.ll").write_text(text)
    for task in walk(kernel.body):
        if isinstance(task, ParallelFor):
            (folder / f"{stem}-{re.sub(r'[^A-Za-z0-9_]', '_', task.name)}.task.ir").write_text(print_task(task))
