"""Mean and standard deviation of a sliding window."""

import math

import numpy as np
from numba import njit


@njit(cache=True)
def rolling(x, window, mean, deviation):
    total = 0.0
    squares = 0.0
    for i in range(len(x)):
        total += x[i]
        squares += x[i] * x[i]
        if i >= window:
            total -= x[i - window]
            squares -= x[i - window] ** 2
        if i >= window - 1:
            m = total / window
            mean[i] = m
            deviation[i] = math.sqrt(max(squares / window - m * m, 0.0))
        else:
            mean[i] = np.nan
            deviation[i] = np.nan


def arguments(scale):
    x = np.random.default_rng(3).random(100_000 * scale)
    return x, 50, np.empty_like(x), np.empty_like(x)


main = rolling
