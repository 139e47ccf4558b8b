"""Solvers for sparse matrices: by factorization, and by conjugate gradients."""

from __future__ import annotations

import math
from typing import Any

from samovar._native import Tensor, f32, f64
from samovar.errors import SamovarError, SamovarRuntimeError, not_one_of
from samovar.linalg.sparse_matrices import SparseMatrix
from samovar.linalg.sparse_storage import like, scipy_module


class SparseSolver:
    """A direct solver for sparse systems: `compute(matrix)`, then `solve(b)` for any b.

    "LLT" and "LDLT" are for symmetric matrices. SciPy has a single factorization, LU by SuperLU: with these two it prefers
    pivots on the diagonal.

    >>> import samovar as sv
    >>> solver = sv.linalg.SparseSolver("LU")
    """

    __module__ = "samovar.linalg"  # its public name, in pickles and messages

    __slots__ = ("_factors", "kind")

    def __init__(self, dtype: Any = f32, solver_type: str = "LLT", ordering: str = "AMD") -> None:
        if isinstance(dtype, str):
            dtype, solver_type = f32, dtype
        if solver_type not in ("LLT", "LDLT", "LU"):
            raise ValueError(not_one_of("solver_type=…", solver_type, ("LLT", "LDLT", "LU")))
        if ordering not in ("AMD", "COLAMD"):
            raise ValueError(not_one_of("ordering=…", ordering, ("AMD", "COLAMD")))
        self.kind = solver_type
        self._factors: Any = None

    def analyze_pattern(self, sparse_matrix: SparseMatrix) -> None:
        """No effect: `factorize` includes it."""

    def compute(self, sparse_matrix: SparseMatrix) -> None:
        """Factorize a matrix; raises RuntimeError if it is singular."""
        self.factorize(sparse_matrix)

    def info(self) -> bool:
        """Whether a matrix has been factorized."""
        return self._factors is not None

    def factorize(self, sparse_matrix: SparseMatrix) -> None:
        """Factorize a matrix; raises RuntimeError if it is singular."""
        linear = scipy_module("scipy.sparse.linalg")
        if linear is None:
            self._factors = _DenseFactors(sparse_matrix.matrix)
            return
        symmetric = self.kind != "LU"
        options = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
        self._factors = linear.splu(sparse_matrix.matrix.tocsc(), **(options if symmetric else {}))

    def solve(self, b: Any) -> Any:
        """The solution as a NumPy array, or as an `sv.ndarray` if `b` is one."""
        if self._factors is None:
            raise SamovarError("nothing to solve: call compute(matrix) first")
        return like(b, self._factors.solve(b.to_numpy(dtype=f64) if isinstance(b, Tensor) else b))


class _DenseFactors:
    """A system solved by NumPy."""

    def __init__(self, matrix: Any) -> None:
        import numpy

        try:
            self._inverse = numpy.linalg.inv(matrix)
        except numpy.linalg.LinAlgError as error:
            raise SamovarRuntimeError(f"this matrix is singular: {error}") from None

    def solve(self, b: Any) -> Any:
        return self._inverse @ b


class SparseCG:
    """Conjugate gradients with a sparse matrix: `solve()` returns x as a NumPy array (an `sv.ndarray` if `b` is one) and
    whether it converged.

    >>> import numpy as np
    >>> import samovar as sv
    >>> x, has_converged = sv.linalg.SparseCG(np.diag([1.0, 2.0]), [3.0, 4.0]).solve()
    >>> x.round(6).tolist(), has_converged
    ([3.0, 2.0], True)
    """

    __module__ = "samovar.linalg"  # its public name, in pickles and messages

    def __init__(self, A: SparseMatrix, b: Any, x0: Any = None, max_iter: int = 50, atol: float = 1e-6) -> None:
        self._A, self._b, self._x0 = A, b, x0
        self._max_iter, self._atol = max_iter, atol

    def solve(self) -> tuple[Any, bool]:
        """The solution x of A x = b, and whether it converged."""
        import numpy

        b = numpy.asarray(self._b.to_numpy() if hasattr(self._b, "to_numpy") else self._b, numpy.float64)
        first = self._x0.to_numpy() if hasattr(self._x0, "to_numpy") else self._x0
        x = numpy.zeros_like(b) if first is None else numpy.array(first, numpy.float64)
        rest = b - self._A @ x
        direction, now = rest.copy(), float(rest @ rest)
        for _ in range(self._max_iter):
            if math.sqrt(now) <= self._atol:
                break
            applied = self._A @ direction
            factor = now / float(direction @ applied)
            x, rest = x + factor * direction, rest - factor * applied
            after = float(rest @ rest)
            direction, now = rest + (after / now) * direction, after
        return like(self._b, x), math.sqrt(now) <= self._atol
