"""The material point method in two dimensions: particles to a grid and back (fluid)."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
particles, grid = 256, 24
dx, dt = 1 / grid, 2e-4
x = qd.Vector.field(2, float, particles)
v = qd.Vector.field(2, float, particles)
C = qd.Matrix.field(2, 2, float, particles)
J = qd.field(float, particles)
grid_v = qd.Vector.field(2, float, (grid, grid))
grid_m = qd.field(float, (grid, grid))


@qd.kernel
def substep():
    for i, j in grid_m:
        grid_v[i, j] = [0, 0]
        grid_m[i, j] = 0
    for p in x:
        Xp = x[p] / dx
        base = int(Xp - 0.5)
        fx = Xp - base
        w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
        stress = -dt * 4 * 400 * (J[p] - 1) / dx**2 * (dx / 2) ** 2
        affine = qd.Matrix([[stress, 0], [0, stress]]) + C[p]
        for i, j in qd.static(qd.ndrange(3, 3)):
            offset = qd.Vector([i, j])
            dpos = (offset - fx) * dx
            weight = w[i].x * w[j].y
            grid_v[base + offset] += weight * (v[p] + affine @ dpos)
            grid_m[base + offset] += weight
    for i, j in grid_m:
        if grid_m[i, j] > 0:
            grid_v[i, j] /= grid_m[i, j]
        grid_v[i, j].y -= dt * 9.8
        if i < 3 and grid_v[i, j].x < 0:
            grid_v[i, j].x = 0
        if j < 3 and grid_v[i, j].y < 0:
            grid_v[i, j].y = 0
    for p in x:
        Xp = x[p] / dx
        base = int(Xp - 0.5)
        fx = Xp - base
        w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
        new_v = qd.Vector.zero(float, 2)
        new_C = qd.Matrix.zero(float, 2, 2)
        for i, j in qd.static(qd.ndrange(3, 3)):
            offset = qd.Vector([i, j])
            dpos = (offset - fx) * dx
            weight = w[i].x * w[j].y
            g_v = grid_v[base + offset]
            new_v += weight * g_v
            new_C += 4 * weight * g_v.outer_product(dpos) / dx**2
        v[p] = new_v
        x[p] += dt * v[p]
        J[p] *= 1 + dt * new_C.trace()
        C[p] = new_C


x.from_numpy((np.random.default_rng(3).random((particles, 2)) * 0.4 + 0.2).astype(np.float32))
J.fill(1)
v.fill(-1.0)
for _ in range(20):
    substep()
results = {"x": x.to_numpy(), "v": v.to_numpy(), "J": J.to_numpy()}
