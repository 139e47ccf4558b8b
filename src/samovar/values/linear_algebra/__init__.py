"""Linear algebra on small matrices: plain functions that kernels compile as they are.

They use only what kernels support: `static` loops for small sizes, conditions on numbers, and no exceptions. Values of an
argument's dtype are made with its `dtype`.
"""

from __future__ import annotations

from samovar.values.linear_algebra.eigenvalues import eig
from samovar.values.linear_algebra.norms import norm, norm_inv, norm_sqr, normalized
from samovar.values.linear_algebra.products import cross, dot, outer_product, trace
from samovar.values.linear_algebra.singular_values import polar_decompose, svd
from samovar.values.linear_algebra.symmetric import make_spd, sym_eig
from samovar.values.linear_algebra.systems import determinant, inverse, solve
from samovar.values.linear_algebra.triangular import cholesky, qr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "METHODS", "cholesky", "cross", "determinant", "dot", "eig", "inverse", "make_spd", "norm", "norm_inv", "norm_sqr",
    "normalized", "outer_product", "polar_decompose", "qr", "solve", "svd", "sym_eig", "trace",
]  # fmt: skip

#: Method of vectors and matrices → the function it calls, with the value as its first argument.
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
