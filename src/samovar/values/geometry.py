"""Vector functions of shader languages, and transformation matrices. Kernels compile the same source.

`translate`, `scale`, `rotation2d` and quaternions are for column vectors (`m @ p`), the 3-D rotations by axis and angles
for row vectors (`p @ m`), as in other frameworks.
"""

from __future__ import annotations

from samovar.language import TABLED, clamp, library, select, step
from samovar.values.linear_algebra import cross, dot, norm
from samovar.values.matrices import Matrix, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

cos, maximum, sin, sqrt = TABLED["cos"], TABLED["max"], TABLED["sin"], TABLED["sqrt"]


@library
def length(x: Any) -> Any:
    """The length of a vector.

    >>> import samovar as sv
    >>> sv.math.length(sv.math.vec2(3, 4))
    5.0
    """
    return norm(x)


@library
def distance(x: Any, y: Any) -> Any:
    """The distance between two points.

    >>> import samovar as sv
    >>> sv.math.distance(sv.math.vec2(1, 1), sv.math.vec2(4, 5))
    5.0
    """
    return norm(x - y)


@library
def normalize(v: Any) -> Any:
    """The unit vector in the same direction.

    >>> import samovar as sv
    >>> sv.math.normalize(sv.math.vec2(0, 4))
    Vector([0.0, 1.0], dt=f32)
    """
    return v / norm(v)


@library
def reflect(x: Any, n: Any) -> Any:
    """A direction reflected by a plane with a unit normal.

    >>> import samovar as sv
    >>> sv.math.reflect(sv.math.vec2(1, -1), sv.math.vec2(0, 1))
    Vector([1.0, 1.0], dt=f32)
    """
    return x - n * (2 * dot(x, n))


@library
def refract(x: Any, n: Any, eta: Any) -> Any:
    """A direction refracted at a surface, given the ratio of the refractive indices; zeros for total reflection.

    The direction and the normal are unit vectors; the normal points against the incident direction.

    >>> import samovar as sv
    >>> sv.math.refract(sv.math.vec2(0, -1), sv.math.vec2(0, 1), 0.75)
    Vector([0.0, -1.0], dt=f32)
    """
    along = dot(x, n)
    rest = 1 - eta * eta * (1 - along * along)
    bent = x * eta - n * (eta * along + sqrt(maximum(rest, 0)))
    return select(rest >= 0, bent, Vector.zero(bent.dtype, bent.n))


@library
def smoothstep(edge0: Any, edge1: Any, x: Any) -> Any:
    """0 below `edge0`, 1 above `edge1`, and a smooth transition between them.

    >>> import samovar as sv
    >>> sv.math.smoothstep(0.0, 2.0, 1.0)
    0.5
    """
    width = edge1 - edge0
    is_sharp = width == 0
    part = clamp((x - edge0) / select(is_sharp, 1, width), 0, 1)
    return select(is_sharp, step(edge0, x), part * part * (3 - 2 * part))


@library
def rotation2d(ang: Any) -> Any:
    """The 2-D rotation matrix of a counterclockwise angle.

    >>> import samovar as sv
    >>> sv.math.rotation2d(0.0)
    Matrix([[1.0, -0.0], [0.0, 1.0]], dt=f32)
    """
    along, across = cos(ang), sin(ang)
    return Matrix([[along, -across], [across, along]])


@library
def rot_by_axis(axis: Any, ang: Any) -> Any:
    """The 4×4 matrix of a rotation about an axis, for row vectors: `p @ m`.

    >>> import samovar as sv
    >>> sv.math.rot_by_axis(sv.math.vec3(0, 0, 1), 0.0)[2, 2]
    1.0
    """
    unit = normalize(axis)
    turn = unit * sin(ang)
    rest = unit * (1 - cos(ang))
    along = cos(ang)
    return Matrix(
        [
            [along + rest.x * unit.x, rest.x * unit.y + turn.z, rest.x * unit.z - turn.y, 0],
            [rest.y * unit.x - turn.z, along + rest.y * unit.y, rest.y * unit.z + turn.x, 0],
            [rest.z * unit.x + turn.y, rest.z * unit.y - turn.x, along + rest.z * unit.z, 0],
            [0, 0, 0, 1],
        ],
        unit.dtype,
    )


@library
def rot_yaw_pitch_roll(yaw: Any, pitch: Any, roll: Any) -> Any:
    """The 4×4 matrix of a roll about z, a pitch about x and a yaw about y, for row vectors: `p @ m`.

    >>> import samovar as sv
    >>> sv.math.rot_yaw_pitch_roll(0.0, 0.0, 0.0).trace()
    4.0
    """
    cy, sy = cos(yaw), sin(yaw)
    cp, sp = cos(pitch), sin(pitch)
    cr, sr = cos(roll), sin(roll)
    return Matrix(
        [
            [cr * cy + sr * sp * sy, sr * cp, sr * sp * cy - cr * sy, 0],
            [cr * sp * sy - sr * cy, cr * cp, sr * sy + cr * sp * cy, 0],
            [cp * sy, -sp, cp * cy, 0],
            [0, 0, 0, 1],
        ]
    )


