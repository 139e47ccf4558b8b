"""Norms and functions of them. Kernels compile the same source."""

from __future__ import annotations

from samovar.language import TABLED, library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

sqrt, rsqrt = TABLED["sqrt"], TABLED["rsqrt"]


@library
def norm_sqr(value: Any) -> Any:
    """The sum of the squared elements."""
    return (value * value).sum()


@library
def norm(value: Any, eps: Any = 0) -> Any:
    """The square root of the sum of the squared elements and `eps`."""
    return sqrt(norm_sqr(value) + eps)


@library
def norm_inv(value: Any, eps: Any = 0) -> Any:
    """The reciprocal of the norm."""
    return rsqrt(norm_sqr(value) + eps)


@library
def normalized(value: Any, eps: Any = 0) -> Any:
    """The value divided by its norm; `eps` is added to the norm."""
    return value / (norm(value) + eps)
