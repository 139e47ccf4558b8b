"""NumPy arrays by dtype, shape and content, or by identity.

NumPy is never imported: these functions run only for objects of its types. Strides and memory order do not count. The
content is passed on as a view of the array's memory, without a copy.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from samovar.fingerprint.containers import ExtendedRule
from samovar.fingerprint.deconstruction import Deconstruction, EmptyDeconstruction, Rule, encode_names
from samovar.fingerprint.deconstructor_options import Options
from samovar.fingerprint.state import StateRule

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

__all__ = ["plan_array", "plan_dtype", "plan_scalar"]

#: NumPy numbers user-defined dtypes from here on; `dtype.str` shows them as plain memory.
_FIRST_USER_DTYPE: Final = 256

#: Mantissa bits and significant bytes of long doubles that are stored with padding.
_X87_MANTISSA: Final = 63
_X87_SIZE: Final = 10

_UNSIGNED: Final = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}


def plan_array(cls: type, options: Options) -> Rule:
    """Return the rule for `numpy.ndarray` and its subclasses."""
    if options.array_identities is not None:
        return options.array_identities
    numpy = sys.modules["numpy"]
    # A memory-mapped array only adds a file handle to an ordinary array.
    if cls is numpy.ndarray or cls is numpy.memmap:
        return _array
    return ExtendedRule(numpy.ndarray, _array, StateRule.of("state", cls, numpy.ndarray, options))


def plan_dtype(cls: type, options: Options) -> Rule:
    """Return the rule for `numpy.dtype`."""
    return _dtype


def plan_scalar(cls: type, options: Options) -> Rule:
    """Return the rule for `numpy.generic`: a scalar is an immutable 0-D array."""

    def rule(scalar: Any) -> Deconstruction:
        return Deconstruction("numpy-scalar", pieces=(_array(sys.modules["numpy"].asarray(scalar)),), labels=("",))

    return rule


def _array(array: Array) -> Deconstruction:
    base = sys.modules["numpy"].ndarray
    # The base class's own accessors: a subclass may override them arbitrarily.
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
    """Return the ten significant bytes of each long double, which occupies twelve or sixteen."""
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
    """Whether an element's memory refers to data elsewhere, as that of variable-length strings does."""
    return bool(dtype.kind == "T")
