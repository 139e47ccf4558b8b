"""A walker of masses and springs learns to walk: its springs are driven by sine waves whose weights are learned.

One kernel computes forces, the ground and the motion of all time steps, in order. The loss is how far the walker has
come; its gradient by the weights goes through all steps and contacts. The picture shows the walker at several times,
before and after learning.
"""

import math

import pictures

import samovar as sv
from samovar.math import vec2, vec3

STEPS = 400
ROUNDS = 30
DT = 0.004
STIFFNESS = 3000.0
GRAVITY = 4.0
WAVES = 4
#: Legs and body: squares of four masses, three in a row above and two legs below.
CELLS = [(0, 1), (1, 1), (2, 1), (0, 0), (2, 0)]
EDGE = 0.1

corners = sorted({(x + i, y + j) for x, y in CELLS for i in (0, 1) for j in (0, 1)})
links = sorted(
    {
        (min(a, b), max(a, b))
        for x, y in CELLS
        for a in (corners.index((x + i, y + j)) for i in (0, 1) for j in (0, 1))
        for b in (corners.index((x + i, y + j)) for i in (0, 1) for j in (0, 1))
        if a != b
    }
)
MASSES, SPRINGS = len(corners), len(links)

x = sv.Vector.field(2, sv.f64, (STEPS + 1, MASSES), needs_grad=True)
v = sv.Vector.field(2, sv.f64, (STEPS + 1, MASSES), needs_grad=True)
force = sv.Vector.field(2, sv.f64, (STEPS, MASSES), needs_grad=True)
ends = sv.Vector.field(2, sv.i32, SPRINGS)
length = sv.field(sv.f64, SPRINGS)
weight = sv.field(sv.f64, (SPRINGS, WAVES), needs_grad=True)
loss = sv.field(sv.f64, (), needs_grad=True)


@sv.kernel(serial=True)
def walk() -> None:
    for t in range(STEPS):
        for m in range(MASSES):
            force[t, m] = vec2(0.0, -GRAVITY)
        for s in range(SPRINGS):
            a, b = ends[s].x, ends[s].y
            drive = 0.0
            for k in range(WAVES):
                drive += weight[s, k] * sv.sin(16.0 * t * DT + 2.0 * math.pi * k / WAVES)
            along = x[t, a] - x[t, b]
            size = along.norm() + 1e-6
            wanted = length[s] * (1.0 + 0.15 * sv.tanh(drive))
            pulled = STIFFNESS * (size - wanted) / size * along
            force[t, a] -= pulled
            force[t, b] += pulled
        for m in range(MASSES):
            speed = sv.exp(-4.0 * DT) * (v[t, m] + DT * force[t, m])
            if x[t, m].y + DT * speed.y < 0.0:  # the ground holds: no sliding
                speed = vec2(0.0, -x[t, m].y / DT)
            v[t + 1, m] = speed
            x[t + 1, m] = x[t, m] + DT * speed
    loss[None] = 0.0
    for m in range(MASSES):
        loss[None] -= x[STEPS, m].x / MASSES


@sv.kernel
def draw(light: pictures.Image, panel: sv.i32) -> None:
    for t in range(5):
        for s in range(SPRINGS):
            at = t * (STEPS // 4)
            for n in range(200):
                place = sv.math.mix(x[at, ends[s].x], x[at, ends[s].y], n / 199.0)
                row, column = int(90 + 96 * panel - 230 * place.y), int(20 + 300 * place.x)
                if 0 <= row < light.shape[0] and 0 <= column < light.shape[1]:
                    light[row, column] = sv.math.mix(vec3(0.1, 0.2, 0.5), vec3(1.0, 0.6, 0.2), t / 4.0)


def main() -> None:
    for m, (i, j) in enumerate(corners):
        x[0, m] = vec2(EDGE * i, EDGE * j)
    for s, (a, b) in enumerate(links):
        ends[s] = (a, b)
        length[s] = EDGE * math.dist(corners[a], corners[b])
        for k in range(WAVES):
            weight[s, k] = 0.2 * math.sin(37.0 * s + 11.0 * k)
    light = pictures.image(192, 384)
    first = math.nan
    for number in range(ROUNDS):
        with sv.ad.Tape(loss):
            walk()
        if math.isnan(first):
            first = -loss[None]
            draw(light, 0)
        if number % 10 == 0:
            print(f"round {number}: the walker comes to {-loss[None]:.3f}")
        size = math.sqrt(sum(weight.grad[s, k] ** 2 for s in range(SPRINGS) for k in range(WAVES)))
        for s in range(SPRINGS):
            for k in range(WAVES):
                weight[s, k] -= 0.5 * weight.grad[s, k] / (size + 1e-12)
    walk()
    print(f"the walker came to {first:.3f} in the beginning, and comes to {-loss[None]:.3f} now")
    assert -loss[None] > first + 0.2
    draw(light, 1)
    pictures.save(light, "walker")


if __name__ == "__main__":
    main()
