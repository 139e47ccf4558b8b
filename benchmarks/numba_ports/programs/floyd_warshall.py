"""Shortest paths between all pairs of nodes."""

import numpy as np
from numba import njit, prange


@njit(parallel=True, cache=True)
def floyd_warshall(distance):
    n = distance.shape[0]
    for k in range(n):
        for i in prange(n):
            for j in range(n):
                through = distance[i, k] + distance[k, j]
                if through < distance[i, j]:
                    distance[i, j] = through


def arguments(scale):
    return (np.random.default_rng(9).uniform(1, 100, (100 * scale, 100 * scale)),)


main = floyd_warshall
