"""Sorting by comparing neighbors, all pairs of one parity at a time."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 200
values = qd.field(qd.i32, n)
changed = qd.field(qd.i32, ())


@qd.kernel
def compare(parity: qd.i32):
    for k in range((n - parity) // 2):
        i = 2 * k + parity
        if i + 1 < n and values[i] > values[i + 1]:
            values[i], values[i + 1] = values[i + 1], values[i]
            changed[None] = 1


values.from_numpy(np.random.default_rng(4).integers(0, 1000, n).astype(np.int32))
rounds = 0
changed[None] = 1
while changed[None]:
    changed[None] = 0
    compare(0)
    compare(1)
    rounds += 1
results = {"values": values.to_numpy(), "rounds": np.array(rounds)}
