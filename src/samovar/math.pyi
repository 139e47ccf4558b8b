"""The names of `sv.math` for type checkers: the module takes its functions from the table of operations."""

from typing import Any

from samovar._native import DType
from samovar.language.geometry import (
    distance as distance,
)
from samovar.language.geometry import (
    eye as eye,
)
from samovar.language.geometry import (
    length as length,
)
from samovar.language.geometry import (
    normalize as normalize,
)
from samovar.language.geometry import (
    quat_conjugate as quat_conjugate,
)
from samovar.language.geometry import (
    quat_from_axis_angle as quat_from_axis_angle,
)
from samovar.language.geometry import (
    quat_mul as quat_mul,
)
from samovar.language.geometry import (
    quat_rotate as quat_rotate,
)
from samovar.language.geometry import (
    quat_to_matrix as quat_to_matrix,
)
from samovar.language.geometry import (
    reflect as reflect,
)
from samovar.language.geometry import (
    refract as refract,
)
from samovar.language.geometry import (
    rot_by_axis as rot_by_axis,
)
from samovar.language.geometry import (
    rot_yaw_pitch_roll as rot_yaw_pitch_roll,
)
from samovar.language.geometry import (
    rotation2d as rotation2d,
)
from samovar.language.geometry import (
    scale as scale,
)
from samovar.language.geometry import (
    smoothstep as smoothstep,
)
from samovar.language.geometry import (
    translate as translate,
)
from samovar.language.linear_algebra.products import (
    cross as cross,
)
from samovar.language.linear_algebra.products import (
    dot as dot,
)
from samovar.language.linear_algebra.systems import (
    determinant as determinant,
)
from samovar.language.linear_algebra.systems import (
    inverse as inverse,
)
from samovar.language.mathematics import (
    clamp as clamp,
)
from samovar.language.mathematics import (
    degrees as degrees,
)
from samovar.language.mathematics import (
    e as e,
)
from samovar.language.mathematics import (
    fract as fract,
)
from samovar.language.mathematics import (
    inf as inf,
)
from samovar.language.mathematics import (
    mix as mix,
)
from samovar.language.mathematics import (
    nan as nan,
)
from samovar.language.mathematics import (
    pi as pi,
)
from samovar.language.mathematics import (
    radians as radians,
)
from samovar.language.mathematics import (
    sign as sign,
)
from samovar.language.mathematics import (
    step as step,
)
from samovar.language.matrix_types import (
    ivec2 as ivec2,
)
from samovar.language.matrix_types import (
    ivec3 as ivec3,
)
from samovar.language.matrix_types import (
    ivec4 as ivec4,
)
from samovar.language.matrix_types import (
    mat2 as mat2,
)
from samovar.language.matrix_types import (
    mat3 as mat3,
)
from samovar.language.matrix_types import (
    mat4 as mat4,
)
from samovar.language.matrix_types import (
    uvec2 as uvec2,
)
from samovar.language.matrix_types import (
    uvec3 as uvec3,
)
from samovar.language.matrix_types import (
    uvec4 as uvec4,
)
from samovar.language.matrix_types import (
    vec2 as vec2,
)
from samovar.language.matrix_types import (
    vec3 as vec3,
)
from samovar.language.matrix_types import (
    vec4 as vec4,
)

def acos(x: float) -> float: ...
def acosh(x: float) -> float: ...
def asin(x: float) -> float: ...
def asinh(x: float) -> float: ...
def atan(x: float) -> float: ...
def atanh(x: float) -> float: ...
def cbrt(x: float) -> float: ...
def cos(x: float) -> float: ...
def cosh(x: float) -> float: ...
def erf(x: float) -> float: ...
def erfc(x: float) -> float: ...
def exp(x: float) -> float: ...
def exp2(x: float) -> float: ...
def expm1(x: float) -> float: ...
def log(x: float) -> float: ...
def log10(x: float) -> float: ...
def log1p(x: float) -> float: ...
def log2(x: float) -> float: ...
def rsqrt(x: float) -> float: ...
def sin(x: float) -> float: ...
def sinh(x: float) -> float: ...
def sqrt(x: float) -> float: ...
def tan(x: float) -> float: ...
def tanh(x: float) -> float: ...
def atan2(x: float, y: float) -> float: ...
def copysign(x: float, y: float) -> float: ...
def fmod(x: float, y: float) -> float: ...
def hypot(x: float, y: float) -> float: ...
def fma(x: float, y: float, z: float) -> float: ...
def ceil(x: float, dtype: DType | None = None) -> Any: ...
def floor(x: float, dtype: DType | None = None) -> Any: ...
def round(x: float, dtype: DType | None = None) -> Any: ...
def trunc(x: float, dtype: DType | None = None) -> Any: ...
def isinf(x: float) -> bool: ...
def isnan(x: float) -> bool: ...
def clz(x: int) -> int: ...
def ffs(x: int) -> int: ...
def popcnt(x: int) -> int: ...
