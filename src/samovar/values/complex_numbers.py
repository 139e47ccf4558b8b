"""Complex numbers as 2-D vectors, and other functions that shader-like languages have. Kernels compile the same
source.
"""

from __future__ import annotations

from samovar._native import i32, u32
from samovar.language import TABLED, cast, library, select
from samovar.values.geometry import rot_yaw_pitch_roll
from samovar.values.linear_algebra import norm
from samovar.values.matrices import Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

atan2, cos, exp, floor, log, sin = (TABLED[name] for name in ("atan2", "cos", "exp", "floor", "log", "sin"))
maximum, sqrt = TABLED["max"], TABLED["sqrt"]


@library
def cconj(z: Any) -> Any:
    """The conjugate of a complex number.

    >>> import samovar as sv
    >>> sv.math.cconj(sv.math.vec2(1, 2))
    Vector([1.0, -2.0], dt=f32)
    """
    return Vector([z[0], -z[1]])


@library
def cmul(z1: Any, z2: Any) -> Any:
    """The product of complex numbers.

    >>> import samovar as sv
    >>> sv.math.cmul(sv.math.vec2(0, 1), sv.math.vec2(0, 1))
    Vector([-1.0, 0.0], dt=f32)
    """
    return Vector([z1[0] * z2[0] - z1[1] * z2[1], z1[0] * z2[1] + z1[1] * z2[0]])


@library
def cinv(z: Any) -> Any:
    """The reciprocal of a complex number.

    >>> import samovar as sv
    >>> sv.math.cinv(sv.math.vec2(0, 2))
    Vector([0.0, -0.5], dt=f32)
    """
    return cconj(z) / (z[0] * z[0] + z[1] * z[1])


@library
def cdiv(z1: Any, z2: Any) -> Any:
    """The quotient of complex numbers.

    >>> import samovar as sv
    >>> sv.math.cdiv(sv.math.vec2(-1, 0), sv.math.vec2(0, 1))
    Vector([0.0, 1.0], dt=f32)
    """
    return cmul(z1, cconj(z2)) / (z2[0] * z2[0] + z2[1] * z2[1])


@library
def vdir(ang: Any) -> Any:
    """The unit vector at an angle to the x axis.

    >>> import samovar as sv
    >>> sv.math.vdir(0.0)
    Vector([1.0, 0.0], dt=f32)
    """
    return Vector([cos(ang), sin(ang)])


@library
def cexp(z: Any) -> Any:
    """e to the power of a complex number.

    >>> import samovar as sv
    >>> sv.math.cexp(sv.math.vec2(0, 0))
    Vector([1.0, 0.0], dt=f32)
    """
    return vdir(z[1]) * exp(z[0])


@library
def clog(z: Any) -> Any:
    """The natural logarithm of a complex number; the angle is in [-pi, pi].

    >>> import samovar as sv
    >>> sv.math.clog(sv.math.vec2(1, 0))
    Vector([0.0, 0.0], dt=f32)
    """
    return Vector([log(norm(z)), atan2(z[1], z[0])])


@library
def cpow(z: Any, n: Any) -> Any:
    """A power of a complex number. Powers of 0 are 0.

    >>> import samovar as sv
    >>> sv.math.cpow(sv.math.vec2(0, 0), 2.0)
    Vector([0.0, 0.0], dt=f32)
    """
    size = norm(z)
    is_zero = size == 0
    length = exp(log(select(is_zero, 1, size)) * n)
    return vdir(atan2(z[1], z[0]) * n) * select(is_zero, 0, length)


@library
def csqrt(z: Any) -> Any:
    """The square root of a complex number with a non-negative real part.

    >>> import samovar as sv
    >>> sv.math.csqrt(sv.math.vec2(4, 0))
    Vector([2.0, 0.0], dt=f32)
    """
    size = norm(z)
    upper = sqrt(maximum((size - z[0]) / 2, 0))
    return Vector([sqrt(maximum((size + z[0]) / 2, 0)), select(z[1] < 0, -upper, upper)])


@library
def mod(x: Any, y: Any) -> Any:
    """The remainder of a division, with the sign of the divisor: `x - y * floor(x / y)`.

    >>> import samovar as sv
    >>> sv.math.mod(-1.5, 1.0)
    0.5
    """
    return x - y * floor(x / y)


@library
def rotation3d(ang_x: Any, ang_y: Any, ang_z: Any) -> Any:
    """The 4×4 matrix of three rotations, for row vectors: `rot_yaw_pitch_roll(ang_z, ang_x, ang_y)`.

    >>> import samovar as sv
    >>> sv.math.rotation3d(0.0, 0.0, 0.0)[0, 0]
    1.0
    """
    return rot_yaw_pitch_roll(ang_z, ang_x, ang_y)


@library
def fns(mask: Any, base: Any, offset: Any) -> Any:
    """The position of a set bit in 32 bits, counted from bit `base`: the `offset`-th one upward, or downward if negative,
    `base` included; 0xFFFFFFFF if there is none. With `offset` 0, bit `base` itself has to be set.

    >>> import samovar as sv
    >>> sv.math.fns(0b101100, 1, 2)
    3
    """
    found = cast(0xFFFFFFFF, u32)
    left = cast(select(offset < 0, -offset, select(offset == 0, 1, offset)), i32)
    reach = select(offset == 0, 1, 32)
    for away in range(32):
        place = cast(base, i32) + select(offset < 0, -away, away)
        is_inside = (away < reach) & (place >= 0) & (place < 32)
        is_set = is_inside & (((cast(mask, u32) >> cast(select(is_inside, place, 0), u32)) & 1) == 1)
        left -= select(is_set, 1, 0)
        found = select(is_set & (left == 0), cast(place, u32), found)
    return found
