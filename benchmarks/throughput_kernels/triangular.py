"""Triangular loops: factorizations, triangular solves and products of symmetric matrices, in double precision."""

import numpy as np
from problems import Array, Problem, filled

import samovar as sv
from throughput_kernels.entry import DOUBLE, Entry, posed, random_floats, side, zeros
from throughput_kernels.numba_names import prange

f64_1, f64_2 = (sv.types.NDArray[sv.f64, n] for n in (1, 2))


def positive_definite(n: int, seed: int) -> Array:
    a = np.random.default_rng(seed).random((n, n))
    return filled(a @ a.T / n + np.eye(n))


def lower(n: int, seed: int) -> Array:
    """A lower triangular matrix that is far from singular, with zeros above the diagonal."""
    return filled(np.tril(np.random.default_rng(seed).random((n, n)) / n, -1) + np.eye(n))


def cholesky(scale: float) -> Problem:
    n = side(scale, 128)
    a, l = positive_definite(n, 1), zeros((n, n), "f8")
    return posed("Cholesky", {"a": a, "l": l}, "l", lambda: {"l": np.linalg.cholesky(a)}, {"n": n}, **DOUBLE)


@sv.kernel(serial=True)
def sv_cholesky(a: f64_2, l: f64_2):
    for i in range(a.shape[0]):
        for j in range(i):
            total = a[i, j]
            for k in range(j):
                total -= l[i, k] * l[j, k]
            l[i, j] = total / l[j, j]
        square = a[i, i]
        for k in range(i):
            square -= l[i, k] * l[i, k]
        l[i, i] = sv.sqrt(square)


def nb_cholesky(a, l):
    for i in range(a.shape[0]):
        for j in range(i):
            total = a[i, j]
            for k in range(j):
                total -= l[i, k] * l[j, k]
            l[i, j] = total / l[j, j]
        square = a[i, i]
        for k in range(i):
            square -= l[i, k] * l[i, k]
        l[i, i] = np.sqrt(square)


def lu(scale: float) -> Problem:
    n = side(scale, 160)
    a, b = positive_definite(n, 2), zeros((n, n), "f8")

    def reference():
        out = a.copy()
        for k in range(n):
            out[k + 1 :, k] /= out[k, k]
            out[k + 1 :, k + 1 :] -= np.outer(out[k + 1 :, k], out[k, k + 1 :])
        return {"b": out}

    return posed("LU", {"a": a, "b": b}, "b", reference, {"n": n}, **DOUBLE)


@sv.kernel(serial=True)
def sv_lu(a: f64_2, b: f64_2):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            b[i, j] = a[i, j]
    for k in range(n):
        for i in range(k + 1, n):
            b[i, k] /= b[k, k]
            for j in range(k + 1, n):
                b[i, j] -= b[i, k] * b[k, j]


def nb_lu(a, b):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            b[i, j] = a[i, j]
    for k in range(n):
        for i in range(k + 1, n):
            b[i, k] /= b[k, k]
            for j in range(k + 1, n):
                b[i, j] -= b[i, k] * b[k, j]


def forward_substitution(scale: float) -> Problem:
    n, count = 96, max(4, int(scale * 160))
    l, b, x = lower(n, 3), random_floats(-1, 1, (count, n), 4, "f8"), zeros((count, n), "f8")
    reference = lambda: {"x": np.linalg.solve(l, b.T).T}  # noqa: E731
    return posed("forward substitution", {"l": l, "b": b, "x": x}, "x", reference, {"n": n, "count": count}, **DOUBLE)


@sv.kernel
def sv_forward_substitution(l: f64_2, b: f64_2, x: f64_2):
    for m in range(b.shape[0]):
        for i in range(b.shape[1]):
            total = b[m, i]
            for k in range(i):
                total -= l[i, k] * x[m, k]
            x[m, i] = total / l[i, i]


def nb_forward_substitution(l, b, x):
    for m in prange(b.shape[0]):
        for i in range(b.shape[1]):
            total = b[m, i]
            for k in range(i):
                total -= l[i, k] * x[m, k]
            x[m, i] = total / l[i, i]


