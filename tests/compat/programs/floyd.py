"""Shortest ways between all pairs of points."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 24
ways = qd.field(qd.i32, shape=(n, n))


@qd.kernel
def relax(k: qd.i32):
    for i, j in ways:
        through = ways[i, k] + ways[k, j]
        if through < ways[i, j]:
            ways[i, j] = through


table = np.random.default_rng(22).integers(1, 100, (n, n)).astype(np.int32)
np.fill_diagonal(table, 0)
ways.from_numpy(table)
for k in range(n):
    relax(k)
results = {"ways": ways.to_numpy()}
