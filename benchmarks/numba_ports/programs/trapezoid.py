"""Integrals by the trapezoidal rule of a function that is passed as an argument."""

import math

from numba import njit


@njit
def bell(x):
    return math.exp(-x * x)


@njit
def wave(x):
    return math.sin(x) ** 2


@njit(cache=True)
def integrate(f, low, high, n):
    h = (high - low) / n
    total = 0.5 * (f(low) + f(high))
    for i in range(1, n):
        total += f(low + i * h)
    return total * h


def arguments(scale):
    return bell, -3.0, 3, 100_000 * scale


main = integrate
