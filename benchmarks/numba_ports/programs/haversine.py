"""The matrix of distances between places on a globe."""

from math import asin, cos, radians, sin, sqrt

import numpy as np
from numba import njit, prange


@njit
def haversine(lat1, lon1, lat2, lon2):
    lat1, lon1, lat2, lon2 = radians(lat1), radians(lon1), radians(lat2), radians(lon2)
    a = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371.0 * asin(sqrt(a))


@njit(parallel=True, cache=True)
def distances(places, result):
    n = places.shape[0]
    for i in prange(n):
        for j in range(n):
            result[i, j] = haversine(places[i, 0], places[i, 1], places[j, 0], places[j, 1])


def arguments(scale):
    rng = np.random.default_rng(16)
    n = 200 * scale
    return np.column_stack([rng.uniform(-60, 60, n), rng.uniform(-180, 180, n)]), np.zeros((n, n))


main = distances
