"""Vectors and matrices in kernels against C with hand-written scalars, over a million elements.

    python benchmarks/values.py [--only multiply,solve] [--rounds 25] [--elements 1000000] [--clock cpu]

Each problem is there as an array of structures, one vector or matrix after the other, and as a structure of arrays, one
array for each entry. Results are compared with NumPy's before anything is timed. A ratio is C's time over ours, taken
within each round: 1.00 is as fast as C, above is faster. Buffers, flags and rounds are those of throughput.py.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable

from threads import THREADS  # isort: skip  (before anything that starts threads)

import numpy as np
from contenders.with_c import caller
from pairs import interleave, loop, ratio
from problems import Array, Arrays, Problem, aligned, filled, uniform
from rich.console import Console
from rich.table import Table

import samovar as sv

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}

vec3, vec4, mat3 = sv.math.vec3, sv.math.vec4, sv.math.mat3
vec6, mat6 = sv.types.vector(6, sv.f32), sv.types.matrix(6, 6, sv.f32)
Points, Quaternions = sv.types.NDArray[vec3, 1], sv.types.NDArray[vec4, 1]
Matrices = sv.types.NDArray[mat3, 1]
Entries = sv.types.NDArray[sv.f32, 2]


# --- arrays of structures


@sv.kernel
def multiply_aos(a: Matrices, b: Matrices, out: Matrices):
    for i in range(out.shape[0]):
        out[i] = a[i] @ b[i]


@sv.kernel
def rotate_aos(q: Quaternions, p: Points, out: Points):
    for i in range(out.shape[0]):
        out[i] = sv.math.quat_rotate(q[i], p[i])


@sv.kernel
def invert_aos(a: Matrices, out: Matrices):
    for i in range(out.shape[0]):
        out[i] = a[i].inverse()


@sv.kernel
def decompose_aos(a: Matrices, u: Matrices, s: Points, v: Matrices):
    for i in range(a.shape[0]):
        left, values, right = sv.svd(a[i])
        u[i], s[i], v[i] = left, vec3(values[0, 0], values[1, 1], values[2, 2]), right


@sv.kernel
def solve_aos(a: sv.types.NDArray[mat6, 1], b: sv.types.NDArray[vec6, 1], out: sv.types.NDArray[vec6, 1]):
    for i in range(out.shape[0]):
        out[i] = sv.solve(a[i], b[i])


# --- structures of arrays


@sv.func
def matrix_at(a, i):
    return sv.Matrix([[a[3 * row + column, i] for column in range(3)] for row in range(3)])


@sv.func
def put_matrix(a, i, value):
    for row, column in sv.static(sv.ndrange(3, 3)):
        a[3 * row + column, i] = value[row, column]


@sv.func
def put_vector(a, i, value):
    for k in sv.static(range(value.n)):
        a[k, i] = value[k]


@sv.kernel
def multiply_soa(a: Entries, b: Entries, out: Entries):
    for i in range(out.shape[1]):
        put_matrix(out, i, matrix_at(a, i) @ matrix_at(b, i))


@sv.kernel
def rotate_soa(q: Entries, p: Entries, out: Entries):
    for i in range(out.shape[1]):
        turned = sv.math.quat_rotate(vec4(q[0, i], q[1, i], q[2, i], q[3, i]), vec3(p[0, i], p[1, i], p[2, i]))
        put_vector(out, i, turned)


@sv.kernel
def invert_soa(a: Entries, out: Entries):
    for i in range(out.shape[1]):
        put_matrix(out, i, matrix_at(a, i).inverse())


@sv.kernel
def decompose_soa(a: Entries, u: Entries, s: Entries, v: Entries):
    for i in range(a.shape[1]):
        left, values, right = sv.svd(matrix_at(a, i))
        put_matrix(u, i, left)
        put_vector(s, i, vec3(values[0, 0], values[1, 1], values[2, 2]))
        put_matrix(v, i, right)


@sv.kernel
def solve_soa(a: Entries, b: Entries, out: Entries):
    for i in range(out.shape[1]):
        left, right = sv.Matrix.zero(sv.f32, 6, 6), sv.Vector.zero(sv.f32, 6)
        for row in range(6):
            for column in range(6):
                left[row, column] = a[6 * row + column, i]
            right[row] = b[row, i]
        put_vector(out, i, sv.solve(left, right))


KERNELS = {
    kernel.__name__: kernel
    for kernel in (
        multiply_aos, rotate_aos, invert_aos, decompose_aos, solve_aos,
        multiply_soa, rotate_soa, invert_soa, decompose_soa, solve_soa,
    )
}  # fmt: skip


# --- problems, as arrays of structures


def multiply(n: int) -> tuple[Arrays, Arrays, float]:
    a, b = uniform(-1, 1, (n, 3, 3), 1), uniform(-1, 1, (n, 3, 3), 2)
    return {"a": a, "b": b}, {"out": a @ b}, 1e-5


def rotate(n: int) -> tuple[Arrays, Arrays, float]:
    q, p = uniform(-1, 1, (n, 4), 3), uniform(-1, 1, (n, 3), 4)
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    turn = np.cross(q[:, :3], p) + q[:, 3:] * p
    return {"q": q, "p": p}, {"out": p + 2 * np.cross(q[:, :3], turn)}, 1e-5


def well_conditioned(n: int, size: int, seed: int) -> Array:
    return uniform(-1, 1, (n, size, size), seed) + np.float32(size) * np.eye(size, dtype=np.float32)


def invert(n: int) -> tuple[Arrays, Arrays, float]:
    a = well_conditioned(n, 3, 5)
    return {"a": a}, {"out": np.linalg.inv(a)}, 1e-4


def decompose(n: int) -> tuple[Arrays, Arrays, float]:
    a = uniform(-1, 1, (n, 3, 3), 6)
    return {"a": a}, {"s": np.linalg.svd(a, compute_uv=False)}, 1e-4


def solve(n: int) -> tuple[Arrays, Arrays, float]:
    a, b = uniform(-1, 1, (n, 6, 6), 7) + 3 * np.eye(6, dtype=np.float32), uniform(-1, 1, (n, 6), 8)
    exact = np.linalg.solve(a.astype(np.float64), b.astype(np.float64)[:, :, None])[:, :, 0]
    return {"a": a, "b": b}, {"out": exact}, 1e-3


#: Each problem: what it is called, how it is made, its results by name, and the shape of each.
PROBLEMS: dict[str, tuple[str, Callable[[int], tuple[Arrays, Arrays, float]], dict[str, tuple[int, ...]]]] = {
    "multiply": ("3×3 product", multiply, {"out": (3, 3)}),
    "rotate": ("quaternion rotation", rotate, {"out": (3,)}),
    "invert": ("3×3 inverse", invert, {"out": (3, 3)}),
    "decompose": ("3×3 SVD", decompose, {"u": (3, 3), "s": (3,), "v": (3, 3)}),
    "solve": ("6×6 solve", solve, {"out": (6,)}),
}


def entries_first(array: Array) -> Array:
    """The same as one array for each entry."""
    return filled(np.ascontiguousarray(array.reshape(len(array), -1).T))


def problem_of(kind: str, layout: str, n: int) -> Problem:
    name, make, results = PROBLEMS[kind]
    given, expected, tolerance = make(n)
    arrays = {key: filled(array) for key, array in given.items()}
    arrays |= {key: aligned((n, *shape), np.float32) for key, shape in results.items()}
    if layout == "soa":
        arrays = {key: entries_first(array) for key, array in arrays.items()}
        expected = {key: entries_first(array) for key, array in expected.items()}
    return Problem(
        f"{name}, {'array of structures' if layout == 'aos' else 'structure of arrays'}",
        arrays,
        {"n": n},
        tuple(expected),
        reference=lambda: expected,
        relative=tolerance,
        absolute=tolerance,
        differing=1e-4,  # matrices that are nearly singular
    )


def runs_of(kind: str, layout: str, problem: Problem, clock: str) -> dict[str, Callable[[int], float]]:
    kernel, arrays = KERNELS[f"{kind}_{layout}"], list(problem.arrays.values())
    runs = {"C": caller(f"{kind}_{layout}", *problem.arrays, "int:n")(problem), "Samovar": lambda: kernel(*arrays)}
    for name, run in runs.items():
        problem.reset()
        run()
        wrong = problem.difference(problem.reference())
        if wrong is not None:
            raise SystemExit(f"{name}, {problem.name}: {wrong}")
    return {name: loop(run, CLOCKS[clock]) for name, run in runs.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PROBLEMS), help="problems, comma-separated")
    parser.add_argument("--elements", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu: for a busy machine, with BENCH_THREADS=1")
    options = parser.parse_args()
    console = Console(width=120)
    table = Table(title=f"C time / Samovar's time, {THREADS} threads, {options.rounds} rounds, {options.clock} time")
    for heading in ("problem", "C, ns each", "Samovar, ns each", "ratio"):
        table.add_column(heading, justify="left" if heading == "problem" else "right")
    for kind in options.only.split(","):
        for layout in ("aos", "soa"):
            problem = problem_of(kind, layout, options.elements)
            seconds = interleave(runs_of(kind, layout, problem, options.clock), options.rounds)
            each = [f"{statistics.median(seconds[name]) / options.elements * 1e9:.2f}" for name in ("C", "Samovar")]
            table.add_row(problem.name, *each, str(ratio(seconds["C"], seconds["Samovar"])))
    console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
