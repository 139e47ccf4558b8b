"""The bounds of dtypes: where a minimum or a maximum starts."""

from __future__ import annotations

from typing import Any

from samovar.language import integer_range


def least_of(dtype: Any) -> Any:
    return float("-inf") if dtype.kind == "float" else integer_range(dtype)[0]


def greatest_of(dtype: Any) -> Any:
    return float("inf") if dtype.kind == "float" else integer_range(dtype)[1]
