"""Long names of the dtypes, and the dtypes that Python, NumPy and torch types correspond to.

Neither NumPy nor torch is imported: a program that passes one of their types has already done so.
"""

from __future__ import annotations

import sys

from samovar._native import DType, bf16, c64, c128, f16, f32, f64, i8, i16, i32, i64, u1, u8, u16, u32, u64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.language.options import Options

__all__ = ["LONG_NAMES", "as_dtype", "complex_type", "foreign_dtype", "integer_range", "part_type"]

LONG_NAMES = {
    "int8": i8,
    "int16": i16,
    "int32": i32,
    "int64": i64,
    "uint1": u1,
    "uint8": u8,
    "uint16": u16,
    "uint32": u32,
    "uint64": u64,
    "float16": f16,
    "float32": f32,
    "float64": f64,
    "bfloat16": bf16,
    "complex64": c64,
    "complex128": c128,
}

# The names of NumPy's and torch's dtypes; the same as ours except for the boolean.
_FOREIGN_NAMES = {name: dtype for name, dtype in LONG_NAMES.items() if dtype is not u1} | {"bool": u1}


def foreign_dtype(name: str) -> DType | None:
    """The dtype that NumPy and torch call by this name.

    >>> from samovar.language.dtypes import foreign_dtype
    >>> foreign_dtype("bool_")
    samovar.u1
    """
    return _FOREIGN_NAMES.get(name.rstrip("_"))


def as_dtype(spec: object, options: Options) -> DType:
    """The dtype that `spec` denotes: a dtype, `int`, `float`, `bool`, `complex`, or a dtype of NumPy or torch.

    `int`, `float` and `complex` are the default types set in `options`.

    >>> from samovar.language.dtypes import as_dtype
    >>> from samovar.language.options import Options
    >>> as_dtype(float, Options())
    samovar.f32
    """
    if isinstance(spec, DType):
        return spec
    if spec is int:
        return options.default_ip
    if spec is float:
        return options.default_fp
    if spec is bool:
        return u1
    if spec is complex:
        return complex_type(options.default_fp)
    name = _foreign_name(spec)
    if name is None:
        known = ", ".join(dtype.name for dtype in LONG_NAMES.values())
        raise TypeError(f"{spec!r} is not a dtype: use one of {known}, or int, float, bool, complex")
    dtype = _FOREIGN_NAMES.get(name)
    if dtype is None:
        raise TypeError(f"unsupported dtype {spec!r}")
    return dtype


def complex_type(dtype: DType) -> DType:
    """The dtype of complex numbers with parts of a float type.

    >>> from samovar._native import f64
    >>> from samovar.language.dtypes import complex_type
    >>> complex_type(f64)
    samovar.c128
    """
    return c128 if dtype is f64 else c64


def part_type(dtype: DType) -> DType | None:
    """The dtype of the parts of complex numbers; None for other dtypes.

    >>> from samovar._native import c64
    >>> from samovar.language.dtypes import part_type
    >>> part_type(c64)
    samovar.f32
    """
    return {c64: f32, c128: f64}.get(dtype)


def integer_range(dtype: DType) -> tuple[int, int]:
    """The smallest and largest value of an integer dtype or u1.

    >>> from samovar._native import i8, u1
    >>> from samovar.language.dtypes import integer_range
    >>> integer_range(i8), integer_range(u1)
    ((-128, 127), (0, 1))
    """
    if dtype.kind == "int":
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return 0, (1 << dtype.bits) - 1


def _foreign_name(spec: object) -> str | None:
    """The name of a NumPy ("float32") or torch dtype; None if it is neither."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(spec, type) and issubclass(spec, numpy.generic):
            spec = numpy.dtype(spec)
        if isinstance(spec, numpy.dtype):
            # The name does not include the byte order.
            return str(spec.name) if spec.isnative else str(spec)
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(spec, torch.dtype):
        return str(spec).rpartition(".")[2]
    return None
