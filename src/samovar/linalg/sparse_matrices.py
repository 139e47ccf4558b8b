"""Sparse matrices, and what builds them in kernels and in Python."""

from __future__ import annotations

import warnings
from typing import Any

import samovar as sv
from samovar._native import Tensor, f32
from samovar.errors import SamovarRuntimeError, not_one_of
from samovar.linalg.sparse_storage import dense_zeros, like, scipy_module

# Annotations of kernels are not types.
# mypy: disable-error-code="valid-type, no-untyped-def, no-any-return, index"


class SparseMatrixBuilder:
    """Collects the elements of a sparse matrix; elements at the same position are added.

    >>> import samovar as sv
    >>> builder = sv.linalg.SparseMatrixBuilder(2, 2)
    >>> builder.add(0, 1, 3.0)
    >>> builder.add([0, 1], [1, 1], [1.0, 5.0])

    Kernels can add elements too, up to `max_num_triplets`:

    >>> @sv.kernel
    ... def fill(matrix: sv.types.sparse_matrix_builder()):
    ...     for i in range(2):
    ...         matrix[i, i] += 2.0 * i
    >>> builder = sv.linalg.SparseMatrixBuilder(2, 2, max_num_triplets=10)
    >>> fill(builder)
    """

    __module__ = "samovar.linalg"  # its public name, in pickles and messages

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
        #: Elements added by kernels: their number, positions and values.
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
        """Move the elements that kernels have added to the others."""
        count, most = self.count[None], self.values.shape[0]
        self.count.fill(0)
        if count > most:
            raise SamovarRuntimeError(f"{count} elements were added to a SparseMatrixBuilder with max_num_triplets={most}")
        if count:
            places = self.places.to_numpy()[:count]
            self.add(places[:, 0], places[:, 1], self.values.to_numpy()[:count])

    def print_triplets(self) -> None:
        """Print the elements added so far."""
        self._take_from_kernels()
        print(f"n={self.shape[0]}, m={self.shape[1]}, num_triplets={sum(map(_length, self._values))}")
        for rows, columns, values in zip(self._rows, self._columns, self._values, strict=True):
            for row, column, value in zip(*map(_flat, (rows, columns, values)), strict=True):
                print(f"({row}, {column}) {value}")

    def add(self, row: Any, column: Any, value: Any) -> None:
        """Add one element, or all those in three arrays or lists."""
        for gathered, given in ((self._rows, row), (self._columns, column), (self._values, value)):
            gathered.append(given.to_numpy() if isinstance(given, Tensor) else given)

    def build(self, dtype: Any = None, _format: str = "CSR") -> SparseMatrix:
        """Build the matrix from the elements added since the last call."""
        import numpy

        sparse = scipy_module("scipy.sparse")
        self._take_from_kernels()
        values, rows, columns = (
            numpy.concatenate([numpy.empty(0, dtype), *(numpy.ravel(each) for each in gathered)], dtype=dtype)
            for gathered, dtype in ((self._values, "f8"), (self._rows, "i8"), (self._columns, "i8"))
        )
        for gathered in (self._values, self._rows, self._columns):
            gathered.clear()
        if sparse is not None:
            return SparseMatrix(sparse.coo_array((values, (rows, columns)), shape=self.shape).tocsr())
        whole = dense_zeros(self.shape)
        places = numpy.ravel_multi_index((rows, columns), self.shape)
        whole += numpy.bincount(places, values, whole.size).reshape(self.shape)
        return SparseMatrix(whole)


def _zeros(shape: tuple[int, int]) -> Any:
    sparse = scipy_module("scipy.sparse")
    return dense_zeros(shape) if sparse is None else sparse.csr_array(shape)


def _flat(values: Any) -> list[Any]:
    return values.ravel().tolist() if hasattr(values, "ravel") else list(values) if hasattr(values, "__len__") else [values]


def _length(values: Any) -> int:
    return len(_flat(values))


class SparseMatrix:
    """A SciPy matrix, or a NumPy one if SciPy is missing (`matrix`), with `+`, `-`, `*` (by a number, or element-wise), `@`
    and `transpose()`. `SparseMatrix(n, m)` contains only zeros. Elements are always f64; `dtype` has no effect.

    >>> import samovar as sv
    >>> A = sv.linalg.SparseMatrix(2, 3)
    >>> A[1, 2] = 5
    >>> A.shape, A[1, 2], A[0, 0]
    ((2, 3), 5.0, 0.0)
    """

    __module__ = "samovar.linalg"  # its public name, in pickles and messages

    __slots__ = ("matrix",)

    def __init__(
        self, matrix: Any = None, m: int | None = None, sm: Any = None, dtype: Any = None, storage_format: str = "", *,
        n: int | None = None,
    ) -> None:  # fmt: skip
        rows = matrix if isinstance(matrix, int) else n
        self.matrix = _zeros((rows, rows if m is None else m)) if rows is not None else matrix if sm is None else sm

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.matrix.shape
        return rows, columns

    def __getitem__(self, place: tuple[int, int]) -> float:
        return float(self.matrix[place])

    def __setitem__(self, place: tuple[int, int], value: float) -> None:
        """Change an entry. A new one moves all after it: use a builder for many."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SciPy says so as well
            self.matrix[place] = value

    def __add__(self, other: SparseMatrix) -> SparseMatrix:
        return SparseMatrix(self.matrix + other.matrix)

    def __sub__(self, other: SparseMatrix) -> SparseMatrix:
        return SparseMatrix(self.matrix - other.matrix)

    def __mul__(self, other: Any) -> SparseMatrix:
        return SparseMatrix(self.matrix * (other.matrix if isinstance(other, SparseMatrix) else other))

    __rmul__ = __mul__

    def __matmul__(self, other: Any) -> Any:
        """Multiply by a matrix or vector. The product with a vector is a NumPy array, or an `sv.ndarray` if `other` is."""
        if isinstance(other, SparseMatrix):
            return SparseMatrix(self.matrix @ other.matrix)
        return like(other, self.matrix @ (other.to_numpy() if isinstance(other, Tensor) else other))

    def transpose(self) -> SparseMatrix:
        """The transposed matrix."""
        turned = self.matrix.T
        return SparseMatrix(turned.tocsr() if hasattr(turned, "tocsr") else turned)
