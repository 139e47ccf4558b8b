"""Particles as structs, with a func that takes one and another that makes one."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
vec3 = qd.types.vector(3, qd.f32)
Particle = qd.types.struct(pos=vec3, vel=vec3, mass=qd.f32, alive=qd.i32)
n = 20
particles = Particle.field(shape=n)


@qd.func
def energy(p):
    return 0.5 * p.mass * p.vel.norm_sqr() + p.mass * 9.8 * p.pos.y


@qd.func
def moved(p, dt):
    result = p
    result.pos += dt * p.vel
    result.vel.y -= dt * 9.8
    if result.pos.y < 0:
        result.alive = 0
    return result


@qd.kernel
def start():
    for i in particles:
        particles[i] = Particle(pos=vec3(i, 1, 0), vel=vec3(0.1 * i, 0.5 * i, 1), mass=1.0 + i, alive=1)


@qd.kernel
def step(dt: qd.f32) -> qd.f32:
    total = 0.0
    for i in particles:
        if particles[i].alive == 1:
            particles[i] = moved(particles[i], dt)
            total += energy(particles[i])
    return total


start()
totals = [step(0.02) for _ in range(30)]
results = {
    "pos": particles.pos.to_numpy(),
    "alive": particles.alive.to_numpy(),
    "totals": np.array(totals, np.float32),
}
