"""Compiling a kernel: the checks that need the result, and storing it for other processes."""

from __future__ import annotations

from time import perf_counter, time

from samovar.cache import MISREADINGS, CompileLock, Record, artifact_key, reason, salt_parts
from samovar.lens import shown
from samovar.runtime import captured_names, process_cache
from samovar.runtime.configuration import warn_once
from samovar.runtime.guards import make_guards
from samovar.runtime.loaded_kernel import LoadedKernel
from samovar.runtime.unstable_members import refuse_unstable_members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar import _native
    from samovar.cache import Library
    from samovar.compiler import Compilation
    from samovar.lens import Lens
    from samovar.runtime.kernel import Kernel
    from samovar.runtime.lookup import Search

#: Questions about the code of functions.
OF_CODE = ("function", "signature", "source")
#: After so many compiles that differ in one answer, a warning names it.
WARN_AFTER = 16


def compile_for(search: Search) -> _native.Specialization:
    """Compile what a search has not found, unless another process does so in the meantime."""
    search.require_tree()
    library, key = search.library, search.known.key
    if library is None or key is None or not library.store.is_trusted():
        return compile_alone(search)
    with CompileLock(library.store.base, key) as turn:
        if turn.waited and search.refresh():
            found = search.walk()
            if found is not None:
                return found
        return compile_alone(search)


def compile_alone(search: Search) -> _native.Specialization:
    """Compile and store the result."""
    from samovar.compiler import begin

    begin()  # LLVM starts in its own process while the compiler is imported and runs here
    from samovar.compiler import compile_kernel, without_collector

    with without_collector(), search.kernel.look(search.arguments, search.options, search.known.tree) as lens:
        start = perf_counter()
        compilation = compile_kernel(lens, process_cache.images(search.options))
        refuse_unstable_members(search.kernel, lens, search.arguments, search.options)
        return install(search, lens, compilation, perf_counter() - start)


def install(search: Search, lens: Lens, compilation: Compilation, seconds: float) -> _native.Specialization:
    """Create a specialization from a compilation, after the checks that need the result."""
    kernel, known, trace = search.kernel, search.known, lens.trace
    warnings = captured_names.check(kernel, lens)
    for warning in warnings:
        warn_once(warning.message)
    if compilation.warning:
        warn_once(compilation.warning)
    artifact = compilation.artifact
    artifact.notices += warnings
    why = explain(search, lens)
    kernel.state.reason = why
    kernel.state.observations.compiles += 1
    process_cache.report(kernel, "compiled", seconds, f"in {seconds * 1e3:.1f} ms, because {why}")
    assert not isinstance(artifact.fills, bytes)
    guards = make_guards(trace.facts(), lens, kernel.parameters, artifact.fills)
    guards.paths += compilation.labels
    key = artifact_key(known.key or "", trace)
    compiled = LoadedKernel(artifact, guards, lambda: trace, search.arguments, lens.funcs())
    library = search.library if compilation.complete and known.key is not None else None
    if library is None or not keep(search, library, lens, compiled, key, seconds, why):
        known.add_unstored(trace, key, guards.paths)
    known.add(trace, key, guards.paths, compiled)
    warn_about_many(search)
    objects = list(map(lens.object_at, guards.paths))
    seen = lambda number: lens.seen[guards.paths[number]]  # noqa: E731
    return compiled.specialization(objects, lens.actual, seen, kernel.state.signature.returns)


def explain(search: Search, lens: Lens) -> str:
    """Why the kernel had to be compiled."""
    kernel = search.kernel
    if search.library is None:
        return process_cache.why_no_library(search.options)
    try:
        twin = search.tree_key(search.library, lines_count=not search.lines_count())
        return reason(search.library, full_name(kernel), search.known.key, search.mismatch(), lens.trace, twin)
    except MISREADINGS:
        return "its cache entry cannot be read"


def full_name(kernel: Kernel) -> str:
    """Module and qualified name: the identity of a kernel across processes."""
    return f"{kernel.__module__}.{kernel.__qualname__}"


def keep(
    search: Search, library: Library, lens: Lens, compiled: LoadedKernel, key: str, seconds: float, why: str
) -> bool:
    """Store a compilation, unless it used opaque values. Returns whether it is stored."""
    kernel, known = search.kernel, search.known
    observed = kernel.state.observations
    process_cache.count_compile(library)
    if lens.trace.opaque:
        observed.cache_key_generated = False
        observed.reason = "; ".join(map(str, lens.trace.opaque))
        for opaque in lens.trace.opaque:
            warn_once(
                f"[FASTCACHE][UNKNOWN_TYPE] {opaque.path} of {kernel.__qualname__} is a {opaque.type_name}, which cannot"
                " be compared in another process"
            )
        warn_once(f"[FASTCACHE][INVALID_FUNC] {full_name(kernel)} is not cached, because it uses such values")
        return False
    assert known.key is not None
    code = kernel.__wrapped__.__code__
    record = Record(
        name=full_name(kernel),
        file=code.co_filename,
        line=code.co_firstlineno,
        tree=known.key,
        compiled=time(),
        seconds=seconds,
        reason=why,
        answers=tuple((str(asked.path), asked.question, shown(asked.answer)) for asked in lens.trace),
        salt=salt_parts(),
    )
    failure = library.keep(known.key, lens.trace, compiled.artifact, compiled.guards, key, record)
    observed.cache_stored = failure is None
    observed.stores += failure is None
    observed.reason = failure or why
    return failure is None


def warn_about_many(search: Search) -> None:
    """Warn if a kernel is repeatedly compiled for one reason."""
    miss, kernel = search.miss, search.kernel
    if miss is None or len(miss.known) < WARN_AFTER or kernel.state.takes_many_types:
        return
    if miss.question in OF_CODE and kernel.state.observations.compiles < WARN_AFTER:
        return  # other processes ran other versions of the program, as usual during development
    about = (miss.number, miss.question)
    if about in kernel.state.warned:
        return
    mismatch = search.mismatch()
    advice = "pass a value that changes often as an argument with a dtype, not as a captured or template value"
    if miss.question in ("tensor", "kind", "scalar type"):
        advice = "each combination of types is a specialization: convert arguments to the same types before the launch"
    elif miss.question in OF_CODE:
        advice = "each func is a specialization: create it once, not for each launch"
    message = f"{kernel.__qualname__} was compiled {len(miss.known) + 1} times, because {mismatch}\n  help: {advice}"
    warn_once(message, about, kernel.state.warned)
