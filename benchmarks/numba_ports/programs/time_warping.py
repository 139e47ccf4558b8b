"""Dynamic time warping of two series."""

import numpy as np
from numba import njit


@njit(cache=True)
def dtw(x, y, cost):
    n, m = len(x), len(y)
    cost[:] = np.inf
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            d = abs(x[i - 1] - y[j - 1])
            cost[i, j] = d + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[n, m]


def arguments(scale):
    rng = np.random.default_rng(6)
    x, y = rng.random(200 * scale), rng.random(220)
    return x, y, np.zeros((len(x) + 1, len(y) + 1))


main = dtw
