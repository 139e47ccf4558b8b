"""What the tests of engines send to workers: a module, as programs have them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import samovar as sv


@sv.kernel
def energy(x: sv.types.NDArray[sv.f64, 1], stiffness: sv.f64) -> sv.f64:
    total = 0.0
    for i in range(x.shape[0]):
        total += 0.5 * stiffness * x[i] * x[i]
    return total


@sv.kernel
def advance(angle: sv.types.NDArray[sv.f64, 1], speed: sv.types.NDArray[sv.f64, 1], dt: sv.f64):
    for i in range(angle.shape[0]):
        speed[i] -= dt * sv.sin(angle[i])
        angle[i] += dt * speed[i]


@sv.kernel
def stencil(a: sv.types.NDArray[sv.f64, 1], out: sv.types.NDArray[sv.f64, 1]):
    for i in range(1, a.shape[0] - 1):
        out[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]


class Arm:
    """An environment: a few joints."""

    def __init__(self, number: int) -> None:
        self.angle, self.speed = np.full(6, 0.1 * number), np.zeros(6)

    def step(self, times: int) -> float:
        for _ in range(times):
            advance(self.angle, self.speed, 0.01)
        return float(self.angle.sum())

    def compiles(self) -> int:
        return compiles()


def compiles() -> int:
    return sum(each.cache_observations.compiles for each in (energy, advance, stencil))


def simulate(number: int) -> tuple[float, int, int]:
    """A small simulation: its result, the process, and how many kernels that has compiled."""
    return energy(np.linspace(0, 1, 100), 1.0 + number), os.getpid(), compiles()


def smooth(block: np.ndarray) -> np.ndarray:
    out = block.copy()
    stencil(block, out)
    return out


def sum_of(a: np.ndarray) -> float:
    """Of an array that an object store hands out."""
    assert not a.flags.writeable
    return energy(a, 2.0)


def overwrite(a: np.ndarray) -> None:
    advance(a, np.zeros_like(a), 0.1)


def all_kernels() -> None:
    simulate(0)
    Arm(1).step(1)
    smooth(np.ones(8))


def threads() -> tuple[int, str]:
    """The threads of this process that belong to our pool, at most, after many launches at once."""
    from concurrent.futures import ThreadPoolExecutor

    big = np.ones(1 << 20)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: energy(big, float(number)), range(16)))
    names = [(Path("/proc/self/task") / task / "comm").read_text() for task in os.listdir("/proc/self/task")]
    return sum(name.startswith("samovar-") for name in names), os.environ["SAMOVAR_NUM_THREADS"]
