"""`sv.linalg`: solvers of linear systems.

`CG` and `BiCGSTAB` need no matrix, only a function that applies one to an array or a field; it mostly launches kernels.
Sparse matrices are those of SciPy. Without it, small ones are whole matrices of NumPy.

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

import copy
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import samovar as sv
from samovar._native import Tensor, f32, f64
from samovar.errors import SamovarError, SamovarRuntimeError, SamovarTypeError, not_one_of

# The annotations of kernels are no types.
# mypy: disable-error-code="valid-type, no-untyped-def, no-any-return, index"

__all__ = [
    "CG", "BiCGSTAB", "LinearOperator", "MatrixFreeBICGSTAB", "MatrixFreeCG", "Solution", "SparseCG", "SparseMatrix",
    "SparseMatrixBuilder", "SparseSolver",
]  # fmt: skip


class Solution(NamedTuple):
    """How a solver ended: whether the residual is small enough, its norm, and after how many steps.

    >>> import samovar as sv
    >>> sv.linalg.Solution(True, 0.0, 3).steps
    3
    """

    converged: bool
    residual: float
    steps: int


@sv.kernel
def _dot(a: sv.Template, b: sv.Template) -> f64:
    s = f64(0)
    for I in sv.grouped(a):
        s += f64(a[I]) * f64(b[I])
    return s


@sv.kernel
def _add(x: sv.Template, factor: f64, y: sv.Template):
    for I in sv.grouped(x):
        x[I] += sv.cast(factor * y[I], x.dtype)


@sv.kernel
def _scale_and_add(x: sv.Template, factor: f64, y: sv.Template):
    for I in sv.grouped(x):
        x[I] = sv.cast(factor * x[I] + y[I], x.dtype)


def _residual(apply: Callable[[Any, Any], object], b: Tensor, x: Tensor) -> Tensor:
    """b - A x, as a new one of the kind of b."""
    for each, name in ((b, "b"), (x, "x")):
        if not isinstance(each, Tensor) or each.dtype.kind != "float":
            raise SamovarTypeError(f"`{name}` has to be an array or a field of floats")
    if b.shape != x.shape:
        raise ValueError(f"b has the shape {b.shape}, and x has {x.shape}")
    applied, result = copy.copy(b), copy.copy(b)
    apply(x, applied)
    _add(result, -1.0, applied)
    return result


def CG(
    apply: Callable[[Any, Any], object], b: Tensor, x: Tensor, tol: float = 1e-6, maxiter: int = 5000
) -> Solution:
    """Solve A x = b for a symmetric positive definite A by conjugate gradients; x is where it begins and ends.

    `apply(x, y)` puts A x into y. It stops when the norm of b - A x is `tol` times that of b.

    >>> import samovar as sv
    >>> b, x = sv.ndarray(sv.f32, 2), sv.ndarray(sv.f32, 2)
    >>> b.fill(1)
    >>> sv.linalg.CG(lambda x, y: y.copy_from(x), b, x).steps
    1
    """
    r = _residual(apply, b, x)
    p, applied = copy.copy(r), copy.copy(r)
    limit = tol * math.sqrt(_dot(b, b))
    now = _dot(r, r)
    for step in range(maxiter):
        if math.sqrt(now) <= limit:
            return Solution(True, math.sqrt(now), step)
        apply(p, applied)
        curvature = _dot(p, applied)
        if not curvature > 0:
            return Solution(False, math.sqrt(now), step)
        _add(x, now / curvature, p)
        _add(r, -now / curvature, applied)
        before, now = now, _dot(r, r)
        _scale_and_add(p, now / before, r)
    return Solution(math.sqrt(now) <= limit, math.sqrt(now), maxiter)


def BiCGSTAB(
    apply: Callable[[Any, Any], object], b: Tensor, x: Tensor, tol: float = 1e-6, maxiter: int = 5000
) -> Solution:
    """Solve A x = b for any A by stabilised biconjugate gradients (van der Vorst, 1992); the rest is as with `CG`.

    >>> import samovar as sv
    >>> b, x = sv.ndarray(sv.f32, 2), sv.ndarray(sv.f32, 2)
    >>> b.fill(1)
    >>> sv.linalg.BiCGSTAB(lambda x, y: y.copy_from(x), b, x).converged
    True
    """
    r = _residual(apply, b, x)
    shadow, p, v, t = (copy.copy(r) for _ in range(4))
    limit = tol * math.sqrt(_dot(b, b))
    rho, norm = _dot(shadow, r), math.sqrt(_dot(r, r))
    for step in range(maxiter):
        if norm <= limit:
            return Solution(True, norm, step)
        apply(p, v)
        along = _dot(shadow, v)
        if along == 0 or rho == 0:
            return Solution(False, norm, step)
        alpha = rho / along
        _add(r, -alpha, v)
        _add(x, alpha, p)
        apply(r, t)
        length = _dot(t, t)
        omega = _dot(t, r) / length if length else 0.0
        _add(x, omega, r)
        _add(r, -omega, t)
        norm = math.sqrt(_dot(r, r))
        if omega == 0:
            return Solution(norm <= limit, norm, step + 1)
        before, rho = rho, _dot(shadow, r)
        _add(p, -omega, v)
        _scale_and_add(p, rho / before * alpha / omega, r)
    return Solution(norm <= limit, norm, maxiter)


# --- sparse matrices


#: Without SciPy, matrices with up to so many places are kept whole.
_MOST_PLACES = 1 << 24


def _sparse(name: str) -> Any:
    """A module of SciPy, or None."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        return None


