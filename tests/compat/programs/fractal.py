"""A Julia set, with complex numbers as vectors."""

import quadrants as qd

qd.init(arch=qd.cpu)
n = 64
pixels = qd.field(dtype=float, shape=(n * 2, n))


@qd.func
def complex_sqr(z):
    return qd.Vector([z[0] ** 2 - z[1] ** 2, z[1] * z[0] * 2])


@qd.kernel
def paint(t: float):
    for i, j in pixels:
        c = qd.Vector([-0.8, qd.cos(t) * 0.2])
        z = qd.Vector([i / n - 1, j / n - 0.5]) * 2
        iterations = 0
        while z.norm() < 20 and iterations < 50:
            z = complex_sqr(z) + c
            iterations += 1
        pixels[i, j] = 1 - iterations * 0.02


paint(0.3)
results = {"pixels": pixels.to_numpy()}
