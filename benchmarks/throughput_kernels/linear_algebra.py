"""Linear algebra: products of matrices and vectors, dense, sparse and small, and transposition."""

import numpy as np
from problems import Problem

import samovar as sv
from throughput_kernels.entry import Entry, posed, random_floats, side, zeros
from throughput_kernels.numba_names import prange

f32_1, f32_2, f32_3 = (sv.types.NDArray[sv.f32, n] for n in (1, 2, 3))
i32_1 = sv.types.NDArray[sv.i32, 1]
f64_2 = sv.types.NDArray[sv.f64, 2]
BLOCK = 16


def row_products(scale: float) -> Problem:
    n = side(scale, 1024)
    a, x, y = random_floats(-1, 1, (n, n), 1), random_floats(-1, 1, n, 2), zeros(n)
    return posed("matrix × vector", {"a": a, "x": x, "y": y}, "y", lambda: {"y": a @ x}, {"n": n}, absolute=1e-2)


@sv.kernel
def sv_row_products(a: f32_2, x: f32_1, y: f32_1):
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j] * x[j]
        y[i] = total


def nb_row_products(a, x, y):
    for i in prange(a.shape[0]):
        total = np.float32(0)
        for j in range(a.shape[1]):
            total += a[i, j] * x[j]
        y[i] = total


def column_products(scale: float) -> Problem:
    n = side(scale, 1024)
    a, x, y = random_floats(-1, 1, (n, n), 3), random_floats(-1, 1, n, 4), zeros(n)
    return posed("vector × matrix", {"a": a, "x": x, "y": y}, "y", lambda: {"y": x @ a}, {"n": n}, absolute=1e-2)


@sv.kernel
def sv_column_products(a: f32_2, x: f32_1, y: f32_1):
    for j in range(a.shape[1]):
        total = 0.0
        for i in range(a.shape[0]):
            total += x[i] * a[i, j]
        y[j] = total


