"""A Kármán vortex street behind a cylinder: the lattice Boltzmann method (D2Q9).

Each cell holds nine populations, one per direction. A step streams them to the neighbors and relaxes them toward
equilibrium (BGK collision). Populations that would enter the cylinder bounce back.
"""

from __future__ import annotations

import pictures

import samovar as sv
from samovar.math import vec2, vec3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

if TYPE_CHECKING:  # type checkers cannot follow a type made by a call
    Directions = Any
else:
    Directions = sv.types.vector(9, sv.f32)
Cells = sv.types.NDArray[Directions, 2]

WIDTH, HEIGHT = 280, 96
CENTER, RADIUS = (48, 48), 8
SPEED = 0.14
REYNOLDS = 180
VISCOSITY = 2 * RADIUS * SPEED / REYNOLDS
RELAXATION = 1.0 / (3.0 * VISCOSITY + 0.5)

# The first direction is rest; each other one and its opposite are 4 apart.
DIRECTIONS = ((0, 0), (1, 0), (0, 1), (1, 1), (1, -1), (-1, 0), (0, -1), (-1, -1), (-1, 1))
OPPOSITE = (0, 5, 6, 7, 8, 1, 2, 3, 4)
WEIGHTS = (4 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 9, 1 / 9, 1 / 36, 1 / 36)


@sv.func
def is_solid(x: int, y: int) -> bool:
    return (x - CENTER[0]) ** 2 + (y - CENTER[1]) ** 2 < RADIUS * RADIUS


@sv.func
def balanced(density: float, velocity: vec2) -> Directions:
    """The equilibrium distribution."""
    along = sv.Vector([velocity.dot(vec2(*d)) for d in sv.static(DIRECTIONS)])
    return density * sv.Vector(WEIGHTS, sv.f32) * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * velocity.norm_sqr())


@sv.func
def velocity_of(cell: Directions) -> vec2:
    velocity = vec2(0.0)
    for k in sv.static(range(9)):
        velocity += cell[k] * vec2(*DIRECTIONS[k])
    return velocity / cell.sum()


@sv.kernel
def start(cells: Cells) -> None:
    """The inflow oscillates slightly to break the symmetry."""
    for x, y in cells:
        cells[x, y] = balanced(1.0, SPEED * vec2(1.0, 0.3 * sv.sin(0.05 * x)))


@sv.kernel
def step(cells: Cells, after: Cells) -> None:
    for x, y in cells:
        incoming = sv.Vector.zero(sv.f32, 9)
        for k in sv.static(range(9)):
            from_x, from_y = x - DIRECTIONS[k][0], (y - DIRECTIONS[k][1] + HEIGHT) % HEIGHT
            if is_solid(from_x, from_y):
                incoming[k] = cells[x, y][OPPOSITE[k]]
            else:
                incoming[k] = cells[sv.math.clamp(from_x, 0, WIDTH - 1), from_y][k]
        after[x, y] = incoming + RELAXATION * (balanced(incoming.sum(), velocity_of(incoming)) - incoming)
        if x == 0:
            after[x, y] = balanced(1.0, vec2(SPEED, 0.0))


@sv.kernel
def draw(cells: Cells, light: pictures.Image) -> None:
    """Hue shows the sense of rotation, brightness the speed."""
    for i, j in light:
        x, y = sv.math.clamp(j // 2, 1, WIDTH - 2), sv.math.clamp(HEIGHT - 1 - i // 2, 1, HEIGHT - 2)
        if is_solid(x, y):
            light[i, j] = vec3(0.75, 0.7, 0.6)
        else:
            turn = velocity_of(cells[x + 1, y]).y - velocity_of(cells[x - 1, y]).y
            turn -= velocity_of(cells[x, y + 1]).x - velocity_of(cells[x, y - 1]).x
            side = vec3(1.0, 0.3, 0.08) if turn > 0.0 else vec3(0.08, 0.35, 1.0)
            glow = 0.2 * velocity_of(cells[x, y]).norm() / SPEED
            light[i, j] = glow * glow + 12.0 * abs(turn) * side


def frames() -> Iterator[Any]:
    """Yield the image after each frame."""
    cells, after = sv.ndarray(Directions, (WIDTH, HEIGHT)), sv.ndarray(Directions, (WIDTH, HEIGHT))
    start(cells)
    while True:
        step(cells, after)
        cells, after = after, cells
        yield cells


def main(steps: int = 3000) -> None:
    cells = pictures.last_of(frames(), steps)
    light = pictures.image(2 * HEIGHT, 2 * WIDTH)
    draw(cells, light)
    pictures.save(light, "lattice_boltzmann")


if __name__ == "__main__":
    main()
