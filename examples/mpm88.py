"""Two blocks of water fall into a tank: a 2-D material point method (MLS-MPM).

Particles carry mass, velocity, velocity gradient and compression. Each step scatters momentum to a grid, applies gravity
and walls there, and gathers velocities back. The weights are quadratic B-splines over 3 × 3 nodes.
"""

from __future__ import annotations

import pictures

import samovar as sv
from samovar.math import mat2, vec2, vec3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

if TYPE_CHECKING:  # type checkers cannot follow a type made by a call
    Weights = Any
else:
    Weights = sv.types.matrix(3, 2, sv.f32)
Points = sv.types.NDArray[vec2, 1]
Gradients = sv.types.NDArray[mat2, 1]
Numbers = sv.types.NDArray[sv.f32, 1]
Momenta = sv.types.NDArray[vec2, 2]
Masses = sv.types.NDArray[sv.f32, 2]

SIDE = 96
PARTICLES = 2 * 64 * 64
CELL = 1.0 / SIDE
STEP = 2e-4
DENSITY = 1.0
VOLUME = (CELL / 2) ** 2
MASS = VOLUME * DENSITY
STIFFNESS = 400.0
GRAVITY = 9.8
MARGIN = 3


@sv.func
def weights(offset: vec2) -> Weights:
    """The weights of three nodes along each dimension, for a particle `offset` cells from the first of them."""
    return sv.Matrix.rows([0.5 * (1.5 - offset) ** 2, 0.75 - (offset - 1.0) ** 2, 0.5 * (offset - 0.5) ** 2])


@sv.kernel
def place(x: Points, v: Points, compression: Numbers) -> None:
    for p in x:
        block, rest = p // 4096, p % 4096
        corner = vec2(0.08, 0.10) if block == 0 else vec2(0.55, 0.50)
        x[p] = corner + 0.36 * (vec2(rest // 64, rest % 64) + 0.5) / 64.0
        v[p] = vec2(0.0, 0.0) if block == 0 else vec2(-1.0, -1.0)
        compression[p] = 1.0


@sv.kernel
def step(x: Points, v: Points, gradient: Gradients, compression: Numbers, momentum: Momenta, mass: Masses) -> None:
    for i, j in mass:
        momentum[i, j] = vec2(0.0)
        mass[i, j] = 0.0
    for p in x:
        base = (x[p] * SIDE - 0.5).cast(int)
        offset = x[p] * SIDE - base
        weight = weights(offset)
        pressure = -4.0 * STEP * STIFFNESS * VOLUME * (compression[p] - 1.0) * SIDE * SIDE
        affine = MASS * gradient[p] + pressure * sv.Matrix.identity(sv.f32, 2)
        for i, j in sv.static(sv.ndrange(3, 3)):
            node, share = vec2(i, j), weight[i, 0] * weight[j, 1]
            at = base + node.cast(int)
            momentum[at.x, at.y] += share * (MASS * v[p] + affine @ (node - offset) * CELL)
            mass[at.x, at.y] += share * MASS
    for i, j in mass:
        if mass[i, j] > 0.0:
            velocity = momentum[i, j] / mass[i, j]
            velocity.y -= STEP * GRAVITY
            if (i < MARGIN and velocity.x < 0.0) or (i > SIDE - MARGIN and velocity.x > 0.0):
                velocity.x = 0.0
            if (j < MARGIN and velocity.y < 0.0) or (j > SIDE - MARGIN and velocity.y > 0.0):
                velocity.y = 0.0
            momentum[i, j] = velocity
    for p in x:
        base = (x[p] * SIDE - 0.5).cast(int)
        offset = x[p] * SIDE - base
        weight = weights(offset)
        velocity, slope = vec2(0.0), mat2(0.0)
        for i, j in sv.static(sv.ndrange(3, 3)):
            node, share = vec2(i, j), weight[i, 0] * weight[j, 1]
            at = base + node.cast(int)
            found = share * momentum[at.x, at.y]
            velocity += found
            slope += 4.0 * SIDE * found.outer_product(node - offset)
        v[p] = velocity
        x[p] += STEP * velocity
        gradient[p] = slope
        compression[p] *= 1.0 + STEP * slope.trace()


@sv.kernel
def draw(x: Points, v: Points, light: pictures.Image) -> None:
    for i, j in light:
        light[i, j] = vec3(0.01, 0.015, 0.03)
    for p in x:
        size = light.shape[0]
        fast = sv.min(v[p].norm() / 4.0, 1.0)
        color = sv.math.mix(vec3(0.02, 0.10, 0.28), vec3(0.30, 0.36, 0.38), fast)
        at = (x[p] * size).cast(int)
        light[size - 1 - at.y, at.x] += color


def frames() -> Iterator[Any]:
    """Yield the image after each frame."""
    x, v = sv.ndarray(vec2, PARTICLES), sv.ndarray(vec2, PARTICLES)
    gradient, compression = sv.ndarray(mat2, PARTICLES), sv.ndarray(sv.f32, PARTICLES)
    momentum, mass = sv.ndarray(vec2, (SIDE, SIDE)), sv.ndarray(sv.f32, (SIDE, SIDE))
    place(x, v, compression)
    while True:
        step(x, v, gradient, compression, momentum, mass)
        yield x, v


def main(steps: int = 1500) -> None:
    x, v = pictures.last_of(frames(), steps)
    light = pictures.image(192, 192)
    draw(x, v, light)
    pictures.save(light, "mpm88")


if __name__ == "__main__":
    main()
