"""The running maximum, and the deepest fall below it."""

import numpy as np
from numba import njit


@njit(cache=True)
def drawdown(prices, highest):
    peak = prices[0]
    worst = 0.0
    for i, price in enumerate(prices):
        if price > peak:
            peak = price
        highest[i] = peak
        worst = max(worst, (peak - price) / peak)
    return worst


def arguments(scale):
    prices = np.exp(np.random.default_rng(21).normal(0, 0.01, 100_000 * scale).cumsum())
    return prices, np.zeros_like(prices)


main = drawdown