def back_substitution(scale: float) -> Problem:
    n, count = 96, max(4, int(scale * 160))
    u, b, x = filled(lower(n, 5).T), random_floats(-1, 1, (count, n), 6, "f8"), zeros((count, n), "f8")
    reference = lambda: {"x": np.linalg.solve(u, b.T).T}  # noqa: E731
    return posed("back substitution", {"u": u, "b": b, "x": x}, "x", reference, {"n": n, "count": count}, **DOUBLE)


@sv.kernel
def sv_back_substitution(u: f64_2, b: f64_2, x: f64_2):
    n = b.shape[1]
    for m in range(b.shape[0]):
        for i in range(n - 1, -1, -1):
            total = b[m, i]
            for k in range(i + 1, n):
                total -= u[i, k] * x[m, k]
            x[m, i] = total / u[i, i]


def nb_back_substitution(u, b, x):
    n = b.shape[1]
    for m in prange(b.shape[0]):
        for i in range(n - 1, -1, -1):
            total = b[m, i]
            for k in range(i + 1, n):
                total -= u[i, k] * x[m, k]
            x[m, i] = total / u[i, i]


def triangular_solve(scale: float) -> Problem:
    n, columns = side(scale, 192), 48
    l, b, x = lower(n, 7), random_floats(-1, 1, (n, columns), 8, "f8"), zeros((n, columns), "f8")
    arrays, scalars = {"l": l, "b": b, "x": x}, {"n": n, "columns": columns}
    return posed("triangular solve", arrays, "x", lambda: {"x": np.linalg.solve(l, b)}, scalars, **DOUBLE)


@sv.kernel(serial=True)
def sv_triangular_solve(l: f64_2, b: f64_2, x: f64_2):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] = b[i, j]
        for k in range(i):
            for j in range(x.shape[1]):
                x[i, j] -= l[i, k] * x[k, j]
        for j in range(x.shape[1]):
            x[i, j] /= l[i, i]


def nb_triangular_solve(l, b, x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] = b[i, j]
        for k in range(i):
            for j in range(x.shape[1]):
                x[i, j] -= l[i, k] * x[k, j]
        for j in range(x.shape[1]):
            x[i, j] /= l[i, i]


def rank_update(scale: float) -> Problem:
    n, depth = side(scale, 160), 128
    a, c = random_floats(-1, 1, (n, depth), 9, "f8"), zeros((n, n), "f8")
    arrays, scalars = {"a": a, "c": c}, {"n": n, "depth": depth}
    return posed("symmetric rank-k update", arrays, "c", lambda: {"c": np.tril(a @ a.T)}, scalars, **DOUBLE)


@sv.kernel
def sv_rank_update(a: f64_2, c: f64_2):
    for i in range(a.shape[0]):
        for j in range(i + 1):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * a[j, k]


def nb_rank_update(a, c):
    for i in prange(a.shape[0]):
        for j in range(i + 1):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * a[j, k]


def triangular_product(scale: float) -> Problem:
    n = side(scale, 112)
    a, b, c = lower(n, 10), random_floats(-1, 1, (n, n), 11, "f8"), zeros((n, n), "f8")
    arrays = {"a": a, "b": b, "c": c}
    return posed("triangular product", arrays, "c", lambda: {"c": a.T @ b}, {"n": n}, **DOUBLE)


@sv.kernel(serial=True)
def sv_triangular_product(a: f64_2, b: f64_2, c: f64_2):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            c[i, j] = b[i, j]
    for i in range(n):
        for j in range(n):
            for k in range(i + 1, n):
                c[i, j] += a[k, i] * c[k, j]


def nb_triangular_product(a, b, c):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            c[i, j] = b[i, j]
    for i in range(n):
        for j in range(n):
            for k in range(i + 1, n):
                c[i, j] += a[k, i] * c[k, j]


def gram_schmidt(scale: float) -> Problem:
    rows, n = 128, side(scale, 64)
    a, q, r = random_floats(-1, 1, (rows, n), 12, "f8"), zeros((rows, n), "f8"), zeros((n, n), "f8")

    def reference():
        basis, upper = np.linalg.qr(a)
        signs = np.sign(np.diag(upper))
        return {"q": basis * signs, "r": upper * signs[:, None]}

    arrays = {"a": a, "q": q, "r": r}
    return posed("Gram-Schmidt", arrays, "q r", reference, {"rows": rows, "n": n}, **DOUBLE)


