"""`@sv.kernel`: a native callable that compiles itself for the arguments it gets.

A launch runs in native code as long as the guards of a specialization hold. Otherwise it comes here: the arguments are
checked, the traces of existing specializations are replayed, and if none of them holds, the kernel is compiled. Only then
is the compiler imported.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident
from time import sleep

import samovar.language
from samovar import _native
from samovar.language import AnyAnnotation, signature_of
from samovar.runtime import configuration
from samovar.runtime.kernel_state import KernelState
from samovar.runtime.lookup import Search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, FunctionType
    from typing import Any

    from samovar.language import GraphStatus, KernelSignature, Options
    from samovar.lens import Lens, Tree
    from samovar.runtime.kernel_state import CacheObservations
    from samovar.runtime.loaded_kernel import LoadedKernel

#: The number of specializations per kernel; the least recently used one is dropped.
MOST_SPECIALIZATIONS = 128
#: The same for code that calls plain functions before each launch.
MOST_ALIKE = 32
#: Shared by all kernels.
_DECORATOR_OPTIONS = {fastcache: {"fastcache": fastcache} for fastcache in (False, True)}
STAGES = ("arguments", "graph", "dot", "loops", "ir", "llvm", "asm")


class Kernel(_native.Kernel):
    """A compiled function. Call it like the original function; `inspect` shows the stages of compilation.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def double(x: sv.i32) -> sv.i32:
    ...     return 2 * x
    >>> double(21)
    42
    """

    __wrapped__: Any
    #: For the runtime only.
    state: KernelState

    def _repr_html_(self) -> str:
        """The signature and what was compiled, for notebooks."""
        from samovar.runtime.notebook_views import kernel_html

        return kernel_html(self)

    def inspect(self, stage: str, *arguments: Any, **keywords: Any) -> str:
        """A stage of the compiled kernel as text: "ir", "llvm" or "asm"; its "loops" as planned, each with a comment on
        whether it was vectorized, or why not; its "arguments", one per line; or its tasks, loops, checkpoints and sections,
        drawn as a "graph" of characters or, for Graphviz, as "dot".

        Without arguments, it shows the last launch; with arguments, what a launch with them would run. The kernel is
        compiled again for this, and the result is not cached.

        >>> import samovar as sv
        >>> @sv.kernel
        ... def double(a: sv.types.NDArray[sv.f32, 1]):
        ...     for i in a:
        ...         a[i] *= 2
        >>> a = sv.ndarray(sv.f32, 4)
        >>> double(a)
        >>> print(double.inspect("ir").splitlines()[0])  # doctest: +ELLIPSIS
        kernel double(...
        """
        if stage not in STAGES:
            from samovar.errors import not_one_of

            raise samovar.SamovarTypeError(not_one_of("inspect(stage, …)", stage, STAGES))
        from samovar.compiler import inspect_kernel

        if arguments or keywords or not self.parameters:
            bound = self.__signature__.bind(*arguments, **keywords)
            bound.apply_defaults()
            with self.look(dict(bound.arguments), configuration.current_options()) as lens:
                return inspect_kernel(lens, stage)
        if not self.specializations:
            raise samovar.SamovarTypeError(
                f"{self.__qualname__} was not launched yet: launch it, or pass arguments to inspect({stage!r}, …)"
            )
        last: LoadedKernel = self.specializations[0].keep
        try:
            with last.recollection(self.__wrapped__, self.state.signature, configuration.current_options()) as lens:
                return inspect_kernel(lens, stage)
        except samovar.SamovarError as error:
            if not last.lacks_arguments():
                raise
            nodes = last.artifact.sections.get("graph")
            if nodes is not None and stage in ("graph", "dot"):
                from samovar.artifact import as_dot, as_text

                return (as_text if stage == "graph" else as_dot)(self.__name__, nodes)
            raise samovar.SamovarTypeError(
                f"{self.__qualname__}: the last launch cannot be shown, because one of its arguments no longer exists\n"
                f"  help: pass arguments: inspect({stage!r}, …)"
            ) from error

    def __getitem__(self, configuration: object) -> None:
        """Raise an error: kernels have no launch grid."""
        raise samovar.SamovarTypeError(
            f"{self.__qualname__} has no launch grid: its outermost loops are parallel\n"
            f"  help: call it, `{self.__name__}({', '.join(self.parameters)})`"
        )

    __iter__ = None  # `__getitem__` must not make it iterable

    def resume(self, *arguments: Any, from_checkpoint: int, **keywords: Any) -> GraphStatus:
        """Launch from a checkpoint on: everything before it is skipped.

        >>> import samovar as sv
        >>> @sv.kernel(graph=True, checkpoints=True)
        ... def count(x: sv.types.NDArray[sv.i32, 1], stop: sv.types.NDArray[sv.i32, 0]):
        ...     for i in x:
        ...         x[i] += 1
        ...     with sv.checkpoint(7, yield_on=stop):
        ...         for i in x:
        ...             x[i] += 10
        >>> x, stop = sv.ndarray(sv.i32, 1), sv.ndarray(sv.i32, ())
        >>> count.resume(x, stop, from_checkpoint=7)
        GraphStatus(yielded=False, checkpoint=None)
        >>> x[0]
        10
        """
        if not self.state.signature.options.get("checkpoints"):
            raise samovar.SamovarTypeError(
                f"{self.__qualname__} has no checkpoints to resume from\n"
                "  help: declare it as `@sv.kernel(graph=True, checkpoints=True)`, with `sv.checkpoint` in it"
            )
        if not isinstance(from_checkpoint, int) or isinstance(from_checkpoint, bool):
            raise samovar.SamovarTypeError(
                f"{self.__qualname__}: the label of a checkpoint is an int, not {from_checkpoint!r}"
            )
        status: GraphStatus = self.resume_at(from_checkpoint, *arguments, **keywords)
        return status

    def precompile(self, *arguments: Any, **keywords: Any) -> int:
        """Compile for these arguments without launching. Returns 1, or 0 if there was nothing to compile.

        The type of an array or number can be passed instead of a value. For many kernels at once, see `sv.precompile`.

        >>> import samovar as sv
        >>> @sv.kernel
        ... def halve(a: sv.types.NDArray[sv.f32, 1]):
        ...     for i in a:
        ...         a[i] /= 2
        >>> halve.precompile(sv.types.NDArray[sv.f32, 1])
        1
        >>> halve.precompile(sv.ndarray(sv.f32, 4))
        0
        """
        from samovar.runtime.precompile import precompile

        bound = self.__signature__.bind(*arguments, **keywords)
        bound.apply_defaults()
        return precompile([(self, *bound.arguments.values())])

    def __reduce_ex__(self, protocol: Any) -> Any:
        from samovar.runtime import pickle_by_value

        function, state = self.__wrapped__, self.state
        if not pickle_by_value.travels_by_value(self):
            path = super().__reduce_ex__(protocol)
            if not configuration.current_options().cache_remote or state.known.key is None:
                return path
            return pickle_by_value.found_kernel, (self.__module__, path, (state.known.key,))
        fastcache = bool(state.signature.options.get("fastcache"))
        text_and_names = pickle_by_value.text_and_names(function)
        arrival = pickle_by_value.arrival_of(self)
        return pickle_by_value.rebuilt_kernel, (arrival, function, state.signature, fastcache, *text_and_names)

    def forget(self) -> None:
        """Drop all specializations."""
        self.clear()
        self.state.forget()

    @property
    def cache_observations(self) -> CacheObservations:
        """What the cache did when a specialization was last needed, with counters over all calls.

        >>> import samovar as sv
        >>> @sv.kernel
        ... def one() -> sv.i32:
        ...     return 1
        >>> one()
        1
        >>> one.cache_observations.lookups
        1
        """
        return self.state.observations

    @property
    def src_ll_cache_observations(self) -> CacheObservations:
        """`cache_observations` under its name in other frameworks."""
        return self.state.observations

    @property
    def _primal(self) -> Kernel:
        """The kernel itself, for programs of other frameworks."""
        return self

    @property
    def grad(self) -> Kernel:
        """The reverse of the kernel: called with the same arguments after it, it takes the gradients of what the kernel has
        written to the gradients of what it has read. An error says where something that it needs may be overwritten.

        >>> import samovar as sv
        >>> @sv.kernel
        ... def square(x: sv.types.NDArray[sv.f32, 1], y: sv.types.NDArray[sv.f32, 1]):
        ...     for i in x:
        ...         y[i] = x[i] * x[i]
        >>> x, y = (sv.ndarray(sv.f32, 2, needs_grad=True) for _ in range(2))
        >>> x.fill(3)
        >>> square(x, y)
        >>> y.grad.fill(1)
        >>> square.grad(x, y)
        >>> x.grad
        ndarray([6.0, 6.0], dtype=f32, shape=(2,))
        """
        return self.in_mode("reverse")

    def in_mode(self, derivative: str) -> Kernel:
        """The kernel that a mode of differentiation makes of this one."""
        return self.variant(derivative=derivative)

    def variant(self, **options: str | int) -> Kernel:
        """The same function as a kernel with more options."""
        name = f"_{options}"
        found = self.__dict__.get(name)
        if found is None:
            signature = self.state.signature.with_options(**options)
            found = self.__dict__[name] = declare(self.__wrapped__, signature, self.state.fastcache)
        return found

    def explain(self) -> str:
        """Why the kernel was last compiled, or that it was not.

        >>> import samovar as sv
        >>> @sv.kernel
        ... def two() -> sv.i32:
        ...     return 2
        >>> two.explain()
        'two was not needed yet'
        """
        name, state = self.__qualname__, self.state
        if state.reason:
            return f"{name} was compiled, because {state.reason}"
        if state.observations.loads:
            return f"{name} was loaded from the cache"
        return f"{name} was not needed yet"

    def look(self, arguments: dict[str, Any], options: Options, known: Tree | None = None) -> Lens:
        """A lens on the kernel and its arguments, which are checked, for a compile. `known` is a tree of other arguments."""
        from samovar.lens import Lens
        from samovar.runtime.arguments import check_arguments

        check_arguments(self.__qualname__, self.state.signature, arguments, options)
        texts = {} if known is None else known.texts()
        return Lens(self.__wrapped__, arguments, self.state.signature, options, texts)


def _resolve(
    kernel: Kernel, arguments: tuple[Any, ...]
) -> _native.Specialization | tuple[Any] | samovar.SamovarError:
    """The specialization for arguments for which no guard holds, or the error; or, if kernels are not compiled, the result
    of a launch as the only item of a tuple.

    Called by native code, which drops the result and asks again if the kernel was cleared meanwhile: options that change
    during a compile take precedence.
    """
    if "_lsprof" in sys.modules:
        _show_calls()
    given = dict(zip(kernel.parameters, arguments, strict=True))
    try:
        arch = configuration.current_options().arch
    except samovar.SamovarError as error:  # an environment variable has an invalid value
        return error.with_traceback(None)
    if arch == configuration.python:
        from samovar.runtime.plain_python import run

        return (run(kernel, given),)
    state = kernel.state
    try:
        if state.holder:
            _require_no_deadlock(kernel)
        with state.lock:
            outer, state.holder = state.holder, get_ident()
            try:
                made = _specialize(kernel, given, configuration.current_options())
            finally:
                state.holder = outer
            _make_room(kernel, made)
            # Under the lock, so that a waiting thread finds what it needs.
            kernel.insert(made)
            return made
    except samovar.SamovarError as error:
        if _comes_of_recursion(error):
            _native.stack_was_used_up()
        # The message shows where the user's code is wrong; our own frames would only hide it. Native code raises it.
        if error.__cause__ is not None:
            error.__cause__.with_traceback(_native.users_frames(error.__cause__.__traceback__))
        error.__context__ = None
        return error.with_traceback(None)


#: When native code asks for the third time for one launch, because the guards of the result do not hold, the cache is
#: not trusted.
DISTRUST_ATTEMPT = 2


def _require_no_deadlock(kernel: Kernel) -> None:
    """Check that another thread that is looking up the kernel does not wait for a module that this one is importing: this
    may be the handler of a signal, in the middle of an import."""
    from samovar.system import is_importing, waits_for_import_here

    pause = 0.001
    while is_importing() and (holder := kernel.state.holder) and holder != get_ident():
        if waits_for_import_here(holder):
            raise samovar.SamovarRuntimeError(
                f"{kernel.__qualname__} cannot be looked up here: another thread is looking it up, and waits for a module"
                " that this thread is importing\n  help: launch the kernel once before a signal handler launches it"
            )
        sleep(pause)
        pause = min(2 * pause, 0.02)


def _comes_of_recursion(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, RecursionError):
        error = error.__cause__ or error.__context__
    return error is not None


def _specialize(kernel: Kernel, arguments: dict[str, Any], options: Options) -> _native.Specialization:
    if options.print_non_pure:
        from samovar.runtime.captured_names import name_non_pure

        name_non_pure(kernel)
    search = Search(kernel, arguments, options)
    uses_torch = "torch" in sys.modules and "derivative" in kernel.state.signature.options
    if kernel.attempt == DISTRUST_ATTEMPT:
        search.forget()
    else:
        found = search.run()
        if found is None and uses_torch:
            from samovar.runtime.torch_gradients import give_known_gradients

            found = search.walk() if give_known_gradients(search) else None
        if found is not None:
            return found
    if uses_torch:
        from samovar.runtime.torch_gradients import compile_with_gradients

        return compile_with_gradients(search)
    from samovar.runtime.install import compile_for

    return compile_for(search)


def _show_calls() -> None:
    """`cProfile` is loaded, and may be active."""
    from samovar.runtime.cprofile_calls import show

    show()


def _make_room(kernel: Kernel, made: _native.Specialization) -> None:
    """Drop the least recently used specialization. Of code with plain calls before each launch, a few are enough: if these
    return something new each time, none of them will ever match again."""
    for unused in kernel.specializations[MOST_SPECIALIZATIONS - 1 :]:
        kernel.remove(unused)
    alike = [each for each in kernel.specializations if each.keep is made.keep and each is not made]
    if len(alike) >= MOST_ALIKE and made.calls:
        for unused in alike[MOST_ALIKE - 1 :]:
            kernel.remove(unused)


def _declare(
    function: Any,
    frame: FrameType,
    fastcache: bool,
    graph: bool,
    checkpoints: bool,
    serial: bool,
    needs_annotations: bool = False,
) -> Kernel:
    if type(function).__name__ != "function":
        kind = type(function).__name__
        if kind in ("str", "list", "tuple"):
            raise samovar.SamovarTypeError(
                "@sv.kernel takes no signature: the arguments of each launch decide the types\n"
                "  help: remove it: `@sv.kernel`, or annotate the parameters: `x: sv.Array[sv.f64, 1]`"
            )
        advice = f": write @{kind} above @sv.kernel" if kind in ("staticmethod", "classmethod") else ""
        raise samovar.SamovarTypeError(f"@sv.kernel decorates a function, not a {kind}{advice}")
    if function.__name__ == "<lambda>":
        raise samovar.SamovarTypeError("@sv.kernel decorates a function that has a name, not a lambda: write it with def")
    if checkpoints and not graph:
        from samovar.runtime.declaration_errors import declaration_error

        message, advice = "`checkpoints` requires `graph=True`", "declare it as `@sv.kernel(graph=True, checkpoints=True)`"
        raise declaration_error(function, None, message, advice)
    if serial and graph:
        from samovar.runtime.declaration_errors import declaration_error

        message = "`serial=True` and `graph=True` are mutually exclusive: the tasks of a graph are parallel loops"
        raise declaration_error(function, None, message, "put `sv.loop_config(serialize=True)` before individual loops")
    options = _DECORATOR_OPTIONS[bool(fastcache)]
    if serial:
        options = {**options, "serial": True}
    if graph:
        options = {**options, "graph": True, **({"checkpoints": True} if checkpoints else {})}
    try:
        signature = signature_of(function, frame, options)
    except samovar.language.UnsupportedAnnotation as unsupported:
        from samovar.runtime.declaration_errors import annotation_error

        raise annotation_error(function, unsupported) from None
    if function.__code__.co_filename.startswith("<"):
        from samovar.lens import remember_texts

        remember_texts(function.__code__, frame)
    if AnyAnnotation in [type(parameter.annotation) for parameter in signature.parameters]:
        name = _unannotated(function, signature)
        if name is not None and needs_annotations:
            from samovar.runtime.declaration_errors import declaration_error

            message = f"parameter `{name}` of kernel `{function.__qualname__}` has no annotation"
            advice = f"annotate it, as in `{name}: sv.f32` or `{name}: sv.Array[sv.f32, 1]`"
            raise declaration_error(function, name, message, advice)
        if name is not None:
            signature = signature.with_options(inferred=True)
    return declare(function, signature, fastcache)


class _Docstring:
    """The docstring of kernels: that of the function, and the types found for parameters without annotations."""

    def __init__(self, of_class: str | None) -> None:
        self.of_class = of_class

    def __get__(self, kernel: Kernel | None, owner: type) -> str | None:
        if kernel is None:
            return self.of_class
        own: str | None = kernel.__dict__.get("__doc__")
        if not kernel.specializations:
            return own
        from samovar.runtime.found_types import documented

        return documented(kernel, own)

    def __set__(self, kernel: Kernel, text: str | None) -> None:
        kernel.__dict__["__doc__"] = text


Kernel.__doc__ = _Docstring(Kernel.__doc__)  # type: ignore[assignment]


def declare(function: Any, signature: KernelSignature, fastcache: bool) -> Kernel:
    """A kernel for a function with resolved annotations."""
    names = tuple([parameter.name for parameter in signature.parameters])
    defaults = _default_values(function) if function.__defaults__ or function.__kwdefaults__ else {}
    kernel = Kernel(function, names, defaults, _resolve)
    kernel.state = KernelState(signature, fastcache)
    configuration.register(kernel)
    if "_lsprof" in sys.modules:
        _show_calls()
    return kernel


def _default_values(function: FunctionType) -> dict[str, Any]:
    code = function.__code__
    named = zip(reversed(code.co_varnames[: code.co_argcount]), reversed(function.__defaults__ or ()), strict=False)
    return {**dict(named), **(function.__kwdefaults__ or {})}


def _unannotated(function: FunctionType, signature: KernelSignature) -> str | None:
    """The first parameter without an annotation, or None. The `self` of a method needs none."""
    parts = function.__qualname__.split(".")
    is_method = len(parts) > 1 and parts[-2] != "<locals>"
    for parameter in signature.parameters[is_method:]:
        if type(parameter.annotation) is AnyAnnotation:
            return parameter.name
    return None


@_native.api_boundary
def kernel(
    function: Any = None,
    /,
    *,
    fastcache: bool = False,
    graph: bool = False,
    checkpoints: bool = False,
    serial: bool = False,
    pure: bool = False,
    **numba: Any,
) -> Any:
    """Declare a kernel. It is compiled on its first call, for the types of its arguments.

    Parameters may have annotations, which arguments are checked against; without one, an array, a number or an object of any
    type is accepted. Options of Numba's decorators are accepted if they ask for what kernels do anyway (`parallel=True`,
    `fastmath=True`, `cache=True`); others are errors that say what to write.

    `fastcache=True` asserts that the kernel captures no values: if it does, compiling it is an error; `pure` is a synonym.
    `graph=True` allows loops over flags and concurrent sections (`sv.graph`), but no return values. With `checkpoints=True`
    as well, a launch may stop at a checkpoint (`sv.checkpoint`) and returns an `sv.GraphStatus`.

    The outermost loops of a kernel are parallel. With `serial=True` they run in order on the calling thread: loops may
    `break`, and variables carry over from one iteration to the next, as in Python.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def fill(a: sv.types.NDArray[sv.f32, 1], value: sv.f32):
    ...     for i in a:
    ...         a[i] = value
    >>> a = sv.ndarray(sv.f32, 4)
    >>> fill(a, 2.5)
    >>> a[3]
    2.5
    >>> @sv.kernel(serial=True)
    ... def running_sum(a: sv.types.NDArray[sv.f32, 1]):
    ...     total = 0.0
    ...     for i in a:
    ...         total += a[i]
    ...         a[i] = total
    >>> running_sum(a)
    >>> a[3]
    10.0
    """
    options = {"fastcache": fastcache or pure, "graph": graph, "checkpoints": checkpoints, "serial": serial, **numba}
    return declared(function, sys._getframe(1), options)


def declared(function: Any, frame: FrameType, options: dict[str, Any], needs_annotations: bool = False) -> Any:
    """A kernel, or, without a function, a decorator that makes one. `frame` is where the decorator is used."""
    own = {name: options.pop(name, False) for name in ("fastcache", "graph", "checkpoints", "serial")}
    if options:
        from samovar.language import serial_in_numba

        own["serial"] = serial_in_numba(kernel, options, own["serial"])
    if function is not None:
        return _declare(function, frame, **own, needs_annotations=needs_annotations)

    @_native.api_boundary
    def decorate(function: Any) -> Kernel:
        return _declare(function, sys._getframe(1), **own, needs_annotations=needs_annotations)

    return decorate


@_native.api_boundary
def pure(fn: Kernel) -> Kernel:
    """Declare a kernel with `fastcache=True`: `@sv.pure` above `@sv.kernel`.

    >>> import samovar as sv
    >>> @sv.pure
    ... @sv.kernel
    ... def double(x: sv.i32) -> sv.i32:
    ...     return 2 * x
    >>> double(4)
    8
    """
    if not isinstance(fn, Kernel):
        raise samovar.SamovarTypeError(f"@sv.pure decorates a kernel (above @sv.kernel), not a {type(fn).__name__}")
    options = fn.state.signature.options
    graph, checkpoints, serial = (bool(options.get(name)) for name in ("graph", "checkpoints", "serial"))
    return _declare(fn.__wrapped__, sys._getframe(1), True, graph, checkpoints, serial)


def _renew_locks() -> None:
    """In a forked child, the thread that was compiling no longer exists."""
    for each in configuration.registered():
        if isinstance(each, Kernel):
            each.state.renew_lock()


os.register_at_fork(after_in_child=_renew_locks)

_profile = os.environ.get("SAMOVAR_PROFILE", "")
if _profile not in ("", "0"):
    from samovar.runtime.profiler import profile_process

    profile_process(_profile)
