"""`sv.Matrix` and `sv.Vector` in plain Python: values with a shape and a dtype, which compute what kernels compute.

Entries are Python numbers that the dtype holds. Types meet as in kernels (`samovar.language.promotion`), integers wrap, and
no arithmetic on numbers raises. What is more than arithmetic is in `samovar.language.linear_algebra`, which kernels use too.
"""

from __future__ import annotations

import itertools
import sys

import samovar
from samovar._native import DType, plain_entrance, plain_methods
from samovar.language.arithmetic import compute, float_type, inverted, negated, operation_type
from samovar.language.dtypes import as_dtype
from samovar.language.functions import REGISTRY
from samovar.language.matrix_operators import Operators, settled
from samovar.language.matrix_types import matrix, vector
from samovar.language.nested_values import Nested, check_count, read, shown
from samovar.language.options import options_in_force
from samovar.language.promotion import promote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

#: The letters of swizzles, by position. Letters of one group only go together.
SWIZZLES = ("xyzw", "rgba", "stpq", "uv")


@plain_methods
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

    @plain_entrance
    def __new__(cls, entries: Any, dt: Any = None, *, dtype: Any = None) -> Any:
        found = read(entries, f"sv.{cls.__name__}")
        wanted = dt if dtype is None else dtype
        if len(found.shape) not in (1, 2) or (len(found.shape) == 2 and issubclass(cls, Vector)):
            kind = "a list of numbers" if issubclass(cls, Vector) else "a list of numbers or of rows"
            raise samovar.SamovarTypeError(f"sv.{cls.__name__} takes {kind}, not something of shape {shown(found.shape)}")
        return made(found.shape, found.numbers, found.dtype if wanted is None else dtype_of(wanted))

    # --- made of parts

    @staticmethod
    def zero(dt: Any, n: int, m: int | None = None) -> Any:
        """All entries 0: a vector, or a matrix if there are two extents."""
        return filled(dtype_of(dt), n, m, 0)

    @staticmethod
    def one(dt: Any, n: int, m: int | None = None) -> Any:
        """All entries 1."""
        return filled(dtype_of(dt), n, m, 1)

    @staticmethod
    def unit(n: int, i: int, dt: Any = None) -> Vector:
        """A vector of zeros with a 1 at a place."""
        result: Vector = filled(options_in_force().default_ip if dt is None else dtype_of(dt), n, None, 0)
        result[i] = 1
        return result

    @staticmethod
    def identity(dt: Any, n: int) -> Matrix:
        """Ones on the diagonal."""
        return diagonal(n, itertools.repeat(1), dtype_of(dt))

    @staticmethod
    def diag(dim: Any, val: Any = None, dt: Any = None) -> Matrix:
        """A square matrix with a number or a vector on the diagonal: `diag(3, 1.5)`, `diag(3, v)` or `diag(v)`."""
        values = read(dim if val is None else val, "sv.Matrix.diag")
        n = dim if val is not None else values.shape[0] if values.shape else 1
        if values.shape not in ((), (n,)):
            raise samovar.SamovarTypeError(f"a diagonal of {n} needs a number or a vector of {n}, not {shown(values.shape)}")
        numbers = values.numbers if values.shape else itertools.repeat(values.numbers[0])
        return diagonal(n, numbers, values.dtype if dt is None else dtype_of(dt))

    @staticmethod
    def rows(rows: Sequence[Any], dt: Any = None) -> Matrix:
        """A matrix of vectors, each a row."""
        found = read(list(rows), "sv.Matrix.rows")
        if len(found.shape) != 2:
            raise samovar.SamovarTypeError(f"sv.Matrix.rows takes vectors, not something of shape {shown(found.shape)}")
        result: Matrix = made(found.shape, found.numbers, found.dtype if dt is None else dtype_of(dt))
        return result

    @staticmethod
    def cols(cols: Sequence[Any], dt: Any = None) -> Matrix:
        """A matrix of vectors, each a column."""
        return Matrix.rows(cols, dt).transpose()

    # --- arrays of them

    @staticmethod
    def ndarray(n: int, m: int, dtype: Any, shape: Any, needs_grad: bool = False, layout: str = "aos") -> Any:
        """An array of matrices, see `sv.ndarray`."""
        return _package().ndarray(matrix(n, m, dtype), shape, needs_grad, layout)

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
        """The number of columns, 1 of a vector."""
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
        found = read(value, "an assignment to entries")
        if found.shape not in ((), shape):
            raise samovar.SamovarTypeError(f"cannot assign {shown(found.shape)} to {shown(shape)}: the shapes differ")
        numbers = found.numbers * len(places) if found.shape == () else found.numbers
        for place, number in zip(places, numbers, strict=True):
            self.entries[place] = self.dtype(number)

    def _places(self, key: Any) -> tuple[list[int], tuple[int, ...]]:
        """The positions in `entries` that a subscript means, and the shape that they have together."""
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
                    raise IndexError(f"{bound} is out of bounds: negative indices do not count from the end")
            places = list(range(*key.indices(extent)))
            if not places:
                raise IndexError(f"a slice of axis {axis} of a value of shape {shown(self.shape)} has no entries")
            return places
        try:
            place: int = key.__index__()
        except AttributeError:
            raise samovar.SamovarTypeError(f"an index must be an integer or a slice, got {key!r}") from None
        if not 0 <= place < extent:
            negative = " (negative indices do not count from the end)" if place < 0 else ""
            where = f"axis {axis} of a value of shape {shown(self.shape)}"
            raise IndexError(f"index {place} is out of bounds for {where}{negative}")
        return [place]

    def fill(self, val: Any) -> None:
        """Set all entries to a number."""
        self.entries[:] = [self.dtype(val)] * len(self.entries)

    def copy(self) -> Any:
        """Another one with the same entries."""
        return made(self.shape, self.entries, self.dtype)

    # --- other forms

    def cast(self, dtype: Any) -> Any:
        """The entries converted to a dtype: floats truncate to integers, integers wrap."""
        return made(self.shape, self.entries, dtype_of(dtype))

    def to_list(self) -> list[Any]:
        """The entries as Python numbers, in a list for each row."""
        if len(self.shape) == 1:
            return list(self.entries)
        width = self.shape[1]
        return [self.entries[row * width : (row + 1) * width] for row in range(self.shape[0])]

    def to_numpy(self) -> Any:
        """The entries as an array of NumPy."""
        import numpy

        return numpy.array(self.to_list(), dtype=self.dtype.typestr)

    #: With it, operators between an array of NumPy and one of ours are ours.
    __array_priority__ = 1000.0

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        array = self.to_numpy()
        return array if dtype is None else array.astype(dtype)

    def _samovar_nested(self) -> Nested:
        """What lists and arrays are read as. Functions of numbers take what has this entry by entry."""
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
        raise ValueError(
            f"a value of shape {shown(self.shape)} is neither true nor false: ask for `.all()` or `.any()` of its entries"
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name!r} of a {type(self).__name__} cannot be assigned")

    def __reduce__(self) -> tuple[Any, ...]:
        return made, (self.shape, self.entries, self.dtype)

    # --- operators on entries (the binary ones are in `Operators`)

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
        from samovar.language.mathematics import TABLED

        return TABLED["round"](self)

    # --- reductions

    def _reduced(self, code: str) -> Any:
        dtype = operation_type(code, self.dtype)
        result = dtype(self.entries[0])
        for entry in self.entries[1:]:
            result = compute(code, dtype, result, dtype(entry))
        return result

    def sum(self) -> Any:
        """The sum of all entries."""
        return self._reduced("add")

    def min(self) -> Any:
        """The smallest entry; NaN does not count beside numbers."""
        return self._reduced("min")

    def max(self) -> Any:
        """The largest entry; NaN does not count beside numbers."""
        return self._reduced("max")

    def any(self) -> bool:
        """Is an entry other than 0?"""
        return any(self.entries)

    def all(self) -> bool:
        """Are all entries other than 0?"""
        return all(self.entries)

    # --- linear algebra

    def transpose(self) -> Matrix:
        """Rows as columns. A vector is a column, and becomes a row."""
        columns = range(self.m)
        numbers = [self.entries[row * self.m + column] for column in columns for row in range(self.n)]
        result: Matrix = made((self.m, self.n), numbers, self.dtype)
        return result

    def __matmul__(self, other: Any) -> Any:
        return product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return product(Matrix(other), self)

    def dot(self, other: Any) -> Any:
        """The sum of the products of entries."""
        return self._library("dot", other)

    def frobenius_inner(self, other: Any) -> Any:
        """The sum of the products of entries, of matrices too."""
        products: Matrix = self * other
        return products.sum()

    def get_shape(self) -> tuple[int, ...]:
        """The same as `shape`."""
        return self.shape

    def cross(self, other: Any) -> Any:
        """The cross product: of two vectors of 3 a vector, of two vectors of 2 a number."""
        result = self._library("cross", other)
        return result if isinstance(result, Matrix) else promote(self.dtype, other.dtype)(result)

    def outer_product(self, other: Any) -> Matrix:
        """The matrix of all products of an entry of the one and an entry of the other."""
        result: Matrix = self._library("outer_product", other)
        return result

    def norm_sqr(self) -> Any:
        """The sum of the squares of the entries."""
        return self._library("norm_sqr")

    def norm(self, eps: float = 0) -> Any:
        """The root of the sum of the squares of the entries, to which `eps` is added."""
        return float_type(self.dtype)(self._library("norm", eps))

    def norm_inv(self, eps: float = 0) -> Any:
        """One over the norm."""
        return float_type(self.dtype)(self._library("norm_inv", eps))

    def normalized(self, eps: float = 0) -> Any:
        """The same direction with the norm 1; `eps` is added to the norm, so that zeros stay zeros with one."""
        return self._library("normalized", eps)

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return self.dtype(self._library("trace"))

    def determinant(self) -> Any:
        """The determinant, as a float."""
        return float_type(self.dtype)(self._library("determinant"))

    def inverse(self) -> Matrix:
        """The inverse. Of a singular matrix it is not finite."""
        result: Matrix = self._library("inverse").cast(float_type(self.dtype))
        return result

    def _library(self, name: str, *others: Any) -> Any:
        from samovar.language.linear_algebra import METHODS

        return METHODS[name](self, *others)


