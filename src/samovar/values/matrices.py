"""`sv.Matrix` and `sv.Vector` in plain Python: values with a shape and a dtype that compute what kernels compute.

Elements are Python numbers that the dtype can represent. Types promote as in kernels (`samovar.language.promotion`),
integers wrap, and arithmetic never raises. `samovar.values.linear_algebra`, which kernels use too, has the rest.
"""

from __future__ import annotations

import itertools
import sys

import samovar
from samovar._native import DType, api_boundary_methods, plain_api_boundary
from samovar.language import REGISTRY, as_dtype, options_in_force, promote
from samovar.values.arithmetic import compute, float_type, inverted, negated, operation_type
from samovar.values.matrix_operators import Operators, converted_numbers
from samovar.values.matrix_types import matrix, vector
from samovar.values.nested_values import Nested, check_count, read, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

#: The letters of swizzles, by position. A swizzle uses letters of one group only.
SWIZZLES = ("xyzw", "rgba", "stpq", "uv")


@api_boundary_methods
class Matrix(Operators):
    """A matrix: rows of numbers of one dtype. A flat list makes a vector.

    >>> import samovar as sv
    >>> m = sv.Matrix([[1, 2], [3, 4]], sv.f32)
    >>> m @ sv.Vector([1.0, 1.0])
    Vector([3.0, 7.0], dt=f32)
    >>> m[1, 0], m.transpose()[1, 0], m.determinant()
    (3.0, 2.0, -2.0)
    """

    __slots__ = ("dtype", "entries", "shape")
    dtype: DType
    #: In row order.
    entries: list[Any]
    #: `(n, m)`, or `(n,)` for a vector.
    shape: tuple[int, ...]

    @plain_api_boundary
    def __new__(cls, entries: Any, dt: Any = None, *, dtype: Any = None) -> Any:
        found = read(entries, f"sv.{cls.__name__}")
        wanted = dt if dtype is None else dtype
        if len(found.shape) not in (1, 2) or (len(found.shape) == 2 and issubclass(cls, Vector)):
            kind = "a list of numbers" if issubclass(cls, Vector) else "a list of numbers or of rows"
            raise samovar.SamovarTypeError(f"sv.{cls.__name__} takes {kind}, not a value of shape {shown(found.shape)}")
        return made(found.shape, found.numbers, found.dtype if wanted is None else dtype_of(wanted))

    # --- made of parts

    @staticmethod
    def zero(dt: Any, n: int, m: int | None = None) -> Any:
        """A vector, or a matrix if two extents are given, of zeros."""
        return filled(dtype_of(dt), n, m, 0)

    @staticmethod
    def one(dt: Any, n: int, m: int | None = None) -> Any:
        """A vector or matrix of ones."""
        return filled(dtype_of(dt), n, m, 1)

    @staticmethod
    def unit(n: int, i: int, dt: Any = None) -> Vector:
        """The i-th unit vector."""
        result: Vector = filled(options_in_force().default_ip if dt is None else dtype_of(dt), n, None, 0)
        result[i] = 1
        return result

    @staticmethod
    def identity(dt: Any, n: int) -> Matrix:
        """The identity matrix."""
        return diagonal(n, itertools.repeat(1), dtype_of(dt))

    @staticmethod
    def diag(dim: Any, val: Any = None, dt: Any = None) -> Matrix:
        """A diagonal matrix of a number or a vector: `diag(3, 1.5)`, `diag(3, v)` or `diag(v)`."""
        values = read(dim if val is None else val, "sv.Matrix.diag")
        n = dim if val is not None else values.shape[0] if values.shape else 1
        if values.shape not in ((), (n,)):
            raise samovar.SamovarTypeError(f"a diagonal of {n} requires a number or {n} numbers, got {shown(values.shape)}")
        numbers = values.numbers if values.shape else itertools.repeat(values.numbers[0])
        return diagonal(n, numbers, values.dtype if dt is None else dtype_of(dt))

    @staticmethod
    def rows(rows: Sequence[Any], dt: Any = None) -> Matrix:
        """A matrix with the given vectors as rows."""
        found = read(list(rows), "sv.Matrix.rows")
        if len(found.shape) != 2:
            raise samovar.SamovarTypeError(f"sv.Matrix.rows takes vectors, not a value of shape {shown(found.shape)}")
        result: Matrix = made(found.shape, found.numbers, found.dtype if dt is None else dtype_of(dt))
        return result

    @staticmethod
    def cols(cols: Sequence[Any], dt: Any = None) -> Matrix:
        """A matrix with the given vectors as columns."""
        return Matrix.rows(cols, dt).transpose()

    # --- arrays of vectors and matrices

    @staticmethod
    def ndarray(n: int, m: int, dtype: Any, shape: Any, needs_grad: bool = False, **options: Any) -> Any:
        """An array of matrices, see `sv.ndarray`."""
        return _package().ndarray(matrix(n, m, dtype), shape, needs_grad, **options)

    @staticmethod
    def field(n: int, m: int, dtype: Any, shape: Any = None, **options: Any) -> Any:
        """A field of matrices, see `sv.field`."""
        return _package().field(matrix(n, m, dtype), shape, **options)

    @staticmethod
    def tensor(n: int, m: int, dtype: Any, shape: Any, backend: Any = None, **options: Any) -> Any:
        """An array or field of matrices, see `sv.tensor`."""
        return _tensor(matrix(n, m, dtype), shape, backend, options)

    # --- shape

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.shape[0]

    @property
    def m(self) -> int:
        """The number of columns; 1 for a vector."""
        return self.shape[1] if len(self.shape) == 2 else 1

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[position] for position in range(self.shape[0]))

    # --- parts

    def __getitem__(self, key: Any) -> Any:
        places, shape = self._places(key)
        if not shape:
            return self.entries[places[0]]
        return _part(self, places, shape)

    def __setitem__(self, key: Any, value: Any) -> None:
        places, shape = self._places(key)
        found = read(value, "an assignment to elements")
        if found.shape not in ((), shape):
            raise samovar.SamovarTypeError(f"cannot assign a value of shape {shown(found.shape)} to shape {shown(shape)}")
        numbers = found.numbers * len(places) if found.shape == () else found.numbers
        for place, number in zip(places, numbers, strict=True):
            self.entries[place] = self.dtype(number)

    def _places(self, key: Any) -> tuple[list[int], tuple[int, ...]]:
        """The positions in `entries` that a subscript selects, and their shape."""
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) > len(self.shape):
            raise IndexError(f"{len(keys)} indices for a {type(self).__name__.lower()} of shape {shown(self.shape)}")
        keys += (slice(None),) * (len(self.shape) - len(keys))
        chosen = [self._chosen(part, axis) for axis, part in enumerate(keys)]
        shape = tuple(len(places) for places, part in zip(chosen, keys, strict=True) if isinstance(part, slice))
        if len(chosen) == 1:
            return chosen[0], shape
        return [row * self.shape[1] + column for row in chosen[0] for column in chosen[1]], shape

    def _chosen(self, key: Any, axis: int) -> list[int]:
        extent = self.shape[axis]
        if isinstance(key, slice):
            for bound in (key.start, key.stop):
                if bound is not None and bound < 0:
                    raise IndexError(f"{bound} is out of bounds: negative indices are not supported")
            places = list(range(*key.indices(extent)))
            if not places:
                raise IndexError(f"empty slice of dimension {axis} of a value of shape {shown(self.shape)}")
            return places
        try:
            place: int = key.__index__()
        except AttributeError:
            raise samovar.SamovarTypeError(f"an index must be an integer or a slice, got {key!r}") from None
        if not 0 <= place < extent:
            negative = " (negative indices are not supported)" if place < 0 else ""
            where = f"dimension {axis} of a value of shape {shown(self.shape)}"
            raise IndexError(f"index {place} is out of bounds for {where}{negative}")
        return [place]

    def fill(self, val: Any) -> None:
        """Set all elements to a number."""
        self.entries[:] = [self.dtype(val)] * len(self.entries)

    def copy(self) -> Any:
        """A copy."""
        return made(self.shape, self.entries, self.dtype)

    # --- conversions

    def cast(self, dtype: Any) -> Any:
        """The elements converted to a dtype: floats truncate to integers, integers wrap."""
        return made(self.shape, self.entries, dtype_of(dtype))

    def to_list(self) -> list[Any]:
        """The elements as Python numbers, with a list for each row."""
        if len(self.shape) == 1:
            return list(self.entries)
        width = self.shape[1]
        return [self.entries[row * width : (row + 1) * width] for row in range(self.shape[0])]

    def to_numpy(self) -> Any:
        """The elements as a NumPy array."""
        import numpy

        return numpy.array(self.to_list(), dtype=self.dtype.typestr)

    #: With it, operators between a NumPy array and a Samovar value are handled here.
    __array_priority__ = 1000.0

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        array = self.to_numpy()
        return array if dtype is None else array.astype(dtype)

    def _samovar_nested(self) -> Nested:
        """The value as `Nested`, like lists and arrays. Functions of numbers apply element-wise to these."""
        return Nested(self.shape, self.entries, self.dtype)

    def _made(self, result: Nested) -> Any:
        return made(result.shape, result.numbers, result.dtype)

    def __str__(self) -> str:
        return str(self.to_list())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.to_list()!r}, dt={self.dtype.name})"

    def __bool__(self) -> bool:
        if len(self.entries) == 1:
            return bool(self.entries[0])
        if options_in_force().vector_truth == "entries":
            return True
        raise ValueError(
            f"the truth value of a value of shape {shown(self.shape)} is ambiguous: use `.all()` or `.any()`"
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name!r} of a {type(self).__name__} cannot be assigned")

    def __reduce__(self) -> tuple[Any, ...]:
        return made, (self.shape, self.entries, self.dtype)

    # --- element-wise operators (the binary ones are in `Operators`)

    def __neg__(self) -> Any:
        dtype = operation_type("neg", self.dtype)
        return made(self.shape, [negated(dtype, dtype(entry)) for entry in self.entries], dtype)

    def __pos__(self) -> Any:
        return self.cast(operation_type("neg", self.dtype))

    def __invert__(self) -> Any:
        dtype = operation_type("not", self.dtype)
        return made(self.shape, [inverted(dtype, entry) for entry in self.entries], dtype)

    def __abs__(self) -> Any:
        dtype = operation_type("abs", self.dtype)
        return made(self.shape, [abs(dtype(entry)) for entry in self.entries], dtype)

    def __round__(self) -> Any:
        from samovar.language import TABLED

        return TABLED["round"](self)

    # --- reductions

    def _reduced(self, code: str) -> Any:
        dtype = operation_type(code, self.dtype)
        result = dtype(self.entries[0])
        for entry in self.entries[1:]:
            result = compute(code, dtype, result, dtype(entry))
        return result

    def sum(self) -> Any:
        """The sum of all elements."""
        return self._reduced("add")

    def min(self) -> Any:
        """The smallest element; NaN is ignored unless all are."""
        return self._reduced("min")

    def max(self) -> Any:
        """The largest element; NaN is ignored unless all are."""
        return self._reduced("max")

    def any(self) -> bool:
        """Whether any element is not 0."""
        return any(self.entries)

    def all(self) -> bool:
        """Whether no element is 0."""
        return all(self.entries)

    # --- linear algebra

    def transpose(self) -> Matrix:
        """The transposed matrix. A vector is a column and becomes a row."""
        columns = range(self.m)
        numbers = [self.entries[row * self.m + column] for column in columns for row in range(self.n)]
        result: Matrix = made((self.m, self.n), numbers, self.dtype)
        return result

    def __matmul__(self, other: Any) -> Any:
        return product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return product(Matrix(other), self)

    def dot(self, other: Any) -> Any:
        """The dot product: the sum of the element-wise products."""
        return self._library("dot", other)

    def frobenius_inner(self, other: Any) -> Any:
        """The Frobenius inner product: the sum of the element-wise products."""
        products: Matrix = self * other
        return products.sum()

    def get_shape(self) -> tuple[int, ...]:
        """The shape."""
        return self.shape

    def cross(self, other: Any) -> Any:
        """The cross product: a vector for two 3-D vectors, a number for two 2-D vectors."""
        result = self._library("cross", other)
        return result if isinstance(result, Matrix) else promote(self.dtype, other.dtype)(result)

    def outer_product(self, other: Any) -> Matrix:
        """The outer product: the matrix of all products of an element of one vector and an element of the other."""
        result: Matrix = self._library("outer_product", other)
        return result

    def norm_sqr(self) -> Any:
        """The sum of the squared elements."""
        return self._library("norm_sqr")

    def norm(self, eps: float = 0) -> Any:
        """The square root of the sum of the squared elements and `eps`."""
        return float_type(self.dtype)(self._library("norm", eps))

    def norm_inv(self, eps: float = 0) -> Any:
        """The reciprocal of the norm."""
        return float_type(self.dtype)(self._library("norm_inv", eps))

    def normalized(self, eps: float = 0) -> Any:
        """The value divided by its norm; a nonzero `eps`, which is added to the norm, keeps zeros zero."""
        return self._library("normalized", eps)

    def trace(self) -> Any:
        """The sum of the diagonal elements."""
        return self.dtype(self._library("trace"))

    def determinant(self) -> Any:
        """The determinant, as a float."""
        return float_type(self.dtype)(self._library("determinant"))

    def inverse(self) -> Matrix:
        """The inverse. For a singular matrix it is not finite."""
        result: Matrix = self._library("inverse").cast(float_type(self.dtype))
        return result

    def _library(self, name: str, *others: Any) -> Any:
        from samovar.values.linear_algebra import METHODS

        return METHODS[name](self, *others)


