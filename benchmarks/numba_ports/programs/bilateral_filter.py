"""A bilateral filter: a blur that keeps edges."""

import math

import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def bilateral(image, result, radius, spatial, tonal):
    height, width = image.shape
    for i in prange(height):
        for j in range(width):
            total = 0.0
            weights = 0.0
            for y in range(max(i - radius, 0), min(i + radius + 1, height)):
                for x in range(max(j - radius, 0), min(j + radius + 1, width)):
                    near = ((y - i) ** 2 + (x - j) ** 2) / (2.0 * spatial**2)
                    like = (image[y, x] - image[i, j]) ** 2 / (2.0 * tonal**2)
                    w = math.exp(-near - like)
                    total += w * image[y, x]
                    weights += w
            result[i, j] = total / weights


def arguments(scale):
    image = np.random.default_rng(10).random((60 * scale, 80))
    return image, np.zeros_like(image), 3, 2.0, 0.1


main = bilateral
