"""The cheapest order in which to multiply a chain of matrices."""

import numpy as np
from numba import njit


@njit(cache=True)
def matrix_chain(sizes, cost):
    n = len(sizes) - 1
    for i in range(n):
        cost[i, i] = 0
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            best = np.int64(2**62)
            for k in range(i, j):
                c = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if c < best:
                    best = c
            cost[i, j] = best
    return cost[0, n - 1]


def arguments(scale):
    n = 60 * scale
    return np.random.default_rng(15).integers(5, 50, n + 1), np.zeros((n, n), np.int64)


main = matrix_chain