@api_boundary_methods
class Vector(Matrix):
    """A vector: numbers of one dtype. Components have names too: `v.x`, `v.xy`, `v.rgb`.

    >>> import samovar as sv
    >>> v = sv.Vector([1.0, 2.0, 3.0])
    >>> v.zx = v.xz * 2
    >>> v
    Vector([6.0, 2.0, 2.0], dt=f32)
    >>> v.dot(v), (v > 2).any()
    (44.0, True)
    """

    __slots__ = ()

    @staticmethod
    def ndarray(  # type: ignore[override]
        n: int, dtype: Any, shape: Any, needs_grad: bool = False, **options: Any
    ) -> Any:
        """An array of vectors, see `sv.ndarray`."""
        return _package().ndarray(vector(n, dtype), shape, needs_grad, **options)

    @staticmethod
    def field(n: int, dtype: Any, shape: Any = None, **options: Any) -> Any:  # type: ignore[override]
        """A field of vectors, see `sv.field`."""
        return _package().field(vector(n, dtype), shape, **options)

    @staticmethod
    def tensor(n: int, dtype: Any, shape: Any, backend: Any = None, **options: Any) -> Any:  # type: ignore[override]
        """An array or field of vectors, see `sv.tensor`."""
        return _tensor(vector(n, dtype), shape, backend, options)

    @property
    def m(self) -> int:
        return 1

    def __getattr__(self, name: str) -> Any:
        places = self._swizzled(name)
        if places is None:
            raise AttributeError(f"a Vector of {self.shape[0]} has no attribute {name!r}")
        if len(places) == 1:
            return self.entries[places[0]]
        return _part(self, places, (len(places),))

    def __setattr__(self, name: str, value: Any) -> None:
        places = self._swizzled(name)
        if places is None:
            raise AttributeError(f"{name!r} of a Vector of {self.shape[0]} cannot be assigned")
        if len(set(places)) < len(places):
            raise AttributeError(f"{name!r} cannot be assigned: it names a component twice")
        found = read(value, f"an assignment to `.{name}`")
        if found.shape not in ((), (len(places),)) or (len(places) == 1 and found.shape):
            raise samovar.SamovarTypeError(f"cannot assign {shown(found.shape)} to the {len(places)} of `.{name}`")
        numbers = found.numbers * len(places) if found.shape == () else found.numbers
        for place, number in zip(places, numbers, strict=True):
            self.entries[place] = self.dtype(number)

    def _swizzled(self, name: str) -> list[int] | None:
        """The positions that a swizzle names; None if it is not one of this vector."""
        for letters in SWIZZLES:
            places = [letters.find(letter) for letter in name]
            if 1 <= len(places) <= 4 and all(0 <= place < self.shape[0] for place in places):
                return places
        return None