@plain_methods
class Vector(Matrix):
    """A vector: numbers of one dtype. Entries have names too: `v.x`, `v.xy`, `v.rgb`.

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
        n: int, dtype: Any, shape: Any, needs_grad: bool = False, layout: str = "aos"
    ) -> Any:
        """An array of vectors, see `sv.ndarray`."""
        return _package().ndarray(vector(n, dtype), shape, needs_grad, layout)

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
            raise AttributeError(f"{name!r} cannot be assigned: it names an entry twice")
        found = read(value, f"an assignment to `.{name}`")
        if found.shape not in ((), (len(places),)) or (len(places) == 1 and found.shape):
            raise samovar.SamovarTypeError(f"cannot assign {shown(found.shape)} to `.{name}`, which is {len(places)}")
        numbers = found.numbers * len(places) if found.shape == () else found.numbers
        for place, number in zip(places, numbers, strict=True):
            self.entries[place] = self.dtype(number)

    def _swizzled(self, name: str) -> list[int] | None:
        """The positions that the letters of a swizzle name, None if it is none of this vector."""
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
    """The entries of a part, as a row is one. What is assigned to one is stored in the whole as well: `m[i][j] = x`."""

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
    """Some entries of a vector or matrix, by their positions."""
    result = made(shape, [whole.entries[place] for place in places], whole.dtype)
    entries = PartEntries(result.entries)
    entries.places, entries.whole = places, whole.entries
    object.__setattr__(result, "entries", entries)
    return result


def _package() -> Any:
    """The package itself, whose arrays are made in a room above this one."""
    return sys.modules["samovar"]


def _tensor(kind: Any, shape: Any, backend: Any, options: dict[str, Any]) -> Any:
    package = _package()
    return package.tensor(kind, shape, package.Backend.NDARRAY if backend is None else backend, **options)



def dtype_of(spec: Any) -> DType:
    return spec if isinstance(spec, DType) else as_dtype(spec, options_in_force())


def filled(dtype: DType, n: int, m: int | None, value: int) -> Any:
    for extent in (n,) if m is None else (n, m):
        if not isinstance(extent, int) or isinstance(extent, bool) or extent < 1:
            raise samovar.SamovarTypeError(f"an extent has to be a whole number from 1, not {extent!r}")
    shape = (n,) if m is None else (n, m)
    check_count(shape)
    return made(shape, [value] * (n * (1 if m is None else m)), dtype)


def diagonal(n: int, numbers: Iterable[Any], dtype: DType) -> Matrix:
    result: Matrix = filled(dtype, n, n, 0)
    for place, number in zip(range(n), numbers, strict=False):
        result[place, place] = number
    return result


def product(left: Matrix, right: Any) -> Any:
    """`@`: of two matrices, a matrix and a vector, or a vector and a matrix; of two vectors, their dot product."""
    if not isinstance(right, Matrix):
        right = Matrix(right)
    rows, inner = left.shape if left.ndim == 2 else (1, left.shape[0])
    if inner != right.n:
        raise samovar.SamovarTypeError(f"`@` needs as many columns as rows: {shown(left.shape)} and {shown(right.shape)}")
    dtype = operation_type("mul", promote(left.dtype, right.dtype))
    first, second = settled(left.entries, dtype), settled(right.entries, dtype)
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
