"""`sv.linalg`: linear solvers.

`CG` and `BiCGSTAB` are matrix-free: they take a function that applies the matrix to an array or a field, usually by
launching kernels. Sparse matrices use SciPy; without it, small ones are dense NumPy matrices.

>>> import samovar as sv
>>> @sv.kernel
... def twice(x: sv.Tensor, y: sv.Tensor):
...     for i in x:
...         y[i] = 2 * x[i]
>>> b, x = sv.field(sv.f64, 3), sv.field(sv.f64, 3)
>>> b.fill(6)
>>> sv.linalg.CG(twice, b, x).converged
True
>>> list(x)
[3.0, 3.0, 3.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING  # not a constant of its own, which jedi takes at its word

from samovar import _lazy_exports

if TYPE_CHECKING:
    from samovar.linalg.krylov import CG, BiCGSTAB, Solution
    from samovar.linalg.linear_operators import LinearOperator, MatrixFreeBICGSTAB, MatrixFreeCG
    from samovar.linalg.sparse_matrices import SparseMatrix, SparseMatrixBuilder
    from samovar.linalg.sparse_solvers import SparseCG, SparseSolver
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "krylov": "BiCGSTAB CG Solution",
            "linear_operators": "LinearOperator MatrixFreeBICGSTAB MatrixFreeCG",
            "sparse_matrices": "SparseMatrix SparseMatrixBuilder",
            "sparse_solvers": "SparseCG SparseSolver",
        },
        (),
    )

__all__ = [
    "CG",
    "BiCGSTAB",
    "LinearOperator",
    "MatrixFreeBICGSTAB",
    "MatrixFreeCG",
    "Solution",
    "SparseCG",
    "SparseMatrix",
    "SparseMatrixBuilder",
    "SparseSolver",
]
