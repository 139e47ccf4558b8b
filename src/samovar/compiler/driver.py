"""The driver: facts of a lens → IR → passes → text of a backend → code → image.

The steps are independent of each other; this file knows their order, times them (`SAMOVAR_LOG=compile`) and dumps them on
request (`sv.init(dump_ir=directory)`, `sv.init(print_ir=True)`).
"""

from __future__ import annotations

import gc
import os
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from samovar import passes
from samovar._native import plain_digest
from samovar.artifact import UNLINKED, Artifact, as_dot, as_text
from samovar.backends import CannotLink, Rendered, backend
from samovar.compiler import process, workers
from samovar.compiler.array_questions import ask_about_arrays, have_same_cells, require_writable
from samovar.compiler.batches import made_all
from samovar.compiler.counts import count
from samovar.compiler.fallback import SIMPLER, InternalError, Job, Made, falls_back, internal_errors, made
from samovar.compiler.graph_nodes import graph_nodes
from samovar.compiler.launch_data import derivative_section, fills, graph_sections, label_paths, result_of, tasks_of, traffic
from samovar.compiler.local_memory import local_bytes, stack_section
from samovar.compiler.progress import Progress
from samovar.compiler.units import Assembly, compile_missing
from samovar.errors import SamovarCompilationError, SamovarWarning
from samovar.fingerprint import compute_once
from samovar.frontend import Lowered, lower
from samovar.ir import Kernel, layout_of, outlined, print_arguments, print_kernel, print_task
from samovar.language import Options
from samovar.lens import Lens, Path, raised_recursion_limit

if TYPE_CHECKING:
    from samovar.fingerprint import StepCache


@dataclass(frozen=True)
class Prepared:
    """A kernel that has passed our own steps and is ready for the compiler of the backend."""

    lowered: Lowered
    rendered: Rendered
    settings: Options
    #: The options that the steps read: each read is recorded.
    options: Any
    clock: Clock


@dataclass(frozen=True)
class Compilation:
    """The result of compiling a kernel. `warning` is a message for the user; a result that is not `complete`, because the
    compiler failed at full effort, must not be cached."""

    artifact: Artifact
    warning: str
    complete: bool
    #: The paths of the enum members that label checkpoints.
    labels: tuple[Path, ...] = ()
    #: Whether it was compiled without optional rewrites, after an internal error.
    simplified: bool = False


def compile_kernel(lens: Lens, images: StepCache | None = None) -> Compilation:
    """Compile the kernel of a lens. Its image, or the objects of its units, are stored in and loaded from `images` if that
    is given."""
    with Progress(lens.kernel.name):
        return compile_with_progress(lens, images)


def compile_with_progress(lens: Lens, images: StepCache | None) -> Compilation:
    """Compile a kernel, with a progress display."""
    try:
        return completed(prepare(lens), images)
    except InternalError as error:
        return simplified(lens, images, error)


def simplified(lens: Lens, images: StepCache | None, failure: InternalError) -> Compilation:
    """Compile a kernel without optional rewrites, after an internal error. The result is not cached: the next version may
    have fixed the bug, and this one reports it in each process."""
    if not falls_back():
        raise failure
    count(failures=1)
    name = lens.kernel.name
    for without in SIMPLER:
        try:
            found = completed(prepare(lens, without, failure), images)
        except InternalError:
            continue
        warning = (
            f"{name}: {failure.reason}, so it was compiled without optional rewrites; it may run slower, and is not cached\n"
            f"  help: this is a bug in Samovar; please report it with {failure.report}"
        )
        both = "\n".join(each for each in (warning, found.warning) if each)
        return replace(found, warning=both, complete=False, simplified=True)
    raise SamovarCompilationError(
        f"{name}: {failure.reason}, also without optional rewrites\n"
        f"  help: this is a bug in Samovar; please report it with {failure.report}"
    ) from (failure.__cause__ or failure)


def completed(prepared: Prepared, images: StepCache | None) -> Compilation:
    """The steps after our own: the compiler of the backend, and linking."""
    with internal_errors(prepared.lowered.kernel.name):
        return compiled(prepared, images)


def compiled(prepared: Prepared, images: StepCache | None) -> Compilation:
    """Compile and link; any exception may be raised."""
    if prepared.rendered.units:
        assembly = assembly_of(prepared, images)
        compile_missing(assembly)
        process.reap()
        return assembled(prepared, assembly)
    job = job_of(prepared)
    if images is None:
        return finish(prepared, run_compiler(job))
    key = key_of(job)

    def make() -> Made:
        # Another thread may have finished since the cache was queried.
        return known(images, key) or keep(images, key, run_compiler(job))

    code = known(images, key) or compute_once((id(images), key), make)
    process.reap()
    return finish(prepared, code)


