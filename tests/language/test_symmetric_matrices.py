"""`sym_eig` and `make_spd` of matrices of any size, in kernels and in plain Python."""

import numpy as np
import pytest

import samovar as sv

TYPES = {np.float32: sv.f32, np.float64: sv.f64}
#: Of the largest entry, for each row.
UNITS = 8


def symmetric(n, dtype, count=40):
    """Random ones, with repeated eigenvalues and zeros, badly scaled, of small integers, and special ones."""
    random = np.random.default_rng(n)
    normal = random.standard_normal((count, n, n))
    basis = np.linalg.qr(normal)[0]
    spectra = random.choice([0, 1, 1, -1, 2, 1e-6], (count, n))
    repeated = basis * spectra[:, None, :] @ basis.transpose(0, 2, 1)
    scaled = normal * 10.0 ** random.uniform(-6, 6, normal.shape)
    integers = random.integers(-2, 3, normal.shape)
    special = [np.zeros((n, n)), np.eye(n), np.ones((n, n)), np.diag(np.arange(n)[::-1]), np.diag(np.logspace(-9, 9, n))]
    found = np.concatenate([normal, repeated, scaled, integers, normal[:5] * 1e30, normal[:5] * 1e-30, special])
    found = np.triu(found) + np.triu(found, 1).transpose(0, 2, 1)
    return found.astype(dtype)


def check(a, values, vectors, nearest):
    n, unit = a.shape[-1], float(np.finfo(a.dtype).eps)
    assert {part.dtype for part in (values, vectors, nearest)} == {a.dtype}
    a, values, vectors, nearest = (part.astype(np.float64) for part in (a, values, vectors, nearest))
    size = np.maximum(np.abs(a).max((1, 2)), 1e-300)
    expected, basis = np.linalg.eigh(a)
    assert (np.diff(values) >= 0).all()
    assert (np.abs(values - expected).max(1) <= UNITS * n * unit * size).all()
    turned = vectors * values[:, None, :] @ vectors.transpose(0, 2, 1)
    assert (np.abs(turned - a).max((1, 2)) <= UNITS * n * unit * size).all()
    assert np.abs(vectors.transpose(0, 2, 1) @ vectors - np.eye(n)).max() <= UNITS * n * unit
    wanted = basis * np.maximum(expected, 0)[:, None, :] @ basis.transpose(0, 2, 1)
    assert (np.abs(nearest - wanted).max((1, 2)) <= 3 * UNITS * n * unit * size).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 9])
def test_in_kernels(n, dtype):
    matrix, vector = sv.types.matrix(n, n, TYPES[dtype]), sv.types.vector(n, TYPES[dtype])

    @sv.kernel
    def decompose(
        a: sv.types.NDArray[matrix, 1],
        values: sv.types.NDArray[vector, 1],
        vectors: sv.types.NDArray[matrix, 1],
        nearest: sv.types.NDArray[matrix, 1],
    ):
        for i in a:
            values[i], vectors[i] = sv.sym_eig(a[i])
            nearest[i] = sv.make_spd(a[i])

    matrices = symmetric(n, dtype)
    a, values, vectors, nearest = (sv.ndarray(each, len(matrices)) for each in (matrix, vector, matrix, matrix))
    a.from_numpy(matrices)
    decompose(a, values, vectors, nearest)
    check(matrices, values.to_numpy(), vectors.to_numpy(), nearest.to_numpy())


@pytest.mark.parametrize("n", [1, 4, 6, 8])
def test_in_plain_python(n):
    matrices = symmetric(n, np.float64, 2)
    found = [sv.sym_eig(sv.Matrix(a)) for a in matrices]
    values, vectors = (np.array([parts[k].to_numpy() for parts in found]) for k in range(2))
    check(matrices, values, vectors, np.array([sv.make_spd(sv.Matrix(a)).to_numpy() for a in matrices]))


@pytest.mark.parametrize("n", [4, 7])
def test_at_the_top_level_of_a_kernel_and_in_debug_mode(n):
    matrix, vector = sv.types.matrix(n, n, sv.f64), sv.types.vector(n, sv.f64)

    @sv.kernel
    def values(a: matrix) -> vector:
        w, _ = sv.sym_eig(a)
        return w

    a = symmetric(n, np.float64)[3]
    assert np.allclose(values(a).to_numpy(), np.linalg.eigvalsh(a))
    sv.init(debug=True)
    assert np.allclose(values(a).to_numpy(), np.linalg.eigvalsh(a))


@pytest.mark.parametrize("n", [4, 7])
def test_only_the_upper_half_counts(n):
    a = symmetric(n, np.float64)[3]
    lower = np.triu(a) + np.tril(np.full((n, n), 7.0), -1)
    assert np.allclose(sv.sym_eig(sv.Matrix(lower))[0].to_numpy(), np.linalg.eigvalsh(a))


@pytest.mark.parametrize("n", [4, 7])
def test_nan_goes_through(n):
    a = np.eye(n)
    a[0, 1] = a[1, 0] = np.nan
    matrix, vector = sv.types.matrix(n, n, sv.f64), sv.types.vector(n, sv.f64)

    @sv.kernel
    def values(a: matrix) -> vector:
        return sv.sym_eig(a)[0]

    assert np.isnan(values(a).to_numpy()).any()
    assert np.isnan(sv.sym_eig(sv.Matrix(a))[0].to_numpy()).any()


def test_integers_are_computed_as_floats():
    assert sv.make_spd(sv.Matrix([[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 3]])).to_numpy().trace() == 6


def test_a_matrix_that_is_not_square_is_refused():
    with pytest.raises(sv.SamovarError, match="requires a square matrix"):
        sv.sym_eig(sv.Matrix.zero(sv.f32, 4, 5))
