"""`sv.math`: constants, and the functions that shader languages and C's mathematics have beyond the ones of the root.

A name is loaded when it is used, as those of the package are.
"""

from __future__ import annotations

#: Of the table of operations.
_TABLED = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil clz copysign cos cosh erf erfc exp exp2 expm1 ffs floor fma "
    "fmod hypot isinf isnan log log10 log1p log2 max min popcnt pow round rsqrt sin sinh sqrt tan tanh trunc"
).split()
#: Others, of numbers, of vectors and of matrices. Each is called `samovar.math.NAME`, unless the package has it as well.
_FUNCTIONS = [
    *_TABLED,
    *(
        "cconj cdiv cexp cinv clamp clog cmul cpow cross csqrt degrees determinant distance dot eye fns fract inverse "
        "length mix mod normalize quat_conjugate quat_from_axis_angle quat_mul quat_rotate quat_to_matrix radians reflect "
        "refract rot_by_axis rot_yaw_pitch_roll rotation2d rotation3d scale sign smoothstep step translate vdir"
    ).split(),
]
_TYPES = "ivec2 ivec3 ivec4 mat2 mat3 mat4 uvec2 uvec3 uvec4 vec2 vec3 vec4".split()
_CONSTANTS = "e inf nan pi".split()

__all__ = [*_FUNCTIONS, *_TYPES, *_CONSTANTS]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import samovar.language as library

    value = globals()[name] = library.TABLED[name] if name in _TABLED else getattr(library, name)
    return value


def __dir__() -> list[str]:
    return [*__all__]
