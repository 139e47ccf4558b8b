"""`@sv.vectorize` and `@sv.guvectorize`: functions of numbers, and of parts of arrays, as ufuncs on NumPy arrays.

A ufunc consists of kernels, which compile for the types of their arguments on first use and are cached like others. Inputs
are promoted together, by NumPy's rules; the types of results are those that the function returns. Contiguous arrays are
passed as one dimension, others with their strides; no operand is copied to be broadcast or converted.
"""

from __future__ import annotations

import sys

import samovar
from samovar import _native
from samovar.runtime import configuration, ufunc_loops
from samovar.runtime.func import Func
from samovar.runtime.func import _declare as declare_func
from samovar.runtime.kernel import Kernel, declared
from samovar.runtime.ufunc_signatures import Types, layout_of, types_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType
    from typing import Any

#: Options of Numba's decorators that change nothing here.
_IGNORED = frozenset(("nopython", "cache", "fastmath", "forceobj", "writable_args"))
_TARGETS = (None, "cpu", "parallel")
_DTYPES = {
    "u1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
    "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
    "c128": "complex128",
}  # fmt: skip
_OURS = {theirs: getattr(_native, name) for name, theirs in _DTYPES.items()}


class Ufunc(Func):
    """A function of numbers that applies to arrays element by element. In kernels, it is a func.

    >>> import numpy as np
    >>> import samovar as sv
    >>> @sv.vectorize
    ... def larger(x, y):
    ...     return x if x > y else y
    >>> larger(np.array([1.0, 5.0]), 3.0).tolist()
    [3.0, 5.0]
    >>> larger.reduce(np.array([1, 7, 3]))
    np.int64(7)
    """

    nout = 1

    def __init__(self, func: Func, signatures: Sequence[Types], identity: Any, is_serial: bool) -> None:
        super().__init__(func.__wrapped__, func.signature)
        self.func = func
        self.nin = len(func.signature.parameters)
        self.signatures = tuple(signatures)
        self.identity = None if identity == "reorderable" else identity
        self.is_serial = is_serial
        self._kernels: dict[Any, Kernel] = {}
        self._results: dict[Any, Any] = {}
        self._for_lines: dict[Any, tuple[Kernel, Any]] = {}
        for each in self.signatures:
            if len(each.inputs) != self.nin:
                message = f"{self.__name__} takes {self.nin} arguments, but a signature has {len(each.inputs)}"
                raise samovar.SamovarTypeError(message)

    def __repr__(self) -> str:
        return f"<samovar ufunc {self.__module__}.{self.__qualname__}>"

    # --- kernels

    def _run(self, make: Callable[..., Any], captured: tuple[Any, ...], *arguments: Any, is_serial: bool = False) -> None:
        """Launch the kernel that a function of `ufunc_loops` makes for captured values. There is one for each combination of
        types, so that each has few specializations."""
        flat = (each for given in arguments for each in (given if isinstance(given, tuple) else (given,)))
        self._kernel(make, captured, tuple((each.dtype, each.ndim) for each in flat), is_serial)(*arguments)

    def _kernel(self, make: Callable[..., Any], captured: Any, operands: tuple[Any, ...], is_serial: bool = False) -> Kernel:
        """The kernel for operands with these dtypes and numbers of dimensions."""
        key = (make, captured, *operands)
        found = self._kernels.get(key)
        if found is None:
            options = {"serial": is_serial or self.is_serial}
            made: Kernel = declared(make(self.func, *captured), sys._getframe(), options)
            made.state.takes_many_types = True
            found = self._kernels[key] = made
        return found

    def _resolved(self, operands: Sequence[Any], dtype: Any = None) -> tuple[tuple[Any, ...], Any]:
        """The types in which the function computes, for operands as given, and the dtype of its result."""
        import numpy as np

        dtypes = tuple(each if type(each) in (int, float, complex) else _dtype_of(each) for each in operands)
        key = (tuple(map(type, dtypes)), tuple(each for each in dtypes if isinstance(each, np.dtype)), dtype)
        found = self._results.get(key)
        if found is None:
            found = self._results[key] = self._resolve(dtypes, dtype)
        return found

    def _resolve(self, dtypes: Sequence[Any], dtype: Any) -> tuple[tuple[Any, ...], Any]:
        import numpy as np

        if self.signatures:
            for each in self.signatures:
                pairs = zip(dtypes, each.inputs, strict=True)
                if all(np.result_type(given, wanted) == wanted for given, wanted in pairs) and dtype in (None, each.result):
                    types = self._ours(each.inputs)
                    return types, each.result or self._result_of(types, each.inputs)
            message = f"ufunc {self.__name__!r} has no signature for {', '.join(map(_shown, dtypes))}"
            advice = "add one, or remove all: types then follow from the arguments"
            raise samovar.SamovarTypeError(f"{message}\n  help: {advice}")
        common = np.result_type(*dtypes)
        if dtype is not None:  # as in NumPy: the type in which it computes
            common = np.result_type(common, dtype) if np.can_cast(dtype, common, "safe") else np.dtype(dtype)
        types = self._ours((common,) * self.nin)
        return types, np.dtype(dtype) if dtype is not None else self._result_of(types, (common,) * self.nin)

    def _ours(self, dtypes: Sequence[Any]) -> tuple[Any, ...]:
        missing = [each for each in dtypes if each.name not in _OURS]
        if missing:
            raise samovar.SamovarTypeError(f"ufunc {self.__name__!r} does not support elements of {missing[0]}")
        return tuple(_OURS[each.name] for each in dtypes)

    def _result_of(self, types: tuple[Any, ...], dtypes: Sequence[Any]) -> Any:
        """The dtype that the function returns for numbers of these types."""
        import numpy as np

        examples = tuple(np.zeros((), each) for each in dtypes)
        made: Kernel = declared(ufunc_loops.result(self.func, types), sys._getframe(), {"serial": True})
        if configuration.current_options().arch == configuration.python:
            return np.result_type(made(examples))
        made.state.takes_many_types = True
        made.precompile(examples)
        results = made.specializations[0].keep.artifact.results
        if results is None or results[0] not in ("scalar", "complex"):
            shown = ", ".join(map(_shown, dtypes))
            raise samovar.SamovarTypeError(f"ufunc {self.__name__!r} must return one number for {shown}")
        return np.dtype(_DTYPES[results[1]])

    # --- calls

    def __call__(
        self, *inputs: Any, out: Any = None, where: Any = True, dtype: Any = None, casting: str = "same_kind"
    ) -> Any:
        import numpy as np

        if len(inputs) == self.nin + 1 and out is None:
            *inputs, out = inputs  # type: ignore[assignment]
        if len(inputs) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} positional arguments but {len(inputs)} were given")
        if where is True and dtype is None:
            done = self._of_lines(inputs, out)
            if done is not None:
                return done
        operands = [_operand(each) for each in inputs]
        types, result = self._resolved(operands, None if dtype is None else np.dtype(dtype))
        arrays = [np.asarray(each) for each in operands]
        shape = _broadcast(self.__name__, [each.shape for each in arrays] + ([] if where is True else [np.shape(where)]))
        out = out[0] if isinstance(out, tuple) else out
        target = None if out is None else np.asarray(out)
        if target is not None:
            _require_fit(self.__name__, result, target, shape, casting)
            shape = target.shape
        work = target
        if work is None or work.dtype != result or not work.dtype.isnative:
            work = np.empty(shape, result, order="F" if shape and _all_fortran(arrays, shape) else "C")
            if target is not None and where is not True:
                np.copyto(work, target, casting="unsafe")
        elif any(_overlaps(work, each) for each in arrays):
            arrays = [each.copy() if _overlaps(work, each) else each for each in arrays]
        self._fill(work, arrays, types, where)
        if target is not None and work is not target:
            np.copyto(target, work, casting="unsafe")
        if out is not None:
            return out
        if _are_ours(inputs):
            return samovar.array(work)
        return work if work.ndim else work[()]

    def _of_lines(self, inputs: Sequence[Any], out: Any) -> Any:
        """The results for NumPy arrays of one length with one dimension; None for anything else. A short way for small
        arrays, for which dtypes and shapes take longer than the loop."""
        from numpy import empty, ndarray

        key = []
        shape = None
        for each in inputs if out is None else (*inputs, out):
            if type(each) is not ndarray:
                return None
            if shape is None:
                shape = each.shape
                if len(shape) != 1 or shape[0] < 2:
                    return None
            elif each.shape != shape:
                return None
            key.append(each.dtype)
        if out is None:
            found = self._for_lines.get(tuple(key))
        else:
            found = self._for_lines.get(tuple(key[:-1]))
            if found is not None and found[1] != key[-1]:
                return None
        if found is None:
            if not all(each.isnative for each in key):
                return None
            types, result = self._resolved(inputs)
            if out is not None and result != key.pop():
                return None
            operands = ((result, 1), *((each, 1) for each in key))
            captured = (types, (False,) * self.nin)
            found = self._for_lines[tuple(key)] = self._kernel(ufunc_loops.apply, captured, operands), result
        kernel, result = found
        work = out
        if work is None:
            work = empty(shape, result)
        elif any(_overlaps(work, each) for each in inputs):
            return None
        kernel(work, tuple(inputs))
        return work

    def _fill(self, out: Any, arrays: list[Any], types: tuple[Any, ...], where: Any) -> None:
        import numpy as np

        if out.size == 0:
            return
        alone = tuple(each.ndim == 0 or each.size == 1 for each in arrays)
        shaped = [each.reshape(()) if one else each for each, one in zip(arrays, alone, strict=True)]
        if where is not True:
            condition = np.broadcast_to(np.asarray(where, bool), out.shape)
            shaped.append(condition)
        out, shaped = _flattened(out, shaped)
        if where is not True:
            *shaped, condition = shaped
            self._run(ufunc_loops.apply_where, (types, alone), out, condition, tuple(shaped))
        else:
            self._run(ufunc_loops.apply, (types, alone), out, tuple(shaped))

    # --- methods

    def _require_two(self) -> None:
        if self.nin != 2:
            raise ValueError("reduce, accumulate, outer and at are only supported for functions of two arguments")

    def _accumulated_type(self, dtype: Any) -> Any:
        """The type of intermediate results, for elements of a dtype."""
        import numpy as np

        for _ in range(2):
            example = np.zeros((), dtype)
            _, result = self._resolved((example, example))
            if result == dtype:
                break
            dtype = result
        return dtype

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        """The results for all elements along some axes, as `numpy.ufunc.reduce`."""
        import numpy as np

        self._require_two()
        given = np.asarray(array)
        kind = np.dtype(dtype) if dtype is not None else self._accumulated_type(given.dtype)
        axes = tuple(range(given.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = tuple(sorted(_axis(each, given.ndim) for each in axes))
        kept = tuple(each for each in range(given.ndim) if each not in axes)
        shape = tuple(given.shape[each] for each in kept)
        moved = given.transpose(kept + axes)
        moved = moved.reshape((*(shape or (1,)), -1) if given.size else (*(shape or (1,)), _product(given, axes)))
        start = self.identity if initial is None else initial
        if start is None and where is not True:
            message = f"reduction operation {self.__name__!r} does not have an identity, so to use a where mask one has to"
            raise ValueError(f"{message} specify 'initial'")
        total = np.empty(shape or (1,), kind)
        if start is not None and (initial is not None or where is not True or not moved.shape[-1]):
            total[...] = start
        elif moved.shape[-1]:
            total[...] = moved[..., 0]
            moved = moved[..., 1:]
        elif total.size:
            raise ValueError(f"zero-size array to reduction operation {self.__name__} which has no identity")
        if moved.size and where is not True:
            condition = np.broadcast_to(np.asarray(where, bool), given.shape).transpose(kept + axes).reshape(moved.shape)
            self._run(ufunc_loops.reduce_where, (), total, condition, moved)
        elif moved.size:
            self._run(ufunc_loops.reduce, (), total, moved)
        if keepdims:
            shape = tuple(1 if each in axes else given.shape[each] for each in range(given.ndim))
        total = total.reshape(shape)
        if out is not None:
            out = out[0] if isinstance(out, tuple) else out
            np.copyto(np.asarray(out), total, casting="same_kind")
            return out
        return total if total.ndim else total[()]

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """The results for the elements up to each one along an axis, as `numpy.ufunc.accumulate`."""
        import numpy as np

        self._require_two()
        given = np.asarray(array)
        kind = np.dtype(dtype) if dtype is not None else self._accumulated_type(given.dtype)
        axis = _axis(axis, given.ndim)
        result = np.empty(given.shape, kind)
        if result.size:
            lines, source = (np.moveaxis(each, axis, -1) for each in (result, given))
            if given.ndim == 1:
                lines, source = lines[None], source[None]
            self._run(ufunc_loops.accumulate, (), lines[..., 0], lines, source)
        if out is not None:
            out = out[0] if isinstance(out, tuple) else out
            np.copyto(np.asarray(out), result, casting="same_kind")
            return out
        return result

    def outer(self, a: Any, b: Any, **options: Any) -> Any:
        """The results for all pairs of elements, as `numpy.ufunc.outer`."""
        import numpy as np

        self._require_two()
        first, second = np.asarray(a), np.asarray(b)
        return self(first.reshape(first.shape + (1,) * second.ndim), second, **options)

    def at(self, array: Any, indices: Any, b: Any) -> None:
        """Update the elements at some indices in place, repeated ones repeatedly, as `numpy.ufunc.at`."""
        import numpy as np

        self._require_two()
        target = np.asarray(array)
        positions = np.arange(target.size).reshape(target.shape)[indices]
        values = np.broadcast_to(np.asarray(b), positions.shape)
        flat = np.ascontiguousarray(target).reshape(-1)
        if positions.size:
            flat_operands = (flat, positions.reshape(-1), values.reshape(-1))
            self._run(ufunc_loops.update_at, (), *flat_operands, is_serial=True)
        if not np.shares_memory(flat, target):
            target[...] = flat.reshape(target.shape)


class GeneralUfunc:
    """A function of parts of arrays, applied to all of them: `sv.guvectorize`."""

    def __init__(self, func: Func, layout: str, signatures: Sequence[Types], is_serial: bool) -> None:
        self.__wrapped__ = func.__wrapped__
        self.__name__, self.__qualname__ = func.__name__, func.__qualname__
        self.__module__, self.__doc__ = func.__module__, func.__doc__
        self.signature = layout
        self.inputs, self.outputs = layout_of(layout)
        self.nin, self.nout = len(self.inputs), len(self.outputs)
        self.signatures = tuple(signatures)
        count = len(func.signature.parameters)
        if count != self.nin + self.nout:
            given = f"{self.nin} inputs and {self.nout} outputs"
            raise samovar.SamovarTypeError(f"{self.__name__} takes {count} arguments, but its layout has {given}")
        self._kernel: Kernel = declared(ufunc_loops.apply_to_parts(func), sys._getframe(), {"serial": is_serial})
        self._kernel.state.takes_many_types = True

    def __repr__(self) -> str:
        return f"<samovar gufunc {self.__module__}.{self.__qualname__} {self.signature}>"

    def __call__(self, *inputs: Any, out: Any = None) -> Any:
        import numpy as np

        if len(inputs) == self.nin + self.nout and out is None:
            inputs, out = inputs[: self.nin], inputs[self.nin :]
        if len(inputs) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} positional arguments but {len(inputs)} were given")
        arrays = [np.asarray(_operand(each)) for each in inputs]
        types, results = self._types(arrays)
        arrays = [each.astype(kind, copy=False) for each, kind in zip(arrays, types, strict=True)]
        sizes: dict[str, int] = {}
        given = () if out is None else out if isinstance(out, tuple) else (out,)
        targets = [np.asarray(each) for each in given]
        loops = [self._loop_shape(each, core, sizes) for each, core in zip(arrays, self.inputs, strict=True)]
        for each, core in zip(targets, self.outputs, strict=False):
            self._loop_shape(each, core, sizes)
        unknown = [name for core in self.outputs for name in core if name not in sizes]
        if unknown:
            raise ValueError(f"{self.__name__}: the length of the output dimension {unknown[0]!r} is unknown: pass `out`")
        shape = _broadcast(self.__name__, loops)
        own = [
            np.zeros(shape + tuple(sizes[name] for name in core), kind)
            for core, kind in zip(self.outputs, results, strict=True)
        ]
        lines = np.broadcast_to(np.zeros(1, bool), shape or (1,))
        parts = [
            np.broadcast_to(each, shape + each.shape[each.ndim - len(core) :]).reshape(
                lines.shape + each.shape[each.ndim - len(core) :]
            )
            for each, core in zip(arrays, self.inputs, strict=True)
        ]
        # An output without dimensions is an array of one element, as in Numba.
        filled = [
            each.reshape(lines.shape + (each.shape[each.ndim - len(core) :] or (1,)))
            for each, core in zip(own, self.outputs, strict=True)
        ]
        if lines.size:
            self._kernel(lines, tuple(parts), tuple(filled))
        for target, result in zip(targets, own, strict=False):
            np.copyto(target, result, casting="same_kind")
        found = tuple(given) or tuple(each if each.ndim else each[()] for each in own)
        return found[0] if self.nout == 1 else found

    def _types(self, arrays: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The dtypes in which the inputs are passed, and those of the outputs."""
        import numpy as np

        for each in self.signatures:
            kinds = each.inputs[: self.nin]
            if all(np.can_cast(array.dtype, kind, "safe") for array, kind in zip(arrays, kinds, strict=True)):
                return kinds, each.inputs[self.nin :]
        if self.signatures:
            shown = ", ".join(str(each.dtype) for each in arrays)
            raise samovar.SamovarTypeError(f"gufunc {self.__name__!r} has no signature for {shown}")
        common = np.result_type(*arrays)
        return tuple(each.dtype for each in arrays), (common,) * self.nout

    def _loop_shape(self, array: Any, core: tuple[str, ...], sizes: dict[str, int]) -> tuple[int, ...]:
        """The dimensions of an operand before its core dimensions, whose lengths are noted."""
        count = len(core)
        if array.ndim < count:
            raise ValueError(f"{self.__name__}: an operand has {array.ndim} dimensions, but its layout has {count}")
        for name, length in zip(core, array.shape[array.ndim - count :], strict=True):
            if sizes.setdefault(name, length) != length:
                lengths = f"{sizes[name]} elements in one operand and {length} in another"
                raise ValueError(f"{self.__name__}: the dimension {name!r} has {lengths}")
        shape: tuple[int, ...] = array.shape[: array.ndim - count]
        return shape


# --- operands


def _operand(value: Any) -> Any:
    """A Python number, whose type adapts to the others, as it is; anything else as an array."""
    import numpy as np

    if type(value) in (bool, int, float, complex):
        return np.bool_(value) if value is True or value is False else value
    found = np.asarray(value)
    return found if found.dtype.isnative else found.astype(found.dtype.newbyteorder("="))


def _dtype_of(value: Any) -> Any:
    return value.dtype


def _shown(dtype: Any) -> str:
    return type(dtype).__name__ if type(dtype) in (int, float, complex) else str(dtype)


def _are_ours(inputs: Sequence[Any]) -> bool:
    """Whether the arrays among the inputs are ours, so that the result is."""
    return any(isinstance(each, _native.Ndarray) for each in inputs) and not any(
        hasattr(each, "__array_interface__") and not isinstance(each, _native.Ndarray) for each in inputs
    )


def _broadcast(name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    import numpy as np

    if all(each == shapes[0] for each in shapes[1:]):
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        shown = " ".join(map(str, shapes))
        raise ValueError(f"{name}: operands could not be broadcast together with shapes {shown}") from None


def _require_fit(name: str, result: Any, target: Any, shape: tuple[int, ...], casting: Any) -> None:
    """Check that results can be stored in `out`."""
    import numpy as np

    if not np.can_cast(result, target.dtype, casting):
        message = f"Cannot cast ufunc {name!r} output from {result!r} to {target.dtype!r} with casting rule {casting!r}"
        raise TypeError(message)
    if _broadcast(name, [shape, target.shape]) != target.shape:
        raise ValueError(f"{name}: non-broadcastable output operand with shape {target.shape} for results of shape {shape}")


def _overlaps(target: Any, array: Any) -> bool:
    """Whether an input shares memory with the result, other than element by element."""
    import numpy as np

    if not np.may_share_memory(target, array):
        return False
    mine, its = target.__array_interface__, array.__array_interface__
    same = mine["data"][0] == its["data"][0] and target.strides == array.strides and target.shape == array.shape
    return not same


def _all_fortran(arrays: Sequence[Any], shape: tuple[int, ...]) -> bool:
    """Whether all operands are in Fortran order, so that the result is."""
    many = [each for each in arrays if each.size != 1]
    return bool(many) and all(
        each.shape == shape and each.flags.f_contiguous and not each.flags.c_contiguous for each in many
    )


def _flattened(out: Any, arrays: list[Any]) -> tuple[Any, list[Any]]:
    """Operands in one dimension if they are contiguous in the same order, otherwise in the shape of the result."""
    import numpy as np

    many = [each for each in arrays if each.ndim]
    if all(each.shape == out.shape and each.flags.c_contiguous for each in many) and out.flags.c_contiguous:
        return out.reshape(-1), [each.reshape(-1) if each.ndim else each for each in arrays]
    if all(each.shape == out.shape and each.flags.f_contiguous for each in many) and out.flags.f_contiguous:
        return out.T.reshape(-1), [each.T.reshape(-1) if each.ndim else each for each in arrays]
    return out, [np.broadcast_to(each, out.shape) if each.ndim else each for each in arrays]


def _axis(axis: Any, ndim: int) -> int:
    import numpy as np

    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return int(axis) % ndim


def _product(array: Any, axes: tuple[int, ...]) -> int:
    total = 1
    for axis in axes:
        total *= array.shape[axis]
    return total


# --- decorators


def _options(name: str, target: Any, others: dict[str, Any]) -> bool:
    """Whether the loops are serial: those of Numba's target "cpu" are."""
    unknown = sorted(others.keys() - _IGNORED)
    if unknown:
        raise samovar.SamovarTypeError(f"{name} has no option {unknown[0]!r}")
    if target not in _TARGETS:
        raise samovar.SamovarTypeError(f"{name} has no target {target!r}: the targets are 'cpu' (serial) and 'parallel'")
    return bool(target == "cpu")


def _function(function: Any, frame: FrameType, name: str) -> Func:
    if isinstance(function, Func):
        return function
    if type(function).__name__ != "function":
        raise samovar.SamovarTypeError(f"@{name} decorates a function, not a {type(function).__name__}")
    return declare_func(function, frame, False)


@_native.api_boundary
def vectorize(ftylist_or_function: Any = (), target: str | None = None, identity: Any = None, **options: Any) -> Any:
    """Make a ufunc of a function of numbers: it applies to arrays element by element, with broadcasting, `out=`, `where=`
    and `dtype=`, and has `reduce`, `accumulate`, `outer` and `at`.

    It is compiled for the types of its arguments, which are promoted together as by NumPy. Signatures are optional, as in
    Numba: with them, the first one to which the arguments can be cast safely is used. `identity` is the result of reducing
    nothing. `target="cpu"` makes it serial. In kernels, it is a func of numbers.

    >>> import numpy as np
    >>> import samovar as sv
    >>> @sv.vectorize(["float64(float64, float64)"], identity=0)
    ... def add_clipped(x, y):
    ...     return min(x + y, 10.0)
    >>> add_clipped(np.arange(4), 8).tolist()
    [8.0, 9.0, 10.0, 10.0]
    >>> add_clipped.accumulate([1.0, 2.0, 20.0, 1.0]).tolist()
    [1.0, 3.0, 10.0, 10.0]
    """
    is_serial = _options("sv.vectorize", target, options)
    if callable(ftylist_or_function) and not isinstance(ftylist_or_function, (str, list, tuple)):
        return Ufunc(_function(ftylist_or_function, sys._getframe(1), "sv.vectorize"), (), identity, is_serial)
    given = [ftylist_or_function] if isinstance(ftylist_or_function, str) else list(ftylist_or_function)
    signatures = [types_of(each) for each in given]

    @_native.api_boundary
    def decorate(function: Any) -> Ufunc:
        return Ufunc(_function(function, sys._getframe(1), "sv.vectorize"), signatures, identity, is_serial)

    return decorate


@_native.api_boundary
def guvectorize(ftylist_or_layout: Any, layout: str | None = None, target: str | None = None, **options: Any) -> Any:
    """Make a generalized ufunc of a function that works on parts of arrays and writes its results into its last arguments.

    The layout names the dimensions of the parts: `"(n),()->(n)"` is a function of a vector and a number that fills a vector.
    All other dimensions of the operands are broadcast and looped over. Signatures are optional; they convert arguments, and
    give the types of results, which otherwise have the type that the arguments promote to.

    >>> import numpy as np
    >>> import samovar as sv
    >>> @sv.guvectorize("(n),()->(n)")
    ... def shift(x, by, result):
    ...     for i in range(x.shape[0]):
    ...         result[i] = x[i] + by
    >>> shift(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0, 20.0])).tolist()
    [[11.0, 12.0], [23.0, 24.0]]
    """
    is_serial = _options("sv.guvectorize", target, options)
    given, dimensions = ((), ftylist_or_layout) if layout is None else (ftylist_or_layout, layout)
    layout_of(dimensions)
    signatures = [types_of(each) for each in ([given] if isinstance(given, str) else given)]

    @_native.api_boundary
    def decorate(function: Any) -> GeneralUfunc:
        func = _function(function, sys._getframe(1), "sv.guvectorize")
        return GeneralUfunc(func, dimensions, signatures, is_serial)

    return decorate
