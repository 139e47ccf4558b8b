"""Matrices that decompositions find hard, and what has to hold of results: arrays, from plain Python or a kernel."""

from __future__ import annotations

import numpy as np

#: Of the unit in the last place of the largest entry.
UNITS = 40


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
    yield from (np.tril(np.ones((n, n))) * 1e-20, any_one * 1e-40, any_one * 1e-310)
    yield np.array([[-1e11, -1e-10, 0], [0, 0, 0], [1e-11, 0, 0]])[:n, :n]


def matrices_with_values(n):
    """Those that have real or complex, distinct or repeated eigenvalues, with a basis of eigenvectors or without one."""
    generator = np.random.default_rng(n)
    for spectrum in ([1, 1, 1], [2, 1, 1], [1, 1, 1e-3], [1, 1e-9, 1e-9], [1, 1, 0], [1, 0, 0], [1, -1, 0], [1, 1.00001, 2]):
        basis = generator.standard_normal((n, n))
        yield basis * spectrum[:n] @ np.linalg.inv(basis)
    skew = generator.standard_normal((n, n))
    yield from (skew - skew.T, orthogonal(generator, n), -np.roll(np.eye(n), 1, axis=0), np.roll(np.eye(n), -1, axis=0))
    yield from (np.eye(n) + np.eye(n, k=1), np.eye(n, k=1), np.eye(n, k=-1))
    # The difference of the diagonal is -0.0.
    exchanged = np.roll(np.eye(n), 1, axis=0)
    exchanged[0, 0] = -0.0
    yield exchanged
    # Steps with the usual shifts go round in a circle here.
    yield np.array([[1.0, 1.0, 0.0], [-2.0, 2.0, 1.0], [0.0, -2.0, 1.0]])[:n, :n]


def deviation(found, expected, a):
    """How far two matrices are from each other, in units of the last place of the largest entry of a third."""
    facts = np.finfo(a.dtype)
    unit = max(float(np.abs(a).max() or 1) * float(facts.eps), float(facts.smallest_subnormal))
    return np.abs(found - expected).max() / unit


def wide(parts):
    return [part.astype(np.float64) for part in parts]


def check_types(a, parts):
    assert all(part.dtype == a.dtype for part in parts)


def check_orthogonal(q, dtype):
    assert np.abs(q.T @ q - np.eye(len(q))).max() <= UNITS * np.finfo(dtype).eps


def check_svd(a, *parts):
    check_types(a, parts)
    u, s, v = wide(parts)
    values = np.diag(s)
    assert np.count_nonzero(s - np.diag(values)) == 0
    assert (values >= 0).all()
    assert (values[:-1] >= values[1:]).all()
    assert deviation(values, np.linalg.svd(a.astype(np.float64))[1], a) <= UNITS
    check_orthogonal(u, a.dtype)
    check_orthogonal(v, a.dtype)
    assert deviation(u @ s @ v.T, a, a) <= UNITS


def check_symmetric(a, *parts):
    """Of the symmetric matrix whose upper half `a` has."""
    check_types(a, parts)
    values, vectors = wide(parts)
    symmetric = (np.triu(a) + np.triu(a, 1).T).astype(np.float64)
    assert (values[:-1] <= values[1:]).all()
    assert deviation(values, np.linalg.eigvalsh(symmetric), a) <= UNITS
    check_orthogonal(vectors, a.dtype)
    assert deviation(vectors * values @ vectors.T, symmetric, a) <= UNITS


def check_polar(a, *parts):
    check_types(a, parts)
    u, p = wide(parts)
    check_orthogonal(u, a.dtype)
    assert np.array_equal(p, p.T)
    assert deviation(min(np.linalg.eigvalsh(p).min(), 0), 0, a) <= UNITS
    assert deviation(u @ p, a, a) <= UNITS


def check_qr(a, *parts):
    check_types(a, parts)
    q, r = wide(parts)
    check_orthogonal(q, a.dtype)
    assert np.count_nonzero(np.tril(r, -1)) == 0
    assert (np.diag(r) >= 0).all()
    assert deviation(q @ r, a, a) <= UNITS


def check_cholesky(a, found):
    check_types(a, [found])
    (lower,) = wide([found])
    assert np.count_nonzero(np.triu(lower, 1)) == 0
    assert deviation(lower @ lower.T, a, a) <= UNITS
    expected = np.linalg.cholesky(a.astype(np.float64))
    condition = np.linalg.cond(a.astype(np.float64))
    assert np.abs(lower - expected).max() <= len(a) * condition * np.finfo(a.dtype).eps * np.abs(expected).max()


def complex_parts(values, vectors):
    values, vectors = wide([values, vectors])
    return values[:, 0] + 1j * values[:, 1], vectors[0::2] + 1j * vectors[1::2]


def check_eigenvalues(a, *parts):
    check_types(a, parts)
    values, vectors = complex_parts(*parts)
    assert np.abs(np.linalg.norm(vectors, axis=0) - 1).max() <= UNITS * np.finfo(a.dtype).eps
    assert deviation(a @ vectors, vectors * values, a) <= 2 * UNITS
    assert deviation(values.sum(), np.trace(a.astype(np.float64)), a) <= 2 * UNITS
    assert (np.diff(values.real) <= 0).all()
    assert all(values[k].conjugate() == values[k + 1] for k in range(len(a) - 1) if values[k].imag > 0)
