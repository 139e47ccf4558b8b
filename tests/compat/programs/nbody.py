"""Bodies that attract each other, with vector fields."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 32
position = qd.Vector.field(3, dtype=qd.f32, shape=n)
velocity = qd.Vector.field(3, dtype=qd.f32, shape=n)
force = qd.Vector.field(3, dtype=qd.f32, shape=n)


@qd.kernel
def attract():
    for i in range(n):
        total = qd.Vector([0.0, 0.0, 0.0])
        for j in range(n):
            if i != j:
                d = position[j] - position[i]
                r = d.norm(1e-2)
                total += d / r**3
        force[i] = total


@qd.kernel
def move(dt: qd.f32):
    for i in position:
        velocity[i] += dt * force[i]
        position[i] += dt * velocity[i]


position.from_numpy(np.random.default_rng(2).random((n, 3)).astype(np.float32))
for _ in range(10):
    attract()
    move(1e-4)
results = {"position": position.to_numpy(), "velocity": velocity.to_numpy()}
