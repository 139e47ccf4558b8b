"""A Julia set, with `abs` of a complex number."""

import numpy as np
from numba import njit, prange


@njit(parallel=True, cache=True)
def julia(image, c, limit):
    n, m = image.shape
    for i in prange(n):
        for j in range(m):
            z = complex(3.0 * i / n - 1.5, 3.0 * j / m - 1.5)
            count = 0
            while abs(z) < 2.0 and count < limit:
                z = z * z + c
                count += 1
            image[i, j] = count


def arguments(scale):
    return np.zeros((100 * scale, 150), np.int32), complex(-0.7, 0.27015), 200


main = julia
