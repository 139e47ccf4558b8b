"""Whole algorithms as one launch: an iteration of a graph loop, a conjugate-gradient solver and a Newton loop against the
same in C, and a recorded step against single calls. Peers that are installed run in the same rounds.

    python benchmarks/graph.py [--rounds 15] [--quick]

Every figure is the best of its rounds; contenders take turns within a round.
"""

import argparse
import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import samovar as sv

Flag = sv.types.NDArray[sv.i32, 0]
Numbers = sv.types.NDArray[sv.f64, 1]
Whole = sv.types.NDArray[sv.i32, 1]

C = r"""
#include <math.h>
void conjugate_gradient(double *x, double *r, double *p, double *q, long n, double limit, int *rounds)
{
    double rr = 0;
    for (long i = 0; i < n; i++) { p[i] = r[i]; rr += r[i] * r[i]; }
    do {
        double pq = 0, next = 0;
        for (long i = 0; i < n; i++) {
            double left = i > 0 ? p[i - 1] : 0, right = i < n - 1 ? p[i + 1] : 0;
            q[i] = 2.01 * p[i] - left - right;
        }
        for (long i = 0; i < n; i++) pq += p[i] * q[i];
        double a = rr / pq;
        for (long i = 0; i < n; i++) { x[i] += a * p[i]; r[i] -= a * q[i]; }
        for (long i = 0; i < n; i++) next += r[i] * r[i];
        double b = next / rr;
        rr = next;
        for (long i = 0; i < n; i++) p[i] = r[i] + b * p[i];
        ++*rounds;
    } while (rr > limit);
}
void newton(double *x, const double *c, long n, double limit, int *rounds)
{
    double worst;
    do {
        worst = 0;
        for (long i = 0; i < n; i++) {
            double step = (x[i] * x[i] * x[i] - c[i]) / (3 * x[i] * x[i]);
            x[i] -= step;
            worst = fmax(worst, fabs(step));
        }
        ++*rounds;
    } while (worst > limit);
}
"""


@sv.kernel(graph=True)
def two_tasks(x: Whole, more: Flag):
    while sv.graph.do_while(more):
        for i in range(16):
            x[i] = x[i] - 1
        for i in range(16):
            if i == 0:
                more[None] = sv.i32(x[0] > 0)


@sv.kernel(graph=True)
def conjugate_gradient(
    x: Numbers, r: Numbers, p: Numbers, q: Numbers, sums: Numbers, limit: sv.f64, rounds: Flag, more: Flag
):
    n = x.shape[0]
    sums[0] = 0.0
    for i in range(n):
        p[i] = r[i]
        sums[0] += r[i] * r[i]
    while sv.graph.do_while(more):
        sums[1] = 0.0
        for i in range(n):
            left = sv.f64(0)
            right = sv.f64(0)
            if i > 0:
                left = p[i - 1]
            if i < n - 1:
                right = p[i + 1]
            q[i] = 2.01 * p[i] - left - right
        for i in range(n):
            sums[1] += p[i] * q[i]
        sums[2] = 0.0
        step = sums[0] / sums[1]
        for i in range(n):
            x[i] += step * p[i]
            r[i] -= step * q[i]
        for i in range(n):
            sums[2] += r[i] * r[i]
        turn = sums[2] / sums[0]
        sums[0] = sums[2]
        for i in range(n):
            p[i] = r[i] + turn * p[i]
        rounds[None] += 1
        more[None] = sv.i32(sums[0] > limit)


@sv.kernel(graph=True, checkpoints=True)
def newton(x: Numbers, c: Numbers, worst: Numbers, limit: sv.f64, rounds: Flag, overflow: Flag, more: Flag):
    n = x.shape[0]
    while sv.graph.do_while(more):
        with sv.checkpoint(1, yield_on=overflow):
            for _ in range(1):
                worst[0] = 0
            for i in range(n):
                step = (x[i] * x[i] * x[i] - c[i]) / (3 * x[i] * x[i])
                x[i] -= step
                sv.atomic_max(worst[0], abs(step))
        rounds[None] += 1
        more[None] = sv.i32(worst[0] > limit)


@sv.kernel
def add(x: Numbers, value: sv.f64):
    for i in range(16):
        x[i] += value


FACTOR = 2.0


@sv.func
def limited(x: sv.f64, value: sv.f64) -> sv.f64:
    return min(abs(x), value)


@sv.kernel
def add_with_names(x: Numbers, value: sv.f64):
    for i in range(16):
        x[i] = limited(x[i], value) + sv.sqrt(abs(value)) * FACTOR