def made(shape: tuple[int, ...], numbers: Sequence[Any], dtype: DType) -> Any:
    """A vector or matrix of numbers in row order, each converted to the dtype."""
    result = object.__new__(Vector if len(shape) == 1 else Matrix)
    object.__setattr__(result, "shape", shape)
    object.__setattr__(result, "dtype", dtype)
    object.__setattr__(result, "entries", [dtype(number) for number in numbers])
    return result


class PartEntries(list):  # type: ignore[type-arg]
    """The elements of a part, such as a row. Assignments are stored in the whole as well: `m[i][j] = x`."""

    __slots__ = ("places", "whole")
    places: list[int]
    whole: list[Any]

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, value)
        for changed in range(len(self))[place] if isinstance(place, slice) else (place,):
            self.whole[self.places[changed]] = self[changed]

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def _part(whole: Matrix, places: list[int], shape: tuple[int, ...]) -> Any:
    """Some elements of a vector or matrix, by their positions."""
    result = made(shape, [whole.entries[place] for place in places], whole.dtype)
    entries = PartEntries(result.entries)
    entries.places, entries.whole = places, whole.entries
    object.__setattr__(result, "entries", entries)
    return result


def _package() -> Any:
    """The package itself: arrays are made in a layer above this one."""
    return sys.modules["samovar"]


