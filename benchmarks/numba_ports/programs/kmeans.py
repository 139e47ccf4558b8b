"""K-means: points are assigned to the nearest center, then centers move to the mean of theirs."""

import numpy as np
from numba import njit, prange


@njit(parallel=True, cache=True)
def kmeans(points, centers, labels, counts, rounds):
    n, dims = points.shape
    k = centers.shape[0]
    for _ in range(rounds):
        for i in prange(n):
            best = np.inf
            for c in range(k):
                d = 0.0
                for j in range(dims):
                    d += (points[i, j] - centers[c, j]) ** 2
                if d < best:
                    best = d
                    labels[i] = c
        centers[:] = 0.0
        counts[:] = 0
        for i in range(n):
            c = labels[i]
            counts[c] += 1
            for j in range(dims):
                centers[c, j] += points[i, j]
        for c in range(k):
            if counts[c] > 0:
                for j in range(dims):
                    centers[c, j] /= counts[c]


def arguments(scale):
    points = np.random.default_rng(1).normal(size=(2000 * scale, 3))
    return points, points[:8].copy(), np.zeros(len(points), np.int64), np.zeros(8, np.int64), 10


main = kmeans
