"""Gaussian elimination with pivoting: for matrices of any size and where closed forms fail. Kernels compile the same source.

Quotients are computed on vectors, because Python numbers raise for a zero divisor. A zero pivot makes results infinite or
NaN, as is right for a singular matrix.
"""

from __future__ import annotations

from samovar._native import i32
from samovar.language import TABLED, static
from samovar.values.matrices import Matrix, Vector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

magnitude = TABLED["abs"]


def eliminated(A: Any, B: Any) -> Any:
    """The solution X of A @ X = B for few rows, by Gauss-Jordan elimination without run-time loops."""
    left, right = A / 1, B / 1 + Matrix.zero(A.dtype, B.n, B.m)
    for k in static(range(A.n)):
        for i in static(range(k + 1, A.n)):
            if magnitude(left[i, k]) > magnitude(left[k, k]):
                for j in static(range(k, A.n)):
                    kept = left[k, j]
                    left[k, j] = left[i, j]
                    left[i, j] = kept
                for j in static(range(B.m)):
                    held = right[k, j]
                    right[k, j] = right[i, j]
                    right[i, j] = held
        pivot = left[k, k]
        row, solved = left[k, :] / pivot, right[k, :] / pivot
        for i in static(range(A.n)):
            multiple = left[i, k]
            if static(i != k):
                for j in static(range(k + 1, A.n)):
                    left[i, j] = left[i, j] - row[j] * multiple
                for j in static(range(B.m)):
                    right[i, j] = right[i, j] - solved[j] * multiple
        for j in static(range(k + 1, A.n)):
            left[k, j] = row[j]
        for j in static(range(B.m)):
            right[k, j] = solved[j]
    return right


def factorized(A: Any) -> Any:
    """The LU factors of A with rows exchanged, both in one matrix; the permutation; and its sign.

    The unit diagonal of the lower factor is not stored. Quotients by a zero pivot are 0, since their numerators are 0 as
    well.
    """
    factors = A / 1
    order = Vector.zero(i32, A.n)
    for i in range(A.n):
        order[i] = i
    sign = 1
    for k in range(A.n):
        chosen = k
        for i in range(k + 1, A.n):
            if magnitude(factors[i, k]) > magnitude(factors[chosen, k]):
                chosen = i
        if chosen != k:
            sign = -sign
            for j in range(A.n):
                kept = factors[k, j]
                factors[k, j] = factors[chosen, j]
                factors[chosen, j] = kept
            kept_row = order[k]
            order[k] = order[chosen]
            order[chosen] = kept_row
        pivot = factors[k, k]
        if pivot != 0:
            for i in range(k + 1, A.n):
                multiple = factors[i, k] / pivot
                factors[i, k] = multiple
                for j in range(k + 1, A.n):
                    factors[i, j] = factors[i, j] - multiple * factors[k, j]
    return factors, order, sign


def substituted(factors: Any, b: Any) -> Any:
    """The solution for LU factors and a right-hand side with permuted rows."""
    solution = b / 1
    for i in range(b.n):
        total = solution[i]
        for j in range(i):
            total = total - factors[i, j] * solution[j]
        solution[i] = total
    for reverse in range(b.n):
        i = b.n - 1 - reverse
        rest = solution[i]
        for j in range(i + 1, b.n):
            rest = rest - factors[i, j] * solution[j]
        solution[i] = (Vector([rest], solution.dtype) / factors[i, i])[0]
    return solution


def solved(A: Any, b: Any) -> Any:
    """The solution x of A @ x = b for one right-hand side, which is eliminated along with A."""
    left, right = A / 1, b / 1 + Vector.zero(A.dtype, A.n)
    for k in range(A.n):
        chosen = k
        for i in range(k + 1, A.n):
            if magnitude(left[i, k]) > magnitude(left[chosen, k]):
                chosen = i
        if chosen != k:
            for j in range(k, A.n):
                kept = left[k, j]
                left[k, j] = left[chosen, j]
                left[chosen, j] = kept
            held = right[k]
            right[k] = right[chosen]
            right[chosen] = held
        pivot = left[k, k]
        if pivot != 0:
            for i in range(k + 1, A.n):
                multiple = left[i, k] / pivot
                for j in range(k + 1, A.n):
                    left[i, j] = left[i, j] - multiple * left[k, j]
                right[i] = right[i] - multiple * right[k]
    for reverse in range(A.n):
        i = A.n - 1 - reverse
        rest = right[i]
        for j in range(i + 1, A.n):
            rest = rest - left[i, j] * right[j]
        right[i] = (Vector([rest], right.dtype) / left[i, i])[0]
    return right


def inverse_by_factors(A: Any) -> Any:
    """The inverse of a matrix of many rows, column by column."""
    factors, order, _ = factorized(A)
    result = Matrix.zero(factors.dtype, A.n, A.n)
    for column in range(A.n):
        unit = Vector.zero(factors.dtype, A.n)
        for i in range(A.n):
            unit[i] = 1 if order[i] == column else 0
        solution = substituted(factors, unit)
        for i in range(A.n):
            result[i, column] = solution[i]
    return result
