"""The linear algebra library in kernels: the same text as in plain Python, compiled, with fast math, and as accurate."""

from __future__ import annotations

import numpy as np
import pytest

import samovar as sv

from . import decompositions as check
from .decompositions import matrices, matrices_with_values

Any2, Any3 = sv.types.ndarray(ndim=2), sv.types.ndarray(ndim=3)
TYPES = {np.float32: sv.f32, np.float64: sv.f64}
ALL_TYPES = {np.float16: sv.f16, **TYPES}


@sv.func
def loaded(a: sv.template(), i: sv.i32, n: sv.template(), dtype: sv.template()):
    m = sv.Matrix.zero(dtype, n, n)
    for r in sv.static(range(n)):
        for c in sv.static(range(n)):
            m[r, c] = a[i, r, c]
    return m


@sv.func
def keep(a: sv.template(), i: sv.i32, m):
    for r in sv.static(range(m.n)):
        for c in sv.static(range(m.m)):
            a[i, r, c] = m[r, c]


@sv.kernel
def decompose(
    a: Any3, u: Any3, s: Any3, v: Any3, values: Any2, vectors: Any3, o: Any3, p: Any3, q: Any3, r: Any3, e: Any3, w: Any3,
    n: sv.Template, dtype: sv.Template,
):  # fmt: skip
    for i in range(a.shape[0]):
        m = loaded(a, i, n, dtype)
        left, singular, right = sv.svd(m)
        keep(u, i, left)
        keep(s, i, singular)
        keep(v, i, right)
        numbers, basis = sv.sym_eig(m)
        for k in sv.static(range(n)):
            values[i, k] = numbers[k]
        keep(vectors, i, basis)
        turn, stretch = sv.polar_decompose(m)
        keep(o, i, turn)
        keep(p, i, stretch)
        Q, R = sv.qr(m)
        keep(q, i, Q)
        keep(r, i, R)
        spectrum, columns = sv.eig(m)
        keep(e, i, spectrum)
        keep(w, i, columns)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [2, 3])
def test_decompositions(n, dtype):
    a = np.array([*matrices(n), *matrices_with_values(n)]).astype(dtype)
    square = [np.zeros_like(a) for _ in range(8)]
    u, s, v, vectors, o, p, q, r = square
    values, e, w = (np.zeros((len(a), *shape), dtype) for shape in ((n,), (n, 2), (2 * n, n)))
    decompose(a, u, s, v, values, vectors, o, p, q, r, e, w, n, TYPES[dtype])
    for i in range(len(a)):
        check.check_svd(a[i], u[i], s[i], v[i])
        check.check_symmetric(a[i], values[i], vectors[i])
        check.check_polar(a[i], o[i], p[i])
        check.check_qr(a[i], q[i], r[i])
        check.check_eigenvalues(a[i], e[i], w[i])


@sv.kernel
def systems(a: Any3, b: Any2, inverse: Any3, x: Any2, lower: Any3, d: Any2, n: sv.Template, dtype: sv.Template):
    for i in range(a.shape[0]):
        m = loaded(a, i, n, dtype)
        right = sv.Vector.zero(dtype, n)
        for k in sv.static(range(n)):
            right[k] = b[i, k]
        keep(inverse, i, m.inverse())
        keep(lower, i, sv.cholesky(m @ m.transpose() + sv.Matrix.identity(dtype, n)))
        solution = sv.solve(m, right)
        for k in sv.static(range(n)):
            x[i, k] = solution[k]
        d[i, 0] = m.determinant()


