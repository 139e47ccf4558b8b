"""For each query, the nearest point, by brute force."""

import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def nearest(points, queries, index, distance):
    for q in prange(queries.shape[0]):
        best = np.inf
        which = -1
        for p in range(points.shape[0]):
            d = points[p] - queries[q]
            s = (d * d).sum()
            if s < best:
                best = s
                which = p
        index[q] = which
        distance[q] = np.sqrt(best)


def arguments(scale):
    rng = np.random.default_rng(4)
    points, queries = rng.random((1000, 3)), rng.random((200 * scale, 3))
    return points, queries, np.zeros(len(queries), np.int64), np.zeros(len(queries))


main = nearest
