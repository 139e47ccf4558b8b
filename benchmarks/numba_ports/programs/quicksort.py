"""Quicksort with a stack of its own."""

import numpy as np
from numba import njit


@njit
def partition(a, low, high):
    pivot = a[(low + high) // 2]
    i = low
    j = high
    while i <= j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i <= j:
            a[i], a[j] = a[j], a[i]
            i += 1
            j -= 1
    return i, j


@njit(cache=True)
def quicksort(a):
    stack = np.empty((64, 2), np.int64)
    stack[0, 0] = 0
    stack[0, 1] = len(a) - 1
    top = 1
    while top > 0:
        top -= 1
        low = stack[top, 0]
        high = stack[top, 1]
        while low < high:
            i, j = partition(a, low, high)
            if j - low < high - i:
                stack[top, 0] = i
                stack[top, 1] = high
                high = j
            else:
                stack[top, 0] = low
                stack[top, 1] = j
                low = i
            top += 1


def arguments(scale):
    return (np.random.default_rng(18).random(20_000 * scale),)


main = quicksort
