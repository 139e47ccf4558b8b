"""Products of large matrices, with arrays that are arguments, and blocks in local memory."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 32


@qd.kernel
def multiply(a: qd.types.ndarray(), b: qd.types.ndarray(), c: qd.types.ndarray()):
    for i, j in c:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@qd.kernel
def in_blocks(a: qd.types.ndarray(), b: qd.types.ndarray(), c: qd.types.ndarray()):
    for bi, bj in qd.ndrange(n // 4, n // 4):
        block = qd.Matrix.zero(qd.f32, 4, 4)
        for k in range(n):
            for i, j in qd.static(qd.ndrange(4, 4)):
                block[i, j] += a[bi * 4 + i, k] * b[k, bj * 4 + j]
        for i, j in qd.static(qd.ndrange(4, 4)):
            c[bi * 4 + i, bj * 4 + j] = block[i, j]


random = np.random.default_rng(11)
a, b = (random.random((n, n)).astype(np.float32) for _ in range(2))
c, d = np.zeros((n, n), np.float32), np.zeros((n, n), np.float32)
multiply(a, b, c)
in_blocks(a, b, d)
results = {"c": c, "d": d}
