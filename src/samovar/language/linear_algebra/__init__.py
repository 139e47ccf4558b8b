"""Linear algebra on small matrices: plain functions, which kernels compile as they are.

They are written in what kernels know: loops that are `static` where the size is small, conditions on numbers, and no
exceptions. A value of the dtype of an argument is made with its `dtype`.
"""

from __future__ import annotations

from samovar.language.linear_algebra.eigenvalues import eig
from samovar.language.linear_algebra.norms import norm, norm_inv, norm_sqr, normalized
from samovar.language.linear_algebra.products import cross, dot, outer_product, trace
from samovar.language.linear_algebra.singular_values import polar_decompose, svd
from samovar.language.linear_algebra.symmetric import make_spd, sym_eig
from samovar.language.linear_algebra.systems import determinant, inverse, solve
from samovar.language.linear_algebra.triangular import cholesky, qr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "METHODS", "cholesky", "cross", "determinant", "dot", "eig", "inverse", "make_spd", "norm", "norm_inv", "norm_sqr",
    "normalized", "outer_product", "polar_decompose", "qr", "solve", "svd", "sym_eig", "trace",
]  # fmt: skip

#: Method of vectors and matrices → the function that it is, which takes the value first.
METHODS: dict[str, Callable[..., Any]] = {
    "cross": cross,
    "determinant": determinant,
    "dot": dot,
    "inverse": inverse,
    "norm": norm,
    "norm_inv": norm_inv,
    "norm_sqr": norm_sqr,
    "normalized": normalized,
    "outer_product": outer_product,
    "trace": trace,
}
