"""Distances to the nearest seed, by jumps that halve."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 32
seed = qd.Vector.field(2, qd.i32, (n, n))
best = qd.Vector.field(2, qd.i32, (n, n))
distance = qd.field(qd.f32, (n, n))


@qd.kernel
def start(points: qd.types.ndarray(dtype=qd.i32, ndim=2)):
    for i, j in seed:
        seed[i, j] = [-1000, -1000]
    for k in range(points.shape[0]):
        seed[points[k, 0], points[k, 1]] = [points[k, 0], points[k, 1]]


@qd.kernel
def jump(step: qd.i32):
    for i, j in seed:
        found = seed[i, j]
        for di, dj in qd.ndrange((-1, 2), (-1, 2)):
            a, b = i + di * step, j + dj * step
            if 0 <= a < n and 0 <= b < n:
                other = seed[a, b]
                here = qd.Vector([i, j])
                if (other - here).norm_sqr() < (found - here).norm_sqr():
                    found = other
        best[i, j] = found
    for i, j in seed:
        seed[i, j] = best[i, j]


@qd.kernel
def measure():
    for i, j in distance:
        distance[i, j] = (seed[i, j] - qd.Vector([i, j])).cast(qd.f32).norm()


start(np.random.default_rng(20).integers(0, n, (6, 2)).astype(np.int32))
for step in (16, 8, 4, 2, 1, 1):
    jump(step)
measure()
results = {"distance": distance.to_numpy()}
