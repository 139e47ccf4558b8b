"""The edit distance of two texts, given as codes of letters."""

import numpy as np
from numba import njit


@njit(cache=True)
def levenshtein(a, b, row):
    for j in range(len(b) + 1):
        row[j] = j
    for i in range(1, len(a) + 1):
        diagonal = row[0]
        row[0] = i
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            above = row[j]
            row[j] = min(above + 1, row[j - 1] + 1, diagonal + cost)
            diagonal = above
    return row[len(b)]


def arguments(scale):
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 4, 300 * scale), rng.integers(0, 4, 280 * scale)
    return a, b, np.zeros(len(b) + 1, np.int64)


main = levenshtein
