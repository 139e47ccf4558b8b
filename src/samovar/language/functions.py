"""The functions that kernels know: plain Python functions with a meaning of their own outside kernels.

Inside a kernel the compiler recognises them by identity (`REGISTRY`) and gives them native code. Outside they do the same to
Python numbers where that makes sense; where it does not (atomics), they say so.
"""

from __future__ import annotations

import builtins

import samovar
from samovar._native import DType, f32, i32, library_function, plain_methods, users_frames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, NoReturn, TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])

#: Canonical name ("samovar.sin") → the function. `mathematics` adds its own.
REGISTRY: dict[str, Callable[..., Any]] = {}
#: The canonical names of those whose text is compiled where a kernel calls them.
_LIBRARY: set[str] = set()


def intrinsic(function: _Function) -> _Function:
    """Register a function under its module and name, and return it as users see it."""
    home = "samovar" if function.__module__ == __name__ else "samovar.math"
    seen = function if isinstance(function, type) or hasattr(function, "__wrapped__") else frameless(function)
    REGISTRY[f"{home}.{function.__name__}"] = seen
    return seen


def library(function: _Function) -> _Function:
    """Register a function whose text is compiled where a kernel calls it, and return it as users see it."""
    name = f"samovar.math.{function.__name__}"
    seen = REGISTRY[name] = frameless(function)
    _LIBRARY.add(name)
    return seen


