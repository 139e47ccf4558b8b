"""A torch training loop learns the stiffness of an elastic block from its motion.

An elastic block (MLS-MPM, as in mpm88.py) falls on the floor. `sv.ad.torch_function` makes a layer of the simulation:
from the two parameters, how much it resists shear and compression, to the positions of its particles. Without torch,
the same is written out. The picture shows the block that was seen, the first guess, and what was learned.
"""

from __future__ import annotations

import importlib.util

import pictures

import samovar as sv
from samovar.math import mat2, vec2, vec3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SIDE = 24
ROWS = 12
PARTICLES = ROWS * ROWS
STEPS = 120
ROUNDS = 40
DT = 1e-3
CELL = 1.0 / SIDE
VOLUME = (0.3 / ROWS) ** 2
SCALE = 100.0
Points = sv.types.NDArray[vec2, 1]
Matrices = sv.types.NDArray[mat2, 1]
Numbers = sv.types.NDArray[sv.f32, 1]


@sv.kernel
def place(x: Points, v: Points, deformation: Matrices) -> None:
    for p in x:
        x[p] = vec2(0.35, 0.18) + 0.3 * (vec2(p // ROWS, p % ROWS) + 0.5) / ROWS
        v[p] = vec2(0.0, -2.0)
        deformation[p] = sv.Matrix([[1.0, 0.0], [0.0, 1.0]])


@sv.kernel
def to_grid(
    x: Points, v: Points, slope: Matrices, deformation: Matrices, material: Numbers, momentum: sv.types.NDArray[vec2, 2],
    mass: sv.types.NDArray[sv.f32, 2],
) -> None:  # fmt: skip
    for i, j in mass:
        momentum[i, j] = vec2(0.0)
        mass[i, j] = 0.0
    for p in x:
        base = (x[p] * SIDE - 0.5).cast(int)
        offset = x[p] * SIDE - base
        weight = sv.Matrix.rows([0.5 * (1.5 - offset) ** 2, 0.75 - (offset - 1.0) ** 2, 0.5 * (offset - 0.5) ** 2])
        shape = deformation[p]
        change = shape.determinant()
        shear, bulk = SCALE * material[0], SCALE * material[1]
        unit = sv.Matrix([[1.0, 0.0], [0.0, 1.0]])
        stress = shear * (shape @ shape.transpose() - unit) + bulk * sv.log(change) * unit  # neo-Hookean
        affine = VOLUME * slope[p] - 4.0 * DT * VOLUME * SIDE * SIDE * stress
        for i, j in sv.static(sv.ndrange(3, 3)):
            node, share = vec2(i, j), weight[i, 0] * weight[j, 1]
            at = base + node.cast(int)
            momentum[at.x, at.y] += share * (VOLUME * v[p] + affine @ (node - offset) * CELL)
            mass[at.x, at.y] += share * VOLUME


@sv.kernel
def to_particles(
    x: Points, v: Points, slope: Matrices, deformation: Matrices, momentum: sv.types.NDArray[vec2, 2],
    mass: sv.types.NDArray[sv.f32, 2],
) -> None:  # fmt: skip
    for i, j in mass:
        if mass[i, j] > 0.0:
            velocity = momentum[i, j] / mass[i, j]
            velocity.y -= DT * 9.8
            if j < 3:
                velocity = vec2(0.0)  # the floor
            momentum[i, j] = velocity
    for p in x:
        base = (x[p] * SIDE - 0.5).cast(int)
        offset = x[p] * SIDE - base
        weight = sv.Matrix.rows([0.5 * (1.5 - offset) ** 2, 0.75 - (offset - 1.0) ** 2, 0.5 * (offset - 0.5) ** 2])
        velocity, change = vec2(0.0), mat2(0.0)
        for i, j in sv.static(sv.ndrange(3, 3)):
            node, share = vec2(i, j), weight[i, 0] * weight[j, 1]
            at = base + node.cast(int)
            found = share * momentum[at.x, at.y]
            velocity += found
            change += 4.0 * SIDE * found.outer_product(node - offset)
        v[p] = velocity
        x[p] += DT * velocity
        slope[p] = change
        deformation[p] += DT * change @ deformation[p]


def simulate(material: Any) -> Any:
    """The positions of the particles at the end."""
    x, v = (sv.ndarray(vec2, PARTICLES, needs_grad=True) for _ in range(2))
    slope, deformation = (sv.ndarray(mat2, PARTICLES, needs_grad=True) for _ in range(2))
    momentum = sv.ndarray(vec2, (SIDE, SIDE), needs_grad=True)
    mass = sv.ndarray(sv.f32, (SIDE, SIDE), needs_grad=True)
    place(x, v, deformation)
    for _ in range(STEPS):
        to_grid(x, v, slope, deformation, material, momentum, mass)
        to_particles(x, v, slope, deformation, momentum, mass)
    return x


@sv.kernel
def distance(x: Points, seen: Points, loss: sv.types.NDArray[sv.f32, 0]) -> None:
    for p in x:
        loss[None] += (x[p] - seen[p]).norm_sqr()


@sv.kernel
def draw(x: Points, light: pictures.Image, panel: sv.i32) -> None:
    colors = sv.Matrix([[0.9, 0.9, 0.9], [0.2, 0.4, 0.9], [1.0, 0.6, 0.2]])
    for p in x:
        for i, j in sv.ndrange(5, 5):
            row, column = int(188 - 190 * x[p].y) + i, int(192 * panel + 190 * x[p].x) + j
            if 0 <= row < 192 and 192 * panel <= column < 192 * panel + 192:
                light[row, column] = vec3(colors[panel, 0], colors[panel, 1], colors[panel, 2])


def parameters(*numbers: float) -> Any:
    material = sv.ndarray(sv.f32, 2, needs_grad=True)
    material[0], material[1] = numbers
    return material


def learn_with_torch(torch: Any, seen: Any) -> tuple[float, ...]:
    layer, aim = sv.ad.torch_function(simulate), seen.to_torch()
    material = torch.tensor([2.0, 2.0], requires_grad=True)
    optimizer = torch.optim.Adam([material], lr=0.1)
    for number in range(ROUNDS):
        optimizer.zero_grad()
        loss = ((layer(material) - aim) ** 2).sum()
        loss.backward()
        optimizer.step()
        if number % 10 == 0:
            print(f"round {number}: loss {loss.item():.2e}, parameters {material.tolist()}")
    return tuple(material.tolist())


def learn(seen: Any) -> tuple[float, ...]:
    """The same with the rule of Adam, written out."""

    def f(material: Any) -> Any:
        loss = sv.ndarray(sv.f32, (), needs_grad=True)
        distance(simulate(material), seen, loss)
        return loss

    found, mean, square = [2.0, 2.0], [0.0, 0.0], [0.0, 0.0]
    for number in range(ROUNDS):
        loss, gradient = sv.ad.value_and_grad(f)(parameters(*found))
        for k in range(2):
            mean[k] = 0.9 * mean[k] + 0.1 * gradient[k]
            square[k] = 0.999 * square[k] + 0.001 * gradient[k] ** 2
            corrected = square[k] / (1.0 - 0.999 ** (number + 1))
            found[k] -= 0.1 * mean[k] / (1.0 - 0.9 ** (number + 1)) / (corrected**0.5 + 1e-8)
        if number % 10 == 0:
            print(f"round {number}: loss {loss:.2e}, parameters {found}")
    return tuple(found)


def main() -> None:
    right = (3.0, 1.0)
    seen = simulate(parameters(*right))
    if importlib.util.find_spec("torch") is None:
        print("torch is not installed: the example's own Adam instead of a torch training loop")
        learned = learn(seen)
    else:
        learned = learn_with_torch(importlib.import_module("torch"), seen)
    print(f"the block has {right}, learned {learned}")
    light = pictures.image(192, 576)
    for panel, material in enumerate((right, (2.0, 2.0), learned)):
        draw(simulate(parameters(*material)), light, panel)
    pictures.save(light, "learn_material")
    assert max(abs(a - b) for a, b in zip(right, learned, strict=True)) < 0.3


if __name__ == "__main__":
    main()
