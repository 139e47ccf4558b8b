"""Compiling ahead of the first launch: many kernels at once, in as many worker processes as there are processors."""

from __future__ import annotations

from contextlib import ExitStack
from time import perf_counter

from samovar._native import BoundKernel, api_boundary
from samovar.errors import SamovarTypeError
from samovar.language import ArrayAnnotation, ScalarAnnotation, ViewAnnotation, specification
from samovar.lens import RememberedArray, StandInLens, TensorFacts
from samovar.runtime import configuration, process_cache
from samovar.runtime.arguments import check_arguments
from samovar.runtime.install import install
from samovar.runtime.kernel import Kernel
from samovar.runtime.lookup import Search
from samovar.runtime.progress_bar import ProgressBar
from samovar.values import StructType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from samovar.language import Options, SignatureParameter
    from samovar.lens import Lens


@api_boundary
def precompile(calls: Iterable[tuple[Any, ...]], progress: bool | None = None) -> int:
    """Compile kernels for the arguments they will get, without launching them. Returns the number compiled.

    Each call is a tuple of a kernel and its arguments; the type of an array or number can be passed instead of a value
    (`sv.types.NDArray[sv.f32, 1]`, `sv.f32`). LLVM runs in one process per processor, so a program with many kernels starts
    faster. Kernels that are already compiled or cached are skipped. `progress` shows a progress bar; None shows it on a
    terminal only.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def double(a: sv.types.NDArray[sv.f32, 1]):
    ...     for i in a:
    ...         a[i] *= 2
    >>> sv.precompile([(double, sv.types.NDArray[sv.f32, 1])])
    1
    >>> sv.precompile([(double, sv.ndarray(sv.f32, 4))])
    0
    """
    with ExitStack() as lenses:
        return _precompile(calls, progress, lenses)


def _precompile(calls: Iterable[tuple[Any, ...]], progress: bool | None, lenses: ExitStack) -> int:
    options = configuration.current_options()
    generation = configuration.generation()
    missing: list[tuple[Search, Lens]] = []
    for kernel, arguments in _unpacked(calls):
        given = _examples(kernel, arguments, options)
        check_arguments(kernel.__qualname__, kernel.state.signature, given, options)
        with kernel.state.lock:
            search = Search(kernel, given, options)
            found = search.run()
            if found is not None:
                kernel.insert(found)
        if found is None:
            look = StandInLens(None, kernel.__wrapped__, given, kernel.state.signature, options)
            missing.append((search, lenses.enter_context(look)))
    if not missing:
        return 0
    from samovar.compiler import begin

    begin()
    from samovar.compiler import compile_kernels

    start = perf_counter()
    with ProgressBar("compiling kernels", len(missing), progress) as bar:
        compilations = compile_kernels([lens for _, lens in missing], process_cache.images(options), bar.advance)
    seconds = (perf_counter() - start) / len(missing)
    for (search, lens), compilation in zip(missing, compilations, strict=True):
        with search.kernel.state.lock:
            # Options that changed meanwhile must not run old code.
            if generation == configuration.generation():
                search.kernel.insert(install(search, lens, compilation, seconds))
    return len(missing)


def _unpacked(calls: Any) -> Iterator[tuple[Kernel, tuple[Any, ...]]]:
    """The kernels and their arguments."""
    advice = "  help: each item is a tuple of a kernel and its arguments: sv.precompile([(kernel, a, 2.0), (other,)])"
    try:
        items = iter(calls)
    except TypeError:
        raise SamovarTypeError(f"precompile takes a list of calls, not {calls!r}\n{advice}") from None
    for position, item in enumerate(items):
        where = f"precompile: item {position}"
        if not isinstance(item, (tuple, list)):
            raise SamovarTypeError(f"{where} is not a tuple: {item!r}\n{advice}")
        if not item:
            raise SamovarTypeError(f"{where} is empty\n{advice}")
        kernel, *arguments = item
        if isinstance(kernel, BoundKernel):
            arguments, kernel = [kernel.__self__, *arguments], kernel.__func__
        if not isinstance(kernel, Kernel):
            raise SamovarTypeError(f"{where} does not start with a kernel: {item[0]!r}\n{advice}")
        yield kernel, tuple(arguments)


def _examples(kernel: Kernel, arguments: tuple[Any, ...], options: Options) -> dict[str, Any]:
    """The arguments by name, with examples instead of types."""
    try:
        bound = kernel.__signature__.bind(*arguments)
    except TypeError as error:
        raise SamovarTypeError(f"{kernel.__qualname__}() cannot be compiled for these arguments: {error}") from None
    bound.apply_defaults()
    return {
        parameter.name: _example(kernel, parameter, bound.arguments[parameter.name], options)
        for parameter in kernel.state.signature.parameters
    }


def _example(kernel: Kernel, parameter: SignatureParameter, given: Any, options: Options) -> Any:
    wanted = parameter.annotation
    if wanted.is_struct:
        return _example_of_structs(wanted, given)
    if not isinstance(wanted, (ScalarAnnotation, ArrayAnnotation, ViewAnnotation)):
        return given
    type_given = specification(given) if given is not None else None
    if isinstance(wanted, ScalarAnnotation) and isinstance(type_given, ScalarAnnotation):
        return type_given.resolved(options)(0)
    if isinstance(wanted, ArrayAnnotation) and isinstance(type_given, ArrayAnnotation):
        dtype = type_given.resolved(options) or wanted.resolved(options)
        ndim = wanted.ndim if type_given.ndim is None else type_given.ndim
        element = type_given.element or wanted.element or ()
        if dtype is None or ndim is None or None in element:
            raise SamovarTypeError(
                f"{kernel.__qualname__}: {type_given} for `{parameter.name}` does not determine what to compile\n"
                "  help: pass the type with dtype and ndim, sv.types.NDArray[sv.f32, 1], or an array"
            )
        needs_grad = bool(type_given.needs_grad or wanted.needs_grad)
        extents = tuple(extent for extent in element if extent is not None)
        return RememberedArray(TensorFacts(dtype, ndim + len(element), needs_grad=needs_grad), extents)
    if isinstance(wanted, ViewAnnotation) and isinstance(type_given, ViewAnnotation):
        struct = type_given.struct or wanted.struct
        if struct is not None:
            return struct.ndarray(2)[:]
        dtype = type_given.as_array().resolved(options) or wanted.as_array().resolved(options)
        if dtype is None:
            raise SamovarTypeError(
                f"{kernel.__qualname__}: {type_given} for `{parameter.name}` does not determine what to compile\n"
                "  help: pass the type with a dtype, sv.BufferView[sv.f32], or a view"
            )
        element = type_given.element or wanted.element or ()
        extents = tuple(extent for extent in element if extent is not None)
        axes = len(extents)
        facts = TensorFacts(dtype, 1 + axes, of_vectors=axes == 1, of_matrices=axes == 2, is_view=True)
        return RememberedArray(facts, extents)
    return given


def _example_of_structs(wanted: Any, given: Any) -> Any:
    """A struct, or a small array of structs, instead of its type."""
    if not getattr(given, "is_struct", False):
        return given
    if isinstance(given, StructType):
        return given()
    ndim = wanted.ndim if given.ndim is None else given.ndim
    if ndim is None:
        raise SamovarTypeError(f"{given} does not determine what to compile\n  help: add the number of dimensions")
    return given.struct.ndarray((2,) * ndim)  # an array of one struct would be contiguous in any layout
