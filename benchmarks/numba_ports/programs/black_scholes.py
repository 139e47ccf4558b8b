"""Prices of options, with a function of a number for the normal distribution."""

import math

import numpy as np
from numba import njit, prange


@njit
def cumulative(d):
    return 0.5 * (1.0 + math.erf(d / math.sqrt(2.0)))


@njit(parallel=True, fastmath=True, cache=True)
def black_scholes(price, strike, years, rate, volatility, call, put):
    for i in prange(len(price)):
        root = volatility * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (rate + 0.5 * volatility**2) * years[i]) / root
        d2 = d1 - root
        discounted = strike[i] * math.exp(-rate * years[i])
        call[i] = price[i] * cumulative(d1) - discounted * cumulative(d2)
        put[i] = discounted * cumulative(-d2) - price[i] * cumulative(-d1)


def arguments(scale):
    rng = np.random.default_rng(8)
    n = 50_000 * scale
    years = rng.uniform(0.25, 10, n)
    return rng.uniform(5, 30, n), rng.uniform(1, 100, n), years, 0.02, 0.3, np.zeros(n), np.zeros(n)


main = black_scholes
