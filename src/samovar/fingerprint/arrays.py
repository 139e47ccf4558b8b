"""NumPy's arrays by dtype, shape and content, or by identity.

NumPy is never imported: the functions here are reached only for objects of its types. Strides and memory order do not
count. The content is handed on as a view of the array's own memory.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from samovar.fingerprint.containers import ExtendedRule
from samovar.fingerprint.deconstruction import Deconstruction, EmptyDeconstruction, Rule, encode_names
from samovar.fingerprint.options import Options
from samovar.fingerprint.state import StateRule

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

__all__ = ["plan_array", "plan_dtype", "plan_scalar"]

#: NumPy numbers the dtypes that libraries add from here on; those look like plain memory to `dtype.str`.
_FIRST_USER_DTYPE: Final = 256

#: The bits of the mantissa, and the bytes, of long doubles that are kept in more bytes than they have.
_X87_MANTISSA: Final = 63
_X87_SIZE: Final = 10

_UNSIGNED: Final = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}


def plan_array(cls: type, options: Options) -> Rule:
    """The rule of `numpy.ndarray` and its subclasses."""
    if options.array_identities is not None:
        return options.array_identities
    numpy = sys.modules["numpy"]
    # A mapped file is an array like any other; what it adds is the handle of the file.
    if cls is numpy.ndarray or cls is numpy.memmap:
        return _array
    return ExtendedRule(numpy.ndarray, _array, StateRule.of("state", cls, numpy.ndarray, options))


def plan_dtype(cls: type, options: Options) -> Rule:
    """The rule of `numpy.dtype`."""
    return _dtype


def plan_scalar(cls: type, options: Options) -> Rule:
    """The rule of `numpy.generic`: a scalar is an array of rank 0 that cannot change."""

    def rule(scalar: Any) -> Deconstruction:
        return Deconstruction("numpy-scalar", pieces=(_array(sys.modules["numpy"].asarray(scalar)),), labels=("",))

    return rule


def _array(array: Array) -> Deconstruction:
    base = sys.modules["numpy"].ndarray
    # The base class's own accessors: a subclass may do anything on access.
    plain = base.view(array, base)
    dtype, shape = plain.dtype, plain.shape
    content = _content(plain, dtype)
    labels = [""] * len(content) if dtype.names is None else [f"[{name!r}]" for name in dtype.names]
    return Deconstruction("ndarray", encode_names(map(str, shape)), (dtype, *content), (".dtype", *labels))


def _content(plain: Array, dtype: Any) -> tuple[object, ...]:
    if dtype.names is not None:
        # Field by field: the padding between fields is not content.
        return tuple(_array(plain[name]) for name in dtype.names)
    if dtype.hasobject or _is_opaque(dtype):
        return (Deconstruction("elements", pieces=tuple(plain.ravel().tolist())),)
    if plain.size == 0 or dtype.itemsize == 0:
        return (EmptyDeconstruction("memory"),)
    if dtype.char in "gG" and sys.modules["numpy"].finfo(dtype).nmant == _X87_MANTISSA:
        parts = (plain,) if dtype.char == "g" else (plain.real, plain.imag)
        return tuple(EmptyDeconstruction("memory", memoryview(_without_padding(part))) for part in parts)
    raw: Any = plain.view(_UNSIGNED.get(dtype.itemsize, f"V{dtype.itemsize}"))
    return (EmptyDeconstruction("memory", memoryview(raw)),)


def _without_padding(plain: Array) -> Any:
    """The ten bytes of each long double that mean something, among the twelve or sixteen that it takes."""
    dtype = plain.dtype
    is_little = dtype.isnative == (sys.byteorder == "little")
    offset = 0 if is_little else dtype.itemsize - _X87_SIZE
    layout = {"names": ["number"], "formats": [f"V{_X87_SIZE}"], "offsets": [offset], "itemsize": dtype.itemsize}
    return plain.view(sys.modules["numpy"].dtype(layout))["number"]


def _dtype(dtype: Any) -> Deconstruction:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return Deconstruction("dtype-subarray", pieces=(base, shape))
    if dtype.names is not None:
        fields = tuple((name, *dtype.fields[name]) for name in dtype.names)
        return Deconstruction(
            "dtype-record", encode_names((str(dtype.itemsize), str(dtype.isalignedstruct))), (dtype.type, fields)
        )
    if _is_opaque(dtype) or dtype.num >= _FIRST_USER_DTYPE:
        return Deconstruction("dtype-user", encode_names((dtype.str, str(dtype))), (dtype.type,))
    return EmptyDeconstruction("dtype", dtype.str.encode())


def _is_opaque(dtype: Any) -> bool:
    """Whether the memory of an element refers to data elsewhere, as that of strings of any length does."""
    return bool(dtype.kind == "T")
