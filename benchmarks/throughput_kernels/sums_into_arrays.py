"""Sums that are kept in arrays: updates in the innermost loop, rows and tables that all iterations add to."""

import numpy as np
from problems import Problem

import samovar as sv
from throughput_kernels.entry import DOUBLE, Entry, posed, random_floats, random_integers, side, zeros
from throughput_kernels.numba_names import prange

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
f64_1, f64_2 = (sv.types.NDArray[sv.f64, n] for n in (1, 2))
i32_1 = sv.types.NDArray[sv.i32, 1]


def product_ijk(scale: float) -> Problem:
    n = side(scale, 96)
    a, b, c = random_floats(-1, 1, (n, n), 1), random_floats(-1, 1, (n, n), 2), zeros((n, n))
    return posed("matrix product, sum over k in c", {"a": a, "b": b, "c": c}, "c", lambda: {"c": a @ b}, {"n": n})


@sv.kernel
def sv_product_ijk(a: f32_2, b: f32_2, c: f32_2):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def nb_product_ijk(a, b, c):
    for i in prange(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def product_serial(scale: float) -> Problem:
    n = side(scale, 96)
    a, b, c = (random_floats(-1, 1, (n, n), seed, "f8") for seed in (3, 4, 5))
    before = c.copy()
    scalars = {"n": n, "alpha": 0.5, "beta": 0.5}
    reference = lambda: {"c": 0.5 * before + 0.5 * a @ b}  # noqa: E731
    return posed("matrix product f64, serial", {"a": a, "b": b, "c": c}, "c", reference, scalars, **DOUBLE)


@sv.kernel(serial=True)
def sv_product_serial(a: f64_2, b: f64_2, c: f64_2, alpha: sv.f64, beta: sv.f64):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= beta
            for k in range(a.shape[1]):
                c[i, j] += alpha * a[i, k] * b[k, j]


def nb_product_serial(a, b, c, alpha, beta):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= beta
            for k in range(a.shape[1]):
                c[i, j] += alpha * a[i, k] * b[k, j]


def two_products(scale: float) -> Problem:
    rows, columns = side(scale, 512), side(scale, 480)
    a, r, p = (random_floats(-1, 1, shape, 6, "f8") for shape in ((rows, columns), rows, columns))
    reference = lambda: {"s": r @ a, "q": a @ p}  # noqa: E731
    arrays = {"a": a, "r": r, "p": p, "s": zeros(columns, "f8"), "q": zeros(rows, "f8")}
    return posed("A × p and Aᵀ × r in one loop", arrays, "s q", reference, {"rows": rows, "columns": columns}, **DOUBLE)


@sv.kernel(serial=True)
def sv_two_products(a: f64_2, r: f64_1, p: f64_1, s: f64_1, q: f64_1):
    for j in range(a.shape[1]):
        s[j] = 0.0
    for i in range(a.shape[0]):
        q[i] = 0.0
        for j in range(a.shape[1]):
            s[j] += r[i] * a[i, j]
            q[i] += a[i, j] * p[j]


def nb_two_products(a, r, p, s, q):
    for j in range(a.shape[1]):
        s[j] = 0.0
    for i in range(a.shape[0]):
        q[i] = 0.0
        for j in range(a.shape[1]):
            s[j] += r[i] * a[i, j]
            q[i] += a[i, j] * p[j]


def transposed(scale: float) -> Problem:
    n = side(scale, 400)
    a, y, z = (random_floats(-1, 1, shape, 7, "f8") for shape in ((n, n), n, n))
    reference = lambda: {"u": a @ y, "v": a.T @ z}  # noqa: E731
    arrays = {"a": a, "y": y, "z": z, "u": zeros(n, "f8"), "v": zeros(n, "f8")}
    return posed("A × y, then Aᵀ × z", arrays, "u v", reference, {"n": n}, **DOUBLE)


@sv.kernel
def sv_transposed(a: f64_2, y: f64_1, z: f64_1, u: f64_1, v: f64_1):
    n = a.shape[0]
    for i in range(n):
        u[i] = 0.0
        for j in range(n):
            u[i] += a[i, j] * y[j]
    for i in range(n):
        v[i] = 0.0
        for j in range(n):
            v[i] += a[j, i] * z[j]


def nb_transposed(a, y, z, u, v):
    n = a.shape[0]
    for i in prange(n):
        u[i] = 0.0
        for j in range(n):
            u[i] += a[i, j] * y[j]
    for i in prange(n):
        v[i] = 0.0
        for j in range(n):
            v[i] += a[j, i] * z[j]


def covariance(scale: float) -> Problem:
    samples, n = 128, side(scale, 64)
    x, mean, c = random_floats(-1, 1, (samples, n), 8, "f8"), zeros(n, "f8"), zeros((n, n), "f8")
    reference = lambda: {"c": np.cov(x.T)}  # noqa: E731
    scalars = {"samples": samples, "n": n}
    return posed("covariances of columns", {"x": x, "mean": mean, "c": c}, "c", reference, scalars, **DOUBLE)


@sv.kernel
def sv_covariance(x: f64_2, mean: f64_1, c: f64_2):
    samples, n = x.shape[0], x.shape[1]
    for j in range(n):
        mean[j] = 0.0
        for s in range(samples):
            mean[j] += x[s, j]
        mean[j] /= samples
    for i in range(n):
        for j in range(i, n):
            total = 0.0
            for s in range(samples):
                total += (x[s, i] - mean[i]) * (x[s, j] - mean[j])
            c[i, j] = total / (samples - 1)
            c[j, i] = c[i, j]


def nb_covariance(x, mean, c):
    samples, n = x.shape
    for j in prange(n):
        mean[j] = 0.0
        for s in range(samples):
            mean[j] += x[s, j]
        mean[j] /= samples
    for i in prange(n):
        for j in range(i, n):
            total = 0.0
            for s in range(samples):
                total += (x[s, i] - mean[i]) * (x[s, j] - mean[j])
            c[i, j] = total / (samples - 1)
            c[j, i] = c[i, j]


def column_sums(scale: float) -> Problem:
    rows, columns = max(8, int(scale * 3072)), 96
    x, out = random_floats(-1, 1, (rows, columns), 9), zeros(columns)
    reference = lambda: {"out": x.sum(axis=0, dtype="f8")}  # noqa: E731
    scalars = {"rows": rows, "columns": columns}
    return posed("sums of columns, row by row", {"x": x, "out": out}, "out", reference, scalars, absolute=1e-3)


@sv.kernel
def sv_column_sums(x: f32_2, out: f32_1):
    for j in range(out.shape[0]):
        out[j] = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[j] += x[i, j]


def nb_column_sums(x, out):
    total = np.zeros(x.shape[1], np.float32)
    for i in prange(x.shape[0]):
        total += x[i]
    out[:] = total


def normal_equations(scale: float) -> Problem:
    samples, n = max(8, int(scale * 8192)), 8
    x, g = random_floats(-1, 1, (samples, n), 10), zeros((n, n))
    reference = lambda: {"g": x.astype("f8").T @ x}  # noqa: E731
    scalars = {"samples": samples, "n": n}
    return posed("normal equations of 8 columns", {"x": x, "g": g}, "g", reference, scalars, absolute=1e-1)


@sv.kernel
def sv_normal_equations(x: f32_2, g: f32_2):
    for i, j in g:
        g[i, j] = 0.0
    for s in range(x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(x.shape[1]):
                g[i, j] += x[s, i] * x[s, j]


def nb_normal_equations(x, g):
    total = np.zeros((x.shape[1], x.shape[1]), np.float32)
    for s in prange(x.shape[0]):
        total += np.outer(x[s], x[s])
    g[:] = total


def group_sums(scale: float) -> Problem:
    n, groups = int(scale * 65536), 16
    x, label, out = random_floats(-1, 1, (n, 3), 11), random_integers(0, groups, n, 12), zeros((groups, 3))
    reference = lambda: {"out": np.stack([np.bincount(label, x[:, c], groups) for c in range(3)], 1)}  # noqa: E731
    arrays = {"x": x, "label": label, "out": out}
    return posed("sums of groups of points", arrays, "out", reference, {"n": n, "groups": groups}, absolute=1e-2)


@sv.kernel
def sv_group_sums(x: f32_2, label: i32_1, out: f32_2):
    for g, c in out:
        out[g, c] = 0.0
    for i in range(x.shape[0]):
        for c in range(3):
            out[label[i], c] += x[i, c]


def nb_group_sums(x, label, out):
    total = np.zeros(out.shape, np.float32)
    for i in range(x.shape[0]):
        for c in range(3):
            total[label[i], c] += x[i, c]
    out[:] = total


ENTRIES = {
    "product_ijk": Entry(product_ijk, "a b c int:n", "a b c", sv_product_ijk, nb_product_ijk),
    "product_serial": Entry(
        product_serial,
        "a b c double:alpha double:beta int:n",
        "a b c alpha beta",
        sv_product_serial,
        nb_product_serial,
        serial=True,
    ),
    "two_products": Entry(
        two_products, "a r p s q int:rows int:columns", "a r p s q", sv_two_products, nb_two_products, serial=True
    ),
    "transposed": Entry(transposed, "a y z u v int:n", "a y z u v", sv_transposed, nb_transposed),
    "covariance": Entry(covariance, "x mean c int:samples int:n", "x mean c", sv_covariance, nb_covariance),
    "column_sums": Entry(column_sums, "x out int:rows int:columns", "x out", sv_column_sums, nb_column_sums),
    "normal_equations": Entry(normal_equations, "x g int:samples int:n", "x g", sv_normal_equations, nb_normal_equations),
    "group_sums": Entry(group_sums, "x label out int:n int:groups", "x label out", sv_group_sums, nb_group_sums),
}