def _whole(shape: tuple[int, int]) -> Any:
    """A matrix of NumPy that is 0 everywhere, for want of SciPy."""
    import numpy

    if shape[0] * shape[1] > _MOST_PLACES:
        raise SamovarError(
            f"sparse matrices of {shape[0]} × {shape[1]} need SciPy: install it (pip install scipy), or use CG or BiCGSTAB"
        )
    sv.runtime.say_once("SciPy is not there: sparse matrices are kept as whole ones")
    return numpy.zeros(shape)


class SparseMatrixBuilder:
    """Gathers the elements of a sparse matrix; those of one place are added up.

    >>> import samovar as sv
    >>> builder = sv.linalg.SparseMatrixBuilder(2, 2)
    >>> builder.add(0, 1, 3.0)
    >>> builder.add([0, 1], [1, 1], [1.0, 5.0])

    Kernels add to it, as many elements as were announced:

    >>> @sv.kernel
    ... def fill(matrix: sv.types.sparse_matrix_builder()):
    ...     for i in range(2):
    ...         matrix[i, i] += 2.0 * i
    >>> builder = sv.linalg.SparseMatrixBuilder(2, 2, max_num_triplets=10)
    >>> fill(builder)
    """

    def __init__(
        self,
        num_rows: int,
        num_cols: int | None = None,
        max_num_triplets: int = 0,
        dtype: Any = f32,
        storage_format: str = "col_major",
    ) -> None:
        if storage_format not in ("col_major", "row_major"):
            raise ValueError(not_one_of("storage_format=…", storage_format, ("col_major", "row_major")))
        self.shape = num_rows, num_rows if num_cols is None else num_cols
        self.dtype = dtype
        self._rows: list[Any] = []
        self._columns: list[Any] = []
        self._values: list[Any] = []
        #: What kernels have added: how much, and where and what it is.
        self.count = sv.ndarray(sv.i32, ())
        self.places = sv.ndarray(sv.i32, (max_num_triplets, 2))
        self.values = sv.ndarray(dtype, max_num_triplets)

    @sv.func
    def add_at(self, row, column, value):
        """`matrix[row, column] += value` in a kernel."""
        n = sv.atomic_add(self.count[None], 1)
        if n < self.values.shape[0]:
            self.places[n, 0] = row
            self.places[n, 1] = column
            self.values[n] = value

    def _take_from_kernels(self) -> None:
        """Have what kernels have added among the rest."""
        count, most = self.count[None], self.values.shape[0]
        self.count.fill(0)
        if count > most:
            raise SamovarRuntimeError(f"{count} elements were added to a SparseMatrixBuilder with max_num_triplets={most}")
        if count:
            places = self.places.to_numpy()[:count]
            self.add(places[:, 0], places[:, 1], self.values.to_numpy()[:count])

    def print_triplets(self) -> None:
        """Print what was added so far."""
        self._take_from_kernels()
        print(f"n={self.shape[0]}, m={self.shape[1]}, num_triplets={sum(map(_length, self._values))}")
        for rows, columns, values in zip(self._rows, self._columns, self._values, strict=True):
            for row, column, value in zip(*map(_flat, (rows, columns, values)), strict=True):
                print(f"({row}, {column}) {value}")

    def add(self, row: Any, column: Any, value: Any) -> None:
        """Add one element, or as many as there are in three arrays or lists."""
        for gathered, given in ((self._rows, row), (self._columns, column), (self._values, value)):
            gathered.append(given.to_numpy() if isinstance(given, Tensor) else given)

    def build(self, dtype: Any = None, _format: str = "CSR") -> SparseMatrix:
        """The matrix of what was added since the last one was built."""
        import numpy

        sparse = _sparse("scipy.sparse")
        self._take_from_kernels()
        values, rows, columns = (
            numpy.concatenate([numpy.empty(0, dtype), *(numpy.ravel(each) for each in gathered)], dtype=dtype)
            for gathered, dtype in ((self._values, "f8"), (self._rows, "i8"), (self._columns, "i8"))
        )
        for gathered in (self._values, self._rows, self._columns):
            gathered.clear()
        if sparse is not None:
            return SparseMatrix(sparse.coo_array((values, (rows, columns)), shape=self.shape).tocsr())
        whole = _whole(self.shape)
        places = numpy.ravel_multi_index((rows, columns), self.shape)
        whole += numpy.bincount(places, values, whole.size).reshape(self.shape)
        return SparseMatrix(whole)


