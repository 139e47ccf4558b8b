"""The number of ways to place n queens, by backtracking with bits."""

import numpy as np
from numba import njit


@njit(cache=True)
def queens(n):
    everything = (1 << n) - 1
    columns = np.zeros(32, np.int64)
    left = np.zeros(32, np.int64)
    right = np.zeros(32, np.int64)
    free = np.zeros(32, np.int64)
    count = 0
    row = 0
    free[0] = everything
    while row >= 0:
        if free[row] == 0:
            row -= 1
            continue
        bit = free[row] & -free[row]
        free[row] ^= bit
        if row == n - 1:
            count += 1
            continue
        columns[row + 1] = columns[row] | bit
        left[row + 1] = (left[row] | bit) << 1
        right[row + 1] = (right[row] | bit) >> 1
        row += 1
        free[row] = everything & ~(columns[row] | left[row] | right[row])
    return count


def arguments(scale):
    return (min(7 + scale, 10),)


main = queens
