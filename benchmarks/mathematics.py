"""Math functions in loops, in nanoseconds per element, over arguments of every kind, one thread, processor time.

    python benchmarks/mathematics.py [--only exp,pow] [--rounds 7] [--elements 65536]

`ours` is a kernel with fast_math; `C scalar` calls the C library number by number; `libmvec` is gcc's loop with -ffast-math,
which calls glibc's vector functions where gcc finds them; `Numba` has fastmath, and Intel's SVML where that is installed.
"""

import argparse
import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pairs import interleave, loop
from rich.console import Console
from rich.table import Table

import samovar as sv

Range = tuple[str, float, float]

ANGLES: list[Range] = [
    ("ordinary", -10, 10), ("hundreds", -1000, 1000), ("1e6", 1e5, 1e6), ("1e12", 1e11, 1e12), ("1e30", 1e29, 1e30),
]  # fmt: skip
#: Function → ranges of its argument. `tiny` and `huge` are the ends of the format.
RANGES: dict[str, list[Range]] = {
    "exp": [("ordinary", -10, 10), ("negative", -80, -20), ("underflows", -1100, -760), ("overflows", 720, 1000)],
    "log": [("ordinary", 0.1, 100), ("near 1", 0.9, 1.1), ("tiny", 0, 0), ("negative", -10, -1)],
    "sin": [*ANGLES, ("tiny", 0, 0)],
    "cos": [*ANGLES, ("tiny", 0, 0)],
    "tanh": [("ordinary", -3, 3), ("large", 20, 1000), ("small", 1e-6, 1e-3), ("tiny", 0, 0)],
    "pow": [("ordinary", 0.1, 10), ("zero", 0, 1e-300), ("negative", -10, -1), ("tiny", 0, 0)],
}
FORMATS = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
C_LOOP = """
#include <math.h>
void run(const {kind} *restrict x, const {kind} *restrict y, {kind} *restrict out, long n)
{{
    for (long i = 0; i < n; i++)
        out[i] = {call};
}}
"""
FLAGS = {
    "C scalar": ["-O2", "-fno-tree-vectorize", "-march=native"],
    "libmvec": ["-O3", "-ffast-math", "-march=native"],
}


def kernel(function: str, dtype: object) -> Callable[..., None]:
    array = sv.types.NDArray[dtype, 1]
    compute = getattr(sv, function)
    if function == "pow":

        @sv.kernel
        def powers(x: array, y: array, out: array):
            for i in x:
                out[i] = compute(x[i], y[i])

        return powers

    @sv.kernel
    def values(x: array, y: array, out: array):
        for i in x:
            out[i] = compute(x[i])

    return values


def c_loop(function: str, dtype: np.dtype, flags: list[str], folder: Path) -> Callable[..., None]:
    kind, suffix = ("float", "f") if dtype.itemsize == 4 else ("double", "")
    call = f"{function}{suffix}(x[i]{', y[i]' if function == 'pow' else ''})"
    path = folder / f"{function}{suffix}{len(flags)}{flags[0]}"
    path.with_suffix(".c").write_text(C_LOOP.format(kind=kind, call=call), encoding="utf-8")
    command = ["gcc", *flags, "-fPIC", "-c", str(path.with_suffix(".c")), "-o", str(path.with_suffix(".o"))]
    subprocess.run(command, check=True)
    subprocess.run(["gcc", "-shared", str(path.with_suffix(".o")), "-o", str(path.with_suffix(".so")), "-lm"], check=True)
    run = ctypes.CDLL(str(path.with_suffix(".so"))).run
    run.restype = None

    def call_it(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        run(*(ctypes.c_void_p(each.ctypes.data) for each in (x, y, out)), ctypes.c_long(x.size))

    return call_it


def numba_loop(function: str) -> Callable[..., None] | None:
    try:
        import math

        from numba import njit
    except ImportError:
        return None
    compute = getattr(math, function)
    if function == "pow":

        @njit(fastmath=True)
        def powers(x, y, out):
            for i in range(x.size):
                out[i] = x[i] ** y[i]

        return powers

    @njit(fastmath=True)
    def values(x, y, out):
        for i in range(x.size):
            out[i] = compute(x[i])

    return values


def numbers(range_: Range, dtype: np.dtype, count: int) -> np.ndarray:
    name, low, high = range_
    random = np.random.default_rng(1)
    if name == "tiny":
        bits = random.integers(1, 1 << 20, count, f"u{dtype.itemsize}")
        return bits.view(dtype)
    return random.uniform(low, high, count).astype(dtype)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(RANGES))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--elements", type=int, default=1 << 16)
    options = parser.parse_args()
    sv.init(num_threads=1)
    console = Console()
    table = Table("function", "arguments", "dtype", "ours", *FLAGS, "Numba", "scalar / ours", title="ns per element")
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        for function in options.only.split(","):
            for label, dtype in FORMATS.items():
                contenders = {"ours": kernel(function, getattr(sv, label))}
                for name, flags in FLAGS.items():
                    contenders[name] = c_loop(function, dtype, flags, Path(folder))
                if (numba := numba_loop(function)) is not None:
                    contenders["Numba"] = numba
                for range_ in RANGES[function]:
                    x = numbers(range_, dtype, options.elements)
                    y = np.random.default_rng(2).uniform(-3, 3, x.size).astype(dtype)
                    if range_[0] == "negative":
                        y = np.rint(y)
                    out = np.empty_like(x)
                    calls = {
                        name: loop(lambda each=each, x=x, y=y, out=out: each(x, y, out), time.process_time)
                        for name, each in contenders.items()
                    }
                    taken = interleave(calls, options.rounds, pause_seconds=0)
                    best = {name: min(times) / x.size * 1e9 for name, times in taken.items()}
                    cells = [f"{best[name]:.2f}" if name in best else "–" for name in ("ours", *FLAGS, "Numba")]
                    table.add_row(function, range_[0], label, *cells, f"{best['C scalar'] / best['ours']:.1f}")
    console.print(table)


if __name__ == "__main__":
    main()
