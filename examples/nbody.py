"""A small cluster of stars under its own gravity; leapfrog steps, and the energy as a check.

The inner loop over the other stars is an ordinary loop inside the parallel one.
"""

import numpy as np

import samovar as sv

STARS = 1024
SOFTENING = 0.05
Vector = sv.types.NDArray[sv.f32, 1]


@sv.kernel
def kick(x: Vector, y: Vector, z: Vector, vx: Vector, vy: Vector, vz: Vector, mass: sv.f32, step: sv.f32):
    for i in range(x.shape[0]):
        ax, ay, az = 0.0, 0.0, 0.0
        for j in range(x.shape[0]):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            inverse = sv.rsqrt(dx * dx + dy * dy + dz * dz + SOFTENING * SOFTENING)
            weight = mass * inverse * inverse * inverse
            ax += weight * dx
            ay += weight * dy
            az += weight * dz
        vx[i] += step * ax
        vy[i] += step * ay
        vz[i] += step * az


@sv.kernel
def drift(place: Vector, speed: Vector, step: sv.f32):
    for i in range(place.shape[0]):
        place[i] += step * speed[i]


@sv.kernel
def energy(x: Vector, y: Vector, z: Vector, vx: Vector, vy: Vector, vz: Vector, mass: sv.f32) -> sv.f64:
    total: sv.f64 = 0.0
    for i in range(x.shape[0]):
        potential = 0.0
        for j in range(x.shape[0]):
            if j != i:
                dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                potential -= mass * sv.rsqrt(dx * dx + dy * dy + dz * dz + SOFTENING * SOFTENING)
        total += 0.5 * mass * (vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i] + potential)
    return total


def main() -> None:
    random = np.random.default_rng(7)
    place = [random.normal(size=STARS).astype(np.float32) for _ in range(3)]
    speed = [0.3 * random.normal(size=STARS).astype(np.float32) for _ in range(3)]
    mass, step = 1.0 / STARS, 0.01
    before = energy(*place, *speed, mass)
    for turn in range(200):
        kick(*place, *speed, mass, step if turn else step / 2)
        for axis in range(3):
            drift(place[axis], speed[axis], step)
    kick(*place, *speed, mass, step / 2)
    after = energy(*place, *speed, mass)
    print(f"energy before {before:.5f}, after 200 steps {after:.5f}")
    assert abs(after - before) < 0.01 * abs(before)


if __name__ == "__main__":
    main()
