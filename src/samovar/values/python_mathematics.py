"""Functions of Python's `math` and NumPy beyond the table of operations, as sources that kernels compile. Plain Python
calls the originals.

Integers have a fixed width here: results that do not fit wrap, and are reported in debug mode.
"""

from __future__ import annotations

from samovar._native import DType, f16, f64, i16, i32, i64
from samovar.language import TABLED, bit_cast, cast, inf, library, static
from samovar.values.matrices import Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

copysign, exp, exp2, fmod, isinf, log1p, log2, popcnt, trunc = (
    TABLED[name] for name in "copysign exp exp2 fmod isinf log1p log2 popcnt trunc".split()
)


@library
def gcd(a: Any, b: Any) -> Any:
    """The greatest common divisor of two integers."""
    x, y = (a | 0) + 0 * b, (b | 0) + 0 * a
    while y != 0:
        x, y = y, x % y
    return abs(x)


@library
def lcm(a: Any, b: Any) -> Any:
    """The least common multiple of two integers."""
    divisor = gcd(a, b)
    return 0 * divisor if divisor == 0 else abs(a // divisor * b)


@library
def isqrt(n: Any) -> Any:
    """The integer square root; 0 for negative numbers, for which Python raises."""
    root = max(n | 0, 0)
    nearer = root // 2 + (root & 1)
    while nearer < root:
        root = nearer
        nearer = (root + n // root) // 2
    return root


@library
def factorial(n: Any) -> Any:
    """The product of the integers from 1 to n."""
    product = (n | 0) * 0 + 1
    for factor in range(2, n + 1):
        product *= factor
    return product


@library
def perm(n: Any, k: Any) -> Any:
    """The number of ways to arrange k of n things."""
    product = (n | 0) * 0 + (k | 0) * 0 + 1
    if k > n:
        product *= 0
    else:
        for i in range(k):
            product *= n - i
    return product


@library
def comb(n: Any, k: Any) -> Any:
    """The number of ways to choose k of n things."""
    result = (n | 0) * 0 + (k | 0) * 0 + 1
    if k > n:
        result *= 0
    else:
        for i in range(min(k, n - k)):
            result = result * (n - i) // (i + 1)
    return result


@library
def isclose(a: Any, b: Any, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    """Whether two numbers are close, relative to their size or absolutely."""
    distance = abs(a - b)
    near = distance <= max(rel_tol * max(abs(a), abs(b)), abs_tol)
    return a == b or (near and not (isinf(a) or isinf(b)))


@library
def modf(x: Any) -> Any:
    """The fractional and the integer part of a float, both with its sign."""
    whole = trunc(x)
    return copysign(0.0 if isinf(x) else x - whole, x), whole


@library
def remainder(x: Any, y: Any) -> Any:
    """The exact IEEE remainder: x minus the nearest multiple of y, ties to even."""
    size, step = abs(x), abs(y)
    rest = fmod(size, step + step)
    if rest + rest > step:
        rest -= step
        if rest + rest >= step:
            rest -= step
    return copysign(1.0, x) * rest


@library
def logaddexp(a: Any, b: Any) -> Any:
    """log(exp(a) + exp(b)) without overflow."""
    larger = max(a, b)
    return larger if a == b and isinf(a) else larger + log1p(exp(-abs(a - b)))


@library
def logaddexp2(a: Any, b: Any) -> Any:
    """log2(exp2(a) + exp2(b)) without overflow."""
    larger = max(a, b)
    return larger if a == b and isinf(a) else larger + log2(1 + exp2(-abs(a - b)))


def bits_of(dtype: DType) -> DType:
    """The integer type of the size of a float."""
    return {f64: i64, f16: i16}.get(dtype, i32)


@library
def nextafter(x: Any, y: Any) -> Any:
    """The next float after x toward y."""
    both = Vector([x, y]) / 1
    start, goal = both[0], both[1]
    one = cast(1, static(bits_of(both.dtype)))
    bits = bit_cast(start, static(bits_of(both.dtype)))
    farther = bit_cast(bits + one, both.dtype)
    nearer = bit_cast(bits - one, both.dtype)
    least = copysign(bit_cast(one, both.dtype), goal)
    moved = least if start == 0 else (farther if (goal > start) == (start > 0) else nearer)
    return start + goal if start != start or goal != goal else (goal if start == goal else moved)


@library
def ulp(x: Any) -> Any:
    """The distance to the next float, toward infinity if possible."""
    size = abs((Vector([x]) / 1)[0])
    above, below = nextafter(size, inf), nextafter(size, 0)
    return size if isinf(size) else (size - below if isinf(above) else above - size)


@library
def spacing(x: Any) -> Any:
    """The distance to the next float away from zero, with the sign of the number."""
    return nextafter(x, -inf if x < 0 else inf) - x


@library
def bitwise_count(x: Any) -> Any:
    """The number of set bits of the absolute value of an integer."""
    return popcnt(abs(x))


@library
def heaviside(x: Any, middle: Any) -> Any:
    """0 for negative x, 1 for positive x, and the second argument for zero."""
    return x if x != x else (0.0 if x < 0 else (middle if x == 0 else 1.0))


@library
def signbit(x: Any) -> Any:
    """Whether the sign bit is set, also for -0.0."""
    return copysign(1.0, x) < 0


def load_python_mathematics() -> None:
    """Load this file, which registers the functions; nothing else needs it."""
