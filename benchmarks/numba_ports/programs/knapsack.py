"""The 0/1 knapsack problem."""

import numpy as np
from numba import njit


@njit(cache=True)
def knapsack(weights, values, capacity, best):
    best[:] = 0
    for item in range(len(weights)):
        w = weights[item]
        v = values[item]
        for c in range(capacity, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best[capacity]


def arguments(scale):
    rng = np.random.default_rng(14)
    return rng.integers(1, 50, 100), rng.integers(1, 100, 100), 1000 * scale, np.zeros(1000 * scale + 1, np.int64)


main = knapsack
