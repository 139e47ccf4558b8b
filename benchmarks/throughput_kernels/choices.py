"""Loops that choose: extremes by `if`, a sorting network, the cheapest split, mismatches up to a limit."""

import numpy as np
from problems import Problem

import samovar as sv
from throughput_kernels.entry import DOUBLE, EXACT, Entry, posed, random_floats, random_integers, zeros
from throughput_kernels.numba_names import prange

f32_2 = sv.types.NDArray[sv.f32, 2]
f64_1 = sv.types.NDArray[sv.f64, 1]
i32_1 = sv.types.NDArray[sv.i32, 1]
i64_1, i64_2 = (sv.types.NDArray[sv.i64, n] for n in (1, 2))
u8_1, u8_2 = (sv.types.NDArray[sv.u8, n] for n in (1, 2))


def extremes_if(scale: float) -> Problem:
    n = max(64, int(scale * 20000))
    x, out = random_floats(0, 1, n, 1, "f8"), zeros(2, "f8")
    reference = lambda: {"out": np.array([x.min(), x.max()])}  # noqa: E731
    return posed("minimum and maximum by `if`", {"x": x, "out": out}, "out", reference, {"n": n}, **DOUBLE)


@sv.kernel(serial=True)
def sv_extremes_if(x: f64_1, out: f64_1):
    low, high = x[0], x[0]
    for i in range(x.shape[0]):
        if x[i] < low:
            low = x[i]
        if x[i] > high:
            high = x[i]
    out[0], out[1] = low, high


def nb_extremes_if(x, out):
    low, high = x[0], x[0]
    for i in range(x.shape[0]):
        if x[i] < low:
            low = x[i]
        if x[i] > high:
            high = x[i]
    out[0], out[1] = low, high


def sorting_network(scale: float) -> Problem:
    n = max(64, int(scale * 4000))
    x, y = random_floats(0, 1, (n, 8), 2), zeros((n, 8))
    return posed("sorting network of 8", {"x": x, "y": y}, "y", lambda: {"y": np.sort(x, axis=1)}, {"n": n})


@sv.kernel
def sv_sorting_network(x: f32_2, y: f32_2):
    for r in range(x.shape[0]):
        for i in range(8):
            y[r, i] = x[r, i]
        for a in range(8):
            for j in range(a % 2, 7, 2):
                p, q = y[r, j], y[r, j + 1]
                y[r, j] = min(p, q)
                y[r, j + 1] = max(p, q)


def nb_sorting_network(x, y):
    for r in prange(x.shape[0]):
        for i in range(8):
            y[r, i] = x[r, i]
        for a in range(8):
            for j in range(a % 2, 7, 2):
                p, q = y[r, j], y[r, j + 1]
                y[r, j] = min(p, q)
                y[r, j + 1] = max(p, q)


def matrix_chain(scale: float) -> Problem:
    n = max(8, int(scale ** (1 / 3) * 80))
    sizes, cost = random_integers(1, 50, n + 1, 3, "i8"), zeros((n, n), "i8")

    def reference():
        out = np.zeros((n, n), int)
        for i in range(n - 1, -1, -1):
            for j in range(i + 1, n):
                split = out[i, i:j] + out[i + 1 : j + 1, j] + sizes[i] * sizes[i + 1 : j + 1] * sizes[j + 1]
                out[i, j] = split.min()
        return {"cost": out}

    return posed("matrix chain", {"sizes": sizes, "cost": cost}, "cost", reference, {"n": n}, **EXACT)


@sv.kernel(serial=True)
def sv_matrix_chain(sizes: i64_1, cost: i64_2):
    n = cost.shape[0]
    for i in range(n - 1, -1, -1):
        cost[i, i] = 0
        for j in range(i + 1, n):
            best = cost[i + 1, j] + sizes[i] * sizes[i + 1] * sizes[j + 1]
            for k in range(i + 1, j):
                split = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if split < best:
                    best = split
            cost[i, j] = best


def nb_matrix_chain(sizes, cost):
    n = cost.shape[0]
    for i in range(n - 1, -1, -1):
        cost[i, i] = 0
        for j in range(i + 1, n):
            best = cost[i + 1, j] + sizes[i] * sizes[i + 1] * sizes[j + 1]
            for k in range(i + 1, j):
                split = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if split < best:
                    best = split
            cost[i, j] = best


def mismatches(scale: float) -> Problem:
    n, size, limit = max(64, int(scale * 500)), 64, 20
    a, b, out = random_integers(0, 4, (n, size), 4, "u1"), random_integers(0, 4, size, 5, "u1"), zeros(n, "i4")
    reference = lambda: {"out": np.minimum((a != b).sum(axis=1), limit + 1)}  # noqa: E731
    arrays, scalars = {"a": a, "b": b, "out": out}, {"limit": limit, "n": n, "size": size}
    return posed("mismatches up to a limit", arrays, "out", reference, scalars, **EXACT)


@sv.kernel
def sv_mismatches(a: u8_2, b: u8_1, out: i32_1, limit: sv.i32):
    for i in range(a.shape[0]):
        count = 0
        for j in range(a.shape[1]):
            if a[i, j] != b[j]:
                count += 1
                if count > limit:
                    break
        out[i] = count


def nb_mismatches(a, b, out, limit):
    for i in prange(a.shape[0]):
        count = 0
        for j in range(a.shape[1]):
            if a[i, j] != b[j]:
                count += 1
                if count > limit:
                    break
        out[i] = count


ENTRIES = {
    "extremes_if": Entry(extremes_if, "x out int:n", "x out", sv_extremes_if, nb_extremes_if, serial=True),
    "sorting_network": Entry(sorting_network, "x y int:n", "x y", sv_sorting_network, nb_sorting_network),
    "matrix_chain": Entry(matrix_chain, "sizes cost int:n", "sizes cost", sv_matrix_chain, nb_matrix_chain, serial=True),
    "mismatches": Entry(mismatches, "a b out int32:limit int:n int:size", "a b out limit", sv_mismatches, nb_mismatches),
}
