"""Searches: bisection, Newton steps until they are small, nearest points, largest elements, sorting, patterns."""

import math

import numpy as np
from problems import Problem, filled

import samovar as sv
from throughput_kernels.entry import EXACT, Entry, posed, random_floats, random_integers, zeros
from throughput_kernels.numba_names import prange

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
f64_1 = sv.types.NDArray[sv.f64, 1]
i32_1, i32_2 = (sv.types.NDArray[sv.i32, n] for n in (1, 2))
u8_1, u8_2 = (sv.types.NDArray[sv.u8, n] for n in (1, 2))
f32, i32 = np.float32, np.int32


def binary_search(scale: float) -> Problem:
    n, size = int(scale * 8192), 4096
    table, keys, out = filled(np.sort(random_floats(0, 1, size, 1))), random_floats(0, 1, n, 2), zeros(n, "i4")
    reference = lambda: {"out": np.searchsorted(table, keys)}  # noqa: E731
    arrays = {"table": table, "keys": keys, "out": out}
    return posed("binary search", arrays, "out", reference, {"n": n, "size": size}, **EXACT)


@sv.kernel
def sv_binary_search(table: f32_1, keys: f32_1, out: i32_1):
    for i in range(keys.shape[0]):
        low, high = 0, table.shape[0]
        while low < high:
            middle = (low + high) // 2
            if table[middle] < keys[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


def nb_binary_search(table, keys, out):
    for i in prange(keys.shape[0]):
        low, high = 0, table.shape[0]
        while low < high:
            middle = (low + high) // 2
            if table[middle] < keys[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


def bisection(scale: float) -> Problem:
    n = int(scale * 4096)
    a, b, out = random_floats(0.5, 2, n, 3, "f8"), random_floats(-8, 8, n, 4, "f8"), zeros(n, "f8")

    def reference():
        x = np.cbrt(b)
        for _ in range(60):
            x = x - (x**3 + a * x - b) / (3 * x**2 + a)
        return {"out": x}

    return posed("bisection", {"a": a, "b": b, "out": out}, "out", reference, {"n": n}, absolute=1e-8)


@sv.kernel
def sv_bisection(a: f64_1, b: f64_1, out: f64_1):
    for i in range(a.shape[0]):
        low, high = sv.f64(-4.0), sv.f64(4.0)
        while high - low > 1e-9:
            middle = 0.5 * (low + high)
            if middle * middle * middle + a[i] * middle < b[i]:
                low = middle
            else:
                high = middle
        out[i] = 0.5 * (low + high)


def nb_bisection(a, b, out):
    for i in prange(a.shape[0]):
        low, high = -4.0, 4.0
        while high - low > 1e-9:
            middle = 0.5 * (low + high)
            if middle * middle * middle + a[i] * middle < b[i]:
                low = middle
            else:
                high = middle
        out[i] = 0.5 * (low + high)


def newton_exp(scale: float) -> Problem:
    n = int(scale * 4096)
    x, out = filled(np.exp(random_floats(-3, 5, n, 5))), zeros(n)

    def reference():
        w = np.log1p(x.astype("f8"))
        for _ in range(30):
            w = w - (w * np.exp(w) - x) / (np.exp(w) * (w + 1))
        return {"out": w}

    return posed("Newton with exp, until small", {"x": x, "out": out}, "out", reference, {"n": n})


@sv.kernel
def sv_newton_exp(x: f32_1, out: f32_1):
    for i in range(x.shape[0]):
        w, step, count = x[i] / (1.0 + x[i]), 1.0, 0
        while abs(step) > 1e-4 and count < 50:
            e = sv.exp(w)
            step = (w * e - x[i]) / (e * (w + 1.0))
            w -= step
            count += 1
        out[i] = w


def nb_newton_exp(x, out):
    for i in prange(x.shape[0]):
        w, step, count = x[i] / (f32(1) + x[i]), f32(1), 0
        while abs(step) > f32(1e-4) and count < 50:
            e = math.exp(w)
            step = (w * e - x[i]) / (e * (w + f32(1)))
            w -= step
            count += 1
        out[i] = w


def nearest(scale: float) -> Problem:
    n, points = max(8, int(scale * 512)), 512
    x, y, px, py = (random_floats(0, 1, size, seed) for seed, size in enumerate((n, n, points, points), 6))

    def reference():
        distance = (px - x[:, None]) ** 2 + (py - y[:, None]) ** 2
        return {"out": distance.argmin(axis=1)}

    arrays = {"x": x, "y": y, "px": px, "py": py, "out": zeros(n, "i4")}
    return posed("nearest of 512 points", arrays, "out", reference, {"n": n, "points": points}, differing=0.01)


@sv.kernel
def sv_nearest(x: f32_1, y: f32_1, px: f32_1, py: f32_1, out: i32_1):
    for i in range(x.shape[0]):
        best, where = 1e30, -1
        for j in range(px.shape[0]):
            dx, dy = px[j] - x[i], py[j] - y[i]
            distance = dx * dx + dy * dy
            if distance < best:
                best = distance
                where = j
        out[i] = where


def nb_nearest(x, y, px, py, out):
    for i in prange(x.shape[0]):
        best, where = f32(1e30), -1
        for j in range(px.shape[0]):
            dx, dy = px[j] - x[i], py[j] - y[i]
            distance = dx * dx + dy * dy
            if distance < best:
                best = distance
                where = j
        out[i] = where


def assign_clusters(scale: float) -> Problem:
    n, clusters, axes = max(8, int(scale * 4096)), 16, 8
    x, centers, out = random_floats(0, 1, (n, axes), 10), random_floats(0, 1, (clusters, axes), 11), zeros(n, "i4")
    reference = lambda: {"out": ((x[:, None, :] - centers) ** 2).sum(axis=2).argmin(axis=1)}  # noqa: E731
    scalars = {"n": n, "clusters": clusters, "axes": axes}
    arrays = {"x": x, "centers": centers, "out": out}
    return posed("k-means, nearest center", arrays, "out", reference, scalars, differing=0.01)


@sv.kernel
def sv_assign_clusters(x: f32_2, centers: f32_2, out: i32_1):
    for i in range(x.shape[0]):
        best, where = 1e30, 0
        for k in range(centers.shape[0]):
            distance = 0.0
            for c in range(x.shape[1]):
                distance += (x[i, c] - centers[k, c]) ** 2
            if distance < best:
                best = distance
                where = k
        out[i] = where


def nb_assign_clusters(x, centers, out):
    for i in prange(x.shape[0]):
        best, where = f32(1e30), 0
        for k in range(centers.shape[0]):
            distance = f32(0)
            for c in range(x.shape[1]):
                distance += (x[i, c] - centers[k, c]) ** 2
            if distance < best:
                best = distance
                where = k
        out[i] = where


def largest_of_rows(scale: float) -> Problem:
    rows, columns = max(4, int(scale * 256)), 300
    x, out = random_floats(-1, 1, (rows, columns), 12, "f8"), zeros(rows, "i4")
    reference = lambda: {"out": x.argmax(axis=1)}  # noqa: E731
    scalars = {"rows": rows, "columns": columns}
    return posed("index of the largest, rows, f64", {"x": x, "out": out}, "out", reference, scalars, **EXACT)


@sv.kernel
def sv_largest_of_rows(x: sv.types.NDArray[sv.f64, 2], out: i32_1):
    for i in range(x.shape[0]):
        where = 0
        for j in range(1, x.shape[1]):
            if x[i, j] > x[i, where]:
                where = j
        out[i] = where


def nb_largest_of_rows(x, out):
    for i in prange(x.shape[0]):
        where = 0
        for j in range(1, x.shape[1]):
            if x[i, j] > x[i, where]:
                where = j
        out[i] = where


def longest_run(scale: float) -> Problem:
    rows, columns = max(4, int(scale * 256)), 512
    x, out = random_integers(0, 2, (rows, columns), 14, "u1"), zeros(rows, "i4")

    def reference():
        text = ["".join(map(str, row)) for row in x]
        return {"out": np.array([max(map(len, row.replace("01", "0 1").replace("10", "1 0").split())) for row in text])}

    scalars = {"rows": rows, "columns": columns}
    return posed("longest run of rows", {"x": x, "out": out}, "out", reference, scalars, **EXACT)


@sv.kernel
def sv_longest_run(x: u8_2, out: i32_1):
    for i in range(x.shape[0]):
        best, run = 1, 1
        for j in range(1, x.shape[1]):
            if x[i, j] == x[i, j - 1]:
                run += 1
                if run > best:
                    best = run
            else:
                run = 1
        out[i] = best


def nb_longest_run(x, out):
    for i in prange(x.shape[0]):
        best, run = 1, 1
        for j in range(1, x.shape[1]):
            if x[i, j] == x[i, j - 1]:
                run += 1
                if run > best:
                    best = run
            else:
                run = 1
        out[i] = best


def sort_rows(scale: float) -> Problem:
    rows, columns = max(4, int(scale * 2048)), 32
    x, out = random_integers(0, 1000, (rows, columns), 16), zeros((rows, columns), "i4")
    reference = lambda: {"out": np.sort(x, axis=1)}  # noqa: E731
    scalars = {"rows": rows, "columns": columns}
    return posed("insertion sort of rows of 32", {"x": x, "out": out}, "out", reference, scalars, **EXACT)


@sv.kernel
def sv_sort_rows(x: i32_2, out: i32_2):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            value = x[i, j]
            k = j
            while k > 0 and out[i, k - 1] > value:
                out[i, k] = out[i, k - 1]
                k -= 1
            out[i, k] = value


def nb_sort_rows(x, out):
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            value = x[i, j]
            k = j
            while k > 0 and out[i, k - 1] > value:
                out[i, k] = out[i, k - 1]
                k -= 1
            out[i, k] = value


def find_pattern(scale: float) -> Problem:
    n, size = int(scale * 131072), 6
    text, pattern, count = random_integers(0, 4, n, 17, "u1"), random_integers(0, 4, size, 18, "u1"), zeros(1, "i4")
    reference = lambda: {"count": np.array([sum(text[i : i + size].tobytes() == pattern.tobytes() for i in range(n))])}  # noqa: E731
    arrays = {"text": text, "pattern": pattern, "count": count}
    return posed("pattern in a text, with break", arrays, "count", reference, {"n": n, "size": size}, **EXACT)


@sv.kernel
def sv_find_pattern(text: u8_1, pattern: u8_1, count: i32_1):
    count[0] = 0
    for i in range(text.shape[0] - pattern.shape[0] + 1):
        found = True
        for k in range(pattern.shape[0]):
            if text[i + k] != pattern[k]:
                found = False
                break
        if found:
            count[0] += 1


def nb_find_pattern(text, pattern, count):
    total = 0
    for i in prange(text.shape[0] - pattern.shape[0] + 1):
        found = True
        for k in range(pattern.shape[0]):
            if text[i + k] != pattern[k]:
                found = False
                break
        if found:
            total += 1
    count[0] = total


ENTRIES = {
    "binary_search": Entry(
        binary_search, "table keys out int:n int:size", "table keys out", sv_binary_search, nb_binary_search
    ),
    "bisection": Entry(bisection, "a b out int:n", "a b out", sv_bisection, nb_bisection),
    "newton_exp": Entry(newton_exp, "x out int:n", "x out", sv_newton_exp, nb_newton_exp),
    "nearest": Entry(nearest, "x y px py out int:n int:points", "x y px py out", sv_nearest, nb_nearest),
    "assign_clusters": Entry(
        assign_clusters, "x centers out int:n int:clusters int:axes", "x centers out", sv_assign_clusters, nb_assign_clusters
    ),
    "largest_of_rows": Entry(largest_of_rows, "x out int:rows int:columns", "x out", sv_largest_of_rows, nb_largest_of_rows),
    "longest_run": Entry(longest_run, "x out int:rows int:columns", "x out", sv_longest_run, nb_longest_run),
    "sort_rows": Entry(sort_rows, "x out int:rows int:columns", "x out", sv_sort_rows, nb_sort_rows),
    "find_pattern": Entry(
        find_pattern, "text pattern count int:n int:size", "text pattern count", sv_find_pattern, nb_find_pattern
    ),
}