def compile_kernels(
    lenses: Sequence[Lens], images: StepCache | None = None, done: Callable[[], object] = lambda: None
) -> list[Compilation]:
    """Compile many kernels in parallel: workers compile while this process stages the next. `done` is called for each."""
    with without_collector():
        return compile_in_parallel(lenses, images, done)


def compile_in_parallel(
    lenses: Sequence[Lens], images: StepCache | None, done: Callable[[], object]
) -> list[Compilation]:
    """Compile many kernels in parallel; their IR stays alive until the last one is done."""
    prepared: dict[int, Prepared] = {}
    codes: dict[int, Made] = {}
    assemblies: dict[int, Assembly] = {}
    failures: dict[int, InternalError] = {}
    #: For each job, its kernel, and how to continue with the code.
    takers: list[tuple[int, Callable[[Made], object]]] = []

    def jobs() -> Iterator[tuple[int, Job]]:
        for number, lens in enumerate(lenses):
            try:
                prepared[number] = prepare(lens)
            except InternalError as error:
                failures[number] = error
                continue
            for job, take in (in_units if prepared[number].rendered.units else in_one_piece)(number):
                count(compiler_runs=1)
                takers.append((number, take))
                yield len(takers) - 1, job

    def arrived(job: int, found: Made) -> None:
        number, take = takers[job]
        with gathered(number):
            take(found)

    @contextmanager
    def gathered(number: int) -> Iterator[None]:
        try:
            with internal_errors(lenses[number].kernel.name):
                yield
        except InternalError as error:
            failures.setdefault(number, error)

    def compilation(number: int) -> Compilation:
        """The result of a kernel whose jobs are done. After an internal error it is compiled by itself."""
        if number not in failures:
            with gathered(number):
                if number in assemblies:
                    return assembled(prepared[number], assemblies[number])
                return finish(prepared[number], codes[number])
        return simplified(lenses[number], images, failures[number])

    def in_one_piece(number: int) -> Iterator[tuple[Job, Callable[[Made], object]]]:
        job = job_of(prepared[number])
        key = key_of(job)
        found = None if images is None else known(images, key)
        if found is not None:
            codes[number] = found
            done()
            return

        def take(found: Made) -> None:
            code = linked(found)
            codes[number] = code if images is None else keep(images, key, code)
            done()

        yield job, take

    def in_units(number: int) -> Iterator[tuple[Job, Callable[[Made], object]]]:
        assembly = assemblies[number] = assembly_of(prepared[number], images)
        missing = assembly.missing()
        left = len(missing)

        def take(key: str, found: Made) -> None:
            nonlocal left
            assembly.arrived(key, found)
            left -= 1
            if not left:
                done()

        if not missing:
            done()
        for key, job in missing:
            yield job, partial(take, key)

    made_all(jobs(), arrived, failed=lambda job, error: failures.setdefault(takers[job][0], error))
    return [compilation(number) for number in range(len(lenses))]


def assembled(prepared: Prepared, assembly: Assembly) -> Compilation:
    """Link a kernel whose units are all available. If linking fails, it is compiled as a single unit."""
    try:
        return finish(prepared, assembly.image(), {"units": assembly.listed()})
    except CannotLink:
        with raised_recursion_limit(prepared.lowered.kernel.name):
            whole = backend().render(prepared.lowered.kernel, prepared.options, whole=True)
        prepared = replace(prepared, rendered=whole)
        return finish(prepared, run_compiler(job_of(prepared)))


def assembly_of(prepared: Prepared, images: StepCache | None) -> Assembly:
    """The units of a kernel, if it has any."""
    return Assembly(prepared.lowered.kernel.name, prepared.rendered.units, backend().target(), images)


def job_of(prepared: Prepared) -> Job:
    """The input of the backend's compiler."""
    return Job(prepared.lowered.kernel.name, prepared.rendered.text, backend().target())


def run_compiler(job: Job) -> Made:
    """Run the compiler of the backend, the longest step, and turn its code into an image."""
    count(compiler_runs=1)
    return linked(made(job))


