"""Conway's Game of Life on a torus: an acorn and a glider gun, with fading trails.

A live cell survives with two or three live neighbors; a dead one becomes alive with three. Each generation is one launch
over two ping-pong fields.
"""

from collections.abc import Iterator
from typing import Any

import pictures

import samovar as sv
from samovar.math import vec3

WIDTH, HEIGHT = 384, 256
FADING = 0.97

ACORN = """
.O.....
...O...
OO..OOO
"""
GUN = """
........................O...........
......................O.O...........
............OO......OO............OO
...........O...O....OO............OO
OO........O.....O...OO..............
OO........O...O.OO....O.O...........
..........O.....O.......O...........
...........O...O....................
............OO......................
"""

cells, next_cells = sv.field(sv.i32, (HEIGHT, WIDTH)), sv.field(sv.i32, (HEIGHT, WIDTH))
trail = sv.field(sv.f32, (HEIGHT, WIDTH))


@sv.kernel
def live(now: sv.Template, then: sv.Template) -> None:
    for i, j in then:
        neighbors = -now[i, j]
        for a, b in sv.static(sv.ndrange((-1, 2), (-1, 2))):
            neighbors += now[(i + a + HEIGHT) % HEIGHT, (j + b + WIDTH) % WIDTH]
        then[i, j] = int(neighbors == 3 or (neighbors == 2 and now[i, j] == 1))
        trail[i, j] = 1.0 if then[i, j] == 1 else FADING * trail[i, j]


@sv.kernel
def population() -> sv.i32:
    total = 0
    for i, j in cells:
        total += cells[i, j]
    return total


@sv.kernel
def draw(light: pictures.Image) -> None:
    for i, j in light:
        age = 1.0 - trail[i, j]
        glow = sv.math.mix(vec3(0.30, 0.12, 0.45), vec3(0.02, 0.05, 0.12), sv.min(2.0 * age, 1.0))
        light[i, j] = trail[i, j] * glow + vec3(0.008, 0.008, 0.014)
        if cells[i, j] == 1:
            light[i, j] = vec3(1.0, 0.85, 0.55)


def put(pattern: str, row: int, column: int) -> None:
    for i, line in enumerate(pattern.split()):
        for j, letter in enumerate(line):
            cells[row + i, column + j] = int(letter == "O")


def frames() -> Iterator[Any]:
    """Compute two generations at a time, so that the newest is always in `cells`."""
    cells.fill(0)
    trail.fill(0)
    put(ACORN, 150, 250)
    put(GUN, 16, 16)
    while True:
        live(cells, next_cells)
        live(next_cells, cells)
        yield


def main(generations: int = 900) -> None:
    pictures.last_of(frames(), generations // 2)
    print(f"{population()} live cells after {generations} generations")
    light = pictures.image(HEIGHT, WIDTH)
    draw(light)
    pictures.save(light, "life")


if __name__ == "__main__":
    main()
