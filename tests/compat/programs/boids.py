"""A flock: each bird looks at those that are near."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 60


@qd.kernel
def fly(pos: qd.types.ndarray(dtype=qd.math.vec2, ndim=1), vel: qd.types.ndarray(dtype=qd.math.vec2, ndim=1), dt: qd.f32):
    for i in pos:
        center, heading, apart = qd.math.vec2(0), qd.math.vec2(0), qd.math.vec2(0)
        seen = 0
        for j in range(pos.shape[0]):
            d = pos[j] - pos[i]
            if i != j and d.norm() < 0.3:
                seen += 1
                center += d
                heading += vel[j]
                apart -= d / (d.norm_sqr() + 0.01)
        steer = 0.01 * apart
        if seen > 0:
            steer += 0.5 * center / seen + 0.2 * (heading / seen - vel[i])
        pos[i] += dt * vel[i] + 0.5 * dt * dt * steer


@qd.kernel
def turn(pos: qd.types.ndarray(dtype=qd.math.vec2, ndim=1), vel: qd.types.ndarray(dtype=qd.math.vec2, ndim=1)):
    for i in pos:
        p = pos[i]
        vel[i] = qd.math.vec2(vel[i].y - 0.1 * p.x, -vel[i].x - 0.1 * p.y) * 0.9


pos, vel = qd.Vector.ndarray(2, qd.f32, n), qd.Vector.ndarray(2, qd.f32, n)
random = np.random.default_rng(17)
pos.from_numpy(random.random((n, 2)).astype(np.float32))
vel.from_numpy(random.random((n, 2)).astype(np.float32))
turn(pos, vel)
fly(pos, vel, 0.01)
results = {"pos": pos.to_numpy(), "vel": vel.to_numpy()}
