"""Gradient descent through all time steps finds the initial velocity of a wave that ends as a given picture.

The wave equation on a membrane with fixed edges, 90 steps. The loss compares the last state with a ring; its gradient by the
initial velocity comes from `sv.ad.Tape`. The picture shows the target, what was learned, and the velocity.
"""

import pictures

import samovar as sv
from samovar.math import vec3

SIDE = 64
STEPS = 90
ROUNDS = 100
SPEED = 0.25  # (c·dt/dx)², at most 0.5

height = sv.field(sv.f32, (STEPS + 2, SIDE, SIDE), needs_grad=True)
velocity = sv.field(sv.f32, (SIDE, SIDE), needs_grad=True)
target = sv.field(sv.f32, (SIDE, SIDE))
momentum = sv.field(sv.f32, (SIDE, SIDE))
loss = sv.field(sv.f32, (), needs_grad=True)


@sv.kernel
def draw_target() -> None:
    for i, j in target:
        distance = sv.math.vec2(i - SIDE / 2, j - SIDE / 2).norm()
        target[i, j] = sv.exp(-0.08 * (distance - 16.0) ** 2)


@sv.kernel
def begin() -> None:
    for i, j in velocity:
        inside = 0 < i < SIDE - 1 and 0 < j < SIDE - 1
        height[1, i, j] = height[0, i, j] + (velocity[i, j] if inside else 0.0)


@sv.kernel
def step(t: sv.i32) -> None:
    for i, j in sv.ndrange((1, SIDE - 1), (1, SIDE - 1)):
        around = height[t, i - 1, j] + height[t, i + 1, j] + height[t, i, j - 1] + height[t, i, j + 1]
        height[t + 1, i, j] = (
            2.0 * height[t, i, j] - height[t - 1, i, j] + SPEED * (around - 4.0 * height[t, i, j])
        )


@sv.kernel
def compare() -> None:
    for i, j in target:
        loss[None] += (height[STEPS + 1, i, j] - target[i, j]) ** 2


@sv.kernel
def descend(rate: sv.f32) -> None:
    for i, j in velocity:
        momentum[i, j] = 0.9 * momentum[i, j] - rate * velocity.grad[i, j]
        velocity[i, j] += momentum[i, j]


@sv.kernel
def draw(light: pictures.Image) -> None:
    for i, j in light:
        panel, x, y = j // 192, (j % 192) // 3, i // 3
        shown = target[y, x]
        if panel == 1:
            shown = height[STEPS + 1, y, x]
        elif panel == 2:
            shown = 4.0 * velocity[y, x]
        light[i, j] = vec3(0.9, 0.5, 0.15) * sv.max(shown, 0.0) + vec3(0.1, 0.35, 0.9) * sv.max(-shown, 0.0)


def main() -> None:
    draw_target()
    first = 0.0
    for number in range(ROUNDS):
        loss[None] = 0.0
        with sv.ad.Tape(loss):
            begin()
            for t in range(1, STEPS + 1):
                step(t)
            compare()
        first = first or loss[None]
        if number % 10 == 0:
            print(f"round {number}: loss {loss[None]:.3f}")
        descend(0.002)
    print(f"the loss went from {first:.2f} to {loss[None]:.3f}")
    assert loss[None] < 0.1 * first
    light = pictures.image(192, 576)
    draw(light)
    pictures.save(light, "learn_wave")


if __name__ == "__main__":
    main()