@library
def translate(dx: Any, dy: Any, dz: Any) -> Any:
    """The 4×4 translation matrix: `m @ p`, where the last component of p is 1.

    >>> import samovar as sv
    >>> sv.math.translate(1, 2, 3) @ sv.math.vec4(0, 0, 0, 1)
    Vector([1.0, 2.0, 3.0, 1.0], dt=f32)
    """
    return Matrix([[1.0, 0, 0, dx], [0, 1, 0, dy], [0, 0, 1, dz], [0, 0, 0, 1]])


@library
def scale(sx: Any, sy: Any, sz: Any) -> Any:
    """The 4×4 scaling matrix: `m @ p`.

    >>> import samovar as sv
    >>> sv.math.scale(1, 2, 3) @ sv.math.vec4(1, 1, 1, 1)
    Vector([1.0, 2.0, 3.0, 1.0], dt=f32)
    """
    return Matrix([[sx, 0, 0, 0], [0, sy, 0, 0], [0, 0, sz, 0], [0, 0, 0, 1.0]])


@library
def eye(n: Any) -> Any:
    """The n×n identity matrix, in the default float type.

    >>> import samovar as sv
    >>> sv.math.eye(2)
    Matrix([[1.0, 0.0], [0.0, 1.0]], dt=f32)
    """
    return Matrix.identity(float, n)


# --- quaternions: vectors (x, y, z, w), where w is the real part. Unit quaternions are rotations.


@library
def quat_from_axis_angle(axis: Any, angle: Any) -> Any:
    """The quaternion of a rotation about an axis.

    >>> import samovar as sv
    >>> sv.math.quat_from_axis_angle(sv.math.vec3(0, 0, 2), 0.0)
    Vector([0.0, 0.0, 0.0, 1.0], dt=f32)
    """
    imaginary = normalize(axis) * sin(angle / 2)
    return Vector([imaginary.x, imaginary.y, imaginary.z, cos(angle / 2)], imaginary.dtype)


@library
def quat_mul(first: Any, second: Any) -> Any:
    """The product of two quaternions: the rotation that applies the second one first.

    >>> import samovar as sv
    >>> sv.math.quat_mul(sv.math.vec4(1, 0, 0, 0), sv.math.vec4(0, 1, 0, 0))
    Vector([0.0, 0.0, 1.0, 0.0], dt=f32)
    """
    return (
        first.wwww * second
        + first.xxxx * second.wzyx * Vector([1, -1, 1, -1])
        + first.yyyy * second.zwxy * Vector([1, 1, -1, -1])
        + first.zzzz * second.yxwz * Vector([-1, 1, 1, -1])
    )


@library
def quat_conjugate(quaternion: Any) -> Any:
    """The conjugate of a quaternion: for a unit quaternion, the inverse rotation.

    >>> import samovar as sv
    >>> sv.math.quat_conjugate(sv.math.vec4(1, 2, 3, 4))
    Vector([-1.0, -2.0, -3.0, 4.0], dt=f32)
    """
    return quaternion * Vector([-1, -1, -1, 1])


@library
def quat_rotate(quaternion: Any, point: Any) -> Any:
    """A point rotated by a unit quaternion.

    >>> import samovar as sv
    >>> sv.math.quat_rotate(sv.math.vec4(0, 0, 1, 0), sv.math.vec3(1, 2, 3))
    Vector([-1.0, -2.0, 3.0], dt=f32)
    """
    axis = quaternion.xyz
    turn = cross(axis, point) + quaternion.www * point
    return point + cross(axis, turn) * 2


@library
def quat_to_matrix(quaternion: Any) -> Any:
    """The 3×3 matrix of a unit quaternion: `m @ p` equals `quat_rotate(quaternion, p)`.

    >>> import samovar as sv
    >>> sv.math.quat_to_matrix(sv.math.vec4(0, 0, 0, 1)).trace()
    3.0
    """
    double = quaternion * 2
    x, y, z = double.x, double.y, double.z
    xx, yy, zz = x * quaternion.x, y * quaternion.y, z * quaternion.z
    xy, yz, zx = x * quaternion.y, y * quaternion.z, z * quaternion.x
    xw, yw, zw = x * quaternion.w, y * quaternion.w, z * quaternion.w
    return Matrix(
        [
            [1 - (yy + zz), xy - zw, zx + yw],
            [xy + zw, 1 - (zz + xx), yz - xw],
            [zx - yw, yz + xw, 1 - (xx + yy)],
        ],
        double.dtype,
    )
