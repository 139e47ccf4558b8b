"""`round` of Quadrants and Taichi: halves go away from zero, as in C. Samovar's own follows Python, where they go to the
even neighbor."""

from __future__ import annotations

from typing import Any

import samovar


@samovar.func
def round(x: Any, dtype: Any = None) -> Any:
    """The nearest whole number, of halves the one farther from zero; as a float, or in a dtype."""
    whole = samovar.math.trunc(x * 1.0)
    found = whole + samovar.select(abs(x - whole) >= 0.5, samovar.math.sign(x), whole * 0)
    if samovar.static(dtype is None):
        return found
    return samovar.cast(found, dtype)
