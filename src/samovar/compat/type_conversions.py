"""`lang.util` and `types` of Quadrants and Taichi: conversions between our types and those of NumPy and PyTorch."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from importlib.util import find_spec

import samovar
from samovar._native import DType
from samovar.language import DTYPES, as_dtype, is_float, is_integer
from samovar.runtime import current_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def to_numpy_type(dtype: Any) -> Any:
    """Return the corresponding NumPy type."""
    import numpy

    found = cook_dtype(dtype)
    return getattr(numpy, "bool_" if found is samovar.u1 else _long_name(found))


def to_pytorch_type(dtype: Any) -> Any:
    """Return the corresponding PyTorch type."""
    torch: Any = import_module("torch")
    found = cook_dtype(dtype)
    return torch.bool if found is samovar.u1 else getattr(torch, _long_name(found))


def cook_dtype(dtype: Any) -> DType:
    """Return our type for `int`, `float` and `bool`, which are the default types, or for a dtype of NumPy or PyTorch."""
    return as_dtype(dtype, current_options())


def _long_name(dtype: DType) -> str:
    return {"f": "float", "i": "int", "u": "uint"}[dtype.name[0]] + dtype.name[1:]


def has_pytorch() -> bool:
    """Whether PyTorch can be imported."""
    return find_spec("torch") is not None


def in_python_scope() -> bool:
    """Whether plain Python is running. Kernels cannot call this."""
    return True


def _unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _is_matrix(value: object) -> bool:
    return isinstance(value, samovar.Matrix)


NAMES: dict[str, Any] = {
    "cook_dtype": cook_dtype,
    "dtype_to_torch_dtype": to_pytorch_type,
    "has_pytorch": has_pytorch,
    "in_python_scope": in_python_scope,
    "is_data_oriented": lambda value: getattr(type(value), "_data_oriented", False),
    "is_dataclass_instance": lambda value: dataclasses.is_dataclass(value) and not isinstance(value, type),
    "is_matrix_class": lambda value: isinstance(value, type) and issubclass(value, samovar.Matrix),
    "python_scope": _unchanged,
    "to_numpy_type": to_numpy_type,
    "to_pytorch_type": to_pytorch_type,
}
#: Functions whose names contain that of the library.
TITLED: dict[str, Any] = {
    "in_samovar_scope": lambda: False,
    "is_samovar_class": _is_matrix,
    "samovar_scope": _unchanged,
    "to_samovar_type": cook_dtype,
}
#: The types by category.
GROUPS: dict[str, Any] = {
    "all_types": list(DTYPES),
    "integer_types": [dtype for dtype in DTYPES if is_integer(dtype) and dtype is not samovar.u1],
    "real_types": [dtype for dtype in DTYPES if is_float(dtype)],
}
