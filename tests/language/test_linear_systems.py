"""Determinants, inverses and systems of equations against NumPy: as accurate as the dtype and the matrix allow."""

import math

import numpy as np
import pytest

import samovar as sv

from .single_precision import use_single_precision

SIZES = (1, 2, 3, 4, 5, 8, 12)
DTYPES = (np.float32, np.float64)


@pytest.fixture(params=["numbers of Python", "f32 operation by operation"])
def arithmetic(request, monkeypatch):
    if request.param != "numbers of Python":
        use_single_precision(monkeypatch)
    with np.errstate(all="ignore"):
        yield


def random(n, dtype, seed):
    return np.random.default_rng(seed).standard_normal((n, n)).astype(dtype)


def with_singular_values(values, dtype, seed):
    generator = np.random.default_rng(seed)
    n = len(values)
    u, v = (np.linalg.qr(generator.standard_normal((n, n)))[0] for _ in range(2))
    return (u * values @ v).astype(dtype)


def exact(a):
    """The inverse, in more digits than any dtype has."""
    import mpmath

    with mpmath.workdps(60):
        found = mpmath.matrix(a.astype(np.float64).tolist()) ** -1
        return np.array([[float(found[i, j]) for j in range(len(a))] for i in range(len(a))])


def check_inverse(a, units=8.0):
    eps = np.finfo(a.dtype).eps
    expected = exact(a)
    size = np.abs(expected).max()
    condition = np.abs(a.astype(np.float64)).max() * size * len(a)
    found = sv.Matrix(a).inverse()
    assert found.to_numpy().dtype == a.dtype
    error = np.abs(found.to_numpy() - expected).max() / size
    assert error <= units * len(a) * eps * condition, error / eps / condition


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("arithmetic")
def test_random_matrices(n, dtype):
    for seed in range(10 if n < 8 else 2):
        a = random(n, dtype, seed)
        eps, wide = np.finfo(dtype).eps, a.astype(np.float64)
        condition = np.linalg.cond(wide)
        check_inverse(a)
        determinant = np.linalg.det(wide)
        assert abs(sv.Matrix(a).determinant() - determinant) <= 8 * n * eps * condition * abs(determinant)
        if n > 1:
            b = np.random.default_rng(seed).standard_normal(n).astype(dtype)
            expected = np.linalg.solve(wide, b.astype(np.float64))
            found = sv.solve(sv.Matrix(a), sv.Vector(b)).to_numpy()
            assert found.dtype == dtype
            assert np.linalg.norm(found - expected) <= 8 * n * eps * condition * np.linalg.norm(expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "values",
    [(1, 1e-3), (1, 1, 1e-3), (1, 1e-3, 1e-3), (1, 1e-1, 1e-4), (1, 1, 1, 1e-3), (1, 1, 1e-3, 1e-3), (1, 1e-3, 1e-3, 1e-3),
     (1, 1e-1, 1e-2, 1e-3, 1e-4)],
)  # fmt: skip
@pytest.mark.usefixtures("arithmetic")
def test_matrices_that_are_nearly_singular(values, dtype):
    for seed in range(5):
        check_inverse(with_singular_values(values, dtype, seed))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize("exponent", [-0.8, -0.3, 0.3, 0.8])
