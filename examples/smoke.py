"""Two plumes of smoke rise and collide: an incompressible fluid on a grid.

Each step advects velocity and smoke (semi-Lagrangian, stable for any step), adds buoyancy and vorticity confinement, and
projects the velocity to be divergence-free with a pressure from Jacobi sweeps.
"""

from collections.abc import Iterator
from typing import Any

import pictures

import samovar as sv
from samovar.math import vec2, vec3

WIDTH, HEIGHT = 192, 256
STEP = 0.8
SWEEPS = 24
LIFT = 0.12
SWIRL = 0.08
FADING = 0.999

velocity, carried_velocity = sv.Vector.field(2, sv.f32, (WIDTH, HEIGHT)), sv.Vector.field(2, sv.f32, (WIDTH, HEIGHT))
smoke, carried_smoke = sv.Vector.field(2, sv.f32, (WIDTH, HEIGHT)), sv.Vector.field(2, sv.f32, (WIDTH, HEIGHT))
pressure, next_pressure = sv.field(sv.f32, (WIDTH, HEIGHT)), sv.field(sv.f32, (WIDTH, HEIGHT))
divergence, turn = sv.field(sv.f32, (WIDTH, HEIGHT)), sv.field(sv.f32, (WIDTH, HEIGHT))


@sv.func
def between(values: sv.Template, place: Any) -> Any:
    """Bilinear interpolation, clamped at the border."""
    inside = vec2(sv.math.clamp(place.x, 0.0, WIDTH - 1.001), sv.math.clamp(place.y, 0.0, HEIGHT - 1.001))
    i, j = int(inside.x), int(inside.y)
    part = inside - vec2(i, j)
    low = sv.math.mix(values[i, j], values[i + 1, j], part.x)
    high = sv.math.mix(values[i, j + 1], values[i + 1, j + 1], part.x)
    return sv.math.mix(low, high, part.y)


@sv.kernel
def clear() -> None:
    for i, j in smoke:
        velocity[i, j], smoke[i, j], pressure[i, j] = vec2(0.0), vec2(0.0), 0.0


@sv.kernel
def carry() -> None:
    for i, j in smoke:
        here = vec2(i, j)
        middle = here - 0.5 * STEP * velocity[i, j]
        origin = here - STEP * between(velocity, middle)
        carried_velocity[i, j] = between(velocity, origin)
        carried_smoke[i, j] = FADING * between(smoke, origin)


@sv.kernel
def push(time: sv.f32) -> None:
    """Add smoke at the floor, and the forces on the fluid."""
    for i, j in smoke:
        amount = carried_smoke[i, j]
        left, right = 0.32 * WIDTH + 6.0 * sv.sin(0.11 * time), 0.68 * WIDTH + 6.0 * sv.sin(0.07 * time + 1.0)
        if 4 <= j < 12:
            amount.x = sv.max(amount.x, sv.exp(-((i - left) / 7.0) ** 2))
            amount.y = sv.max(amount.y, sv.exp(-((i - right) / 7.0) ** 2))
        smoke[i, j] = amount
        velocity[i, j] = carried_velocity[i, j] + STEP * LIFT * vec2(0.0, amount.sum())
    for i, j in smoke:
        turn[i, j] = 0.0
        if 0 < i < WIDTH - 1 and 0 < j < HEIGHT - 1:
            turn[i, j] = 0.5 * (velocity[i + 1, j].y - velocity[i - 1, j].y - velocity[i, j + 1].x + velocity[i, j - 1].x)
    for i, j in smoke:
        if 0 < i < WIDTH - 1 and 0 < j < HEIGHT - 1:
            slope = vec2(abs(turn[i + 1, j]) - abs(turn[i - 1, j]), abs(turn[i, j + 1]) - abs(turn[i, j - 1]))
            slope /= slope.norm() + 1e-5
            velocity[i, j] += STEP * SWIRL * turn[i, j] * vec2(slope.y, -slope.x)
        else:
            velocity[i, j] = vec2(0.0)


@sv.kernel
def measure() -> None:
    for i, j in divergence:
        divergence[i, j] = 0.0
        if 0 < i < WIDTH - 1 and 0 < j < HEIGHT - 1:
            across = velocity[i + 1, j].x - velocity[i - 1, j].x
            divergence[i, j] = 0.5 * (across + velocity[i, j + 1].y - velocity[i, j - 1].y)


@sv.kernel
def sweep(old: sv.Template, new: sv.Template) -> None:
    for i, j in new:
        left, right = old[sv.max(i - 1, 0), j], old[sv.min(i + 1, WIDTH - 1), j]
        below, above = old[i, sv.max(j - 1, 0)], old[i, sv.min(j + 1, HEIGHT - 1)]
        new[i, j] = 0.25 * (left + right + below + above - divergence[i, j])


@sv.kernel
def project() -> None:
    for i, j in velocity:
        if 0 < i < WIDTH - 1 and 0 < j < HEIGHT - 1:
            velocity[i, j] -= 0.5 * vec2(pressure[i + 1, j] - pressure[i - 1, j], pressure[i, j + 1] - pressure[i, j - 1])


@sv.kernel
def draw(light: pictures.Image) -> None:
    for i, j in light:
        warm, cold = smoke[j, HEIGHT - 1 - i].x, smoke[j, HEIGHT - 1 - i].y
        sky = sv.math.mix(vec3(0.010, 0.012, 0.020), vec3(0.030, 0.040, 0.070), i / HEIGHT)
        light[i, j] = sky + warm * vec3(0.80, 0.42, 0.16) + cold * vec3(0.16, 0.42, 0.75)


def frames() -> Iterator[Any]:
    """Yield the image after each frame."""
    clear()
    time = 0
    while True:
        carry()
        push(time)
        measure()
        for _ in range(SWEEPS // 2):
            sweep(pressure, next_pressure)
            sweep(next_pressure, pressure)
        project()
        time += 1
        yield time


def main(steps: int = 260) -> None:
    pictures.last_of(frames(), steps)
    light = pictures.image(HEIGHT, WIDTH)
    draw(light)
    pictures.save(light, "smoke")


if __name__ == "__main__":
    main()
