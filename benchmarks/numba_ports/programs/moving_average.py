"""A moving average by the mean of a slice."""

import numpy as np
from numba import njit


@njit(cache=True)
def moving_average(x, window, result):
    for i in range(window - 1, len(x)):
        result[i] = x[i - window + 1 : i + 1].mean()


def arguments(scale):
    x = np.random.default_rng(12).random(20_000 * scale)
    return x, 20, np.zeros_like(x)


main = moving_average
