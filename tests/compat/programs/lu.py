"""A linear system by elimination, with a grid of unknowns in double precision."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 16


@qd.kernel
def eliminate(A: qd.types.ndarray(dtype=qd.f64, ndim=2), b: qd.types.ndarray(dtype=qd.f64, ndim=1), k: qd.i32):
    for i in range(k + 1, n):
        factor = A[i, k] / A[k, k]
        for j in range(k, n):
            A[i, j] -= factor * A[k, j]
        b[i] -= factor * b[k]


@qd.kernel
def substitute(A: qd.types.ndarray(dtype=qd.f64, ndim=2), b: qd.types.ndarray(dtype=qd.f64, ndim=1)):
    qd.loop_config(serialize=True)
    for step in range(n):
        i = n - 1 - step
        for j in range(i + 1, n):
            b[i] -= A[i, j] * b[j]
        b[i] /= A[i, i]


random = np.random.default_rng(12)
A, b = random.random((n, n)) + n * np.eye(n), random.random(n)
for k in range(n - 1):
    eliminate(A, b, k)
substitute(A, b)
results = {"x": b}
