"""The conjugate gradient method for the Poisson equation, without a matrix."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu, default_fp=qd.f64)
n = 20
x, r, p, Ap = (qd.field(qd.f64, (n + 2, n + 2)) for _ in range(4))


@qd.kernel
def start():
    for i, j in qd.ndrange((1, n + 1), (1, n + 1)):
        r[i, j] = qd.sin(0.7 * i) * qd.cos(0.5 * j)
        p[i, j] = r[i, j]


@qd.kernel
def dot(a: qd.template(), b: qd.template()) -> qd.f64:
    total = 0.0
    for i, j in qd.ndrange((1, n + 1), (1, n + 1)):
        total += a[i, j] * b[i, j]
    return total


@qd.kernel
def apply():
    for i, j in qd.ndrange((1, n + 1), (1, n + 1)):
        Ap[i, j] = 4 * p[i, j] - p[i - 1, j] - p[i + 1, j] - p[i, j - 1] - p[i, j + 1]


@qd.kernel
def improve(alpha: qd.f64):
    for i, j in qd.ndrange((1, n + 1), (1, n + 1)):
        x[i, j] += alpha * p[i, j]
        r[i, j] -= alpha * Ap[i, j]


@qd.kernel
def turn(beta: qd.f64):
    for i, j in qd.ndrange((1, n + 1), (1, n + 1)):
        p[i, j] = r[i, j] + beta * p[i, j]


start()
old = dot(r, r)
for _ in range(40):
    apply()
    improve(old / dot(p, Ap))
    new = dot(r, r)
    turn(new / old)
    old = new
results = {"x": x.to_numpy(), "is_small": np.array(int(old < 1e-6))}
