"""Solvers: Poisson's equation without a matrix, systems that are not symmetric, and sparse matrices against NumPy."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import samovar as sv


@sv.kernel
def poisson(x: sv.Tensor, y: sv.Tensor):
    for i, j in x:
        s = 4 * x[i, j]
        if i > 0:
            s -= x[i - 1, j]
        if i + 1 < x.shape[0]:
            s -= x[i + 1, j]
        if j > 0:
            s -= x[i, j - 1]
        if j + 1 < x.shape[1]:
            s -= x[i, j + 1]
        y[i, j] = s


def placed(shape):
    f = sv.field(sv.f64)
    sv.root.dense(sv.ij, 4).dense(sv.ij, (shape[0] // 4, shape[1] // 4)).place(f)
    return f


MAKERS = {"array": lambda shape: sv.ndarray(sv.f64, shape), "field": lambda shape: sv.field(sv.f64, shape), "blocks": placed}


@pytest.mark.parametrize("kind", MAKERS)
def test_poisson_by_conjugate_gradients(kind):
    b, x, applied = (MAKERS[kind]((16, 24)) for _ in range(3))
    b.from_numpy(np.random.default_rng(1).normal(size=(16, 24)))
    found = sv.linalg.CG(poisson, b, x, tol=1e-10)
    assert found.converged
    assert 0 < found.steps < 200
    poisson(x, applied)
    np.testing.assert_allclose(applied.to_numpy(), b.to_numpy(), atol=1e-8)
    assert sv.linalg.CG(poisson, b, x, tol=1e-8).steps == 0
    assert not sv.linalg.CG(poisson, b, MAKERS[kind]((16, 24)), maxiter=3).converged


@sv.kernel
def drift(x: sv.Tensor, y: sv.Tensor):
    for i in x:
        s = 4 * x[i]
        if i > 0:
            s -= 2 * x[i - 1]
        if i + 1 < x.shape[0]:
            s -= 0.5 * x[i + 1]
        y[i] = s


def test_a_system_that_is_not_symmetric():
    b, x = sv.field(sv.f64, 50), sv.field(sv.f64, 50)
    b.from_numpy(np.random.default_rng(2).normal(size=50))
    matrix = 4 * np.eye(50) - 2 * np.eye(50, k=-1) - 0.5 * np.eye(50, k=1)
    assert sv.linalg.BiCGSTAB(drift, b, x, tol=1e-12).converged
    np.testing.assert_allclose(x.to_numpy(), np.linalg.solve(matrix, b.to_numpy()), atol=1e-9)


def test_what_is_wrong_is_said():
    with pytest.raises(sv.SamovarTypeError, match="`b` must be"):
        sv.linalg.CG(drift, np.zeros(3), sv.field(sv.f64, 3))
    with pytest.raises(ValueError, match="shape"):
        sv.linalg.CG(drift, sv.field(sv.f64, 4), sv.field(sv.f64, 3))
    with pytest.raises(ValueError, match="LDLT"):
        sv.linalg.SparseSolver("QR")
    with pytest.raises(sv.SamovarError, match="compute"):
        sv.linalg.SparseSolver().solve(np.zeros(3))


@pytest.fixture(params=["with", "without"])
def scipy(request, monkeypatch):
    """SciPy, or its absence."""
    if request.param == "with":
        pytest.importorskip("scipy")
    else:
        for name in ("scipy.sparse", "scipy.sparse.linalg"):
            monkeypatch.setitem(sys.modules, name, None)


def test_without_scipy_large_matrices_are_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(sv.SamovarError, match="5000 × 5000 need SciPy"):
        sv.linalg.SparseMatrixBuilder(5000).build()


def elements(matrix):
    """The elements of a sparse matrix."""
    return matrix.matrix.toarray() if hasattr(matrix.matrix, "toarray") else matrix.matrix


def test_sparse_matrices(scipy):
    random = np.random.default_rng(3)
    dense = [np.zeros((20, 20)) for _ in range(2)]
    builders = [sv.linalg.SparseMatrixBuilder(20, 20) for _ in range(2)]
    for values, builder in zip(dense, builders, strict=True):
        rows, columns, numbers = random.integers(0, 20, 60), random.integers(0, 20, 60), random.normal(size=60)
        np.add.at(values, (rows, columns), numbers)
        builder.add(rows[:50], sv.from_numpy(columns[:50], copy=True), numbers[:50])
        for row, column, number in zip(rows[50:], columns[50:], numbers[50:], strict=True):
            builder.add(row, column, number)
    a, b = (builder.build() for builder in builders)
    for found, expected in (
        (a, dense[0]), (a + b, dense[0] + dense[1]), (a - b, dense[0] - dense[1]), (a @ b, dense[0] @ dense[1]),
        (a * 2, dense[0] * 2), (3 * a, dense[0] * 3), (a * b, dense[0] * dense[1]), (a.transpose(), dense[0].T),
    ):  # fmt: skip
        np.testing.assert_allclose(elements(found), expected, atol=1e-12)
    assert a.shape == (20, 20)
    vector = sv.field(sv.f64, 20)
    vector.from_numpy(random.normal(size=20))
    np.testing.assert_allclose(a @ vector, dense[0] @ vector.to_numpy())
    system = sv.linalg.SparseMatrix((a @ a.transpose()).matrix + 5 * np.eye(20)).matrix
    whole = dense[0] @ dense[0].T + 5 * np.eye(20)
    builder = sv.linalg.SparseMatrixBuilder(20)
    builder.add(*np.indices((20, 20)).reshape(2, -1), np.asarray(system).ravel())
    matrix = builder.build()
    for kind in ("LLT", "LDLT", "LU"):
        solver = sv.linalg.SparseSolver(kind)
        solver.compute(matrix)
        np.testing.assert_allclose(solver.solve(vector), np.linalg.solve(whole, vector.to_numpy()), atol=1e-10)


@sv.kernel
def gather(matrix: sv.types.sparse_matrix_builder(), b: sv.types.ndarray(), n: sv.i32):
    for i in range(n):
        matrix[i, i] += 2.0 + i
        matrix[0, i] -= 1
        b[i] += 1


def test_kernels_add_to_a_sparse_matrix(capsys):
    builder, b = sv.linalg.SparseMatrixBuilder(num_rows=3, num_cols=3, max_num_triplets=6), sv.ndarray(sv.f32, 3)
    gather(builder, b, 3)
    builder.print_triplets()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "n=3, m=3, num_triplets=6"
    assert sorted(lines[1:]) == [
        "(0, 0) -1.0", "(0, 0) 2.0", "(0, 1) -1.0", "(0, 2) -1.0", "(1, 1) 3.0", "(2, 2) 4.0",
    ]  # fmt: skip
    assert b.to_numpy().tolist() == [1, 1, 1]
    gather(builder, b, 3)
    gather(builder, b, 1)
    with pytest.raises(sv.SamovarRuntimeError, match=r"8 elements were added .* max_num_triplets=6"):
        builder.print_triplets()


def test_a_sparse_matrix_of_kernels_is_solved(scipy):
    builder, b = sv.linalg.SparseMatrixBuilder(3, 3, max_num_triplets=100, dtype=sv.f64), sv.ndarray(sv.f64, 3)
    gather(builder, b, 3)
    matrix = builder.build()
    dense = np.array([[1, -1, -1], [0, 3, 0], [0, 0, 4.0]])
    assert [[matrix[i, j] for j in range(3)] for i in range(3)] == dense.tolist()
    solver = sv.linalg.SparseSolver(dtype=sv.f64, solver_type="LU", ordering="COLAMD")
    solver.analyze_pattern(matrix)
    assert not solver.info()
    solver.factorize(matrix)
    assert solver.info()
    x = solver.solve(b)
    assert isinstance(x, sv.Ndarray)
    np.testing.assert_allclose(x.to_numpy(), np.linalg.solve(dense, np.ones(3)))
    np.testing.assert_allclose((matrix @ x).to_numpy(), np.ones(3))


def test_a_builder_begins_anew_after_each_matrix():
    builder, b = sv.linalg.SparseMatrixBuilder(3, 3, max_num_triplets=6), sv.ndarray(sv.f32, 3)
    matrices = []
    for _ in range(3):
        gather(builder, b, 3)
        builder.add(0, 2, 5.0)
        matrices.append(builder.build())
    assert len({tuple(matrix[i, j] for i in range(3) for j in range(3)) for matrix in matrices}) == 1
    assert matrices[0][0, 2] == 4
    assert builder.build()[0, 2] == 0


@pytest.mark.parametrize("has_scipy", [True, False])
def test_entries_of_a_sparse_matrix_are_assigned(has_scipy, monkeypatch):
    if has_scipy:
        pytest.importorskip("scipy")
    else:
        monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    builder = sv.linalg.SparseMatrixBuilder(3)
    builder.add([0, 1], [0, 2], [1.0, 2.0])
    built, zeros = builder.build(), sv.linalg.SparseMatrix(n=3, m=3, dtype=sv.f32)
    built[0, 0] = 5
    built[2, 1] = 7.5
    zeros[1, 1] = 1
    assert [[built[i, j] for j in range(3)] for i in range(3)] == [[5, 0, 0], [0, 0, 2], [0, 7.5, 0]]
    assert ((built + zeros) @ np.ones(3)).tolist() == [5, 3, 7.5]
    assert sv.linalg.SparseMatrix(2, 4).shape == (2, 4)
    assert sv.linalg.SparseMatrix(2).shape == (2, 2)
    with pytest.raises(IndexError):
        built[3, 0] = 1
