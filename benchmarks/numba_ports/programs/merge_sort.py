"""Merge sort, bottom up, between an array and a second one."""

import numpy as np
from numba import njit


@njit
def merge(source, target, low, middle, high):
    i = low
    j = middle
    for k in range(low, high):
        if i < middle and (j >= high or source[i] <= source[j]):
            target[k] = source[i]
            i += 1
        else:
            target[k] = source[j]
            j += 1


@njit(cache=True)
def merge_sort(a, spare):
    n = len(a)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            merge(a, spare, low, min(low + width, n), min(low + 2 * width, n))
        a[:] = spare
        width *= 2


def arguments(scale):
    a = np.random.default_rng(19).integers(0, 1000, 20_000 * scale)
    return a, np.zeros_like(a)


main = merge_sort
