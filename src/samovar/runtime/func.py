"""`@sv.func`: a function that kernels call, and that plain Python can call as well."""

from __future__ import annotations

import sys

from samovar.errors import SamovarTypeError
from samovar.language import Declaration, signature_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

class Func(Declaration):
    """A function for use in kernels. Called from plain Python, it runs as the function that it was made from."""

    def __init__(self, function: Any, frame: FrameType, requires_top_level: bool) -> None:
        if type(function).__name__ != "function":
            raise SamovarTypeError(f"@sv.func decorates a function, not a {type(function).__name__}")
        self.__wrapped__ = function
        self.signature = signature_of(function, frame, {"requires_top_level": requires_top_level})
        if function.__code__.co_filename.startswith("<"):
            from samovar.lens import remember_texts

            remember_texts(function.__code__, frame)
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.__wrapped__(*arguments, **keywords)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        from types import MethodType

        return MethodType(self, instance)

    def __reduce__(self) -> str:
        return self.__wrapped__.__qualname__  # type: ignore[no-any-return]

    def __copy__(self) -> Func:
        return self

    def __deepcopy__(self, memo: object) -> Func:
        return self

    def __repr__(self) -> str:
        return f"<samovar func {self.__module__}.{self.__qualname__}>"


def func(function: Any = None, /, *, requires_top_level: bool = False) -> Any:
    """Make a function that kernels can call.

    `requires_top_level=True` refuses calls from inside a loop or a branch: its own loops are then always parallel.

    >>> import samovar as sv
    >>> @sv.func
    ... def square(x: sv.f32) -> sv.f32:
    ...     return x * x
    >>> square(3.0)
    9.0
    """
    if function is not None:
        return Func(function, sys._getframe(1), requires_top_level)

    def decorate(function: Any) -> Func:
        return Func(function, sys._getframe(1), requires_top_level)

    return decorate
