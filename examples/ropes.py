"""Ropes fall over pegs: position-based dynamics.

Each step moves the points freely, then projects their positions onto the constraints several times: segments keep their
length, and no point is inside a peg. The actual displacement becomes the velocity. The ropes are independent, so each is
one iteration of a parallel loop.
"""

from __future__ import annotations

import pictures

import samovar as sv
from samovar.math import vec2, vec3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

Ropes = sv.types.NDArray[vec2, 2]

ROPES, POINTS = 72, 48
LINK = 0.016
STEP = 1.0 / 120.0
SWEEPS = 24
GRAVITY = 9.8
GRIP = 0.4
PEGS = ((0.28, 0.62, 0.09), (0.70, 0.66, 0.07), (0.50, 0.36, 0.11), (0.86, 0.34, 0.06), (0.14, 0.30, 0.06))


@sv.kernel
def hang(x: Ropes, v: Ropes) -> None:
    """Place each rope on a slanted line above the pegs."""
    for r, k in x:
        x[r, k] = vec2((r + 0.5) / ROPES - 0.5 * LINK * k + 0.2, 0.86 + 0.6 * LINK * k)
        v[r, k] = vec2(0.0)


@sv.func
def outside_of_pegs(point: vec2, before: vec2) -> vec2:
    """The nearest point outside the pegs, with friction."""
    for peg in sv.static(PEGS):
        apart = point - vec2(peg[0], peg[1])
        depth = peg[2] - apart.norm()
        if depth > 0.0:
            normal = apart.normalized(1e-6)
            point += depth * normal
            slip = point - before
            point -= GRIP * (slip - slip.dot(normal) * normal)
    return point


@sv.kernel
def step(x: Ropes, v: Ropes, goal: Ropes) -> None:
    for r in range(ROPES):
        for k in range(POINTS):
            v[r, k] += STEP * vec2(0.0, -GRAVITY)
            goal[r, k] = x[r, k] + STEP * v[r, k]
        for _ in range(SWEEPS):
            for k in range(POINTS - 1):
                apart = goal[r, k + 1] - goal[r, k]
                correction = 0.5 * (apart.norm() - LINK) * apart.normalized(1e-6)
                goal[r, k] += correction
                goal[r, k + 1] -= correction
            for k in range(POINTS):
                goal[r, k] = outside_of_pegs(goal[r, k], x[r, k])
        for k in range(POINTS):
            v[r, k] = 0.995 * (goal[r, k] - x[r, k]) / STEP
            x[r, k] = goal[r, k]


@sv.kernel
def draw(x: Ropes, light: pictures.Image) -> None:
    for i, j in light:
        size = light.shape[0]
        here = (vec2(j, size - 1 - i) + 0.5) / size
        light[i, j] = vec3(0.015, 0.012, 0.02)
        for peg in sv.static(PEGS):
            apart = (here - vec2(peg[0], peg[1])) / peg[2]
            if apart.norm() < 1.0:
                light[i, j] = (0.06 + 0.1 * sv.max(apart.dot(vec2(-0.5, 0.8)), 0.0)) * vec3(1.0, 0.8, 0.55)
    for r, k in sv.ndrange(ROPES, POINTS - 1):
        size, part = light.shape[0], r / ROPES
        color = 0.09 * (1.0 + sv.cos(6.283 * (part + vec3(0.0, 0.33, 0.67))))
        for along in range(8):
            at = (sv.math.mix(x[r, k], x[r, k + 1], along / 8.0) * size).cast(int)
            if (at >= 0).all() and (at < size).all():
                light[size - 1 - at.y, at.x] += color


def frames() -> Iterator[Any]:
    """Yield the image after each frame."""
    x, v, goal = (sv.ndarray(vec2, (ROPES, POINTS)) for _ in range(3))
    hang(x, v)
    while True:
        step(x, v, goal)
        yield x


def main(steps: int = 150) -> None:
    x = pictures.last_of(frames(), steps)
    light = pictures.image(240, 240)
    draw(x, light)
    pictures.save(light, "ropes")


if __name__ == "__main__":
    main()
