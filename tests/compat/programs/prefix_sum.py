"""Running sums in log(n) steps, with two arrays that change places."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 300


@qd.kernel
def step(a: qd.types.NDArray[qd.i64, 1], b: qd.types.NDArray[qd.i64, 1], distance: int):
    for i in range(a.shape[0]):
        b[i] = a[i] + a[i - distance] if i >= distance else a[i]


a, b = qd.ndarray(qd.i64, n), qd.ndarray(qd.i64, n)
a.from_numpy(np.random.default_rng(8).integers(-50, 50, n))
distance = 1
while distance < n:
    step(a, b, distance)
    a, b = b, a
    distance *= 2
results = {"sums": a.to_numpy()}
