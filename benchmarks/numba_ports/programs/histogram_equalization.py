"""Histogram equalization of a gray image of bytes."""

import numpy as np
from numba import njit


@njit(cache=True)
def equalize(image, result):
    height, width = image.shape
    counts = np.zeros(256, np.int64)
    for i in range(height):
        for j in range(width):
            counts[image[i, j]] += 1
    below = np.zeros(256, np.int64)
    running = 0
    for level in range(256):
        running += counts[level]
        below[level] = running
    least = 0
    for level in range(256):
        if below[level] > 0:
            least = below[level]
            break
    for i in range(height):
        for j in range(width):
            result[i, j] = int((below[image[i, j]] - least) / (height * width - least) * 255.0)


def arguments(scale):
    image = np.random.default_rng(11).normal(120, 20, (200 * scale, 300)).clip(0, 255).astype(np.uint8)
    return image, np.zeros_like(image)


main = equalize
