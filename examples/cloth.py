"""A cloth falls on a ball: a mass-spring system on a grid.

Springs connect each mass to its neighbors, to those across the diagonal and to those two steps away, so that the cloth
resists stretching, shearing and bending. The renderer intersects a ray per pixel with the triangles of the cloth.
"""

from __future__ import annotations

import pictures

import samovar as sv
from samovar.math import vec3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

Masses = sv.types.NDArray[vec3, 2]

SIDE = 40
LENGTH = 1.6
REST = LENGTH / (SIDE - 1)
STEP = 5e-4
STIFFNESS = 6000.0
DAMPING = 6.0
DRAG = 0.6
FRICTION = 20.0
GRAVITY = 9.8
BALL, RADIUS, THICKNESS = (0.0, 0.0, 0.0), 0.5, 0.02
FLOOR = -0.75

EYE, FAR = (0.0, 1.0, 3.0), 1e9
LIGHT = (-0.45, 0.75, 0.48)


@sv.kernel
def spread(x: Masses, v: Masses) -> None:
    for i, j in x:
        x[i, j] = vec3(REST * i - 0.5 * LENGTH, 0.60 + 0.02 * sv.sin(0.3 * i), REST * j - 0.48 * LENGTH)
        v[i, j] = vec3(0.0)


@sv.kernel
def step(x: Masses, v: Masses, force: Masses) -> None:
    for i, j in x:
        total = vec3(0.0, -GRAVITY, 0.0) - DRAG * v[i, j]
        for a, b in sv.ndrange((-2, 3), (-2, 3)):
            squares = a * a + b * b
            if 0 < squares <= 4 and 0 <= i + a < SIDE and 0 <= j + b < SIDE:
                apart = x[i + a, j + b] - x[i, j]
                direction = apart.normalized()
                stretch = apart.norm() / (REST * sv.sqrt(squares)) - 1.0
                faster = (v[i + a, j + b] - v[i, j]).dot(direction)
                total += (STIFFNESS * REST * stretch + DAMPING * faster) * direction
        force[i, j] = total
    for i, j in x:
        v[i, j] += STEP * force[i, j]
        x[i, j] += STEP * v[i, j]
        apart = x[i, j] - vec3(*BALL)
        if apart.norm() < RADIUS + THICKNESS:
            normal = apart.normalized()
            x[i, j] = vec3(*BALL) + (RADIUS + THICKNESS) * normal
            v[i, j] -= sv.min(v[i, j].dot(normal), 0.0) * normal
            v[i, j] *= 1.0 - FRICTION * STEP
        if x[i, j].y < FLOOR:
            x[i, j].y = FLOOR
            v[i, j] = vec3(0.0)


@sv.kernel
def find_normals(x: Masses, normals: Masses) -> None:
    for i, j in x:
        along = x[sv.min(i + 1, SIDE - 1), j] - x[sv.max(i - 1, 0), j]
        across = x[i, sv.min(j + 1, SIDE - 1)] - x[i, sv.max(j - 1, 0)]
        normals[i, j] = across.cross(along).normalized(1e-9)


@sv.func
def crossing(start: vec3, direction: vec3, corner: vec3, one: vec3, two: vec3) -> tuple[float, float, float]:
    """Intersect a ray with a triangle: the distance, and two barycentric coordinates."""
    first, second = one - corner, two - corner
    across = direction.cross(second)
    size = first.dot(across)
    apart = (start - corner) / size
    u = apart.dot(across)
    turned = apart.cross(first)
    v = direction.dot(turned)
    way = second.dot(turned)
    return (way if u >= 0.0 and v >= 0.0 and u + v <= 1.0 and way > 0.0 else FAR), u, v


@sv.func
def to_ball(start: vec3, direction: vec3) -> float:
    apart = start - vec3(*BALL)
    half = apart.dot(direction)
    rest = half * half - apart.norm_sqr() + RADIUS * RADIUS
    return -half - sv.sqrt(rest) if rest > 0.0 else FAR


@sv.kernel
def draw(x: Masses, normals: Masses, light: pictures.Image) -> None:
    for row, column in light:
        size = light.shape[0]
        start = vec3(*EYE)
        direction = vec3((column - 0.5 * light.shape[1]) / size, 0.5 - row / size - 0.64, -1.7).normalized()
        nearest, normal, color = FAR, vec3(0.0), vec3(0.0)
        if direction.y < 0.0:
            nearest, normal = (FLOOR - start.y) / direction.y, vec3(0.0, 1.0, 0.0)
            color = vec3(0.25, 0.24, 0.26)
        way = to_ball(start, direction)
        if way < nearest:
            nearest, normal, color = way, (start + way * direction - vec3(*BALL)) / RADIUS, vec3(0.75, 0.6, 0.25)
        for i, j in sv.ndrange(SIDE - 1, SIDE - 1):
            way, u, v = crossing(start, direction, x[i, j], x[i + 1, j], x[i, j + 1])
            if way < nearest:
                nearest = way
                normal = (1.0 - u - v) * normals[i, j] + u * normals[i + 1, j] + v * normals[i, j + 1]
                color = vec3(0.65, 0.08, 0.10) if (i // 4 + j // 4) % 2 == 0 else vec3(0.75, 0.68, 0.58)
            way, u, v = crossing(start, direction, x[i + 1, j + 1], x[i, j + 1], x[i + 1, j])
            if way < nearest:
                nearest = way
                normal = (1.0 - u - v) * normals[i + 1, j + 1] + u * normals[i, j + 1] + v * normals[i + 1, j]
                color = vec3(0.65, 0.08, 0.10) if (i // 4 + j // 4) % 2 == 0 else vec3(0.75, 0.68, 0.58)
        bright = normal.dot(vec3(*LIGHT).normalized())
        if normal.dot(direction) > 0.0:
            bright = -bright
        light[row, column] = (0.12 + 0.8 * sv.max(bright, 0.0)) * color


def frames() -> Iterator[Any]:
    """Yield the image after each frame."""
    x, v, force = (sv.ndarray(vec3, (SIDE, SIDE)) for _ in range(3))
    spread(x, v)
    while True:
        step(x, v, force)
        yield x


def main(steps: int = 2400) -> None:
    x = pictures.last_of(frames(), steps)
    normals = sv.ndarray(vec3, (SIDE, SIDE))
    find_normals(x, normals)
    light = pictures.image(144, 192)
    draw(x, normals, light)
    pictures.save(light, "cloth")


if __name__ == "__main__":
    main()
