"""`sv.math`: constants, and the functions that shader languages and C's mathematics have beyond the ones of the root.

A name is loaded when it is used, as those of the package are. What is not named here is in the table of operations.
"""

from __future__ import annotations

#: Functions beside those of the table, each called `samovar.math.NAME`.
_FUNCTIONS = (
    "cconj cdiv cexp cinv clamp clog cmul cpow cross csqrt degrees determinant distance dot eye fns fract inverse length "
    "mix mod normalize quat_conjugate quat_from_axis_angle quat_mul quat_rotate quat_to_matrix radians reflect refract "
    "rot_by_axis rot_yaw_pitch_roll rotation2d rotation3d scale sign smoothstep step translate vdir"
).split()
_OTHERS = "e inf ivec2 ivec3 ivec4 mat2 mat3 mat4 nan pi uvec2 uvec3 uvec4 vec2 vec3 vec4".split()


def _tabled() -> dict[str, object]:
    """The functions of the table; of the absolute value Python has one of its own, and the root ours."""
    from samovar.language import TABLED

    return {name: function for name, function in TABLED.items() if name != "abs"}


def __getattr__(name: str) -> object:
    if name in _FUNCTIONS or name in _OTHERS:
        import samovar.language as library

        found = globals()[name] = getattr(library, name)
        return found
    if name == "__all__":
        return [*_tabled(), *_FUNCTIONS, *_OTHERS]
    tabled = {} if name[0] == "_" else _tabled()
    if name not in tabled:
        from samovar.missing_name import MissingName

        try:
            raise MissingName(__name__, name, [*tabled, *_FUNCTIONS, *_OTHERS])
        except MissingName as missing:
            missing.__traceback__ = None  # what is raised again gets no frame of this function
            raise
    found = globals()[name] = tabled[name]
    return found


def __dir__() -> list[str]:
    return [*_tabled(), *_FUNCTIONS, *_OTHERS]
