"""The functions that kernels know: plain Python functions that also work outside kernels.

Inside a kernel the compiler recognizes them by identity (`REGISTRY`) and generates native code. Outside, they do the same
to Python numbers where that makes sense; otherwise (atomics) they raise an error.
"""

from __future__ import annotations

import builtins

import samovar
from samovar._native import DType, api_boundary_methods, f32, i32, library_function, users_frames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn, TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])

#: Canonical name ("samovar.sin") → the function. `mathematics` adds its own.
REGISTRY: dict[str, Callable[..., Any]] = {}
#: The canonical names of functions whose source is compiled where a kernel calls them.
_LIBRARY: set[str] = set()


def intrinsic(function: _Function) -> _Function:
    """Register a function under its module and name, and return it as users see it."""
    home = "samovar" if function.__module__ == __name__ else "samovar.math"
    seen = function if isinstance(function, type) or hasattr(function, "__wrapped__") else frameless(function)
    REGISTRY[f"{home}.{function.__name__}"] = seen
    return seen


def library(function: _Function) -> _Function:
    """Register a function whose source is compiled where a kernel calls it, and return it as users see it."""
    name = f"samovar.math.{function.__name__}"
    seen = REGISTRY[name] = frameless(function)
    _LIBRARY.add(name)
    return seen