def linked(found: Made) -> Made:
    """Replace code by the flat image. Code that cannot become an image stays: the backend will load it."""
    linking = backend()
    try:
        image = linking.link(found.code)
    except CannotLink as error:
        loader = " and ".join(linking.salt())
        message = f"a kernel cannot be linked into an image ({error}): it is loaded with {loader}, which is slower"
        warnings.warn(message, SamovarWarning, stacklevel=2)
        image = UNLINKED + linking.name.encode() + b"\n" + found.code
    return Made(image, found.effort, found.warning)


def key_of(job: Job) -> str:
    """A cache key that does not depend on the names of locals, which are irrelevant."""
    compiling = backend()
    return plain_digest((compiling.name, compiling.canonical(job.text), *job.target.key()))


def known(images: StepCache, key: str) -> Made | None:
    """The image cached under a key."""
    image = images.get(key, None)
    return None if image is None else Made(image)


def keep(images: StepCache, key: str, code: Made) -> Made:
    """Cache code that was compiled at full effort."""
    if code.is_complete:
        images[key] = code.code
    return code


def prepare(lens: Lens, without: str = "", failure: InternalError | None = None) -> Prepared:
    """The steps up to the backend's text. After a failure, they run `without` some rewrites, and the kernel before all of
    them goes into the report."""
    clock = Clock(lens.kernel.name)
    options = WithoutRewrites(lens.options, without) if without else lens.options
    count(kernels=failure is None)
    workers.state.workers.allow(lens.settings.num_compile_threads)
    with raised_recursion_limit(lens.kernel.name), without_collector():
        lowered = staged(lens, clock, without, failure)
        rewritten(lowered, lens, options, clock)
        require_writable(lens, lowered.kernel)
        local_bytes(lowered.kernel)
        with internal_errors(lens.kernel.name):
            rendered = backend().render(lowered.kernel, options)
    clock.lap("render")
    return Prepared(lowered, rendered, lens.settings, options, clock)


class WithoutRewrites:
    """Options with additional names in `without`. Reads are recorded as set by the user, so that code compiled after an
    internal error is valid for the same options as the code that could not be compiled."""

    __slots__ = ("_options", "_without")

    def __init__(self, options: Any, without: str) -> None:
        self._options = options
        self._without = without

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._options, name)
        return f"{value} {self._without}".strip() if name == "without" else value


def report_of(kernel: Kernel, failure: InternalError) -> str:
    """Write a report with a kernel as it was staged, and where a step failed."""
    from samovar.compiler.reports import write_report

    where = traceback.format_exception(failure.__cause__ or failure)
    return write_report(kernel.name, print_kernel(kernel), backend().target(), where, "ir")


def finish(prepared: Prepared, code: Made, sections: Mapping[str, Any] | None = None) -> Compilation:
    """The data that a launch needs besides the image."""
    clock, lowered, rendered = prepared.clock, prepared.lowered, prepared.rendered
    kernel = lowered.kernel
    clock.lap(f"{backend().name} and link")
    with raised_recursion_limit(kernel.name):
        dump(kernel, rendered.text, prepared.settings)
    clock.report(prepared.settings.log_level)
    layout = layout_of(lowered.kernel)
    artifact = Artifact(
        image=code.code,
        fills=tuple(fills(lowered.kernel, layout)),
        block_size=layout.size,
        results=result_of(kernel, layout, kernel.result_shape),
        tasks=tuple(tasks_of(kernel)),
        slow_serial=kernel.slow_serial,
        sites=rendered.sites,
        notices=lowered.notices,
        sections={
            **graph_sections(lowered, layout),
            **traffic(kernel),
            **stack_section(kernel),
            **derivative_section(lowered),
            **(sections or {}),
        },
    )
    return Compilation(artifact, code.warning, code.is_complete, label_paths(lowered))


def inspect_kernel(lens: Lens, stage: str) -> str:
    """One stage of a kernel as text: "arguments", "graph", "dot", "loops", "ir", that of the backend by its name, or "asm".
    Compiles for this purpose and caches nothing."""
    with raised_recursion_limit(lens.kernel.name), without_collector():
        return stage_text(lens, stage)


def stage_text(lens: Lens, stage: str) -> str:
    """The text of a stage, under a raised recursion limit."""
    if stage in ("graph", "dot"):
        drawn = lower(lens).kernel
        return (as_text if stage == "graph" else as_dot)(drawn.name, graph_nodes(drawn))
    try:
        return shown_stage(lens, stage, lens.options)
    except InternalError:
        if not falls_back():
            raise
    for without in SIMPLER[:-1]:
        with suppress(InternalError):
            return shown_stage(lens, stage, WithoutRewrites(lens.options, without))
    return shown_stage(lens, stage, WithoutRewrites(lens.options, SIMPLER[-1]))


