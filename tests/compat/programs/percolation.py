"""Water that finds its way down through a porous wall."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 40


@qd.kernel
def flow(is_open: qd.types.ndarray(qd.u8, 2), wet: qd.types.ndarray(qd.u8, 2)) -> qd.i32:
    new = 0
    for i, j in wet:
        if is_open[i, j] != 0 and wet[i, j] == 0:
            reached = i == 0
            if i > 0 and wet[i - 1, j] == 1:
                reached = True
            if i < n - 1 and wet[i + 1, j] == 1:
                reached = True
            if j > 0 and wet[i, j - 1] == 1:
                reached = True
            if j < n - 1 and wet[i, j + 1] == 1:
                reached = True
            if reached:
                wet[i, j] = 1
                new += 1
    return new


is_open = (np.random.default_rng(23).random((n, n)) < 0.65).astype(np.uint8)
wet = np.zeros((n, n), np.uint8)
while flow(is_open, wet) > 0:
    pass
results = {"wet": wet}
