"""Random walks on a grid: how far they get."""

import numpy as np
from numba import njit


@njit(cache=True)
def walks(steps, distances):
    for w in range(len(distances)):
        x = 0
        y = 0
        for _ in range(steps):
            r = np.random.random()
            if r < 0.25:
                x += 1
            elif r < 0.5:
                x -= 1
            elif r < 0.75:
                y += 1
            else:
                y -= 1
        distances[w] = np.sqrt(x * x + y * y)
    return distances.mean()


def arguments(scale):
    return 400, np.zeros(1000 * scale)


def agree(ours, theirs):
    """Both draw numbers of their own: the mean distance is about sqrt(pi · steps / 4)."""
    return abs(ours[0] - theirs[0]) < 1.5 and abs(ours[0] - (np.pi * 100) ** 0.5) < 1.5


main = walks