def _flat(values: Any) -> list[Any]:
    return values.ravel().tolist() if hasattr(values, "ravel") else list(values) if hasattr(values, "__len__") else [values]


def _length(values: Any) -> int:
    return len(_flat(values))


class SparseMatrix:
    """A matrix of SciPy, or without it one of NumPy (`matrix`), with `+`, `-`, `*` (by a number, or element by element), `@`
    and `transpose()`.

    >>> import samovar as sv
    >>> sv.linalg.SparseMatrixBuilder(2).shape
    (2, 2)
    """

    __slots__ = ("matrix",)

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.matrix.shape
        return rows, columns

    def __getitem__(self, place: tuple[int, int]) -> float:
        return float(self.matrix[place])

    def __add__(self, other: SparseMatrix) -> SparseMatrix:
        return SparseMatrix(self.matrix + other.matrix)

    def __sub__(self, other: SparseMatrix) -> SparseMatrix:
        return SparseMatrix(self.matrix - other.matrix)

    def __mul__(self, other: Any) -> SparseMatrix:
        return SparseMatrix(self.matrix * (other.matrix if isinstance(other, SparseMatrix) else other))

    __rmul__ = __mul__

    def __matmul__(self, other: Any) -> Any:
        """Of another matrix, or of a vector, which gives a NumPy array, or one of ours for one of ours."""
        if isinstance(other, SparseMatrix):
            return SparseMatrix(self.matrix @ other.matrix)
        return _like(other, self.matrix @ (other.to_numpy() if isinstance(other, Tensor) else other))

    def transpose(self) -> SparseMatrix:
        """Rows for columns."""
        turned = self.matrix.T
        return SparseMatrix(turned.tocsr() if hasattr(turned, "tocsr") else turned)


def _like(given: Any, found: Any) -> Any:
    """A vector as an array of ours, if one of ours was given."""
    if not isinstance(given, Tensor):
        return found
    made = sv.ndarray(given.dtype, found.shape)
    made.copy_from(found)
    return made


