"""C arithmetic where Python differs, and functions that depend only on the type of a number."""

from __future__ import annotations

from samovar.language import functions
from samovar.language.functions import REGISTRY, elementwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])


def _root(function: _Function) -> _Function:
    """Register a function as a name of `sv`."""
    REGISTRY[f"samovar.{function.__name__}"] = function
    return function


@_root
@elementwise("common")
def raw_div(x1: Any, x2: Any) -> Any:
    """The quotient as in C: truncated for integers (0 if the divisor is 0), exact division for floats.

    >>> import samovar as sv
    >>> sv.raw_div(-7, 2), sv.raw_div(-7.0, 2.0)
    (-3, -3.5)
    """
    if isinstance(x1, int) and isinstance(x2, int):
        if x2 == 0:
            return 0
        quotient = abs(x1) // abs(x2)
        return quotient if (x1 < 0) == (x2 < 0) else -quotient
    if x2 == 0:
        return functions.real("copysign", 2)(float("inf"), x2) * x1 if x1 else float("nan")
    return x1 / x2


@_root
@elementwise("common")
def raw_mod(x1: Any, x2: Any) -> Any:
    """The remainder of `raw_div`, with the sign of the dividend.

    >>> import samovar as sv
    >>> sv.raw_mod(-7, 2), sv.raw_mod(-7.5, 2.0)
    (-1, -1.5)
    """
    if isinstance(x1, int) and isinstance(x2, int):
        return x1 - raw_div(x1, x2) * x2 if x2 else 0
    return functions.real("fmod", 2)(x1, x2)


@_root
@elementwise("common")
def bit_shr(x1: int, x2: int) -> int:
    """Logical right shift: zeros are shifted in, regardless of the sign.

    In plain Python an integer has as many bits as a literal in a kernel: 32 if it fits in an i32, else 64.

    >>> import samovar as sv
    >>> sv.bit_shr(-1, 28)
    15
    """
    if x2 == 0:
        return x1
    return (int(x1) & ((1 << functions.width(x1)) - 1)) >> x2


@_root
def frexp(x: float) -> tuple[float, int]:
    """The mantissa m and exponent e with `x == m * 2**e`, where m is in [0.5, 1) unless x is 0, infinite or NaN.

    >>> import samovar as sv
    >>> sv.frexp(12.0)
    (0.75, 4)
    """
    from math import frexp as take_apart
    from math import isfinite

    return take_apart(x) if isfinite(x) else (x, 0)


@_root
@elementwise("arithmetic")
def zero(x: Any) -> Any:
    """A zero of the same type.

    >>> import samovar as sv
    >>> sv.zero(2.5)
    0.0
    """
    return type(x)(0)


@_root
@elementwise("arithmetic")
def one(x: Any) -> Any:
    """A one of the same type.

    >>> import samovar as sv
    >>> sv.one(7)
    1
    """
    return type(x)(1)


@_root
def ifte(cond: object, x1: Any, x2: Any) -> Any:
    """`x1` if the condition holds, else `x2`; both are evaluated. The same as `select`.

    >>> import samovar as sv
    >>> sv.ifte(2 > 1, 10, 20)
    10
    """
    return functions.select(cond, x1, x2)
