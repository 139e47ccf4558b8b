"""`sv.math`: constants, and the functions that shader languages and C's mathematics have beyond the ones of the root."""

from __future__ import annotations

from samovar import _door
from samovar.language import (
    TABLED,
    clamp,
    degrees,
    e,
    fract,
    inf,
    mix,
    nan,
    pi,
    radians,
    sign,
    step,
)

#: Of the table of operations.
_FUNCTIONS = {name: function for name, function in TABLED.items() if name != "abs"}
globals().update(_FUNCTIONS)

#: Vectors and what is done with them: loaded when one is used.
_OF_VECTORS = (
    "cconj cdiv cexp cinv clog cmul cpow cross csqrt determinant distance dot eye fns inverse ivec2 ivec3 ivec4 "
    "length mat2 mat3 mat4 mod normalize quat_conjugate quat_from_axis_angle quat_mul quat_rotate quat_to_matrix "
    "reflect refract rot_by_axis rot_yaw_pitch_roll rotation2d rotation3d scale smoothstep translate uvec2 uvec3 "
    "uvec4 vdir vec2 vec3 vec4 "
).split()

__all__ = [
    *_FUNCTIONS, *_OF_VECTORS, "clamp", "degrees", "e", "fract", "inf", "mix", "nan", "pi", "radians", "sign", "step",
]  # fmt: skip

__getattr__ = _door(globals(), {"language": " ".join(_OF_VECTORS)}, package="samovar")[0]
