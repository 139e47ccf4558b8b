"""The most likely states of a hidden Markov model."""

import numpy as np
from numba import njit


@njit(cache=True)
def viterbi(start, change, emit, seen, score, back, path):
    steps = len(seen)
    states = len(start)
    for s in range(states):
        score[0, s] = start[s] + emit[s, seen[0]]
    for t in range(1, steps):
        for s in range(states):
            best = -np.inf
            which = 0
            for p in range(states):
                value = score[t - 1, p] + change[p, s]
                if value > best:
                    best = value
                    which = p
            score[t, s] = best + emit[s, seen[t]]
            back[t, s] = which
    path[steps - 1] = np.argmax(score[steps - 1])
    for t in range(steps - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]


def arguments(scale):
    rng = np.random.default_rng(24)
    states, symbols, steps = 8, 6, 2000 * scale
    shapes = (states, 1), (states, states), (symbols, states)
    start, change, emit = (np.log(rng.dirichlet(np.ones(n), m)) for n, m in shapes)
    seen = rng.integers(0, symbols, steps)
    back, path = np.zeros((steps, states), np.int64), np.zeros(steps, np.int64)
    return start[0], change, emit, seen, np.zeros((steps, states)), back, path


main = viterbi
