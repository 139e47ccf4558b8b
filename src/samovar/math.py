"""`sv.math`: constants, and the functions of shader languages and C's `math.h` that `sv` itself does not have.

Names are imported on first use, as those of the package are. Names not listed here are in the table of operations.
"""

from __future__ import annotations

#: Functions of numbers that are not in the table, and constants.
_OF_NUMBERS = "clamp degrees fract mix radians sign step".split()
_CONSTANTS = "e inf nan pi".split()
#: Functions that are not in the table, each called `samovar.math.NAME`.
_FUNCTIONS = (
    *_OF_NUMBERS,
    *"cconj cdiv cexp cinv clog cmul cpow cross csqrt determinant distance dot eye fns inverse length mod normalize".split(),
    *"quat_conjugate quat_from_axis_angle quat_mul quat_rotate quat_to_matrix reflect refract rot_by_axis".split(),
    *"rot_yaw_pitch_roll rotation2d rotation3d scale smoothstep translate vdir".split(),
)
_OTHERS = (*_CONSTANTS, *"ivec2 ivec3 ivec4 mat2 mat3 mat4 uvec2 uvec3 uvec4 vec2 vec3 vec4".split())


def _tabled() -> dict[str, object]:
    """The functions of the table, without the absolute value: Python has one, and so has `sv`."""
    from samovar.language import TABLED

    return {name: function for name, function in TABLED.items() if name != "abs"}


def __getattr__(name: str) -> object:
    if name in _FUNCTIONS or name in _OTHERS:
        if name in _OF_NUMBERS or name in _CONSTANTS:
            from samovar import language as library
        else:
            from samovar import values as library

        found: object
        found = globals()[name] = getattr(library, name)
        return found
    if name == "__all__":
        return [*_tabled(), *_FUNCTIONS, *_OTHERS]
    tabled = {} if name[0] == "_" else _tabled()
    if name not in tabled:
        from samovar.language import MissingName

        try:
            raise MissingName(__name__, name, [*tabled, *_FUNCTIONS, *_OTHERS])
        except MissingName as missing:
            missing.__traceback__ = None  # re-raising adds no frame of this function
            raise
    found = globals()[name] = tabled[name]
    return found


def __dir__() -> list[str]:
    return [*_tabled(), *_FUNCTIONS, *_OTHERS]