def frameless(function: _Function) -> _Function:
    """A function without its frames in the tracebacks of errors: what it raises is about what it was given."""

    def called(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except Exception as error:
            error.__traceback__ = users_frames(error.__traceback__)  # what is raised again gets no frame of this function
            raise

    return _called_as(called, function)


def _called_as(seen: Callable[..., Any], function: _Function) -> _Function:
    """Give what users see the name and the documentation of the function under it."""
    seen.__name__, seen.__qualname__ = function.__name__, function.__qualname__
    seen.__module__, seen.__doc__ = function.__module__, function.__doc__
    seen.__wrapped__ = function  # type: ignore[attr-defined]
    return seen  # type: ignore[return-value]


def is_library_function(name: str) -> bool:
    """Is a function one whose text kernels compile, by its canonical name?"""
    return name in _LIBRARY


def elementwise(rule: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Have a function of numbers take vectors and matrices entry by entry. `rule` says which types are meant (see
    `samovar.language.matrix_functions`, which is loaded when there is one)."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def applied(*arguments: Any, **keywords: Any) -> Any:
            try:
                for argument in (*arguments, *keywords.values()) if keywords else arguments:
                    if hasattr(type(argument), "_samovar_nested"):
                        from samovar.language.matrix_functions import by_entries

                        return by_entries(function, rule, arguments, keywords)
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
    """A function of numbers was given an array, in plain Python."""
    from samovar.errors import SamovarTypeError

    theirs = _NAMES_IN_NUMPY.get(name, name if name in _SAME_IN_NUMPY else "")
    numpy = f", `np.{theirs}`" if theirs else ""
    return SamovarTypeError(
        f"outside of kernels `{name}` takes numbers, vectors and matrices, and no arrays\n"
        f"  help: NumPy has functions of arrays{numpy}; or call it in a kernel, for each element"
    )


_SAME_IN_NUMPY = frozenset("ceil cos cosh exp exp2 floor isinf isnan log log2 round sign sin sinh sqrt tan tanh".split())
_NAMES_IN_NUMPY = {
    "acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2", "clamp": "clip", "max": "maximum",
    "min": "minimum", "pow": "power", "select": "where",
}  # fmt: skip


# --- compile time


@intrinsic
def static(x: Any, *xs: Any) -> Any:
    """A value that has to be known at compile time, or several. In plain Python, the value itself.

    >>> import samovar as sv
    >>> sv.static(3 + 4)
    7
    """
    return [x, *xs] if xs else x


@intrinsic
def static_print(*values: object) -> None:
    """Print while compiling. In plain Python, print.

    >>> import samovar as sv
    >>> sv.static_print("order", 3)
    order 3
    """
    print(*values)


@intrinsic
def static_assert(cond: object, msg: object = None) -> None:
    """Check something while compiling.

    >>> import samovar as sv
    >>> sv.static_assert(1 + 1 == 2, "arithmetic works")
    """
    if not cond:
        raise samovar.SamovarCompilationError(f"static_assert failed: {msg}" if msg is not None else "static_assert failed")


# --- loops


@intrinsic
@plain_methods
class ndrange:
    """The indices of a box: each argument is an extent or a (begin, end) pair. One axis gives numbers, several give tuples.

    `axes` lists the axes from the outermost loop to the innermost one; the indices keep their places.

    >>> import samovar as sv
    >>> list(sv.ndrange(2, (5, 7)))
    [(0, 5), (0, 6), (1, 5), (1, 6)]
    """

    __slots__ = ("axes", "bounds")

    def __init__(self, *extents: int | tuple[int, int], axes: tuple[int, ...] | None = None) -> None:
        self.bounds = tuple(_bounds(extent) for extent in extents)
        self.axes = tuple(builtins.range(len(extents))) if axes is None else tuple(axes)
        if sorted(self.axes) != list(builtins.range(len(extents))):
            raise ValueError(f"axes={axes!r} is not an order of the {len(extents)} axes")

    def __iter__(self) -> Iterator[Any]:
        for index in self.indices():
            yield index[0] if len(index) == 1 else index

    def indices(self) -> Iterator[tuple[int, ...]]:
        """The indices as tuples, also where there is one axis."""
        from itertools import product

        order = [builtins.range(*self.bounds[axis]) for axis in self.axes]
        places = [self.axes.index(axis) for axis in builtins.range(len(self.bounds))]
        for nested in product(*order):
            yield tuple(nested[place] for place in places)


def _bounds(extent: int | tuple[int, int]) -> tuple[int, int]:
    begin, end = extent if isinstance(extent, tuple) else (0, extent)
    span = builtins.range(begin, end)  # which says what is no integer
    return span.start, span.stop


class GroupedIndices:
    """What `grouped` gives: one tuple after the other."""

    __slots__ = ("_rest",)

    def __init__(self, rest: Iterator[tuple[int, ...]]) -> None:
        self._rest = rest

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return self._rest

    def __next__(self) -> tuple[int, ...]:
        return next(self._rest)


@intrinsic
def grouped(x: Any) -> Iterator[tuple[int, ...]]:
    """The indices of an `ndrange` or of an array as one value each.

    >>> import samovar as sv
    >>> list(sv.grouped(sv.ndrange(2)))
    [(0,), (1,)]
    """
    box = x if isinstance(x, ndrange) else box_of(x)
    return GroupedIndices(box.indices())


def box_of(array: Any) -> ndrange:
    """The indices of an array, or of a field, whose first ones need not be 0."""
    first = getattr(array, "offset", None)
    # That of a field of vectors has the axes of a vector as well; a view says where it is in an array, and begins with 0.
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
    """Configure the loop that follows: run it serially (`parallelize=1` is the same), in blocks of a size, under a name.

    Another number of threads in `parallelize`, and `bit_vectorize`, are hints. In plain Python, nothing.

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
    """The same bits read as another dtype of the same size. In plain Python an int is an i32 or i64, a float an f32 or f64.

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
    """One of two values, both of which are evaluated.

    >>> import samovar as sv
    >>> sv.select(2 > 1, 10, 20)
    10
    """
    return x1 if cond else x2


# --- atomics


def _only_in_kernels(name: str) -> NoReturn:
    raise samovar.SamovarRuntimeError(
        f"sv.{name} works on the elements of an array inside a kernel; in plain Python, assign to the element"
    )


def _atomic(name: str, meaning: str, parameters: str = "x, y") -> Callable[..., Any]:
    """An atomic operation: what it does is the compiler's business, so they differ in name and documentation only."""
    names = parameters.split(", ")

    def atomic(*arguments: Any, **keywords: Any) -> Any:
        if sorted((*names[: len(arguments)], *keywords)) != sorted(names) or len(arguments) > len(names):
            given = len(arguments) + len(keywords)
            raise TypeError(f"{name}({parameters}) takes {len(names)} arguments, {given} given")
        _only_in_kernels(name)

    atomic.__name__ = atomic.__qualname__ = name
    atomic.__text_signature__ = f"({parameters})"  # type: ignore[attr-defined]  # for the reference
    atomic.__doc__ = f"""{meaning}, as one step that no other thread comes between; gives the old value.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def run(a: sv.types.NDArray[sv.i32, 1]):
    ...     for i in range(8):
    ...         sv.{name}(a[0], {"1, " if name == "atomic_cas" else ""}i)
    """
    return intrinsic(atomic)


atomic_add = _atomic("atomic_add", "x += y")
atomic_sub = _atomic("atomic_sub", "x -= y")
atomic_mul = _atomic("atomic_mul", "x *= y")
atomic_min = _atomic("atomic_min", "x = min(x, y)")
atomic_max = _atomic("atomic_max", "x = max(x, y)")
atomic_and = _atomic("atomic_and", "x &= y")
atomic_or = _atomic("atomic_or", "x |= y")
atomic_xor = _atomic("atomic_xor", "x ^= y")
atomic_exchange = _atomic("atomic_exchange", "x = y")
atomic_cas = _atomic("atomic_cas", "x = desired if it equals expected", "x, expected, desired")


# --- mathematics: the `host` column of the table of operations, from which it gets its documentation
#
# Functions of floats are those of the C library, the same that kernels call. They give an infinity or NaN where Python's own
# raise, and no argument that is a float makes them raise. Integers are Python's: they do not wrap.


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
    """A function of the C library that gives whole numbers; a dtype converts the result, and an integer stays as it is."""
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
    """Those that are not NaN, if there are any."""
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
    """How many bits an integer has: those of a literal in a kernel (32 if it fits in an i32, else 64). An integer of NumPy
    has those of its type."""
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
    """A uniform random number: a float in [0, 1), or any integer of the dtype.

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
def randint(low: Any, high: Any, dtype: Any = i32) -> Any:
    """A uniform random integer from `low` to below `high`; `low` if there is none.

    >>> import samovar as sv
    >>> 3 <= sv.randint(3, 9) < 9
    True
    """
    import random as generator

    return int(dtype(generator.randrange(low, high) if low < high else low))


@intrinsic
def randn(dt: Any = f32) -> Any:
    """A normally distributed random number with mean 0 and deviation 1.

    >>> import samovar as sv
    >>> isinstance(sv.randn(), float)
    True
    """
    import random as generator

    number: float = dt(generator.gauss(0.0, 1.0))
    return number
