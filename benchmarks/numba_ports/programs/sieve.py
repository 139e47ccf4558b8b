"""The sieve of Eratosthenes."""

import numpy as np
from numba import njit


@njit(cache=True)
def sieve(is_prime):
    n = len(is_prime)
    is_prime[:] = True
    is_prime[0] = False
    is_prime[1] = False
    i = 2
    while i * i < n:
        if is_prime[i]:
            for j in range(i * i, n, i):
                is_prime[j] = False
        i += 1
    count = 0
    for i in range(n):
        if is_prime[i]:
            count += 1
    return count


def arguments(scale):
    return (np.zeros(500_000 * scale, np.bool_),)


main = sieve
