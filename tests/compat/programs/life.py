"""Conway's game of life on a torus."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 48
alive = qd.field(dtype=qd.i32, shape=(n, n))
count = qd.field(dtype=qd.i32, shape=(n, n))


@qd.func
def neighbors(i, j):
    total = 0
    for di, dj in qd.static(qd.ndrange((-1, 2), (-1, 2))):
        if di != 0 or dj != 0:
            total += alive[(i + di + n) % n, (j + dj + n) % n]
    return total


@qd.kernel
def step():
    for i, j in alive:
        count[i, j] = neighbors(i, j)
    for i, j in alive:
        if alive[i, j] == 1:
            if count[i, j] != 2 and count[i, j] != 3:
                alive[i, j] = 0
        elif count[i, j] == 3:
            alive[i, j] = 1


alive.from_numpy((np.random.default_rng(1).random((n, n)) < 0.3).astype(np.int32))
for _ in range(20):
    step()
results = {"alive": alive.to_numpy(), "count": count.to_numpy()}
