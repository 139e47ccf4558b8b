"""Matrix-free solvers: conjugate gradients and BiCGSTAB."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import samovar as sv
from samovar._native import Tensor, f64
from samovar.errors import SamovarTypeError

# Annotations of kernels are not types.
# mypy: disable-error-code="valid-type, no-untyped-def, no-any-return, index"


class Solution(NamedTuple):
    """The result of a solver: whether it converged, the norm of the residual, and the number of steps.

    >>> import samovar as sv
    >>> sv.linalg.Solution(True, 0.0, 3).steps
    3
    """

    converged: bool
    residual: float
    steps: int


Solution.__module__ = "samovar.linalg"  # its public name, in pickles and messages


@sv.kernel
def _dot(a: sv.Template, b: sv.Template) -> f64:
    s = f64(0)
    for I in sv.grouped(a):
        s += f64(a[I]) * f64(b[I])
    return s


@sv.kernel
def _add(x: sv.Template, factor: f64, y: sv.Template):
    for I in sv.grouped(x):
        x[I] += sv.cast(factor * y[I], x.dtype)


@sv.kernel
def _scale_and_add(x: sv.Template, factor: f64, y: sv.Template):
    for I in sv.grouped(x):
        x[I] = sv.cast(factor * x[I] + y[I], x.dtype)


def _residual(apply: Callable[[Any, Any], object], b: Tensor, x: Tensor) -> Tensor:
    """b - A x, as a new array or field like b."""
    for each, name in ((b, "b"), (x, "x")):
        if not isinstance(each, Tensor) or each.dtype.kind != "float":
            raise SamovarTypeError(f"`{name}` must be an array or a field of floats")
    if b.shape != x.shape:
        raise ValueError(f"b has shape {b.shape}, but x has shape {x.shape}")
    applied, result = copy.copy(b), copy.copy(b)
    apply(x, applied)
    _add(result, -1.0, applied)
    return result


def CG(
    apply: Callable[[Any, Any], object], b: Tensor, x: Tensor, tol: float = 1e-6, maxiter: int = 5000
) -> Solution:
    """Solve A x = b for a symmetric positive definite A by conjugate gradients; x is the initial guess and the result.

    `apply(x, y)` stores A x in y. Iteration stops when the norm of b - A x is at most `tol` times that of b.

    >>> import samovar as sv
    >>> b, x = sv.ndarray(sv.f32, 2), sv.ndarray(sv.f32, 2)
    >>> b.fill(1)
    >>> sv.linalg.CG(lambda x, y: y.copy_from(x), b, x).steps
    1
    """
    r = _residual(apply, b, x)
    p, applied = copy.copy(r), copy.copy(r)
    limit = tol * math.sqrt(_dot(b, b))
    now = _dot(r, r)
    for step in range(maxiter):
        if math.sqrt(now) <= limit:
            return Solution(True, math.sqrt(now), step)
        apply(p, applied)
        curvature = _dot(p, applied)
        if not curvature > 0:
            return Solution(False, math.sqrt(now), step)
        _add(x, now / curvature, p)
        _add(r, -now / curvature, applied)
        before, now = now, _dot(r, r)
        _scale_and_add(p, now / before, r)
    return Solution(math.sqrt(now) <= limit, math.sqrt(now), maxiter)


def BiCGSTAB(
    apply: Callable[[Any, Any], object], b: Tensor, x: Tensor, tol: float = 1e-6, maxiter: int = 5000
) -> Solution:
    """Solve A x = b for any A by the stabilized biconjugate gradient method (van der Vorst, 1992); otherwise as `CG`.

    >>> import samovar as sv
    >>> b, x = sv.ndarray(sv.f32, 2), sv.ndarray(sv.f32, 2)
    >>> b.fill(1)
    >>> sv.linalg.BiCGSTAB(lambda x, y: y.copy_from(x), b, x).converged
    True
    """
    r = _residual(apply, b, x)
    shadow, p, v, t = (copy.copy(r) for _ in range(4))
    limit = tol * math.sqrt(_dot(b, b))
    rho, norm = _dot(shadow, r), math.sqrt(_dot(r, r))
    for step in range(maxiter):
        if norm <= limit:
            return Solution(True, norm, step)
        apply(p, v)
        along = _dot(shadow, v)
        if along == 0 or rho == 0:
            return Solution(False, norm, step)
        alpha = rho / along
        _add(r, -alpha, v)
        _add(x, alpha, p)
        apply(r, t)
        length = _dot(t, t)
        omega = _dot(t, r) / length if length else 0.0
        _add(x, omega, r)
        _add(r, -omega, t)
        norm = math.sqrt(_dot(r, r))
        if omega == 0:
            return Solution(norm <= limit, norm, step + 1)
        before, rho = rho, _dot(shadow, r)
        _add(p, -omega, v)
        _scale_and_add(p, rho / before * alpha / omega, r)
    return Solution(norm <= limit, norm, maxiter)
