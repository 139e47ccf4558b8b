"""A 2-D convolution with a small kernel; edges are left alone."""

import numpy as np
from numba import njit, prange


@njit(parallel=True, cache=True)
def convolve(image, weights, result):
    height, width = image.shape
    kh, kw = weights.shape
    for i in prange(kh // 2, height - kh // 2):
        for j in range(kw // 2, width - kw // 2):
            total = 0.0
            for di in range(kh):
                for dj in range(kw):
                    total += weights[di, dj] * image[i + di - kh // 2, j + dj - kw // 2]
            result[i, j] = total


def arguments(scale):
    image = np.random.default_rng(5).random((200 * scale, 300))
    return image, np.full((5, 5), 0.04), image.copy()


main = convolve
