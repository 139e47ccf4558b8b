"""Densities and pressures of a fluid of particles, with smoothing kernels that are funcs."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 120
x = qd.Vector.field(2, qd.f32, n)
density = qd.field(qd.f32, n)
force = qd.Vector.field(2, qd.f32, n)
h = 0.15


@qd.func
def poly6(r: qd.f32) -> qd.f32:
    result = 0.0
    if 0 < r < h:
        result = 315 / (64 * qd.math.pi) * ((h * h - r * r) / h**3) ** 3
    return result


@qd.func
def spiky_gradient(d):
    r, result = d.norm(), qd.Vector([0.0, 0.0])
    if 0 < r < h:
        result = -45 / qd.math.pi * ((h - r) / h**3) ** 2 * d / r
    return result


@qd.kernel
def compute():
    for i in x:
        density[i] = 1.0
        for j in range(n):
            density[i] += 1e-3 * poly6((x[i] - x[j]).norm())
    for i in x:
        total = qd.Vector([0.0, 0.0])
        for j in range(n):
            if j != i:
                pressure = (density[i] + density[j] - 2) * 0.5
                total -= pressure / density[j] * spiky_gradient(x[i] - x[j])
        force[i] = total


x.from_numpy(np.random.default_rng(16).random((n, 2)).astype(np.float32))
compute()
results = {"density": density.to_numpy(), "force": force.to_numpy()}