@sv.kernel(serial=True)
def sv_gram_schmidt(a: f64_2, q: f64_2, r: f64_2):
    rows, n = a.shape[0], a.shape[1]
    for i in range(rows):
        for j in range(n):
            q[i, j] = a[i, j]
    for k in range(n):
        norm = 0.0
        for i in range(rows):
            norm += q[i, k] * q[i, k]
        r[k, k] = sv.sqrt(norm)
        for i in range(rows):
            q[i, k] /= r[k, k]
        for j in range(k + 1, n):
            r[k, j] = 0.0
            for i in range(rows):
                r[k, j] += q[i, k] * q[i, j]
            for i in range(rows):
                q[i, j] -= q[i, k] * r[k, j]


def nb_gram_schmidt(a, q, r):
    rows, n = a.shape
    for i in range(rows):
        for j in range(n):
            q[i, j] = a[i, j]
    for k in range(n):
        norm = 0.0
        for i in range(rows):
            norm += q[i, k] * q[i, k]
        r[k, k] = np.sqrt(norm)
        for i in range(rows):
            q[i, k] /= r[k, k]
        for j in range(k + 1, n):
            r[k, j] = 0.0
            for i in range(rows):
                r[k, j] += q[i, k] * q[i, j]
            for i in range(rows):
                q[i, j] -= q[i, k] * r[k, j]


def power_iteration(scale: float) -> Problem:
    n, steps = side(scale, 256), 16
    a, x, y = random_floats(0, 1, (n, n), 13, "f8"), zeros(n, "f8"), zeros(n, "f8")

    def reference():
        vector = np.ones(n)
        for _ in range(steps):
            vector = (np.tril(a) + np.tril(a, -1).T) @ vector
            vector /= np.sqrt(vector @ vector)
        return {"x": vector}

    arrays, scalars = {"a": a, "x": x, "y": y}, {"n": n, "steps": steps}
    return posed("power iteration, symmetric", arrays, "x", reference, scalars, **DOUBLE)


@sv.kernel(serial=True)
def sv_power_iteration(a: f64_2, x: f64_1, y: f64_1, steps: sv.i32):
    n = x.shape[0]
    for i in range(n):
        x[i] = 1.0
    for _ in range(steps):
        square = 0.0
        for i in range(n):
            y[i] = a[i, i] * x[i]
            for j in range(i):
                y[i] += a[i, j] * x[j]
                y[j] += a[i, j] * x[i]
        for i in range(n):
            square += y[i] * y[i]
        for i in range(n):
            x[i] = y[i] / sv.sqrt(square)


def nb_power_iteration(a, x, y, steps):
    n = x.shape[0]
    for i in range(n):
        x[i] = 1.0
    for _ in range(steps):
        square = 0.0
        for i in range(n):
            y[i] = a[i, i] * x[i]
            for j in range(i):
                y[i] += a[i, j] * x[j]
                y[j] += a[i, j] * x[i]
        for i in range(n):
            square += y[i] * y[i]
        for i in range(n):
            x[i] = y[i] / np.sqrt(square)


ENTRIES = {
    "cholesky": Entry(cholesky, "a l int:n", "a l", sv_cholesky, nb_cholesky, serial=True),
    "lu": Entry(lu, "a b int:n", "a b", sv_lu, nb_lu, serial=True),
    "forward_substitution": Entry(
        forward_substitution, "l b x int:n int:count", "l b x", sv_forward_substitution, nb_forward_substitution
    ),
    "back_substitution": Entry(
        back_substitution, "u b x int:n int:count", "u b x", sv_back_substitution, nb_back_substitution
    ),
    "triangular_solve": Entry(
        triangular_solve, "l b x int:n int:columns", "l b x", sv_triangular_solve, nb_triangular_solve, serial=True
    ),
    "rank_update": Entry(rank_update, "a c int:n int:depth", "a c", sv_rank_update, nb_rank_update),
    "triangular_product": Entry(
        triangular_product, "a b c int:n", "a b c", sv_triangular_product, nb_triangular_product, serial=True
    ),
    "gram_schmidt": Entry(gram_schmidt, "a q r int:rows int:n", "a q r", sv_gram_schmidt, nb_gram_schmidt, serial=True),
    "power_iteration": Entry(
        power_iteration, "a x y int:n int:steps", "a x y steps", sv_power_iteration, nb_power_iteration, serial=True
    ),
}
