"""A rope of particles, held by constraints of length that are satisfied one after another."""

import quadrants as qd

qd.init(arch=qd.cpu)
n = 20
pos = qd.Vector.field(2, qd.f32, n)
old = qd.Vector.field(2, qd.f32, n)
length = 0.05


@qd.kernel
def start():
    for i in pos:
        pos[i] = old[i] = qd.Vector([i * length, 1.0])


@qd.kernel
def step(dt: qd.f32):
    for i in range(1, n):
        moved = pos[i] - old[i]
        old[i] = pos[i]
        pos[i] += 0.99 * moved + dt * dt * qd.Vector([0.0, -9.8])


@qd.kernel
def satisfy(rounds: qd.template()):
    for _ in range(1):
        for _r in range(rounds):
            for i in range(n - 1):
                d = pos[i + 1] - pos[i]
                correction = d * (1 - length / d.norm(1e-9))
                if i == 0:
                    pos[i + 1] -= correction
                else:
                    pos[i] += 0.5 * correction
                    pos[i + 1] -= 0.5 * correction


start()
for _ in range(30):
    step(0.01)
    satisfy(10)
results = {"pos": pos.to_numpy()}
