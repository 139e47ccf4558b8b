"""The fast Fourier transform of complex numbers, in place."""

import numpy as np
from numba import njit


@njit(cache=True)
def fft(x):
    n = len(x)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            x[i], x[j] = x[j], x[i]
    length = 2
    while length <= n:
        step = np.exp(-2j * np.pi / length)
        for start in range(0, n, length):
            w = 1 + 0j
            for k in range(length // 2):
                u = x[start + k]
                v = x[start + k + length // 2] * w
                x[start + k] = u + v
                x[start + k + length // 2] = u - v
                w *= step
        length *= 2


def arguments(scale):
    rng = np.random.default_rng(20)
    n = 1 << (12 + scale)
    return (rng.random(n) + 1j * rng.random(n),)


main = fft