def frameless(function: _Function) -> _Function:
    """Remove a function's own frames from tracebacks: its errors are about the arguments it was given."""

    def called(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except Exception as error:
            error.__traceback__ = users_frames(error.__traceback__)  # re-raising adds no frame of this function
            raise

    return _called_as(called, function)


def _called_as(seen: Callable[..., Any], function: _Function) -> _Function:
    """Give the wrapper that users see the name and documentation of the wrapped function."""
    seen.__name__, seen.__qualname__ = function.__name__, function.__qualname__
    seen.__module__, seen.__doc__ = function.__module__, function.__doc__
    seen.__wrapped__ = function  # type: ignore[attr-defined]
    return seen  # type: ignore[return-value]


def is_library_function(name: str) -> bool:
    """Whether kernels compile the source of a function, given its canonical name."""
    return name in _LIBRARY


def elementwise(rule: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function of numbers accept vectors and matrices element-wise. `rule` selects the types (see
    `by_entries` in `samovar.values`, which vectors and matrices provide)."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def applied(*arguments: Any, **keywords: Any) -> Any:
            try:
                for argument in (*arguments, *keywords.values()) if keywords else arguments:
                    apply = getattr(type(argument), "_samovar_elementwise", None)
                    if apply is not None:
                        return apply(function, rule, arguments, keywords)
                return function(*arguments, **keywords)
            except Exception as error:
                error.__traceback__ = users_frames(error.__traceback__)
                if isinstance(error, (TypeError, ValueError)) and any(map(_is_array, (*arguments, *keywords.values()))):
                    raise _for_numbers(function.__name__) from None
                raise

        return _called_as(applied, function)

    return decorate


def _is_array(value: Any) -> bool:
    is_value = hasattr(type(value), "_samovar_nested")
    return not is_value and bool(getattr(value, "shape", ())) and hasattr(value, "dtype")


def _for_numbers(name: str) -> TypeError:
    """The error for an array passed to a function of numbers in plain Python."""
    from samovar.errors import SamovarTypeError

    theirs = _NAMES_IN_NUMPY.get(name, name if name in _SAME_IN_NUMPY else "")
    numpy = f", `np.{theirs}`" if theirs else ""
    return SamovarTypeError(
        f"outside kernels, `{name}` takes numbers, vectors and matrices, not arrays\n"
        f"  help: use a NumPy function for arrays{numpy}, or call it in a kernel for each element"
    )


_SAME_IN_NUMPY = frozenset("ceil cos cosh exp exp2 floor isinf isnan log log2 round sign sin sinh sqrt tan tanh".split())
_NAMES_IN_NUMPY = {
    "acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2", "clamp": "clip", "max": "maximum",
    "min": "minimum", "pow": "power", "select": "where",
}  # fmt: skip


# --- compile time


@intrinsic
def static(x: Any, *xs: Any) -> Any:
    """One or more values that must be known at compile time. In plain Python, returns its argument.

    >>> import samovar as sv
    >>> sv.static(3 + 4)
    7
    """
    return [x, *xs] if xs else x


@intrinsic
def static_print(*values: object) -> None:
    """Print at compile time. In plain Python, print.

    >>> import samovar as sv
    >>> sv.static_print("order", 3)
    order 3
    """
    print(*values)


@intrinsic
def static_assert(cond: object, msg: object = None) -> None:
    """Check a condition at compile time.

    >>> import samovar as sv
    >>> sv.static_assert(1 + 1 == 2, "arithmetic works")
    """
    if not cond:
        raise samovar.SamovarCompilationError(f"static_assert failed: {msg}" if msg is not None else "static_assert failed")


# --- loops


@intrinsic
def prange(*bounds: int) -> range:
    """A range whose iterations run in parallel, as in Numba: in a kernel that uses it, other loops are serial, so that it
    may also be inside a serial loop or an `if`. In plain Python it is `range`.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def halve(a: sv.Array[sv.f32, 1], times: sv.i32):
    ...     for _ in range(times):
    ...         for i in sv.prange(a.shape[0]):
    ...             a[i] /= 2
    >>> a = sv.full(4, 8.0, sv.f32)
    >>> halve(a, 3)
    >>> a[3]
    1.0
    """
    return builtins.range(*bounds)


@intrinsic
@api_boundary_methods
class ndrange:
    """The indices of a box: each argument is an extent or a (begin, end) pair. 1-D boxes yield numbers, others tuples.

    `axes` orders the dimensions from the outermost loop to the innermost one; the order of indices in a tuple is unchanged.

    >>> import samovar as sv
    >>> list(sv.ndrange(2, (5, 7)))
    [(0, 5), (0, 6), (1, 5), (1, 6)]
    """

    __slots__ = ("axes", "bounds")

    def __init__(self, *extents: int | tuple[int, int], axes: tuple[int, ...] | None = None) -> None:
        self.bounds = tuple(_bounds(extent) for extent in extents)
        self.axes = tuple(builtins.range(len(extents))) if axes is None else tuple(axes)
        if sorted(self.axes) != list(builtins.range(len(extents))):
            raise ValueError(f"axes={axes!r} is not a permutation of the {len(extents)} dimensions")

    def __iter__(self) -> Iterator[Any]:
        for index in self.indices():
            yield index[0] if len(index) == 1 else index

    def indices(self) -> Iterator[tuple[int, ...]]:
        """The indices as tuples, also in one dimension."""
        from itertools import product

        order = [builtins.range(*self.bounds[axis]) for axis in self.axes]
        places = [self.axes.index(axis) for axis in builtins.range(len(self.bounds))]
        for nested in product(*order):
            yield tuple(nested[place] for place in places)


def _bounds(extent: int | tuple[int, int]) -> tuple[int, int]:
    begin, end = extent if isinstance(extent, tuple) else (0, extent)
    span = builtins.range(begin, end)  # raises for values that are not integers
    return span.start, span.stop


class GroupedIndices:
    """The iterator that `grouped` returns, over index tuples."""

    __slots__ = ("_rest",)

    def __init__(self, rest: Iterator[tuple[int, ...]]) -> None:
        self._rest = rest

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return self._rest

    def __next__(self) -> tuple[int, ...]:
        return next(self._rest)


@intrinsic
def grouped(x: Any) -> Iterator[tuple[int, ...]]:
    """The indices of an `ndrange` or an array, each as a single value.

    >>> import samovar as sv
    >>> list(sv.grouped(sv.ndrange(2)))
    [(0,), (1,)]
    """
    box = x if isinstance(x, ndrange) else box_of(x)
    return GroupedIndices(box.indices())


def box_of(array: Any) -> ndrange:
    """The indices of an array, or of a field, which may have an offset."""
    first = getattr(array, "offset", None)
    # The shape of a field of vectors includes those of its elements; the `offset` of a view is its position in an array.
    first = first[: len(array.shape)] if isinstance(first, tuple) else (0,) * len(array.shape)
    return ndrange(*((begin, begin + extent) for begin, extent in zip(first, array.shape, strict=True)))


@intrinsic
def loop_config(
    *,
    block_dim: int | None = None,
    serialize: bool = False,
    parallelize: int | None = None,
    bit_vectorize: bool = False,
    name: str | None = None,
) -> None:
    """Configure the loop that follows: serial (`serialize=True` or `parallelize=1`), in blocks of a size, under a name.

    Other thread counts in `parallelize`, and `bit_vectorize`, are hints. No effect outside kernels.

    >>> import samovar as sv
    >>> sv.loop_config(serialize=True)
    """


# --- conversion and choice


@intrinsic
@elementwise("cast")
def cast(obj: Any, dtype: Any) -> Any:
    """Convert a number to a dtype: floats truncate to integers, integers wrap.

    >>> import samovar as sv
    >>> sv.cast(3.7, sv.i32)
    3
    """
    return dtype(obj)


@intrinsic
@elementwise("bit_cast")
def bit_cast(obj: Any, dtype: Any) -> Any:
    """Reinterpret bits as another dtype of the same size. In plain Python an int is i32 or i64, a float f32 or f64.

    >>> import samovar as sv
    >>> hex(sv.bit_cast(1.0, sv.u32))
    '0x3f800000'
    """
    from struct import pack, unpack

    kinds = {1: "?", 2: "e", 4: "f", 8: "d"} if isinstance(obj, float) else {1: "b", 2: "h", 4: "i", 8: "q"}
    if not isinstance(obj, float) and obj >= 1 << (8 * dtype.itemsize - 1):
        kinds = {size: kind.upper() for size, kind in kinds.items()}
    return unpack(dtype.format, pack(kinds[dtype.itemsize], obj))[0]


@intrinsic
@elementwise("select")
def select(cond: object, x1: Any, x2: Any) -> Any:
    """`x1` if the condition holds, else `x2`; both are evaluated.

    >>> import samovar as sv
    >>> sv.select(2 > 1, 10, 20)
    10
    """
    return x1 if cond else x2


# --- atomics


def _only_in_kernels(name: str) -> NoReturn:
    raise samovar.SamovarRuntimeError(
        f"sv.{name} works on array elements inside kernels; in plain Python, assign to the element"
    )


def _atomic(name: str, meaning: str, parameters: str = "x, y") -> Callable[..., Any]:
    """An atomic operation. The compiler implements them; they differ only in name and documentation here."""
    names = parameters.split(", ")

    def atomic(*arguments: Any, **keywords: Any) -> Any:
        if sorted((*names[: len(arguments)], *keywords)) != sorted(names) or len(arguments) > len(names):
            given = len(arguments) + len(keywords)
            raise TypeError(f"{name}({parameters}) takes {len(names)} arguments, got {given}")
        _only_in_kernels(name)

    atomic.__name__ = atomic.__qualname__ = name
    atomic.__text_signature__ = f"({parameters})"  # type: ignore[attr-defined]  # for the reference
    atomic.__doc__ = f"""{meaning}; returns the old value.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def run(a: sv.types.NDArray[sv.i32, 1]):
    ...     for i in range(8):
    ...         sv.{name}(a[0], {"1, " if name == "atomic_cas" else ""}i)
    """
    return intrinsic(atomic)


atomic_add = _atomic("atomic_add", "Atomically add y to x")
atomic_sub = _atomic("atomic_sub", "Atomically subtract y from x")
atomic_mul = _atomic("atomic_mul", "Atomically multiply x by y")
atomic_min = _atomic("atomic_min", "Atomically store min(x, y) in x")
atomic_max = _atomic("atomic_max", "Atomically store max(x, y) in x")
atomic_and = _atomic("atomic_and", "Atomically store x & y in x")
atomic_or = _atomic("atomic_or", "Atomically store x | y in x")
atomic_xor = _atomic("atomic_xor", "Atomically store x ^ y in x")
atomic_exchange = _atomic("atomic_exchange", "Atomically store y in x")
atomic_cas = _atomic("atomic_cas", "Atomically store `desired` in x if x equals `expected`", "x, expected, desired")


# --- mathematics: the `host` column of the table of operations, which has their documentation
#
# Functions of floats are those of the C library, which kernels call too. They return an infinity or NaN where Python's
# raise, and never raise for a float. Integers are Python's: they do not wrap.


_INFINITY = float("inf")
_arc, _copysign, _power, _root = (library_function(name) for name in ("atan2", "copysign", "pow", "sqrt"))


def real(name: str, arity: int) -> Callable[..., float]:
    """A function of the C library, by its name for doubles."""
    compute = library_function(name)
    if arity == 1:
        return lambda x: compute(x)
    if arity == 2:
        return lambda x, y: compute(x, y)
    return lambda x, y, z: compute(x, y, z)


def rounding(name: str) -> Callable[..., Any]:
    """A rounding function of the C library; a dtype converts the result, and an integer is returned unchanged."""
    compute = library_function(name)

    def evaluate(x: Any, dtype: DType | None = None) -> Any:
        whole = x if isinstance(x, int) else compute(x)
        return whole if dtype is None else dtype(whole)

    return evaluate


def rsqrt(x: float) -> float:
    root = _root(x)
    return 1.0 / root if root else _copysign(_INFINITY, root)


def atan2(x1: float, x2: float) -> float:
    return _arc(x1, x2)


def pow(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int):
        return base**exponent
    return _power(base, exponent)


def abs(x: Any) -> Any:
    return builtins.abs(x)


def min(first: Any, *others: Any) -> Any:
    return builtins.min(_numbers((first, *others)))


def max(first: Any, *others: Any) -> Any:
    return builtins.max(_numbers((first, *others)))


def _numbers(values: tuple[Any, ...]) -> list[Any]:
    """The values that are not NaN, or all if there are none."""
    return [value for value in values if value == value] or [values[0]]


def isnan(x: Any) -> bool:
    return bool(x != x)


def isinf(x: Any) -> bool:
    return x in (_INFINITY, -_INFINITY)


def popcnt(x: int) -> int:
    return bin(_bits(x)).count("1")


def clz(x: int) -> int:
    return width(x) - _bits(x).bit_length()


def ffs(x: int) -> int:
    bits = _bits(x)
    return (bits & -bits).bit_length()


def width(value: int) -> int:
    """The number of bits of an integer: those of a literal in a kernel (32 if it fits in an i32, else 64), or of its type
    for a NumPy integer."""
    from operator import index

    number = index(value)
    size = getattr(value, "itemsize", None)
    if size is not None:
        return 8 * int(size)
    if -(1 << 31) <= number < 1 << 31:
        return 32
    if -(1 << 63) <= number < 1 << 64:
        return 64
    raise OverflowError(f"{number} does not fit in 64 bits")


def _bits(value: int) -> int:
    return int(value) & ((1 << width(value)) - 1)


# --- random numbers


@intrinsic
def random(dtype: Any = f32) -> Any:
    """A uniform random number: a float in [0, 1), or any integer of the dtype. In kernels, the dtype is `default_fp` if none
    is given.

    >>> import samovar as sv
    >>> 0.0 <= sv.random(sv.f64) < 1.0
    True
    """
    import random as generator

    if dtype.kind == "float":
        # Rounding up to 1 would leave the interval.
        return builtins.min(dtype(generator.random()), 1.0 - 2.0 ** -{16: 11, 32: 24, 64: 53}[dtype.bits])
    return dtype(generator.getrandbits(dtype.bits))


@intrinsic
def clock_counter() -> Any:
    """Nanoseconds since some time in the past: the difference of two calls is the time between them. Operations that do not
    depend on a call may be moved across it.

    >>> import samovar as sv
    >>> before = sv.clock_counter()
    >>> sv.clock_counter() >= before
    True
    """
    from time import perf_counter_ns

    return perf_counter_ns()


@intrinsic
def global_thread_idx() -> Any:
    """The number of the thread that runs an iteration, from 0 to the number of threads - 1. It depends on the load.

    >>> import samovar as sv
    >>> sv.global_thread_idx()
    0
    """
    return 0


@intrinsic
def randint(low: Any, high: Any, dtype: Any = i32) -> Any:
    """A uniform random integer in [low, high); `low` if that is empty.

    >>> import samovar as sv
    >>> 3 <= sv.randint(3, 9) < 9
    True
    """
    import random as generator

    return int(dtype(generator.randrange(low, high) if low < high else low))


@intrinsic
def randn(dt: Any = f32) -> Any:
    """A normally distributed random number with mean 0 and standard deviation 1. In kernels, the dtype is `default_fp` if
    none is given.

    >>> import samovar as sv
    >>> isinstance(sv.randn(), float)
    True
    """
    import random as generator

    number: float = dt(generator.gauss(0.0, 1.0))
    return number
