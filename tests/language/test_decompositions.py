"""Decompositions of small matrices in plain Python: as accurate as the dtype, whatever the matrix is like."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import samovar as sv

from . import decompositions as check
from .decompositions import UNITS, complex_parts, deviation, matrices, matrices_with_values, orthogonal
from .single_precision import use_single_precision

SIZES, DTYPES = (2, 3), (np.float32, np.float64)


@pytest.fixture(params=["numbers of Python", "f32 operation by operation"])
def arithmetic(request, monkeypatch):
    if request.param != "numbers of Python":
        if np.lib.NumpyVersion(np.__version__) < "2.0.0":
            pytest.skip("NumPy 1 computes a float32 and a number of Python in float64")
        use_single_precision(monkeypatch)
    with np.errstate(all="ignore"):
        yield


CHECKS = {
    sv.svd: check.check_svd,
    sv.sym_eig: check.check_symmetric,
    sv.polar_decompose: check.check_polar,
    sv.qr: check.check_qr,
    sv.eig: check.check_eigenvalues,
}


def arrays_of(parts):
    return [part.to_numpy() for part in parts]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("function", CHECKS, ids=lambda function: function.__name__)
@pytest.mark.usefixtures("arithmetic")
def test_decompositions(function, n, dtype):
    for a in (*matrices(n), *matrices_with_values(n)):
        a = a.astype(dtype)
        CHECKS[function](a, *arrays_of(function(sv.Matrix(a))))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("arithmetic")
def test_small_singular_values_of_scaled_columns_are_exact(n, dtype):
    """Each as exactly as the largest: this is what the squared matrix would not give."""
    a = (orthogonal(np.random.default_rng(0), n) * np.logspace(0, -7, n)).astype(dtype)
    values = np.diag(sv.svd(sv.Matrix(a))[1].to_numpy()).astype(np.float64)
    assert values == pytest.approx(np.linalg.norm(a.astype(np.float64), axis=0), rel=UNITS * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 12])
@pytest.mark.usefixtures("arithmetic")
def test_cholesky(n, dtype):
    generator = np.random.default_rng(n)
    for scale in (1.0, 1e-15, 1e15):
        root = generator.standard_normal((n, n))
        a = ((root @ root.T + np.eye(n)) * scale).astype(dtype)
        check.check_cholesky(a, sv.cholesky(sv.Matrix(np.tril(a))).to_numpy())


@pytest.mark.parametrize("n", [2, 4, 6])
def test_cholesky_of_what_is_not_positive_definite(n):
    one = sv.Matrix.identity(sv.f32, n)
    for a in (-one, sv.Matrix.one(sv.f32, n, n) - one * 2, sv.Matrix.diag(n, math.nan)):
        assert not np.isfinite(sv.cholesky(a).to_numpy()).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("arithmetic")
def test_eigenvalues_are_those_of_numpy(n, dtype):
    generator = np.random.default_rng(7)
    for _ in range(15):
        a = generator.standard_normal((n, n)).astype(dtype)
        expected, basis = np.linalg.eig(a.astype(np.float64))
        order = np.lexsort((-expected.imag, -expected.real))
        values, _ = complex_parts(*arrays_of(sv.eig(sv.Matrix(a))))
        assert deviation(values, expected[order], a) <= UNITS * np.linalg.cond(basis)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("arithmetic")
def test_repeated_eigenvalues_have_vectors_of_their_own(n):
    generator = np.random.default_rng(3)
    for spectrum in ([1, 1, 1], [2, 1, 1], [1, 1, 0]):
        for basis in (np.eye(n), orthogonal(generator, n)):
            a = basis * spectrum[:n] @ basis.T
            values, vectors = complex_parts(*arrays_of(sv.eig(sv.Matrix(a))))
            assert np.count_nonzero(values.imag) == 0
            assert np.linalg.cond(vectors) < 100


@pytest.mark.parametrize("function", CHECKS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.usefixtures("arithmetic")
def test_what_is_not_finite_comes_through(function, n, value):
    a = np.eye(n, dtype=np.float32)
    a[0, 1] = value
    assert not all(np.isfinite(part).all() for part in arrays_of(function(sv.Matrix(a))))


@pytest.mark.parametrize("function", [*CHECKS, sv.cholesky], ids=lambda function: function.__name__)
def test_integers_and_arguments_that_are_kept(function):
    a = sv.Matrix([[2, 1], [1, 3]])
    parts = function(a)
    assert all(part.dtype is sv.f32 for part in (parts if isinstance(parts, tuple) else [parts]))
    assert a.to_list() == [[2, 1], [1, 3]]
    with pytest.raises(sv.SamovarError, match=function.__name__):
        function(sv.Matrix([[1, 2, 3], [4, 5, 6]]))


@pytest.mark.parametrize("function", [sv.svd, sv.polar_decompose, sv.qr, sv.eig], ids=lambda function: function.__name__)
def test_sizes_that_are_not_there(function):
    with pytest.raises(sv.SamovarError, match="2×2 or 3×3"):
        function(sv.Matrix.identity(sv.f32, 4))


numbers = st.floats(-1e6, 1e6, width=32) | st.sampled_from([0.0, 1.0, -1.0, 2.0**-100, 2.0**100])


@given(arrays(np.float32, (3, 3), elements=numbers))
def test_any_matrix(a):
    for function in (sv.svd, sv.sym_eig, sv.qr):
        CHECKS[function](a, *arrays_of(function(sv.Matrix(a))))
