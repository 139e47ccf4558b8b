"""Discs in a box that push each other apart, in an object with kernels and a dataclass of parameters."""

import dataclasses

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)


@dataclasses.dataclass
class Box:
    low: qd.f32
    high: qd.f32
    stiffness: qd.f32


@qd.data_oriented
class Discs:
    def __init__(self, n, radius):
        self.n, self.radius = n, radius
        self.pos = qd.Vector.field(2, qd.f32, n)
        self.vel = qd.Vector.field(2, qd.f32, n)
        self.contacts = qd.field(qd.i32, ())

    @qd.func
    def push(self, i: qd.i32, stiffness: qd.f32):
        force = qd.Vector([0.0, -1.0])
        for j in range(self.n):
            d = self.pos[i] - self.pos[j]
            distance = d.norm()
            if j != i and distance < 2 * self.radius:
                self.contacts[None] += 1
                force += stiffness * (2 * self.radius - distance) * d / (distance + 1e-6)
        return force

    @qd.kernel
    def step(self, box: Box, dt: qd.f32):
        for i in range(self.n):
            self.vel[i] += dt * self.push(i, box.stiffness)
        for i in range(self.n):
            self.pos[i] += dt * self.vel[i]
            for k in qd.static(range(2)):
                if self.pos[i][k] < box.low or self.pos[i][k] > box.high:
                    self.pos[i][k] = qd.math.clamp(self.pos[i][k], box.low, box.high)
                    self.vel[i][k] *= -0.5


discs = Discs(20, 0.08)
discs.pos.from_numpy(np.random.default_rng(14).random((20, 2)).astype(np.float32))
for _ in range(20):
    discs.step(Box(0.0, 1.0, 50.0), 2e-3)
results = {"pos": discs.pos.to_numpy(), "vel": discs.vel.to_numpy(), "contacts": discs.contacts.to_numpy()}
