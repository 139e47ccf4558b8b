"""`@sv.func`: a function that kernels and plain Python can call."""

from __future__ import annotations

import sys

import samovar.language
from samovar import _native
from samovar.language import Declaration, options_in_force, signature_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from samovar.language import KernelSignature


class Func(Declaration):
    """A function for use in kernels. Called from plain Python, it runs as the original function."""

    def __init__(self, function: Any, signature: KernelSignature) -> None:
        self.__wrapped__ = function
        self.signature = signature
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if options_in_force().arch == "python":
            from samovar.runtime.plain_python import call

            return call(self, arguments, keywords)
        return self.__wrapped__(*arguments, **keywords)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        from types import MethodType

        return MethodType(self, instance)

    def __reduce__(self) -> Any:
        from samovar.runtime import pickle_by_value

        function = self.__wrapped__
        if pickle_by_value.travels_by_value(self):
            text_and_names = pickle_by_value.text_and_names(function)
            return pickle_by_value.rebuilt_func, (pickle_by_value.Arrival(()), function, self.signature, *text_and_names)
        return function.__qualname__

    def __copy__(self) -> Func:
        return self

    def __deepcopy__(self, memo: object) -> Func:
        return self

    def __repr__(self) -> str:
        return f"<samovar func {self.__module__}.{self.__qualname__}>"


def _declare(function: Any, frame: FrameType, requires_top_level: bool, outlined: bool = False) -> Func:
    if type(function).__name__ != "function":
        raise samovar.SamovarTypeError(f"@sv.func decorates a function, not a {type(function).__name__}")
    options = {"requires_top_level": requires_top_level, **({"outlined": True} if outlined else {})}
    try:
        signature = signature_of(function, frame, options)
    except samovar.language.UnsupportedAnnotation as unsupported:
        from samovar.runtime.declaration_errors import annotation_error

        raise annotation_error(function, unsupported) from None
    if function.__code__.co_filename.startswith("<"):
        from samovar.lens import remember_texts

        remember_texts(function.__code__, frame)
    return Func(function, signature)


@_native.api_boundary
def func(fn: Any = None, *, is_real_function: bool = False, requires_top_level: bool = False, **numba: Any) -> Any:
    """Declare a function that kernels can call.

    `requires_top_level=True` rejects calls from inside a loop or a branch: its own loops are then always parallel.
    `is_real_function=True` is `sv.real_func`. Options of Numba's decorators are treated as by `sv.kernel`.

    >>> import samovar as sv
    >>> @sv.func
    ... def square(x: sv.f32) -> sv.f32:
    ...     return x * x
    >>> square(3.0)
    9.0
    """
    if numba:
        from samovar.language import serial_in_numba

        serial_in_numba(func, numba, False)
    if fn is not None:
        return _declare(fn, sys._getframe(1), requires_top_level, is_real_function)

    @_native.api_boundary
    def decorate(function: Any) -> Func:
        return _declare(function, sys._getframe(1), requires_top_level, is_real_function)

    return decorate


@_native.api_boundary
def real_func(fn: Any) -> Any:
    """Like `sv.func`, for a function that is never inlined into its callers: large code used in many places is compiled
    once. Its loops are serial.

    >>> import samovar as sv
    >>> @sv.real_func
    ... def cube(x: sv.f32) -> sv.f32:
    ...     return x * x * x
    >>> cube(2.0)
    8.0
    """
    return _declare(fn, sys._getframe(1), False, outlined=True)


@_native.api_boundary
def pyfunc(fn: Any) -> Any:
    """Like `sv.func`: a function that both kernels and plain Python call.

    >>> import samovar as sv
    >>> @sv.pyfunc
    ... def half(x):
    ...     return x / 2
    >>> half(3.0)
    1.5
    """
    return _declare(fn, sys._getframe(1), False)
