"""Run-length encoding."""

import numpy as np
from numba import njit


@njit(cache=True)
def run_lengths(x, values, lengths):
    count = 0
    start = 0
    n = len(x)
    for i in range(1, n + 1):
        if i == n or x[i] != x[start]:
            values[count] = x[start]
            lengths[count] = i - start
            count += 1
            start = i
    return count


def arguments(scale):
    x = np.repeat(np.random.default_rng(22).integers(0, 5, 30_000 * scale), 3)
    return x, np.zeros_like(x), np.zeros_like(x)


main = run_lengths
