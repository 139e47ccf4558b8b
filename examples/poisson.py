"""The electric potential of charges in a grounded box: Poisson's equation, solved matrix-free.

The conjugate gradient solver needs only a kernel that applies the operator: a 5-point stencil with zero boundary. The
charges move, and each solve starts from the previous solution.
"""

from collections.abc import Iterator
from typing import Any

import pictures

import samovar as sv
from samovar.math import vec2, vec3

SIDE = 256
SPREAD = 6.0
CHARGES = (  # orbit radius, initial angle, turns per thousand steps, charge
    (0.28, 0.0, 1.6, 1.0),
    (0.28, 2.1, 1.6, -1.0),
    (0.28, 4.2, 1.6, 1.0),
    (0.12, 1.0, -3.0, -1.2),
    (0.40, 3.4, -0.9, 0.8),
)

potential, charge = sv.field(sv.f32, (SIDE, SIDE)), sv.field(sv.f32, (SIDE, SIDE))


@sv.kernel
def place(time: sv.f32) -> None:
    """Each charge is a small cloud."""
    for i, j in charge:
        total = 0.0
        for orbit, angle, turns, strength in sv.static(CHARGES):
            now = angle + 0.00628318 * turns * time
            center = SIDE * (0.5 + orbit * vec2(sv.cos(now), sv.sin(now)))
            total += strength * sv.exp(-(vec2(i, j) - center).norm_sqr() / (2.0 * SPREAD * SPREAD))
        charge[i, j] = total


@sv.kernel
def apply(x: sv.Template, y: sv.Template) -> None:
    """The negative Laplacian: a 5-point stencil."""
    for i, j in x:
        around = 0.0
        if i > 0:
            around += x[i - 1, j]
        if i < SIDE - 1:
            around += x[i + 1, j]
        if j > 0:
            around += x[i, j - 1]
        if j < SIDE - 1:
            around += x[i, j + 1]
        y[i, j] = 4.0 * x[i, j] - around


@sv.kernel
def largest_error() -> sv.f32:
    """The largest residual of the equation."""
    worst = 0.0
    for i, j in sv.ndrange((1, SIDE - 1), (1, SIDE - 1)):
        around = potential[i - 1, j] + potential[i + 1, j] + potential[i, j - 1] + potential[i, j + 1]
        sv.atomic_max(worst, abs(4.0 * potential[i, j] - around - charge[i, j]))
    return worst


@sv.kernel
def draw(light: pictures.Image) -> None:
    """Warm and cold colors show the sign of the potential; lines mark multiples of 12."""
    for i, j in light:
        here = potential[i, j]
        up, left = potential[sv.max(i - 1, 0), j], potential[i, sv.max(j - 1, 0)]
        side = vec3(0.95, 0.35, 0.10) if here > 0.0 else vec3(0.10, 0.40, 0.95)
        light[i, j] = vec3(0.01) + sv.min(abs(here) / 90.0, 1.0) * side
        level = sv.floor(here / 12.0)
        if level != sv.floor(up / 12.0) or level != sv.floor(left / 12.0):
            light[i, j] += vec3(0.12)


def frames() -> Iterator[Any]:
    """Yield the image after each move of the charges."""
    potential.fill(0)
    time = 0
    while True:
        place(time)
        sv.linalg.CG(apply, charge, potential, tol=1e-4, maxiter=2000)
        time += 1
        yield time


def main(steps: int = 30) -> None:
    pictures.last_of(frames(), steps)
    error = largest_error()
    print(f"largest residual: {error:.5f}")
    assert error < 2e-3
    light = pictures.image(SIDE, SIDE)
    draw(light)
    pictures.save(light, "poisson")


if __name__ == "__main__":
    main()
