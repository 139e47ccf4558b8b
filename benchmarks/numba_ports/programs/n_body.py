"""Gravity between bodies: velocities and positions advance in small steps."""

import numpy as np
from numba import njit, prange


@njit(parallel=True, fastmath=True, cache=True)
def n_body(x, v, mass, dt, steps):
    n = x.shape[0]
    for _ in range(steps):
        for i in prange(n):
            ax = 0.0
            ay = 0.0
            az = 0.0
            for j in range(n):
                dx = x[j, 0] - x[i, 0]
                dy = x[j, 1] - x[i, 1]
                dz = x[j, 2] - x[i, 2]
                inverse = (dx * dx + dy * dy + dz * dz + 1e-3) ** -1.5
                ax += mass[j] * dx * inverse
                ay += mass[j] * dy * inverse
                az += mass[j] * dz * inverse
            v[i, 0] += dt * ax
            v[i, 1] += dt * ay
            v[i, 2] += dt * az
        for i in prange(n):
            for k in range(3):
                x[i, k] += dt * v[i, k]


def arguments(scale):
    rng = np.random.default_rng(25)
    n = 150 * scale
    return rng.normal(size=(n, 3)), np.zeros((n, 3)), rng.random(n), 1e-3, 5


main = n_body