def in_c() -> ctypes.CDLL:
    folder = Path(tempfile.mkdtemp(prefix="samovar-graph-"))
    (folder / "graph.c").write_text(C)
    # Linked without -ffast-math: that would make the whole process flush denormals.
    subprocess.run(["gcc", "-O3", "-march=native", "-ffast-math", "-fPIC", "-c", "graph.c"], cwd=folder, check=True)
    subprocess.run(["gcc", "-shared", "-o", "graph.so", "graph.o", "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "graph.so"))


def best(rounds: int, runs: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The shortest time of each contender, in seconds."""
    found = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            found[name] = min(found[name], run())
    return found


def timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def flag(value: int = 0) -> np.ndarray:
    return np.full((), value, np.int32)


def show(title: str, times: dict[str, float], scale: float, unit: str) -> None:
    reference = next(iter(times.values()))
    parts = (f"{name} {seconds * scale:.3f} {unit} ({seconds / reference:.2f})" for name, seconds in times.items())
    print(f"{title:34s}", "   ".join(parts))


def iterations(rounds: int, count: int) -> None:
    x, more = sv.ndarray(sv.i32, 16), sv.ndarray(sv.i32, ())

    def samovar() -> float:
        x.fill(count)
        return timed(lambda: two_tasks(x, more)) / count

    runs = {"Samovar": samovar}
    try:
        import quadrants as qd
    except ImportError:
        qd = None
    if qd is not None:
        qd.init(arch=qd.cpu, log_level=qd.ERROR)
        whole, scalar = qd.types.ndarray(qd.i32, 1), qd.types.ndarray(qd.i32, 0)

        @qd.kernel(graph=True)
        def peer(x: whole, more: scalar):
            while qd.graph.do_while(more):
                for i in range(16):
                    x[i] = x[i] - 1
                for i in range(16):
                    if i == 0:
                        more[()] = qd.cast(x[0] > 0, qd.i32)

        a, b = qd.ndarray(qd.i32, (16,)), qd.ndarray(qd.i32, ())
        fewer = max(1, count // 200)

        def quadrants() -> float:
            a.fill(fewer)
            b.fill(1)
            return timed(lambda: peer(a, b)) / fewer

        quadrants()
        runs["Quadrants"] = quadrants
    show("iteration of two 16-element tasks", best(rounds, runs), 1e6, "µs")


def solvers(rounds: int, sizes: tuple[int, ...]) -> None:
    library = in_c()
    double = ctypes.POINTER(ctypes.c_double)

    def pointer(array: np.ndarray) -> object:
        return array.ctypes.data_as(double)

    for n in sizes:
        b = np.random.default_rng(0).normal(size=n)

        def samovar(n: int = n, b: np.ndarray = b) -> float:
            arrays = np.zeros(n), b.copy(), np.zeros(n), np.zeros(n), np.zeros(3)
            return timed(lambda: conjugate_gradient(*arrays, 1e-12 * n, flag(), flag()))

        def c(n: int = n, b: np.ndarray = b) -> float:
            arrays = np.zeros(n), b.copy(), np.zeros(n), np.zeros(n)
            count, limit = ctypes.c_int(), ctypes.c_double(1e-12 * n)
            run = library.conjugate_gradient
            return timed(lambda: run(*map(pointer, arrays), ctypes.c_long(n), limit, ctypes.byref(count)))

        show(f"conjugate gradients, n = {n}", best(rounds, {"C": c, "Samovar": samovar}), 1e3, "ms")
        wanted = np.abs(b) + 1

        def samovar_newton(n: int = n, c: np.ndarray = wanted) -> float:
            arguments = np.ones(n), c, np.zeros(1), 1e-9, flag(), flag(), flag()
            return timed(lambda: newton(*arguments))

        def c_newton(n: int = n, c: np.ndarray = wanted) -> float:
            x, count = np.ones(n), ctypes.c_int()
            limit = ctypes.c_double(1e-9)
            return timed(lambda: library.newton(pointer(x), pointer(c), ctypes.c_long(n), limit, ctypes.byref(count)))

        times = best(rounds, {"C": c_newton, "Samovar": samovar_newton})
        show(f"Newton with a checkpoint, n = {n}", times, 1e3, "ms")


def recorded(rounds: int, repeats: int) -> None:
    def many(run: Callable[[], object]) -> float:
        return min(timed(run) for _ in range(repeats))

    def compared(kernel: Callable[..., None], title: str) -> None:
        x = sv.ndarray(sv.f64, 16)

        def calls() -> None:
            for _ in range(40):
                kernel(x, 1.0)

        calls()
        with sv.graph.record() as step:
            calls()
        show(title, best(rounds, {"40 calls": lambda: many(calls), "recorded": lambda: many(step)}), 1e6, "µs")

    compared(add, "step of 40 kernels")
    compared(add_with_names, "that name funcs, globals, builtins")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    rounds = 3 if given.quick else given.rounds
    iterations(rounds, 20_000 if given.quick else 200_000)
    solvers(rounds, (1000,) if given.quick else (1000, 100_000))
    recorded(rounds, 100)


if __name__ == "__main__":
    main()
