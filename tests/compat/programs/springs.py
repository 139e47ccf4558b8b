"""A net of masses and springs that hangs from a line."""

import quadrants as qd

qd.init(arch=qd.cpu)
n = 12
x = qd.Vector.field(3, float, (n, n))
v = qd.Vector.field(3, float, (n, n))
gravity = qd.Vector([0, -9.8, 0])
offsets = [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, 1)]


@qd.kernel
def start():
    for i, j in x:
        x[i, j] = qd.Vector([i / n, 0.6, j / n + 0.02 * qd.sin(3.0 * i)])


@qd.kernel
def substep(dt: float):
    for i in qd.grouped(x):
        v[i] += gravity * dt
    for i in qd.grouped(x):
        pull = qd.Vector([0.0, 0.0, 0.0])
        for d in qd.static(offsets):
            j = i + qd.Vector(d)
            if 0 <= j[0] < n and 0 <= j[1] < n:
                between = x[i] - x[j]
                rest = qd.Vector(d).cast(float).norm() / n
                pull += -800.0 * between.normalized() * (between.norm() / rest - 1)
        v[i] += pull * dt * 0.05
    for i in qd.grouped(x):
        v[i] *= qd.exp(-1.0 * dt)
        if i[0] == 0:
            v[i] = qd.Vector([0.0, 0.0, 0.0])
        x[i] += dt * v[i]


start()
for _ in range(30):
    substep(1e-3)
results = {"x": x.to_numpy(), "v": v.to_numpy()}
