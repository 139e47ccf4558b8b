"""Arrays of any library as operands of the algorithms: described, copied and stored."""

from __future__ import annotations

from typing import Any

from samovar._native import DType, Ndarray, bf16, describe_tensor, f16, f32
from samovar.errors import SamovarTypeError


def described(a: Any) -> tuple[tuple[int, ...], DType]:
    """The shape and dtype of an array of any library."""
    found = describe_tensor(a)
    if found is None:
        raise SamovarTypeError(f"expected an array or a field, not {type(a).__name__}")
    return found["shape"], found["dtype"]


def is_plain(a: Any, dtype: DType | None = None) -> bool:
    """Whether the elements are in C order and of the given dtype."""
    found = describe_tensor(a)
    return found is not None and found["contiguous"] and (dtype is None or found["dtype"] is dtype)


def copied(a: Any, dtype: DType | None = None) -> Ndarray:
    shape, own = described(a)
    copy = Ndarray(own if dtype is None else dtype, shape)
    copy.copy_from(a)
    return copy


def readable(a: Any) -> Any:
    """The elements in C order, f16 and bf16 as f32."""
    _, dtype = described(a)
    if dtype in (f16, bf16):
        return copied(a, f32)
    return a if is_plain(a) else copied(a)


def stored(to: Any, result: Ndarray) -> Any:
    """Copy a result into an array of any library."""
    if hasattr(to, "copy_from"):
        to.copy_from(result)
    else:
        to[...] = result.to_numpy(copy=None)
    return to