def nb_column_products(a, x, y):
    for block in prange((a.shape[1] + 255) // 256):
        first, last = block * 256, min(block * 256 + 256, a.shape[1])
        for j in range(first, last):
            y[j] = np.float32(0)
        for i in range(a.shape[0]):
            factor = x[i]
            for j in range(first, last):
                y[j] += factor * a[i, j]


def sparse(scale: float) -> Problem:
    n, width = int(scale * (1 << 16)), 16
    generator = np.random.default_rng(5)
    lengths = generator.integers(width // 2, width * 3 // 2, n)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = generator.integers(0, n, starts[-1], dtype=np.int32)
    values, x, y = random_floats(-1, 1, int(starts[-1]), 6), random_floats(-1, 1, n, 7), zeros(n)

    def reference():
        return {"y": np.add.reduceat(values.astype("f8") * x[columns], starts[:-1])}

    arrays = {"starts": starts, "columns": columns, "values": values, "x": x, "y": y}
    return posed("sparse × vector", arrays, "y", reference, {"n": n}, absolute=1e-3)


@sv.kernel
def sv_sparse(starts: i32_1, columns: i32_1, values: f32_1, x: f32_1, y: f32_1):
    for i in range(y.shape[0]):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total


def nb_sparse(starts, columns, values, x, y):
    for i in prange(y.shape[0]):
        total = np.float32(0)
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total


def small_products(scale: float) -> Problem:
    n = int(scale * (1 << 15))
    a, b, c = random_floats(-1, 1, (n, 4, 4), 8), random_floats(-1, 1, (n, 4, 4), 9), zeros((n, 4, 4))
    return posed("4×4 products", {"a": a, "b": b, "c": c}, "c", lambda: {"c": a @ b}, {"n": n})


@sv.kernel
def sv_small_products(a: f32_3, b: f32_3, c: f32_3):
    for m in range(a.shape[0]):
        for i in range(4):
            for j in range(4):
                total = 0.0
                for k in range(4):
                    total += a[m, i, k] * b[m, k, j]
                c[m, i, j] = total


def nb_small_products(a, b, c):
    for m in prange(a.shape[0]):
        for i in range(4):
            for j in range(4):
                total = np.float32(0)
                for k in range(4):
                    total += a[m, i, k] * b[m, k, j]
                c[m, i, j] = total


def points(scale: float) -> Problem:
    n = int(scale * (1 << 18))
    p, m, q = random_floats(-1, 1, (n, 3), 10), random_floats(-1, 1, (3, 3), 11), zeros((n, 3))
    return posed("points × 3×3", {"p": p, "m": m, "q": q}, "q", lambda: {"q": p @ m.T}, {"n": n})


@sv.kernel
def sv_points(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        q[i, 0] = m[0, 0] * x + m[0, 1] * y + m[0, 2] * z
        q[i, 1] = m[1, 0] * x + m[1, 1] * y + m[1, 2] * z
        q[i, 2] = m[2, 0] * x + m[2, 1] * y + m[2, 2] * z


def nb_points(p, m, q):
    for i in prange(p.shape[0]):
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        q[i, 0] = m[0, 0] * x + m[0, 1] * y + m[0, 2] * z
        q[i, 1] = m[1, 0] * x + m[1, 1] * y + m[1, 2] * z
        q[i, 2] = m[2, 0] * x + m[2, 1] * y + m[2, 2] * z


def matmul_f64(scale: float) -> Problem:
    n = 256 if scale >= 1 else 96
    a, b = random_floats(-1, 1, (n, n), 12, "f8"), random_floats(-1, 1, (n, n), 13, "f8")
    return posed(f"matmul f64 {n}", {"a": a, "b": b, "c": zeros((n, n), "f8")}, "c", lambda: {"c": a @ b}, {"n": n})


@sv.kernel
def sv_matmul_f64(a: f64_2, b: f64_2, c: f64_2):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
        for k in range(a.shape[1]):
            factor = a[i, k]
            for j in range(b.shape[1]):
                c[i, j] += factor * b[k, j]


def nb_matmul_f64(a, b, c):
    for i in prange(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
        for k in range(a.shape[1]):
            factor = a[i, k]
            for j in range(b.shape[1]):
                c[i, j] += factor * b[k, j]


def transpose(scale: float) -> Problem:
    n = side(scale, 1024) // BLOCK * BLOCK
    a, b = random_floats(-1, 1, (n, n), 14), zeros((n, n))
    return posed("transpose, blocks", {"a": a, "b": b}, "b", lambda: {"b": a.T}, {"n": n})


@sv.kernel
def sv_transpose(a: f32_2, b: f32_2):
    for p, q in sv.ndrange(a.shape[0] // BLOCK, a.shape[1] // BLOCK):
        for i in range(BLOCK):
            for j in range(BLOCK):
                b[p * BLOCK + i, q * BLOCK + j] = a[q * BLOCK + j, p * BLOCK + i]


def nb_transpose(a, b):
    for p in prange(a.shape[0] // BLOCK):
        for q in range(a.shape[1] // BLOCK):
            for i in range(BLOCK):
                for j in range(BLOCK):
                    b[p * BLOCK + i, q * BLOCK + j] = a[q * BLOCK + j, p * BLOCK + i]


def plain_transpose(scale: float) -> Problem:
    n = side(scale, 512)
    a, b = random_floats(-1, 1, (n, n), 15), zeros((n, n))
    return posed("transpose, plain", {"a": a, "b": b}, "b", lambda: {"b": a.T}, {"n": n})


@sv.kernel
def sv_plain_transpose(a: f32_2, b: f32_2):
    for i, j in b:
        b[i, j] = a[j, i]


def nb_plain_transpose(a, b):
    for i in prange(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] = a[j, i]


ENTRIES = {
    "row_products": Entry(row_products, "a x y int:n", "a x y", sv_row_products, nb_row_products),
    "column_products": Entry(column_products, "a x y int:n", "a x y", sv_column_products, nb_column_products),
    "sparse": Entry(sparse, "starts columns values x y int:n", "starts columns values x y", sv_sparse, nb_sparse),
    "small_products": Entry(small_products, "a b c int:n", "a b c", sv_small_products, nb_small_products),
    "points": Entry(points, "p m q int:n", "p m q", sv_points, nb_points),
    "matmul_f64": Entry(matmul_f64, "a b c int:n", "a b c", sv_matmul_f64, nb_matmul_f64),
    "transpose": Entry(transpose, "a b int:n", "a b", sv_transpose, nb_transpose),
    "plain_transpose": Entry(plain_transpose, "a b int:n", "a b", sv_plain_transpose, nb_plain_transpose),
}