@pytest.mark.usefixtures("arithmetic")
def test_large_and_small_matrices(n, dtype, exponent):
    """What overflows or vanishes on the way does not count: the inverse can be written down."""
    scale = float(np.finfo(dtype).max) ** exponent
    check_inverse((random(n, np.float64, n) * scale).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.usefixtures("arithmetic")
def test_badly_scaled_diagonals(n, dtype):
    most = np.log10(float(np.finfo(dtype).max)) * 0.7
    diagonal = np.logspace(-most, most, n).astype(dtype)
    found = sv.Matrix.diag(diagonal).inverse().to_numpy()
    assert np.diag(found) == pytest.approx(1 / diagonal.astype(np.float64), rel=4 * float(np.finfo(dtype).eps))
    assert np.count_nonzero(found) == n
    solution = sv.solve(sv.Matrix.diag(diagonal), sv.Vector(diagonal)).to_numpy()
    assert solution == pytest.approx(np.ones(n), rel=4 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.usefixtures("arithmetic")
def test_rows_of_different_size(n, dtype):
    a = random(n, np.float64, n)
    rows = np.logspace(-6, 6, n)
    found = sv.Matrix((a * rows[:, None]).astype(dtype)).inverse().to_numpy() * rows
    assert found == pytest.approx(np.linalg.inv(a), rel=1e-3 if dtype is np.float32 else 1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.usefixtures("arithmetic")
def test_singular_matrices(n, dtype):
    zeros = sv.Matrix.zero(sv.f32 if dtype is np.float32 else sv.f64, n, n)
    ones = zeros + 1
    rank_one = sv.Matrix(np.outer(np.arange(1, n + 1), np.arange(2, n + 2)).astype(dtype))
    for a in (zeros, ones, rank_one):
        assert a.determinant() == 0
        assert not np.isfinite(a.inverse().to_numpy()).all()
        assert not np.isfinite(sv.solve(a, sv.Vector.one(a.dtype, n)).to_numpy()).all()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("arithmetic")
def test_nan_comes_through(n):
    a = random(n, np.float32, 0)
    a[n // 2, n // 2] = math.nan
    assert math.isnan(sv.Matrix(a).determinant())
    assert np.isnan(sv.Matrix(a).inverse().to_numpy()).any()
    if n > 1:
        assert np.isnan(sv.solve(sv.Matrix(a), sv.Vector.one(sv.f32, n)).to_numpy()).any()


@pytest.mark.parametrize("n", SIZES)
def test_rows_are_exchanged(n):
    a = np.roll(np.eye(n), 1, axis=0)
    assert sv.Matrix(a).determinant() == pytest.approx(np.linalg.det(a))
    assert np.array_equal(sv.Matrix(a).inverse().to_numpy(), a.T)


def test_integers_are_computed_as_floats():
    a = sv.Matrix([[2, 1], [1, 1]])
    assert a.determinant() == 1.0
    assert a.inverse().to_list() == [[1, -1], [-1, 2]]
    assert a.inverse().dtype is sv.f32
    assert sv.solve(a, sv.Vector([3, 2])).to_list() == [1, 1]


def test_types_meet_in_solve():
    single, double = sv.Matrix([[2.0, 0.0], [0.0, 4.0]], sv.f32), sv.Vector([0.2, 0.4], sv.f64)
    assert sv.solve(single, double).dtype is sv.f64
    assert sv.solve(single.cast(sv.f64), double.cast(sv.f32)).dtype is sv.f64
    assert sv.solve(sv.Matrix.identity(sv.f32, 6), sv.Vector([0.1] * 6, sv.f64)).entries == [0.1] * 6


def test_arguments_are_left_alone():
    for n in (3, 4, 6):
        a, b = sv.Matrix(random(n, np.float32, 0)), sv.Vector(range(n), sv.f32)
        before = a.entries[:], b.entries[:]
        a.inverse(), a.determinant(), sv.solve(a, b)
        assert (a.entries, b.entries) == before


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: sv.Matrix([[1, 2, 3], [4, 5, 6]]).inverse(),
        lambda: sv.Vector([1, 2]).determinant(),
        lambda: sv.solve(sv.Matrix([[1, 2], [3, 4]]), sv.Vector([1, 2, 3])),
        lambda: sv.solve(sv.Matrix([[1, 2], [3, 4]]), sv.Matrix([[1, 2], [3, 4]])),
    ],
)
def test_wrong_shapes(wrong):
    with pytest.raises(sv.SamovarError, match="square"):
        wrong()
