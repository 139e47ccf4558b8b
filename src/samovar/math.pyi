"""The names of `sv.math` for type checkers: the module takes its functions from the table of operations."""

from typing import Any, TypeAlias, TypeVar

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
from samovar.values.complex_numbers import (
    cconj as cconj,
)
from samovar.values.complex_numbers import (
    cdiv as cdiv,
)
from samovar.values.complex_numbers import (
    cexp as cexp,
)
from samovar.values.complex_numbers import (
    cinv as cinv,
)
from samovar.values.complex_numbers import (
    clog as clog,
)
from samovar.values.complex_numbers import (
    cmul as cmul,
)
from samovar.values.complex_numbers import (
    cpow as cpow,
)
from samovar.values.complex_numbers import (
    csqrt as csqrt,
)
from samovar.values.complex_numbers import (
    fns as fns,
)
from samovar.values.complex_numbers import (
    mod as mod,
)
from samovar.values.complex_numbers import (
    rotation3d as rotation3d,
)
from samovar.values.complex_numbers import (
    vdir as vdir,
)
from samovar.values.geometry import (
    distance as distance,
)
from samovar.values.geometry import (
    eye as eye,
)
from samovar.values.geometry import (
    length as length,
)
from samovar.values.geometry import (
    normalize as normalize,
)
from samovar.values.geometry import (
    quat_conjugate as quat_conjugate,
)
from samovar.values.geometry import (
    quat_from_axis_angle as quat_from_axis_angle,
)
from samovar.values.geometry import (
    quat_mul as quat_mul,
)
from samovar.values.geometry import (
    quat_rotate as quat_rotate,
)
from samovar.values.geometry import (
    quat_to_matrix as quat_to_matrix,
)
from samovar.values.geometry import (
    reflect as reflect,
)
from samovar.values.geometry import (
    refract as refract,
)
from samovar.values.geometry import (
    rot_by_axis as rot_by_axis,
)
from samovar.values.geometry import (
    rot_yaw_pitch_roll as rot_yaw_pitch_roll,
)
from samovar.values.geometry import (
    rotation2d as rotation2d,
)
from samovar.values.geometry import (
    scale as scale,
)
from samovar.values.geometry import (
    smoothstep as smoothstep,
)
from samovar.values.geometry import (
    translate as translate,
)
from samovar.values.linear_algebra.products import (
    cross as cross,
)
from samovar.values.linear_algebra.products import (
    dot as dot,
)
from samovar.values.linear_algebra.systems import (
    determinant as determinant,
)
from samovar.values.linear_algebra.systems import (
    inverse as inverse,
)
from samovar.values.matrices import Matrix, Vector

_Real = TypeVar("_Real")

MYPY = False
if MYPY:
    ivec2: TypeAlias = Any
    ivec3: TypeAlias = Any
    ivec4: TypeAlias = Any
    mat2: TypeAlias = Any
    mat3: TypeAlias = Any
    mat4: TypeAlias = Any
    uvec2: TypeAlias = Any
    uvec3: TypeAlias = Any
    uvec4: TypeAlias = Any
    vec2: TypeAlias = Any
    vec3: TypeAlias = Any
    vec4: TypeAlias = Any
else:
    class _Vector(Vector):
        def __new__(cls, *parts: Any) -> _Vector: ...

    class _Matrix(Matrix):
        def __new__(cls, *parts: Any) -> _Matrix: ...

    ivec2: TypeAlias = _Vector
    ivec3: TypeAlias = _Vector
    ivec4: TypeAlias = _Vector
    mat2: TypeAlias = _Matrix
    mat3: TypeAlias = _Matrix
    mat4: TypeAlias = _Matrix
    uvec2: TypeAlias = _Vector
    uvec3: TypeAlias = _Vector
    uvec4: TypeAlias = _Vector
    vec2: TypeAlias = _Vector
    vec3: TypeAlias = _Vector
    vec4: TypeAlias = _Vector

def acos(x: _Real) -> _Real: ...
def acosh(x: _Real) -> _Real: ...
def asin(x: _Real) -> _Real: ...
def asinh(x: _Real) -> _Real: ...
def atan(x: _Real) -> _Real: ...
def atanh(x: _Real) -> _Real: ...
def cbrt(x: _Real) -> _Real: ...
def cos(x: _Real) -> _Real: ...
def cosh(x: _Real) -> _Real: ...
def erf(x: _Real) -> _Real: ...
def erfc(x: _Real) -> _Real: ...
def exp(x: _Real) -> _Real: ...
def exp2(x: _Real) -> _Real: ...
def expm1(x: _Real) -> _Real: ...
def gamma(x: _Real) -> _Real: ...
def lgamma(x: _Real) -> _Real: ...
def log(x: _Real) -> _Real: ...
def log10(x: _Real) -> _Real: ...
def log1p(x: _Real) -> _Real: ...
def log2(x: _Real) -> _Real: ...
def rsqrt(x: _Real) -> _Real: ...
def sin(x: _Real) -> _Real: ...
def sinh(x: _Real) -> _Real: ...
def sqrt(x: _Real) -> _Real: ...
def tan(x: _Real) -> _Real: ...
def tanh(x: _Real) -> _Real: ...
def max(first: Any, *others: Any) -> Any: ...
def min(first: Any, *others: Any) -> Any: ...
def pow(base: Any, exponent: Any) -> Any: ...
def atan2(x1: _Real, x2: Any) -> _Real: ...
def copysign(x: _Real, y: Any) -> _Real: ...
def fmod(x: _Real, y: Any) -> _Real: ...
def hypot(x: _Real, y: Any) -> _Real: ...
def fma(x: _Real, y: Any, z: Any) -> _Real: ...
def ceil(x: Any, dtype: Any = None) -> Any: ...
def floor(x: Any, dtype: Any = None) -> Any: ...
def round(x: Any, dtype: Any = None) -> Any: ...
def trunc(x: Any, dtype: Any = None) -> Any: ...
def isinf(x: Any) -> Any: ...
def isnan(x: Any) -> Any: ...
def clz(x: Any) -> Any: ...
def ffs(x: Any) -> Any: ...
def popcnt(x: Any) -> Any: ...
