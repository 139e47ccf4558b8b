"""Functions of vectors, rotations and quaternions in plain Python, against NumPy and against each other."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import samovar as sv

vec = sv.types.vector(3, sv.f64)
m = sv.math

numbers = st.floats(-10, 10, allow_nan=False)
vectors = st.tuples(numbers, numbers, numbers).filter(lambda v: np.linalg.norm(v) > 0.1).map(vec)
angles = st.floats(-7, 7)


def close(left, right, tolerance=1e-9):
    return np.allclose(np.asarray(left), np.asarray(right), rtol=tolerance, atol=tolerance)


@given(vectors, vectors)
def test_lengths(v, w):
    a, b = v.to_numpy(), w.to_numpy()
    assert close(m.length(v), np.linalg.norm(a))
    assert close(m.distance(v, w), np.linalg.norm(a - b))
    assert close(m.normalize(v), a / np.linalg.norm(a))
    assert close(m.dot(v, w), a @ b)
    assert close(m.cross(v, w), np.cross(a, b))
    normal = m.normalize(w)
    reflected = m.reflect(v, normal)
    assert close(m.length(reflected), m.length(v))
    assert close(m.dot(reflected, normal), -m.dot(v, normal))


@given(vectors, vectors, st.floats(0.3, 3))
def test_refraction_follows_snell(v, w, ratio):
    incident, normal = m.normalize(v), m.normalize(w)
    if m.dot(incident, normal) > 0:
        normal = -normal
    bent = m.refract(incident, normal, ratio)
    sine = m.length(m.cross(incident, normal)) * ratio
    if sine > 1 + 1e-9:
        assert bent.entries == [0, 0, 0]
    elif sine < 1 - 1e-9:
        assert close(m.length(bent), 1, 1e-6)
        assert close(m.length(m.cross(bent, normal)), sine, 1e-6)


@given(vectors, angles)
def test_rotations_about_an_axis(axis, angle):
    turn = m.rot_by_axis(axis, angle)
    assert turn.dtype is sv.f64
    assert turn.shape == (4, 4)
    inner = turn[0:3, 0:3].to_numpy()
    assert close(inner @ inner.T, np.eye(3))
    assert close(np.linalg.det(inner), 1)
    assert close(m.normalize(axis).to_numpy() @ inner, m.normalize(axis))
    assert close(np.trace(inner), 1 + 2 * math.cos(angle))
    quaternion = m.quat_from_axis_angle(axis, angle)
    assert close(m.quat_to_matrix(quaternion).transpose(), inner)


@given(angles, angles, angles)
def test_yaw_pitch_and_roll(yaw, pitch, roll):
    found = m.rot_yaw_pitch_roll(yaw, pitch, roll)
    parts = (vec(0, 0, 1), roll), (vec(1, 0, 0), pitch), (vec(0, 1, 0), yaw)
    expected = np.eye(4)
    for axis, angle in parts:
        expected = expected @ m.rot_by_axis(axis, angle).to_numpy()
    assert close(found, expected, 1e-6)


def test_rotations_turn_counterclockwise():
    quarter = math.pi / 2
    assert close(m.rotation2d(quarter) @ m.vec2(1, 0), [0, 1], 1e-6)
    assert close(vec(1, 0, 0) @ m.rot_by_axis(vec(0, 0, 1), quarter)[0:3, 0:3], [0, 1, 0])
    assert close(m.quat_rotate(m.quat_from_axis_angle(vec(0, 0, 1), quarter), vec(1, 0, 0)), [0, 1, 0])


@given(vectors, angles, vectors, angles, vectors)
def test_quaternions(first_axis, first_angle, second_axis, second_angle, point):
    p, q = m.quat_from_axis_angle(first_axis, first_angle), m.quat_from_axis_angle(second_axis, second_angle)
    assert close(m.length(p), 1)
    assert close(m.quat_rotate(m.quat_mul(p, q), point), m.quat_rotate(p, m.quat_rotate(q, point)))
    assert close(m.quat_to_matrix(p) @ point, m.quat_rotate(p, point))
    assert close(m.quat_rotate(m.quat_conjugate(p), m.quat_rotate(p, point)), point)
    assert close(m.quat_mul(p, m.quat_conjugate(p)), [0, 0, 0, 1])
    assert m.quat_mul(p, q).dtype is m.quat_rotate(p, point).dtype is m.quat_to_matrix(p).dtype is sv.f64


def test_matrices_that_move_points():
    assert (m.translate(1, 2.5, 3) @ m.vec4(1, 1, 1, 1)).entries == [2, 3.5, 4, 1]
    assert (m.scale(2, 3, 4) @ m.vec4(1, 1, 1, 1)).entries == [2, 3, 4, 1]
    assert m.translate(1, 2, 3).dtype is sv.f32
    assert m.eye(3).to_list() == np.eye(3).tolist()


@pytest.mark.parametrize("function", [m.reflect, m.distance, m.dot])
def test_shapes_that_do_not_match(function):
    with pytest.raises(sv.SamovarTypeError, match="3 and 2"):
        function(m.vec3(1), m.vec2(1))
