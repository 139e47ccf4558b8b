"""`sv.math`: constants, and the functions that shader languages and C's mathematics have beyond the ones of the root."""

from __future__ import annotations

from samovar.language import (
    TABLED,
    clamp,
    degrees,
    e,
    fract,
    inf,
    mix,
    nan,
    pi,
    radians,
    sign,
    step,
)

#: Of the table of operations, all but those that are builtins of Python.
_FUNCTIONS = {name: function for name, function in TABLED.items() if name not in ("abs", "max", "min", "pow")}
globals().update(_FUNCTIONS)

__all__ = [
    *_FUNCTIONS, "clamp", "degrees", "e", "fract", "inf", "mix", "nan", "pi", "radians", "sign", "step",
]  # fmt: skip
