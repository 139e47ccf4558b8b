"""Scan, sort and reductions of ten million elements, and Monte Carlo, against NumPy, and Numba and Taichi if they are there.

    python benchmarks/algorithms.py [size]

Each contender does the same work on the same data in one process; the best of several times counts. A ratio above one says
how many times faster samovar is.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

import samovar as sv

TIMES = 7


def best(prepare: Callable[[], object], run: Callable[[object], object]) -> float:
    """Seconds of the fastest of several runs, what is prepared for each not counted."""
    found = []
    for _ in range(TIMES):
        prepared = prepare()
        start = time.perf_counter()
        run(prepared)
        found.append(time.perf_counter() - start)
    return min(found)


@sv.kernel
def monte_carlo(count: sv.i32) -> sv.f64:
    inside = sv.f64(0)
    for _ in range(count):
        x, y = sv.random(), sv.random()
        inside += sv.select(x * x + y * y < 1, 1.0, 0.0)
    return 4 * inside / count


def numpy_monte_carlo(count: int) -> float:
    random = np.random.default_rng(1)
    x, y = random.random(count, np.float32), random.random(count, np.float32)
    return 4 * np.count_nonzero(x * x + y * y < 1) / count


def contenders(data: np.ndarray) -> dict[str, dict[str, tuple[Callable[[], object], Callable[[object], object]]]]:
    """Problem → contender → what it needs, and what it does."""
    size, out = len(data), np.empty_like(data)
    problems: dict[str, dict[str, tuple[Callable[[], object], Callable[[object], object]]]] = {
        "scan": {
            "samovar": (lambda: data, lambda a: sv.algorithms.prefix_sum(a, out)),
            "numpy": (lambda: data, lambda a: np.cumsum(a, out=out)),
        },
        "sort": {
            "samovar": (data.copy, sv.algorithms.parallel_sort),
            "numpy": (data.copy, lambda a: a.sort()),
            "numpy stable": (data.copy, lambda a: a.sort(kind="stable")),
        },
        "sum": {"samovar": (lambda: data, sv.algorithms.reduce), "numpy": (lambda: data, np.sum)},
        "argmax": {"samovar": (lambda: data, sv.algorithms.argmax), "numpy": (lambda: data, np.argmax)},
        "monte carlo": {
            "samovar": (lambda: size, monte_carlo),
            "numpy": (lambda: size, numpy_monte_carlo),
        },
    }
    if find_spec("numba") is not None:
        import numba

        @numba.njit(parallel=True)
        def numba_monte_carlo(count: int) -> float:
            inside = 0
            for _ in numba.prange(count):
                x, y = np.random.random(), np.random.random()
                inside += x * x + y * y < 1
            return 4 * inside / count

        problems["scan"]["numba"] = (lambda: data, numba.njit(lambda a: np.cumsum(a)))
        problems["sort"]["numba"] = (data.copy, numba.njit(lambda a: a.sort()))
        problems["monte carlo"]["numba"] = (lambda: size, numba_monte_carlo)
    if find_spec("taichi") is not None:
        import taichi as ti

        ti.init(arch=ti.cpu, log_level=ti.ERROR)
        keys = ti.field(ti.i32, size)

        def filled() -> object:
            keys.from_numpy(data)
            return keys

        problems["sort"]["taichi"] = (filled, ti.algorithms.parallel_sort)
    return problems


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    data = np.random.default_rng(1).integers(-(1 << 31), (1 << 31) - 1, size, np.int32)
    for problem, programs in contenders(data).items():
        for prepare, run in programs.values():  # what compiles does it here
            run(prepare())
        taken = {name: best(prepare, run) for name, (prepare, run) in programs.items()}
        ours = taken.pop("samovar")
        ratios = "  ".join(f"{name} {seconds * 1e3:8.1f} ms ({seconds / ours:.2f}x)" for name, seconds in taken.items())
        print(f"{problem:12} samovar {ours * 1e3:8.1f} ms  {ratios}")


if __name__ == "__main__":
    main()
