"""Compiling ahead of the first launch: many kernels at once, in this process and in worker processes."""

from __future__ import annotations

from samovar.errors import SamovarTypeError
from samovar.runtime import configuration
from samovar.runtime.kernel import Kernel, install, look_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def precompile(calls: Iterable[tuple[Any, ...]]) -> int:
    """Compile kernels for the arguments that they will get, without launching them. Gives the number compiled.

    Each call is a tuple of a kernel and its arguments. LLVM runs in as many processes as there are processors, so a program
    with many kernels starts faster. What is compiled already is left alone.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def double(a: sv.types.NDArray[sv.f32, 1]):
    ...     for i in a:
    ...         a[i] *= 2
    >>> a = sv.ndarray(sv.f32, 4)
    >>> sv.precompile([(double, a)])
    1
    >>> sv.precompile([(double, a)])
    0
    """
    from samovar.compiler.driver import compile_kernels

    options = configuration.current()
    generation = configuration.generation()
    missing = []
    for kernel, *arguments in calls:
        if not isinstance(kernel, Kernel):
            raise SamovarTypeError(f"precompile takes tuples of a kernel and its arguments, not of {kernel!r}")
        bound = kernel.__signature__.bind(*arguments)
        bound.apply_defaults()
        given = dict(bound.arguments)
        with kernel._lock:
            found, mismatches = look_up(kernel, given, options)
        if found is None:
            missing.append((kernel, given, kernel._look(given, options), mismatches))
    artifacts = compile_kernels([lens for _, _, lens, _ in missing])
    for (kernel, given, lens, mismatches), artifact in zip(missing, artifacts, strict=True):
        with kernel._lock:
            # Options that changed meanwhile must not run code of the old ones.
            if generation == configuration.generation():
                kernel.insert(install(kernel, lens, given, artifact, mismatches))
    return len(missing)
