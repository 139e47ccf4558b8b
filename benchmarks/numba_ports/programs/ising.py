"""The Ising model, by Metropolis sweeps with given random numbers."""

import numpy as np
from numba import njit


@njit
def sweep(spins, draws, beta):
    n, m = spins.shape
    for i in range(n):
        for j in range(m):
            around = spins[(i + 1) % n, j] + spins[(i - 1) % n, j] + spins[i, (j + 1) % m] + spins[i, (j - 1) % m]
            change = 2 * spins[i, j] * around
            if change <= 0 or draws[i, j] < np.exp(-beta * change):
                spins[i, j] = -spins[i, j]


@njit(cache=True)
def ising(spins, draws, beta):
    for t in range(draws.shape[0]):
        sweep(spins, draws[t], beta)
    return spins.sum()


def arguments(scale):
    rng = np.random.default_rng(13)
    spins = rng.choice(np.array([-1, 1]), (64, 64))
    return spins, rng.random((10 * scale, 64, 64)), 0.44


main = ising
