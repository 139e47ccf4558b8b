"""The Mandelbrot set, with complex numbers."""

import numpy as np
from numba import njit, prange


@njit
def escape(c, limit):
    z = 0j
    for n in range(limit):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag > 4.0:
            return n
    return limit


@njit(parallel=True, fastmath=True, cache=True)
def mandelbrot(image, xmin, xmax, ymin, ymax, limit):
    height, width = image.shape
    for row in prange(height):
        for column in range(width):
            x = xmin + (xmax - xmin) * column / width
            y = ymin + (ymax - ymin) * row / height
            image[row, column] = escape(complex(x, y), limit)


def arguments(scale):
    return np.zeros((100 * scale, 150), np.int64), -2.0, 1.0, -1.0, 1.0, 200


main = mandelbrot