class SparseSolver:
    """Solves systems of a sparse matrix directly: `compute(matrix)`, then `solve(b)` for any b.

    "LLT" and "LDLT" are for symmetric matrices. SciPy has one factorisation, LU by SuperLU: these two only let it choose
    pivots on the diagonal.

    >>> import samovar as sv
    >>> solver = sv.linalg.SparseSolver("LU")
    """

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
        """Nothing: it is a part of `factorize`."""

    def compute(self, sparse_matrix: SparseMatrix) -> None:
        """Factorise a matrix; RuntimeError if it is singular."""
        self.factorize(sparse_matrix)

    def info(self) -> bool:
        """Was a matrix factorised?"""
        return self._factors is not None

    def factorize(self, sparse_matrix: SparseMatrix) -> None:
        """Factorise a matrix; RuntimeError if it is singular."""
        linear = _sparse("scipy.sparse.linalg")
        if linear is None:
            self._factors = _Whole(sparse_matrix.matrix)
            return
        symmetric = self.kind != "LU"
        options = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
        self._factors = linear.splu(sparse_matrix.matrix.tocsc(), **(options if symmetric else {}))

    def solve(self, b: Any) -> Any:
        """The solution as a NumPy array, or as one of ours if `b` is one."""
        if self._factors is None:
            raise SamovarError("nothing to solve: call compute(matrix) first")
        return _like(b, self._factors.solve(b.to_numpy(dtype=f64) if isinstance(b, Tensor) else b))


class _Whole:
    """A system that NumPy solves."""

    def __init__(self, matrix: Any) -> None:
        import numpy

        try:
            self._inverse = numpy.linalg.inv(matrix)
        except numpy.linalg.LinAlgError as error:
            raise SamovarRuntimeError(f"this matrix is singular: {error}") from None

    def solve(self, b: Any) -> Any:
        return self._inverse @ b


class LinearOperator:
    """A matrix as what it does to an array or a field: `matvec(x, y)` puts A x into y.

    >>> import samovar as sv
    >>> double = sv.linalg.LinearOperator(lambda x, y: y.copy_from(x))
    >>> b, x = sv.ndarray(sv.f32, 2), sv.ndarray(sv.f32, 2)
    >>> b.fill(1)
    >>> sv.linalg.MatrixFreeCG(double, b, x)
    True
    """

    def __init__(self, matvec_kernel: Callable[[Any, Any], object]) -> None:
        self.matvec = matvec_kernel


def MatrixFreeCG(
    A: LinearOperator, b: Tensor, x: Tensor, tol: float = 1e-6, maxiter: int = 5000, quiet: bool = True
) -> bool:
    """`CG` with a `LinearOperator`. Was the residual small enough?

    >>> import samovar as sv
    >>> b, x = sv.ndarray(sv.f32, 2), sv.ndarray(sv.f32, 2)
    >>> b.fill(1)
    >>> sv.linalg.MatrixFreeCG(sv.linalg.LinearOperator(lambda x, y: y.copy_from(x)), b, x)
    True
    """
    return _told("MatrixFreeCG", CG(A.matvec, b, x, tol, maxiter), quiet)


def MatrixFreeBICGSTAB(
    A: LinearOperator, b: Tensor, x: Tensor, tol: float = 1e-6, maxiter: int = 5000, quiet: bool = True
) -> bool:
    """`BiCGSTAB` with a `LinearOperator`. Was the residual small enough?

    >>> import samovar as sv
    >>> b, x = sv.ndarray(sv.f32, 2), sv.ndarray(sv.f32, 2)
    >>> b.fill(1)
    >>> sv.linalg.MatrixFreeBICGSTAB(sv.linalg.LinearOperator(lambda x, y: y.copy_from(x)), b, x)
    True
    """
    return _told("MatrixFreeBICGSTAB", BiCGSTAB(A.matvec, b, x, tol, maxiter), quiet)


def _told(name: str, found: Solution, quiet: bool) -> bool:
    if not quiet:
        print(f"{name}: residual {found.residual:.3e} after {found.steps} steps")
    return found.converged


class SparseCG:
    """Conjugate gradients with a sparse matrix: `solve()` gives x as an array of NumPy, or as one of ours if `b` is one, and
    whether it converged.

    >>> import numpy as np
    >>> import samovar as sv
    >>> x, has_converged = sv.linalg.SparseCG(np.diag([1.0, 2.0]), [3.0, 4.0]).solve()
    >>> x.round(6).tolist(), has_converged
    ([3.0, 2.0], True)
    """

    def __init__(self, A: SparseMatrix, b: Any, x0: Any = None, max_iter: int = 50, atol: float = 1e-6) -> None:
        self._A, self._b, self._x0 = A, b, x0
        self._max_iter, self._atol = max_iter, atol

    def solve(self) -> tuple[Any, bool]:
        """x with A x = b, and whether it was found."""
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
        return _like(self._b, x), math.sqrt(now) <= self._atol
