"""Advection, divergence and pressure of a fluid on a grid, with texture pairs that change places."""

import quadrants as qd

qd.init(arch=qd.cpu)
res, dt = 24, 0.03


class Pair:
    def __init__(self, cur, nxt):
        self.cur, self.nxt = cur, nxt

    def swap(self):
        self.cur, self.nxt = self.nxt, self.cur


velocities = Pair(qd.Vector.field(2, float, (res, res)), qd.Vector.field(2, float, (res, res)))
pressures = Pair(qd.field(float, (res, res)), qd.field(float, (res, res)))
divergence = qd.field(float, (res, res))


@qd.func
def sample(q: qd.template(), i, j):
    return q[qd.max(0, qd.min(res - 1, i)), qd.max(0, qd.min(res - 1, j))]


@qd.func
def bilerp(q: qd.template(), p):
    s, t = p[0] - 0.5, p[1] - 0.5
    iu, iv = int(qd.floor(s)), int(qd.floor(t))
    fu, fv = s - iu, t - iv
    a = qd.math.mix(sample(q, iu, iv), sample(q, iu + 1, iv), fu)
    b = qd.math.mix(sample(q, iu, iv + 1), sample(q, iu + 1, iv + 1), fu)
    return qd.math.mix(a, b, fv)


@qd.kernel
def start(q: qd.template()):
    for i, j in q:
        q[i, j] = [qd.sin(0.5 * j) * 3, qd.cos(0.4 * i) * 2]


@qd.kernel
def advect(vf: qd.template(), new: qd.template()):
    for i, j in vf:
        p = qd.Vector([i, j]) + 0.5
        new[i, j] = bilerp(vf, p - dt * vf[i, j]) * 0.99


@qd.kernel
def find_divergence(vf: qd.template()):
    for i, j in vf:
        l, r = sample(vf, i - 1, j), sample(vf, i + 1, j)
        b, t = sample(vf, i, j - 1), sample(vf, i, j + 1)
        divergence[i, j] = (r.x - l.x + t.y - b.y) * 0.5


@qd.kernel
def jacobi(p: qd.template(), new: qd.template()):
    for i, j in p:
        near = sample(p, i - 1, j) + sample(p, i + 1, j) + sample(p, i, j - 1) + sample(p, i, j + 1)
        new[i, j] = (near - divergence[i, j]) * 0.25


@qd.kernel
def project(vf: qd.template(), p: qd.template()):
    for i, j in vf:
        vf[i, j] -= 0.5 * qd.Vector(
            [sample(p, i + 1, j) - sample(p, i - 1, j), sample(p, i, j + 1) - sample(p, i, j - 1)]
        )


start(velocities.cur)
for _ in range(5):
    advect(velocities.cur, velocities.nxt)
    velocities.swap()
    find_divergence(velocities.cur)
    for _ in range(10):
        jacobi(pressures.cur, pressures.nxt)
        pressures.swap()
    project(velocities.cur, pressures.cur)
results = {"velocity": velocities.cur.to_numpy(), "pressure": pressures.cur.to_numpy()}
