"""A dam break: smoothed particle hydrodynamics (SPH).

Particles interact within a radius. Each step sorts them by grid cell, so that the neighbors of a particle are in three
rows of cells, contiguous in memory. Density gives pressure, pressure pushes particles apart, and viscosity smooths the
velocity.
"""

from collections.abc import Iterator
from typing import Any

import pictures

import samovar as sv
from samovar.math import vec2, vec3

COLUMNS, ROWS = 48, 96
PARTICLES = COLUMNS * ROWS
SPACING = 0.0075
RADIUS = 2.2 * SPACING
WIDTH, HEIGHT = 1.6, 1.0
CELLS_X, CELLS_Y = int(WIDTH / RADIUS) + 1, int(HEIGHT / RADIUS) + 1
CELLS = CELLS_X * CELLS_Y

STEP = 4e-4
GRAVITY = 9.8
DENSITY = 1000.0
MASS = DENSITY * SPACING * SPACING
SOUND = 22.0
VISCOSITY = 0.06
BOUNCE = 0.3
# The poly6 and spiky kernels of Müller, Charypar and Gross (2003), in two dimensions.
WEIGHT = 4.0 / (sv.math.pi * RADIUS**8)
SLOPE = 30.0 / (sv.math.pi * RADIUS**5)

place, speed = sv.Vector.field(2, sv.f32, PARTICLES), sv.Vector.field(2, sv.f32, PARTICLES)
sorted_place, sorted_speed = sv.Vector.field(2, sv.f32, PARTICLES), sv.Vector.field(2, sv.f32, PARTICLES)
density = sv.field(sv.f32, PARTICLES)
cell_of, number = sv.field(sv.i32, PARTICLES), sv.field(sv.i32, PARTICLES)
first = sv.field(sv.i32, CELLS + 1)


@sv.kernel
def fill() -> None:
    """A column of water at the left wall."""
    for p in place:
        row, column = p // COLUMNS, p % COLUMNS
        place[p] = SPACING * vec2(column + 1.0 + 0.1 * (row % 2), row + 1.0)
        speed[p] = vec2(0.0)


@sv.func
def cell_at(point: Any) -> Any:
    x, y = int(point.x / RADIUS), int(point.y / RADIUS)
    return sv.math.clamp(y, 0, CELLS_Y - 1) * CELLS_X + sv.math.clamp(x, 0, CELLS_X - 1)


@sv.kernel
def number_cells() -> None:
    for p in place:
        cell_of[p] = cell_at(place[p])
        number[p] = p


@sv.kernel
def put_in_order() -> None:
    """Particles of cell c are those from `first[c]` to `first[c + 1]`."""
    for k in number:
        sorted_place[k] = place[number[k]]
        sorted_speed[k] = speed[number[k]]
        before = cell_of[k - 1] if k > 0 else -1
        for cell in range(before + 1, cell_of[k] + 1):
            first[cell] = k
        if k == PARTICLES - 1:
            for cell in range(cell_of[k] + 1, CELLS + 1):
                first[cell] = PARTICLES


@sv.func
def rows_around(cell: Any) -> Any:
    """The range of neighboring cells: first and last column, first and last row."""
    x, y = cell % CELLS_X, cell // CELLS_X
    return sv.max(x - 1, 0), sv.min(x + 1, CELLS_X - 1), sv.max(y - 1, 0), sv.min(y + 1, CELLS_Y - 1)


@sv.kernel
def find_density() -> None:
    for k in density:
        left, right, low, high = rows_around(cell_of[k])
        total = 0.0
        for row in range(low, high + 1):
            for other in range(first[row * CELLS_X + left], first[row * CELLS_X + right + 1]):
                rest = RADIUS * RADIUS - (sorted_place[other] - sorted_place[k]).norm_sqr()
                if rest > 0.0:
                    total += rest * rest * rest
        density[k] = sv.max(MASS * WEIGHT * total, DENSITY)


@sv.func
def pressure_of(dense: Any) -> Any:
    return SOUND * SOUND * (dense - DENSITY)


@sv.kernel
def move() -> None:
    for k in density:
        left, right, low, high = rows_around(cell_of[k])
        here, going = sorted_place[k], sorted_speed[k]
        push = vec2(0.0, -GRAVITY)
        own = pressure_of(density[k]) / (density[k] * density[k])
        for row in range(low, high + 1):
            for other in range(first[row * CELLS_X + left], first[row * CELLS_X + right + 1]):
                apart = here - sorted_place[other]
                distance = apart.norm()
                if 1e-6 < distance < RADIUS:
                    rest = RADIUS - distance
                    theirs = pressure_of(density[other]) / (density[other] * density[other])
                    push += MASS * (own + theirs) * SLOPE * rest * rest / distance * apart
                    drag = VISCOSITY * SOUND * RADIUS * SLOPE * rest * rest / distance
                    push += MASS * drag / density[other] * (sorted_speed[other] - going)
        going += STEP * push
        here += STEP * going
        if (here.x < SPACING and going.x < 0.0) or (here.x > WIDTH - SPACING and going.x > 0.0):
            going.x *= -BOUNCE
        if (here.y < SPACING and going.y < 0.0) or (here.y > HEIGHT - SPACING and going.y > 0.0):
            going.y *= -BOUNCE
        place[k] = vec2(sv.math.clamp(here.x, SPACING, WIDTH - SPACING), sv.math.clamp(here.y, SPACING, HEIGHT - SPACING))
        speed[k] = going


@sv.kernel
def draw(light: pictures.Image) -> None:
    for i, j in light:
        light[i, j] = vec3(0.010, 0.014, 0.030)
    for p in place:
        size = light.shape[0] / HEIGHT
        fast = sv.min(speed[p].norm() / 2.5, 1.0)
        color = sv.math.mix(vec3(0.03, 0.16, 0.42), vec3(0.75, 0.85, 0.90), fast)
        x, y = int(place[p].x * size), int((HEIGHT - place[p].y) * size)
        for a, b in sv.static(sv.ndrange(2, 2)):
            sv.atomic_max(light[y - a, x - b].x, color.x)
            sv.atomic_max(light[y - a, x - b].y, color.y)
            sv.atomic_max(light[y - a, x - b].z, color.z)


def frames() -> Iterator[Any]:
    """Yield the image after each frame."""
    fill()
    while True:
        number_cells()
        sv.algorithms.parallel_sort(cell_of, number)
        put_in_order()
        find_density()
        move()
        yield


def main(steps: int = 1000) -> None:
    pictures.last_of(frames(), steps)
    light = pictures.image(240, 384)
    draw(light)
    pictures.save(light, "sph")


if __name__ == "__main__":
    main()
