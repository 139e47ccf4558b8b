"""The mathematical functions and constants of the language: those of the table of operations, and others built on them.

In plain Python a function of the table is the row's `host`, with the row's documentation.
"""

from __future__ import annotations

from samovar.language import functions
from samovar.language.functions import REGISTRY as REGISTRY  # complete once this module is loaded
from samovar.language.functions import elementwise, intrinsic
from samovar.language.operations import OPERATIONS, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Not from Python's `math`, which would be another shared library to load.
pi = 3.141592653589793
e = 2.718281828459045
inf = float("inf")
nan = float("nan")

RADIANS_PER_DEGREE = pi / 180
DEGREES_PER_RADIAN = 180 / pi


#: The rule by which functions take vectors and matrices, where the row does not name it.
_RULES = {"abs": "arithmetic", "pow": "power"}


def _public(row: Row) -> Callable[..., Any]:
    """The function of a row under its public name, with runnable documentation."""
    spelling, numbers = row.spellings[0], row.host
    assert numbers is not None
    home, _, name = spelling.rpartition(".")
    numbers.__name__ = name
    function = row.host = elementwise(row.staged or _RULES[row.name])(numbers)
    call, _, result = row.example.partition(" -> ")
    function.__name__ = function.__qualname__ = name
    function.__module__ = home
    shown = spelling.replace("samovar", "sv", 1)
    function.__doc__ = f"{row.meaning}\n\n    >>> import samovar as sv\n    >>> {shown}({call})\n    {result}\n    "
    REGISTRY[spelling] = function
    return function


#: Name → function, for `sv` and `sv.math`.
TABLED: dict[str, Callable[..., Any]] = {row.name: _public(row) for row in OPERATIONS.values() if row.spellings}
globals().update(TABLED)


@intrinsic
@elementwise("common")
def clamp(x: Any, xmin: Any, xmax: Any) -> Any:
    """The value clamped to [xmin, xmax]; NaN becomes xmin.

    >>> import samovar as sv
    >>> sv.math.clamp(7, 0, 5)
    5
    """
    # In this order, the derivative is 1 at both ends: of equal operands, the second has it.
    return functions.min(xmax, functions.max(xmin, x))


@intrinsic
@elementwise("floats")
def mix(x: Any, y: Any, a: Any) -> Any:
    """Linear interpolation between two values: `x` at weight 0, `y` at weight 1.

    >>> import samovar as sv
    >>> sv.math.mix(0.0, 10.0, 0.25)
    2.5
    """
    return x * (1 - a) + y * a


@intrinsic
@elementwise("floats")
def step(edge: Any, x: Any) -> float:
    """0 below the edge, otherwise 1.

    >>> import samovar as sv
    >>> sv.math.step(1.0, 2.0)
    1.0
    """
    return 0.0 if x < edge else 1.0


@intrinsic
@elementwise("arithmetic")
def sign(x: Any) -> Any:
    """The sign: -1, 0 or 1; 0 for NaN.

    >>> import samovar as sv
    >>> sv.math.sign(-2.5)
    -1.0
    """
    found = (x > 0) - (x < 0)
    return found if isinstance(x, int) else type(x)(found)


@intrinsic
@elementwise("floats")
def fract(x: float) -> float:
    """The fractional part: `x - floor(x)`.

    >>> import samovar as sv
    >>> sv.math.fract(-0.25)
    0.75
    """
    whole: float = TABLED["floor"](x)
    return x - whole


@intrinsic
@elementwise("floats")
def radians(x: float) -> float:
    """Convert degrees to radians.

    >>> import samovar as sv
    >>> sv.math.radians(180.0) == sv.math.pi
    True
    """
    return x * RADIANS_PER_DEGREE


@intrinsic
@elementwise("floats")
def degrees(x: float) -> float:
    """Convert radians to degrees.

    >>> import samovar as sv
    >>> sv.math.degrees(sv.math.pi)
    180.0
    """
    return x * DEGREES_PER_RADIAN
