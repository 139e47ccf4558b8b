"""What the tests of engines send to workers: a module, as programs have them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from robot import checksum
from robot_kernels import Robot
from robot_state import new_state

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
    """An environment: the robot of `examples/robot.py`, with 40 kernels over 300 arrays."""

    def __init__(self, number: int) -> None:
        state = new_state(4)
        state.joints.angle_x[0] = number
        self.robot = Robot(state, 4, dt=0.01)

    def step(self, times: int) -> float:
        for _ in range(times):
            self.robot.step()
        return checksum(self.robot)

    def compiles(self) -> int:
        return sv.compile_count()


@sv.kernel
def endless(a: sv.types.NDArray[sv.f64, 1]):
    while a[0] < 1:
        a[1] += 1e-9


def run_forever(started: str) -> None:
    """Launch a kernel that only an interrupt ends."""
    Path(started).write_text(str(os.getpid()))
    endless(np.zeros(2))


def kernel_of(number: int) -> Any:
    """A kernel that is compiled for this number."""

    @sv.kernel
    def own() -> sv.i32:
        return number

    return own


def compile_forever(started: str) -> None:
    """Compile one kernel after the other."""
    sv.init(offline_cache=False)
    for number in range(1_000_000):
        assert kernel_of(number)() == number
        Path(started).write_text(str(os.getpid()))


def simulate(number: int) -> tuple[float, int, int]:
    """A small simulation: its result, the process, and how many kernels that has compiled."""
    return energy(np.linspace(0, 1, 100), 1.0 + number), os.getpid(), sv.compile_count()


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
    stopped = np.zeros(2)
    stopped[0] = 1
    endless(stopped)


def threads() -> tuple[int, str]:
    """The threads of this process that belong to our pool, at most, after many launches at once."""
    from concurrent.futures import ThreadPoolExecutor

    big = np.ones(1 << 20)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: energy(big, float(number)), range(16)))
    names = [(Path("/proc/self/task") / task / "comm").read_text() for task in os.listdir("/proc/self/task")]
    return sum(name.startswith("samovar-") for name in names), os.environ["SAMOVAR_NUM_THREADS"]
