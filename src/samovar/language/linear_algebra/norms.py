"""Norms, and what is made of them. Kernels compile the same text."""

from __future__ import annotations

from samovar.language.functions import library
from samovar.language.mathematics import TABLED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

sqrt, rsqrt = TABLED["sqrt"], TABLED["rsqrt"]


@library
def norm_sqr(value: Any) -> Any:
    """The sum of the squares of the entries."""
    return (value * value).sum()


@library
def norm(value: Any, eps: Any = 0) -> Any:
    """The root of the sum of the squares of the entries, to which `eps` is added."""
    return sqrt(norm_sqr(value) + eps)


@library
def norm_inv(value: Any, eps: Any = 0) -> Any:
    """One over the norm."""
    return rsqrt(norm_sqr(value) + eps)


@library
def normalized(value: Any, eps: Any = 0) -> Any:
    """The same direction with the norm 1; `eps` is added to the norm."""
    return value / (norm(value) + eps)
