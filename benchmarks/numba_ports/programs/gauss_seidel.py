"""Gauss-Seidel iterations for the Laplace equation, until they hardly change anything."""

import numpy as np
from numba import njit


@njit(cache=True)
def gauss_seidel(u, tolerance, limit):
    n, m = u.shape
    for step in range(limit):
        change = 0.0
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                change = max(change, abs(new - u[i, j]))
                u[i, j] = new
        if change < tolerance:
            return step
    return limit


def arguments(scale):
    u = np.zeros((40 * scale, 50))
    u[0] = 1.0
    return u, 1e-4, 2000


main = gauss_seidel
