"""Game of Life on a torus."""

import numpy as np
from numba import njit, prange


@njit(parallel=True, cache=True)
def life(world, following, steps):
    n, m = world.shape
    for _ in range(steps):
        for i in prange(n):
            for j in range(m):
                alive = 0
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        if di != 0 or dj != 0:
                            alive += world[(i + di) % n, (j + dj) % m]
                following[i, j] = 1 if alive == 3 or (alive == 2 and world[i, j] == 1) else 0
        for i in prange(n):
            for j in range(m):
                world[i, j] = following[i, j]


def arguments(scale):
    world = (np.random.default_rng(7).random((100 * scale, 150)) < 0.3).astype(np.int64)
    return world, np.zeros_like(world), 20


main = life