def _tensor(kind: Any, shape: Any, backend: Any, options: dict[str, Any]) -> Any:
    package = _package()
    return package.tensor(kind, shape, package.Backend.NDARRAY if backend is None else backend, **options)



def dtype_of(spec: Any) -> DType:
    return spec if isinstance(spec, DType) else as_dtype(spec, options_in_force())


def filled(dtype: DType, n: int, m: int | None, value: int) -> Any:
    for extent in (n,) if m is None else (n, m):
        if not isinstance(extent, int) or isinstance(extent, bool) or extent < 1:
            raise samovar.SamovarTypeError(f"an extent must be a positive integer, not {extent!r}")
    shape = (n,) if m is None else (n, m)
    check_count(shape)
    return made(shape, [value] * (n * (1 if m is None else m)), dtype)


def diagonal(n: int, numbers: Iterable[Any], dtype: DType) -> Matrix:
    result: Matrix = filled(dtype, n, n, 0)
    for place, number in zip(range(n), numbers, strict=False):
        result[place, place] = number
    return result


def product(left: Matrix, right: Any) -> Any:
    """`@`: of two matrices, a matrix and a vector, or a vector and a matrix; for two vectors, their dot product."""
    if not isinstance(right, Matrix):
        right = Matrix(right)
    rows, inner = left.shape if left.ndim == 2 else (1, left.shape[0])
    if inner != right.n:
        raise samovar.SamovarTypeError(f"`@`: shapes {shown(left.shape)} and {shown(right.shape)} do not match")
    dtype = operation_type("mul", promote(left.dtype, right.dtype))
    first, second = converted_numbers(left.entries, dtype), converted_numbers(right.entries, dtype)
    numbers = []
    for row in range(rows):
        for column in range(right.m):
            total = None
            for k in range(inner):
                term = compute("mul", dtype, first[row * inner + k], second[k * right.m + column])
                total = term if total is None else compute("add", dtype, total, term)
            numbers.append(total)
    shape = (*left.shape[:-1], *right.shape[1:])
    return made(shape, numbers, dtype) if shape else numbers[0]


REGISTRY.update({"samovar.Matrix": Matrix, "samovar.Vector": Vector})
