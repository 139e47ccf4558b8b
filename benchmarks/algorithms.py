"""Scan, sort, extremes and unique of ten million elements, and Monte Carlo, against NumPy and C, and Numba and Taichi if
they are there.

    python benchmarks/algorithms.py [--size 10000000] [--only scan,sort] [--rounds 7] [--clock cpu]

Each contender does the same work on the same data in one process, in turns; the shortest of its runs counts. A ratio above
one says how many times faster Samovar is. Results are compared before anything is timed.
"""

from __future__ import annotations

import argparse
import ctypes
import time
from collections.abc import Callable
from importlib.util import find_spec

from threads import THREADS  # isort: skip  (before anything that starts threads)

import numpy as np
from contenders.with_c import LIBRARY

import samovar as sv

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
Program = tuple[Callable[[], object], Callable[[object], object]]


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


def c_monte_carlo(count: int) -> float:
    entry = LIBRARY["monte_carlo"]
    entry.restype = ctypes.c_double
    return entry(ctypes.c_uint64(1), ctypes.c_int64(count))


def contenders(data: np.ndarray) -> dict[str, dict[str, Program]]:
    """Problem → contender → what it needs, and what it does."""
    size, out = len(data), np.empty_like(data)
    floats, sums = np.random.default_rng(2).random(size, np.float32), np.empty(size, np.float32)
    few = data % 100_000

    def whole(run: Callable[..., object], of: object = data) -> Program:
        return lambda: of, run

    def copied(run: Callable[..., object]) -> Program:
        return data.copy, run

    algorithms = sv.algorithms
    problems: dict[str, dict[str, Program]] = {
        "scan": {"samovar": whole(lambda a: algorithms.prefix_sum(a, out)), "numpy": whole(lambda a: np.cumsum(a, out=out))},
        "scan of f32": {
            "samovar": whole(lambda a: algorithms.prefix_sum(a, sums), floats),
            "numpy": whole(lambda a: np.cumsum(a, out=sums), floats),
        },
        "sort": {
            "samovar": copied(algorithms.parallel_sort),
            "numpy": copied(lambda a: a.sort()),
            "numpy stable": copied(lambda a: a.sort(kind="stable")),
        },
        "sum": {"samovar": whole(algorithms.reduce), "numpy": whole(np.sum)},
        "max": {"samovar": whole(algorithms.max), "numpy": whole(np.max)},
        "min of f32": {"samovar": whole(algorithms.min, floats), "numpy": whole(np.min, floats)},
        "argmax": {"samovar": whole(algorithms.argmax), "numpy": whole(np.argmax)},
        "unique": {"samovar": whole(algorithms.unique), "numpy": whole(np.unique)},
        "unique of few": {"samovar": whole(algorithms.unique, few), "numpy": whole(np.unique, few)},
        "monte carlo": {
            "samovar": whole(monte_carlo, size),
            "C": whole(c_monte_carlo, size),
            "numpy": whole(numpy_monte_carlo, size),
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

        problems["scan"]["numba"] = whole(numba.njit(lambda a: np.cumsum(a)))
        problems["sort"]["numba"] = copied(numba.njit(lambda a: a.sort()))
        problems["max"]["numba"] = whole(numba.njit(lambda a: a.max()))
        problems["argmax"]["numba"] = whole(numba.njit(lambda a: a.argmax()))
        problems["unique"]["numba"] = whole(numba.njit(lambda a: np.unique(a)))
        problems["monte carlo"]["numba"] = whole(numba_monte_carlo, size)
    if find_spec("taichi") is not None:
        import taichi as ti

        ti.init(arch=ti.cpu, log_level=ti.ERROR, cpu_max_num_threads=THREADS)
        keys = ti.field(ti.i32, size)

        def filled() -> object:
            keys.from_numpy(data)
            return keys

        problems["sort"]["taichi"] = (filled, ti.algorithms.parallel_sort)
    return problems


def value(prepared: object, result: object) -> object:
    """What contenders have to agree on: what a function gives, or has made of what it was given."""
    found = prepared if result is None else result
    if hasattr(found, "to_numpy"):
        found = found.to_numpy()
    return np.asarray(found)


def agree(problem: str, programs: dict[str, Program]) -> None:
    """Run each once, which also compiles it, and compare."""
    first = None
    for name, (prepare, run) in programs.items():
        prepared = prepare()
        found = value(prepared, run(prepared)).copy()
        first = found if first is None else first
        found = found.astype(first.dtype)  # Numba's sums of i32 are i64
        exact = found.dtype.kind in "iu"
        if not (np.array_equal(found, first) if exact else np.allclose(found, first, rtol=1e-2)):
            raise SystemExit(f"{problem}: {name} has another result")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--size", type=int, default=10_000_000)
    arguments.add_argument("--only", default="", help="problems by name, with commas")
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--clock", choices=CLOCKS, default="wall")
    given = arguments.parse_args()
    clock = CLOCKS[given.clock]
    data = np.random.default_rng(1).integers(-(1 << 31), (1 << 31) - 1, given.size, np.int32)
    for problem, programs in contenders(data).items():
        if given.only and problem not in given.only.split(","):
            continue
        agree(problem, programs)
        shortest = dict.fromkeys(programs, float("inf"))
        for _ in range(given.rounds):
            for name, (prepare, run) in programs.items():
                prepared = prepare()
                start = clock()
                run(prepared)
                shortest[name] = min(shortest[name], clock() - start)
        ours = shortest.pop("samovar")
        ratios = "  ".join(f"{name} {seconds * 1e3:.1f} ms ({seconds / ours:.2f}x)" for name, seconds in shortest.items())
        print(f"{problem:14} samovar {ours * 1e3:8.1f} ms  {ratios}", flush=True)


if __name__ == "__main__":
    main()