@pytest.mark.parametrize("dtype", ALL_TYPES)
@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_systems(n, dtype):
    generator = np.random.default_rng(n)
    a, b = generator.standard_normal((30, n, n)).astype(dtype), generator.standard_normal((30, n)).astype(dtype)
    inverse, lower, x, d = np.zeros_like(a), np.zeros_like(a), np.zeros_like(b), np.zeros((30, 1), dtype)
    systems(a, b, inverse, x, lower, d, n, ALL_TYPES[dtype])
    for i in range(30):
        wide = a[i].astype(np.float64)
        expected, determinant = np.linalg.inv(wide), np.linalg.det(wide)
        solution = np.linalg.solve(wide, b[i].astype(np.float64))
        allowed = 16 * n * float(np.finfo(dtype).eps) * np.linalg.cond(wide)
        if allowed >= 1:
            continue  # singular, to a number of this dtype
        assert np.abs(inverse[i] - expected).max() <= allowed * np.abs(expected).max()
        assert np.abs(x[i] - solution).max() <= allowed * np.abs(solution).max()
        assert abs(d[i, 0] - determinant) <= allowed * abs(determinant)
        product = (a[i] @ a[i].T + np.eye(n, dtype=dtype)).astype(np.float64)
        assert np.abs(lower[i].astype(np.float64) @ lower[i].T - product).max() <= allowed * np.abs(product).max()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_singular_and_badly_scaled_systems(n, dtype):
    most = np.log10(float(np.finfo(dtype).max)) * 0.7
    diagonal = np.logspace(-most, most, n)
    a = np.array([np.diag(diagonal), np.diag(diagonal[::-1]), np.zeros((n, n)), np.ones((n, n))] * 8)[:30].astype(dtype)
    b = np.ones((30, n), dtype)
    inverse, lower, x, d = np.zeros_like(a), np.zeros_like(a), np.zeros_like(b), np.zeros((30, 1), dtype)
    systems(a, b, inverse, x, lower, d, n, TYPES[dtype])
    for i in (0, 1):
        assert np.diag(inverse[i]) == pytest.approx(1 / np.diag(a[i]).astype(np.float64), rel=4 * float(np.finfo(dtype).eps))
        assert np.count_nonzero(inverse[i]) == n
        assert x[i] == pytest.approx(1 / np.diag(a[i]).astype(np.float64), rel=4 * float(np.finfo(dtype).eps))
    for i in (2, 3):
        assert d[i, 0] == 0
        assert not np.isfinite(inverse[i]).all()
        assert not np.isfinite(x[i]).all()


@sv.kernel
def geometry(points: Any2, out: Any2, dtype: sv.Template):
    for _ in range(1):
        v, w = sv.Vector.zero(dtype, 3), sv.Vector.zero(dtype, 3)
        for k in sv.static(range(3)):
            v[k] = points[0, k]
            w[k] = points[1, k]
        angle = points[2, 0]
        unit = sv.math.normalize(w)
        turn, other = sv.math.quat_from_axis_angle(v, angle), sv.math.quat_from_axis_angle(w, angle)
        results = (
            sv.math.cross(v, w), unit, sv.math.reflect(v, unit), sv.math.refract(-unit, unit, 0.75),
            sv.math.quat_rotate(turn, w), sv.math.quat_to_matrix(turn) @ w,
            sv.math.quat_mul(turn, other).xyz, sv.math.quat_conjugate(turn).xyz, sv.math.smoothstep(0, 2, v),
            v @ sv.math.rot_by_axis(w, angle)[0:3, 0:3],
            v * sv.math.length(v) + w * sv.math.distance(v, w) + sv.math.dot(v, w),
            v @ sv.math.rot_yaw_pitch_roll(angle, angle, angle)[0:3, 0:3],
        )  # fmt: skip
        for k in sv.static(range(len(results))):
            for j in sv.static(range(3)):
                out[k, j] = results[k][j]


@pytest.mark.parametrize("dtype", TYPES)
def test_geometry(dtype):
    """The same in a kernel and in plain Python."""
    points = np.array([[0.5, -1.25, 2.0], [1.5, 0.25, -0.75], [0.7, 0, 0]], dtype)
    out, expected = np.zeros((12, 3), dtype), np.zeros((12, 3), dtype)
    geometry(points, out, TYPES[dtype])
    geometry.__wrapped__(points, expected, TYPES[dtype])
    small = 64 * float(np.finfo(dtype).eps)
    assert out[:-1] == pytest.approx(expected[:-1], rel=small, abs=small)
    assert out[-1] == pytest.approx(expected[-1], rel=1e-5)  # angles that are numbers of Python make a matrix of f32