def shown_stage(lens: Lens, stage: str, options: Any) -> str:
    """The text of a stage, with given options."""
    clock = Clock(lens.kernel.name)
    lowered = staged(lens, clock)
    rewritten(lowered, lens, options, clock, last=passes.place_safepoints if stage == "loops" else None)
    kernel = lowered.kernel
    if stage == "loops":
        return print_kernel(kernel, notes=True)
    if stage == "arguments":
        return print_arguments(kernel)
    if stage == "ir":
        return print_kernel(kernel)
    compiling = backend()
    with internal_errors(kernel.name):
        rendered = compiling.render(kernel, options)
    if stage == compiling.name:
        return rendered.text
    texts = [unit.text for unit in rendered.units] or [rendered.text]
    jobs = [Job(kernel.name, text, compiling.target(), "assembly") for text in texts]
    return "\n".join(made(job).code.decode() for job in jobs)


def staged(lens: Lens, clock: Clock, without: str = "", failure: InternalError | None = None) -> Lowered:
    """Run the frontend, and take derivatives."""
    lowered = lower(lens)
    if failure is not None and not failure.report:
        failure.report = report_of(lowered.kernel, failure)
    if lowered.is_graph:
        lowered = replace(lowered, nodes=graph_nodes(lowered.kernel))
    if not {"derivative", "part"}.isdisjoint(lens.kernel.options):
        from samovar.compiler.gradients import differentiated

        with internal_errors(lens.kernel.name):
            lowered = differentiated(lens, lowered, without)
    clock.lap("frontend")
    return lowered


def rewritten(
    lowered: Lowered, lens: Lens, options: Any, clock: Clock, last: Callable[[Kernel], None] | None = None
) -> None:
    """Run the passes in place, all or up to the `last` one, and ask the questions about arrays."""
    with internal_errors(lens.kernel.name):
        machine = backend().target().plans_for()
        ask, same = partial(ask_about_arrays, lens), have_same_cells(lens)
        passes.run(lowered.kernel, options, ask, machine, last, same)
    clock.lap("passes")


@contextmanager
def without_collector() -> Iterator[None]:
    """Pause the garbage collector: syntax trees and the IR are many objects that all live until the end, so collecting is
    futile. They are freed before it resumes; otherwise it would traverse all of them at once as new objects."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Clock:
    """The time of each step, logged on request."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.laps: list[tuple[str, float]] = []
        self.last = time.perf_counter()

    def lap(self, step: str) -> None:
        now = time.perf_counter()
        self.laps.append((step, now - self.last))
        self.last = now

    def report(self, level: str) -> None:
        """Log one line per compile at log level "info", with the steps at "debug" and with `SAMOVAR_LOG=compile`."""
        detailed = level == "debug" or "compile" in os.environ.get("SAMOVAR_LOG", "").split(",")
        if not detailed and level != "info":
            return
        total = sum(seconds for _, seconds in self.laps)
        steps = "  ".join(f"{step} {seconds * 1e3:.2f}" for step, seconds in self.laps)
        details = f": {steps}" if detailed else ""
        print(f"samovar: compiled {self.name} in {total * 1e3:.2f} ms{details}", file=sys.stderr)


def dump(kernel: Kernel, text: str, options: Options) -> None:
    """Dump a kernel on request: print its IR, and write its IR and the text of the backend, with a file for each task.

    File names contain a digest of the text, so that the specializations of a kernel have separate files.
    """
    directory = options.dump_ir
    if not (directory or options.print_ir):
        return
    printed = print_kernel(kernel)
    if options.print_ir:
        print(printed, file=sys.stderr)
    if not directory:
        return
    from samovar.system import write_file

    os.makedirs(directory, exist_ok=True)
    stem = f"{re.sub(r'[^A-Za-z0-9_]', '_', kernel.name)}-{plain_digest(text)[:8]}"
    write_file(os.path.join(directory, f"{stem}.ir"), printed.encode())
    write_file(os.path.join(directory, f"{stem}.{backend().suffix}"), text.encode())
    for task in outlined(kernel):
        name = re.sub(r"[^A-Za-z0-9_]", "_", task.name)
        write_file(os.path.join(directory, f"{stem}-{name}.task.ir"), print_task(task).encode())
