"""The mathematical functions and constants that programs use: those of the table of operations, and what is made of them.

In plain Python a function of the table is the row's `host`, with the documentation that the row has.
"""

from __future__ import annotations

from samovar.language import functions
from samovar.language.functions import REGISTRY as REGISTRY  # it is whole with what is here
from samovar.language.functions import elementwise, intrinsic
from samovar.language.operations import OPERATIONS, Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Not from Python's `math`, which is a library of its own to load.
pi = 3.141592653589793
e = 2.718281828459045
inf = float("inf")
nan = float("nan")

RADIANS_PER_DEGREE = pi / 180
DEGREES_PER_RADIAN = 180 / pi


#: By which rule functions take vectors and matrices whose rows do not say it.
_RULES = {"abs": "arithmetic", "pow": "power"}


def _public(row: Row) -> Callable[..., Any]:
    """The function of a row under its public name, with a documentation that runs."""
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


#: Name → function, for the root of the package and for `samovar.math`.
TABLED: dict[str, Callable[..., Any]] = {row.name: _public(row) for row in OPERATIONS.values() if row.spellings}
globals().update(TABLED)


@intrinsic
@elementwise("common")
def clamp(x: Any, xmin: Any, xmax: Any) -> Any:
    """The value, moved into [xmin, xmax]; NaN becomes xmin.

    >>> import samovar as sv
    >>> sv.math.clamp(7, 0, 5)
    5
    """
    return functions.min(functions.max(x, xmin), xmax)


@intrinsic
@elementwise("floats")
def mix(x: Any, y: Any, a: Any) -> Any:
    """Between two values: the first at weight 0, the second at weight 1.

    >>> import samovar as sv
    >>> sv.math.mix(0.0, 10.0, 0.25)
    2.5
    """
    return x * (1 - a) + y * a


@intrinsic
@elementwise("floats")
def step(edge: Any, x: Any) -> float:
    """0 below the edge, 1 everywhere else.

    >>> import samovar as sv
    >>> sv.math.step(1.0, 2.0)
    1.0
    """
    return 0.0 if x < edge else 1.0


@intrinsic
@elementwise("arithmetic")
def sign(x: Any) -> Any:
    """-1, 0 or 1; of NaN, 0.

    >>> import samovar as sv
    >>> sv.math.sign(-2.5)
    -1.0
    """
    found = (x > 0) - (x < 0)
    return found if isinstance(x, int) else type(x)(found)


@intrinsic
@elementwise("floats")
def fract(x: float) -> float:
    """What is left above the floor.

    >>> import samovar as sv
    >>> sv.math.fract(-0.25)
    0.75
    """
    whole: float = TABLED["floor"](x)
    return x - whole


@intrinsic
@elementwise("floats")
def radians(x: float) -> float:
    """Degrees to radians.

    >>> import samovar as sv
    >>> sv.math.radians(180.0) == sv.math.pi
    True
    """
    return x * RADIANS_PER_DEGREE


@intrinsic
@elementwise("floats")
def degrees(x: float) -> float:
    """Radians to degrees.

    >>> import samovar as sv
    >>> sv.math.degrees(sv.math.pi)
    180.0
    """
    return x * DEGREES_PER_RADIAN
