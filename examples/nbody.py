"""Two galaxies pass each other and pull out tidal arms: direct n-body gravity with leapfrog steps.

The inner loop over all other stars is a serial loop inside the parallel one. The total energy serves as a check.
"""

from collections.abc import Iterator
from typing import Any

import pictures

import samovar as sv
from samovar.math import vec2, vec3

Stars = sv.types.NDArray[vec3, 1]

STARS = 2048
MASS = 0.4 / STARS
CORE = 0.4
SOFTENING = 0.05
STEP = 0.01
GOLDEN = 2.399963


@sv.func
def mass_of(i: Any) -> Any:
    """The first star of each disc is its core."""
    return CORE if i % (STARS // 2) == 0 else MASS


@sv.kernel
def spin(x: Stars, v: Stars) -> None:
    """Two discs of stars on circular orbits, moving past each other."""
    for i in x:
        half = STARS // 2
        second, k = i // half, i % half
        radius, angle = 0.10 + 0.75 * sv.sqrt(k / half), GOLDEN * k
        around = vec3(sv.cos(angle), sv.sin(angle), 0.02 * sv.sin(7.0 * k))
        speed = sv.sqrt((CORE + k * MASS) / radius)
        place, turn = radius * around, speed * vec3(-around.y, around.x, 0.0)
        if k == 0:
            place, turn = vec3(0.0), vec3(0.0)
        if second == 1:
            x[i] = vec3(1.05, 0.75, 0.0) + 0.8 * vec3(place.x, 0.6 * place.y, 0.8 * place.y)
            v[i] = vec3(-0.42, -0.02, 0.0) + vec3(turn.x, 0.6 * turn.y, 0.8 * turn.y)
        else:
            x[i] = vec3(-1.05, -0.75, 0.0) + place
            v[i] = vec3(0.42, 0.02, 0.0) + turn


@sv.kernel
def kick(x: Stars, v: Stars, step: sv.f32) -> None:
    for i in x:
        pull = vec3(0.0)
        for j in range(STARS):
            apart = x[j] - x[i]
            inverse = sv.rsqrt(apart.norm_sqr() + SOFTENING * SOFTENING)
            pull += mass_of(j) * inverse * inverse * inverse * apart
        v[i] += step * pull


@sv.kernel
def drift(x: Stars, v: Stars, step: sv.f32) -> None:
    for i in x:
        x[i] += step * v[i]


@sv.kernel
def energy(x: Stars, v: Stars) -> sv.f64:
    total = sv.f64(0.0)
    for i in x:
        potential = 0.0
        for j in range(STARS):
            if j != i:
                potential -= mass_of(j) * sv.rsqrt((x[j] - x[i]).norm_sqr() + SOFTENING * SOFTENING)
        total += 0.5 * mass_of(i) * (v[i].norm_sqr() + potential)
    return total


@sv.kernel
def draw(x: Stars, v: Stars, light: pictures.Image) -> None:
    for i, j in light:
        light[i, j] = vec3(0.004, 0.005, 0.012)
    for i in x:
        height, width = light.shape[0], light.shape[1]
        color = vec3(0.95, 0.62, 0.30) if i < STARS // 2 else vec3(0.35, 0.60, 1.00)
        at = vec2(0.5 * width, 0.5 * height) + 0.24 * height * vec2(x[i].x, -x[i].y)
        reach = 4 if mass_of(i) == CORE else 2
        for a, b in sv.ndrange((-4, 5), (-4, 5)):
            row, column = int(at.y) + a, int(at.x) + b
            if sv.max(abs(a), abs(b)) <= reach and 0 <= row < height and 0 <= column < width:
                spread = (vec2(column, row) + 0.5 - at).norm_sqr() / reach
                light[row, column] += (0.5 * reach - 0.6) * sv.exp(-2.0 * spread) * color


def frames() -> Iterator[Any]:
    """Yield the image after each frame."""
    x, v = sv.ndarray(vec3, STARS), sv.ndarray(vec3, STARS)
    spin(x, v)
    kick(x, v, 0.5 * STEP)
    while True:
        drift(x, v, STEP)
        kick(x, v, STEP)
        yield x, v


def total_energy(x: Any, v: Any) -> float:
    """The total energy at the current positions; velocities are half a step ahead."""
    kick(x, v, -0.5 * STEP)
    found: float = energy(x, v)
    kick(x, v, 0.5 * STEP)
    return found


def main(steps: int = 320) -> None:
    stars = frames()
    before = total_energy(*next(stars))
    x, v = pictures.last_of(stars, steps)
    after = total_energy(x, v)
    print(f"energy: {before:.5f} at the start, {after:.5f} after {steps} steps")
    assert abs(after - before) < 0.01 * abs(before)
    light = pictures.image(288, 384)
    draw(x, v, light)
    pictures.save(light, "nbody")


if __name__ == "__main__":
    main()
