"""Decompositions of small matrices against NumPy: as accurate as the dtype, whatever the matrix is like."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import samovar as sv

from .single_precision import use_single_precision

SIZES, DTYPES = (2, 3), (np.float32, np.float64)
#: Of the unit in the last place of the largest entry.
UNITS = 40


@pytest.fixture(params=["numbers of Python", "f32 operation by operation"])
def arithmetic(request, monkeypatch):
    if request.param != "numbers of Python":
        use_single_precision(monkeypatch)
    with np.errstate(all="ignore"):
        yield


def orthogonal(generator, n):
    return np.linalg.qr(generator.standard_normal((n, n)))[0]


def matrices(n):
    """Random, of a given spectrum, singular, badly scaled, and special ones."""
    generator = np.random.default_rng(n)
    spectra = ([1, 1, 1], [2, 1, 1], [1, 1, 1e-3], [1, 1e-9, 1e-9], [1, 1, 0], [1, 0, 0], [1, 1e-3, 0], [1, 0.999999, 1.001])
    yield from (generator.standard_normal((n, n)) for _ in range(10))
    for spectrum in spectra:
        for _ in range(2):
            u, v = orthogonal(generator, n), orthogonal(generator, n)
            yield u * spectrum[:n] @ v
            yield u * spectrum[:n] @ u.T
    yield from (np.zeros((n, n)), np.eye(n), -np.eye(n), np.roll(np.eye(n), 1, axis=0))
    yield from (np.ones((n, n)), np.triu(np.ones((n, n))))
    yield from (np.diag(np.logspace(-6, 6, n)), np.diag(np.logspace(9, -9, n)), np.diag([1e-25, 1, 1e-22][:n]))
    any_one = generator.standard_normal((n, n))
    yield from (any_one * np.logspace(-8, 8, n), any_one * np.logspace(8, -8, n)[:, None], any_one * 1e30, any_one * 1e-30)
    yield np.tril(np.ones((n, n))) * 1e-20


def wide(value):
    return value.to_numpy().astype(np.float64)


def deviation(found, expected, a):
    """How far two matrices are from each other, in units of the last place of the largest entry of a third."""
    size = np.abs(a).max() or 1
    return np.abs(found - expected).max() / size / np.finfo(a.dtype).eps


def assert_orthogonal(Q):
    q = wide(Q)
    assert np.abs(q.T @ q - np.eye(len(q))).max() <= UNITS * np.finfo(Q.to_numpy().dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("arithmetic")
def test_singular_values(n, dtype):
    for a in matrices(n):
        a = a.astype(dtype)
        U, S, V = sv.svd(sv.Matrix(a))
        assert U.dtype.typestr == S.dtype.typestr == V.dtype.typestr == np.dtype(dtype).str
        values = np.diag(wide(S))
        assert np.count_nonzero(wide(S) - np.diag(values)) == 0
        assert (values >= 0).all()
        assert (values[:-1] >= values[1:]).all()
        assert deviation(values, np.linalg.svd(a.astype(np.float64))[1], a) <= UNITS
        assert_orthogonal(U)
        assert_orthogonal(V)
        assert deviation(wide(U) @ wide(S) @ wide(V).T, a, a) <= UNITS


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("arithmetic")
def test_small_singular_values_of_scaled_columns_are_exact(n, dtype):
    """Each as exactly as the largest: this is what the squared matrix would not give."""
    a = (orthogonal(np.random.default_rng(0), n) * np.logspace(0, -7, n)).astype(dtype)
    values = np.diag(wide(sv.svd(sv.Matrix(a))[1]))
    assert values == pytest.approx(np.linalg.norm(a.astype(np.float64), axis=0), rel=UNITS * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("arithmetic")
def test_symmetric_eigenvalues(n, dtype):
    for a in matrices(n):
        a = np.triu(a.astype(dtype))
        symmetric = (a + np.triu(a, 1).T).astype(np.float64)
        values, vectors = sv.sym_eig(sv.Matrix(a))
        assert values.dtype.typestr == vectors.dtype.typestr == np.dtype(dtype).str
        values = wide(values)
        assert (values[:-1] <= values[1:]).all()
        assert deviation(values, np.linalg.eigvalsh(symmetric), a) <= UNITS
        assert_orthogonal(vectors)
        assert deviation(wide(vectors) * values @ wide(vectors).T, symmetric, a) <= UNITS


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("arithmetic")
def test_polar_decomposition(n, dtype):
    for a in matrices(n):
        a = a.astype(dtype)
        U, P = sv.polar_decompose(sv.Matrix(a))
        assert_orthogonal(U)
        assert np.array_equal(P.to_numpy(), P.to_numpy().T)
        assert np.linalg.eigvalsh(wide(P)).min() >= -UNITS * np.finfo(dtype).eps * np.abs(a).max()
        assert deviation(wide(U) @ wide(P), a, a) <= UNITS


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("arithmetic")
def test_qr(n, dtype):
    for a in matrices(n):
        a = a.astype(dtype)
        Q, R = sv.qr(sv.Matrix(a))
        assert_orthogonal(Q)
        assert np.count_nonzero(np.tril(wide(R), -1)) == 0
        assert (np.diag(wide(R)) >= 0).all()
        assert deviation(wide(Q) @ wide(R), a, a) <= UNITS


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 12])
@pytest.mark.usefixtures("arithmetic")
def test_cholesky(n, dtype):
    generator = np.random.default_rng(n)
    for scale in (1.0, 1e-15, 1e15):
        root = generator.standard_normal((n, n))
        a = ((root @ root.T + np.eye(n)) * scale).astype(dtype)
        L = sv.cholesky(sv.Matrix(np.tril(a)))
        assert np.count_nonzero(np.triu(wide(L), 1)) == 0
        assert deviation(wide(L) @ wide(L).T, a, a) <= UNITS
        expected = np.linalg.cholesky(a.astype(np.float64))
        condition = np.linalg.cond(a.astype(np.float64))
        assert np.abs(wide(L) - expected).max() <= n * condition * np.finfo(dtype).eps * np.abs(expected).max()


@pytest.mark.parametrize("n", [2, 4, 6])
def test_cholesky_of_what_is_not_positive_definite(n):
    one = sv.Matrix.identity(sv.f32, n)
    for a in (-one, sv.Matrix.one(sv.f32, n, n) - one * 2, sv.Matrix.diag(n, math.nan)):
        assert not np.isfinite(wide(sv.cholesky(a))).all()


# --- matrices that are not symmetric


def matrices_with_values(n):
    """Those that have real or complex, distinct or repeated eigenvalues, with a basis of eigenvectors or without one."""
    generator = np.random.default_rng(n)
    for spectrum in ([1, 1, 1], [2, 1, 1], [1, 1, 1e-3], [1, 1e-9, 1e-9], [1, 1, 0], [1, 0, 0], [1, -1, 0], [1, 1.00001, 2]):
        basis = generator.standard_normal((n, n))
        yield basis * spectrum[:n] @ np.linalg.inv(basis)
    skew = generator.standard_normal((n, n))
    yield from (skew - skew.T, orthogonal(generator, n), -np.roll(np.eye(n), 1, axis=0), np.roll(np.eye(n), -1, axis=0))
    yield from (np.eye(n) + np.eye(n, k=1), np.eye(n, k=1), np.eye(n, k=-1))


def complex_parts(values, vectors):
    values, vectors = wide(values), wide(vectors)
    return values[:, 0] + 1j * values[:, 1], vectors[0::2] + 1j * vectors[1::2]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("arithmetic")
def test_eigenvalues(n, dtype):
    for a in (*matrices(n), *matrices_with_values(n)):
        a = a.astype(dtype)
        found = sv.eig(sv.Matrix(a))
        assert [part.shape for part in found] == [(n, 2), (2 * n, n)]
        assert found[0].dtype.typestr == found[1].dtype.typestr == np.dtype(dtype).str
        values, vectors = complex_parts(*found)
        assert np.abs(np.linalg.norm(vectors, axis=0) - 1).max() <= UNITS * np.finfo(dtype).eps
        assert deviation(a @ vectors, vectors * values, a) <= 2 * UNITS
        assert deviation(values.sum(), np.trace(a.astype(np.float64)), a) <= 2 * UNITS
        assert (np.diff(values.real) <= 0).all()
        assert all(values[k].conjugate() == values[k + 1] for k in range(n - 1) if values[k].imag > 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("arithmetic")
def test_eigenvalues_are_those_of_numpy(n, dtype):
    generator = np.random.default_rng(7)
    for _ in range(15):
        a = generator.standard_normal((n, n)).astype(dtype)
        expected, basis = np.linalg.eig(a.astype(np.float64))
        order = np.lexsort((-expected.imag, -expected.real))
        values, _ = complex_parts(*sv.eig(sv.Matrix(a)))
        assert deviation(values, expected[order], a) <= UNITS * np.linalg.cond(basis)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("arithmetic")
def test_repeated_eigenvalues_have_vectors_of_their_own(n):
    generator = np.random.default_rng(3)
    for spectrum in ([1, 1, 1], [2, 1, 1], [1, 1, 0]):
        for basis in (np.eye(n), orthogonal(generator, n)):
            a = basis * spectrum[:n] @ basis.T
            values, vectors = complex_parts(*sv.eig(sv.Matrix(a)))
            assert np.count_nonzero(values.imag) == 0
            assert np.linalg.cond(vectors) < 100


FUNCTIONS = [sv.svd, sv.sym_eig, sv.eig, sv.polar_decompose, sv.qr]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.usefixtures("arithmetic")
def test_what_is_not_finite_comes_through(function, n, value):
    a = np.eye(n, dtype=np.float32)
    a[0, 1] = value
    assert not all(np.isfinite(wide(part)).all() for part in function(sv.Matrix(a)))


@pytest.mark.parametrize("function", [*FUNCTIONS, sv.cholesky], ids=lambda function: function.__name__)
def test_integers_and_arguments_that_are_kept(function):
    a = sv.Matrix([[2, 1], [1, 3]])
    parts = function(a)
    assert all(part.dtype is sv.f32 for part in (parts if isinstance(parts, tuple) else [parts]))
    assert a.to_list() == [[2, 1], [1, 3]]
    with pytest.raises(sv.SamovarError, match=function.__name__):
        function(sv.Matrix([[1, 2, 3], [4, 5, 6]]))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_sizes_that_are_not_there(function):
    with pytest.raises(sv.SamovarError, match="2×2 or 3×3"):
        function(sv.Matrix.identity(sv.f32, 4))


numbers = st.floats(-1e6, 1e6, width=32) | st.sampled_from([0.0, 1.0, -1.0, 1e-30, 1e30])


@given(arrays(np.float32, (3, 3), elements=numbers))
def test_any_matrix_is_put_together_again(a):
    A = sv.Matrix(a)
    U, S, V = sv.svd(A)
    assert deviation(wide(U) @ wide(S) @ wide(V).T, a, a) <= UNITS
    Q, R = sv.qr(A)
    assert deviation(wide(Q) @ wide(R), a, a) <= UNITS
    values, vectors = sv.sym_eig(A)
    symmetric = np.triu(a).astype(np.float64) + np.triu(a, 1).T
    assert deviation(wide(vectors) * wide(values) @ wide(vectors).T, symmetric, a) <= UNITS
