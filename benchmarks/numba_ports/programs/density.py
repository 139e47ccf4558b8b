"""A kernel density estimate."""

import math

import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def density(samples, places, bandwidth, result):
    scale = 1.0 / (len(samples) * bandwidth * math.sqrt(2 * math.pi))
    for i in prange(len(places)):
        total = 0.0
        for j in range(len(samples)):
            z = (places[i] - samples[j]) / bandwidth
            total += math.exp(-0.5 * z * z)
        result[i] = total * scale


def arguments(scale):
    places = np.linspace(-4, 4, 200 * scale)
    return np.random.default_rng(17).normal(size=2000), places, 0.2, np.zeros_like(places)


main = density
