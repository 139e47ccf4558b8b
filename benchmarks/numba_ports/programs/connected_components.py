"""Connected components of a picture, by union and find."""

import numpy as np
from numba import njit


@njit
def find(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@njit
def union(parent, a, b):
    ra = find(parent, a)
    rb = find(parent, b)
    if ra < rb:
        parent[rb] = ra
    else:
        parent[ra] = rb


@njit(cache=True)
def components(image, parent):
    n, m = image.shape
    for i in range(n * m):
        parent[i] = i
    for i in range(n):
        for j in range(m):
            if image[i, j]:
                if i > 0 and image[i - 1, j]:
                    union(parent, i * m + j, (i - 1) * m + j)
                if j > 0 and image[i, j - 1]:
                    union(parent, i * m + j, i * m + j - 1)
    count = 0
    for i in range(n):
        for j in range(m):
            if image[i, j] and find(parent, i * m + j) == i * m + j:
                count += 1
    return count


def arguments(scale):
    image = np.random.default_rng(23).random((150 * scale, 200)) < 0.55
    return image, np.zeros(image.size, np.int64)


main = components
