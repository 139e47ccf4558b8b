"""Pi by random points, with a linear congruential generator in each iteration, so that runs can be compared."""

import numpy as np
from numba import njit, prange


@njit
def uniform(state):
    state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return state, (state >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(parallel=True, cache=True)
def estimate_pi(samples):
    inside = 0
    for i in prange(samples):
        state = np.uint64(i + 1)
        state, x = uniform(state)
        state, x = uniform(state)
        state, y = uniform(state)
        if x * x + y * y <= 1.0:
            inside += 1
    return 4.0 * inside / samples


def arguments(scale):
    return (300_000 * scale,)


main = estimate_pi
