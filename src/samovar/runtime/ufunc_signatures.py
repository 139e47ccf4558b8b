"""Signatures of ufuncs: types in the notation of Numba (`"float64(float64, int32[:])"`), layouts in that of NumPy
(`"(m,n),(n)->(m)"`)."""

from __future__ import annotations

import re

import samovar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple

    import numpy as np

    class Types(NamedTuple):
        """The dtypes of the inputs, and of the result: None if it has no type."""

        inputs: tuple[np.dtype[Any], ...]
        result: np.dtype[Any] | None
else:
    from collections import namedtuple

    Types = namedtuple("Types", "inputs result")

#: Names of types in Numba and Samovar → those in NumPy.
_NAMES = {
    "boolean": "bool", "bool_": "bool", "b1": "bool", "byte": "int8", "char": "int8", "double": "float64", "f2": "float16",
    "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128", "i1": "int8", "i2": "int16", "i4": "int32",
    "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64", "float_": "float32", "int_": "int64",
    "uint": "uint64", "long_": "int64", "ulong": "uint64", "intc": "int32", "uintc": "uint32", "short": "int16",
    "ushort": "uint16", "longlong": "int64", "ulonglong": "uint64", "i16": "int16", "i32": "int32", "i64": "int64",
    "f16": "float16", "f32": "float32", "f64": "float64", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "c64": "complex64", "c128": "complex128",
}  # fmt: skip
_CALL = re.compile(r"\s*(?P<result>[\w\[\]:, ]*?)\s*\((?P<inputs>.*)\)\s*")
_ARROW = re.compile(r"\s*\((?P<inputs>.*)\)\s*->\s*(?P<result>.+?)\s*")


def types_of(signature: Any) -> Types:
    """The types in a signature: a string, a tuple of types, or an object of Numba's that prints as one."""
    text = ", ".join(map(str, signature)) if isinstance(signature, tuple) else str(signature)
    if isinstance(signature, tuple):
        return Types(tuple(_dtype(each) for each in signature), None)
    found = _ARROW.fullmatch(text) or _CALL.fullmatch(text)
    if found is None:
        raise samovar.SamovarTypeError(
            f"{text!r} is not a signature\n  help: write the type of the result and those of the arguments in parentheses,"
            " as in 'float64(float64, float64)', or no signature: types follow from the arguments"
        )
    inputs = re.sub(r"\[[^\]]*\]", "", found["inputs"]).rstrip(", ")
    own = tuple(_dtype(each) for each in inputs.split(",")) if inputs else ()
    return Types(own, None if found["result"] in ("", "void", "none") else _dtype(found["result"]))


def _dtype(name: Any) -> np.dtype[Any]:
    import numpy as np

    text = getattr(name, "name", None) or getattr(name, "__name__", None) or str(name)
    text = re.sub(r"\[.*\]|array\((\w+),.*\)", r"\1", text.strip())
    try:
        return np.dtype(_NAMES.get(text, text))
    except TypeError:
        raise samovar.SamovarTypeError(f"{text!r} is not a type that a ufunc can have in its signature") from None


def layout_of(text: str) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]:
    """The core dimensions of the inputs and of the outputs."""
    parts = re.sub(r"\s", "", text).split("->")
    group = r"\((?:\w+(?:,\w+)*)?\)"
    if len(parts) != 2 or not all(re.fullmatch(rf"{group}(?:,{group})*", part) for part in parts):
        raise samovar.SamovarTypeError(
            f"{text!r} is not a layout\n  help: write the dimensions of each input and output, as in '(n),()->(n)'"
        )
    inputs, outputs = (re.findall(r"\(([^)]*)\)", part) for part in parts)
    return _names(inputs), _names(outputs)


def _names(groups: list[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(name for name in group.split(",") if name) for group in groups)
