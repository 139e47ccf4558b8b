"""Matrices given by what they do, and the solvers for them under the names of other frameworks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samovar._native import Tensor
from samovar.linalg.krylov import CG, BiCGSTAB, Solution


class LinearOperator:
    """A matrix given by its effect on an array or a field: `matvec(x, y)` stores A x in y.

    >>> import samovar as sv
    >>> double = sv.linalg.LinearOperator(lambda x, y: y.copy_from(x))
    >>> b, x = sv.ndarray(sv.f32, 2), sv.ndarray(sv.f32, 2)
    >>> b.fill(1)
    >>> sv.linalg.MatrixFreeCG(double, b, x)
    True
    """

    __module__ = "samovar.linalg"  # its public name, in pickles and messages

    def __init__(self, matvec_kernel: Callable[[Any, Any], object]) -> None:
        self.matvec = matvec_kernel


def MatrixFreeCG(
    A: LinearOperator, b: Tensor, x: Tensor, tol: float = 1e-6, maxiter: int = 5000, quiet: bool = True
) -> bool:
    """Run `CG` with a `LinearOperator`. Returns whether it converged.

    >>> import samovar as sv
    >>> b, x = sv.ndarray(sv.f32, 2), sv.ndarray(sv.f32, 2)
    >>> b.fill(1)
    >>> sv.linalg.MatrixFreeCG(sv.linalg.LinearOperator(lambda x, y: y.copy_from(x)), b, x)
    True
    """
    return _report("MatrixFreeCG", CG(A.matvec, b, x, tol, maxiter), quiet)


def MatrixFreeBICGSTAB(
    A: LinearOperator, b: Tensor, x: Tensor, tol: float = 1e-6, maxiter: int = 5000, quiet: bool = True
) -> bool:
    """Run `BiCGSTAB` with a `LinearOperator`. Returns whether it converged.

    >>> import samovar as sv
    >>> b, x = sv.ndarray(sv.f32, 2), sv.ndarray(sv.f32, 2)
    >>> b.fill(1)
    >>> sv.linalg.MatrixFreeBICGSTAB(sv.linalg.LinearOperator(lambda x, y: y.copy_from(x)), b, x)
    True
    """
    return _report("MatrixFreeBICGSTAB", BiCGSTAB(A.matvec, b, x, tol, maxiter), quiet)


def _report(name: str, found: Solution, quiet: bool) -> bool:
    if not quiet:
        print(f"{name}: residual {found.residual:.3e} after {found.steps} steps")
    return found.converged
