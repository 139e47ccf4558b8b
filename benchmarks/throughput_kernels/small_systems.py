"""A small system of equations in each iteration: 6×6 Cholesky and LDLᵀ, 4×4 inverse, 3×3 eigenvalues, tridiagonal rows."""

import numpy as np
from problems import Array, Problem, filled

import samovar as sv
from throughput_kernels.entry import DOUBLE, Entry, posed, random_floats, zeros
from throughput_kernels.numba_names import prange

f32_2, f32_3 = (sv.types.NDArray[sv.f32, n] for n in (2, 3))
f64_2, f64_3 = (sv.types.NDArray[sv.f64, n] for n in (2, 3))
f32 = np.float32


def positive_definite(count: int, n: int, seed: int, dtype: str) -> Array:
    a = np.random.default_rng(seed).random((count, n, n)) - 0.5
    return filled((a @ a.transpose(0, 2, 1) + np.eye(n)).astype(dtype))


def cholesky_6(scale: float) -> Problem:
    n = int(scale * 2048)
    a, l = positive_definite(n, 6, 1, "f4"), zeros((n, 6, 6))
    reference = lambda: {"l": np.linalg.cholesky(a.astype("f8"))}  # noqa: E731
    return posed("6×6 Cholesky, in arrays", {"a": a, "l": l}, "l", reference, {"n": n})


@sv.kernel
def sv_cholesky_6(a: f32_3, l: f32_3):
    for m in range(a.shape[0]):
        for i in range(6):
            for j in range(i + 1):
                total = a[m, i, j]
                for k in range(j):
                    total -= l[m, i, k] * l[m, j, k]
                if i == j:
                    l[m, i, i] = sv.sqrt(total)
                else:
                    l[m, i, j] = total / l[m, j, j]


def nb_cholesky_6(a, l):
    for m in prange(a.shape[0]):
        for i in range(6):
            for j in range(i + 1):
                total = a[m, i, j]
                for k in range(j):
                    total -= l[m, i, k] * l[m, j, k]
                if i == j:
                    l[m, i, i] = np.sqrt(total)
                else:
                    l[m, i, j] = total / l[m, j, j]


def cholesky_6_local(scale: float) -> Problem:
    n = int(scale * 2048)
    a, b, x = positive_definite(n, 6, 2, "f4"), random_floats(-1, 1, (n, 6), 3), zeros((n, 6))
    reference = lambda: {"x": np.linalg.solve(a.astype("f8"), b[:, :, None])[:, :, 0]}  # noqa: E731
    return posed("6×6 Cholesky and solve, local", {"a": a, "b": b, "x": x}, "x", reference, {"n": n}, relative=1e-3)


@sv.kernel
def sv_cholesky_6_local(a: f32_3, b: f32_2, x: f32_2):
    for m in range(a.shape[0]):
        l = sv.Matrix.zero(sv.f32, 6, 6)
        y = sv.Vector.zero(sv.f32, 6)
        for j in range(6):
            square = a[m, j, j]
            for k in range(j):
                square -= l[j, k] * l[j, k]
            l[j, j] = sv.sqrt(square)
            for i in range(j + 1, 6):
                total = a[m, i, j]
                for k in range(j):
                    total -= l[i, k] * l[j, k]
                l[i, j] = total / l[j, j]
        for i in range(6):
            total = b[m, i]
            for k in range(i):
                total -= l[i, k] * y[k]
            y[i] = total / l[i, i]
        for i in range(5, -1, -1):
            total = y[i]
            for k in range(i + 1, 6):
                total -= l[k, i] * x[m, k]
            x[m, i] = total / l[i, i]


def nb_cholesky_6_local(a, b, x):
    for m in prange(a.shape[0]):
        l = np.zeros((6, 6), f32)
        y = np.zeros(6, f32)
        for j in range(6):
            square = a[m, j, j]
            for k in range(j):
                square -= l[j, k] * l[j, k]
            l[j, j] = np.sqrt(square)
            for i in range(j + 1, 6):
                total = a[m, i, j]
                for k in range(j):
                    total -= l[i, k] * l[j, k]
                l[i, j] = total / l[j, j]
        for i in range(6):
            total = b[m, i]
            for k in range(i):
                total -= l[i, k] * y[k]
            y[i] = total / l[i, i]
        for i in range(5, -1, -1):
            total = y[i]
            for k in range(i + 1, 6):
                total -= l[k, i] * x[m, k]
            x[m, i] = total / l[i, i]


def ldl_6(scale: float) -> Problem:
    n = int(scale * 2048)
    a, b, x = positive_definite(n, 6, 4, "f8"), random_floats(-1, 1, (n, 6), 5, "f8"), zeros((n, 6), "f8")
    reference = lambda: {"x": np.linalg.solve(a, b[:, :, None])[:, :, 0]}  # noqa: E731
    return posed("6×6 LDLᵀ and solve, f64", {"a": a, "b": b, "x": x}, "x", reference, {"n": n}, **DOUBLE)


@sv.kernel
def sv_ldl_6(a: f64_3, b: f64_2, x: f64_2):
    for m in range(a.shape[0]):
        l = sv.Matrix.zero(sv.f64, 6, 6)
        d = sv.Vector.zero(sv.f64, 6)
        for j in range(6):
            pivot = a[m, j, j]
            for k in range(j):
                pivot -= l[j, k] * l[j, k] * d[k]
            d[j] = pivot
            for i in range(j + 1, 6):
                total = a[m, i, j]
                for k in range(j):
                    total -= l[i, k] * l[j, k] * d[k]
                l[i, j] = total / pivot
        for i in range(6):
            x[m, i] = b[m, i]
            for k in range(i):
                x[m, i] -= l[i, k] * x[m, k]
        for i in range(6):
            x[m, i] /= d[i]
        for i in range(5, -1, -1):
            for k in range(i + 1, 6):
                x[m, i] -= l[k, i] * x[m, k]


def nb_ldl_6(a, b, x):
    for m in prange(a.shape[0]):
        l = np.zeros((6, 6))
        d = np.zeros(6)
        for j in range(6):
            pivot = a[m, j, j]
            for k in range(j):
                pivot -= l[j, k] * l[j, k] * d[k]
            d[j] = pivot
            for i in range(j + 1, 6):
                total = a[m, i, j]
                for k in range(j):
                    total -= l[i, k] * l[j, k] * d[k]
                l[i, j] = total / pivot
        for i in range(6):
            x[m, i] = b[m, i]
            for k in range(i):
                x[m, i] -= l[i, k] * x[m, k]
        for i in range(6):
            x[m, i] /= d[i]
        for i in range(5, -1, -1):
            for k in range(i + 1, 6):
                x[m, i] -= l[k, i] * x[m, k]


def inverse_4(scale: float) -> Problem:
    n = int(scale * 2048)
    a, out = filled(random_floats(-1, 1, (n, 4, 4), 6) + f32(4) * np.eye(4, dtype=f32)), zeros((n, 4, 4))
    return posed("4×4 inverse, Gauss-Jordan", {"a": a, "out": out}, "out", lambda: {"out": np.linalg.inv(a)}, {"n": n})


@sv.kernel
def sv_inverse_4(a: f32_3, out: f32_3):
    for m in range(a.shape[0]):
        work = sv.Matrix.zero(sv.f32, 4, 8)
        for i in range(4):
            for j in range(4):
                work[i, j] = a[m, i, j]
            work[i, i + 4] = 1.0
        for k in range(4):
            scale = 1.0 / work[k, k]
            for j in range(8):
                work[k, j] *= scale
            for i in range(4):
                if i != k:
                    factor = work[i, k]
                    for j in range(8):
                        work[i, j] -= factor * work[k, j]
        for i in range(4):
            for j in range(4):
                out[m, i, j] = work[i, j + 4]


def nb_inverse_4(a, out):
    for m in prange(a.shape[0]):
        work = np.zeros((4, 8), f32)
        for i in range(4):
            for j in range(4):
                work[i, j] = a[m, i, j]
            work[i, i + 4] = f32(1)
        for k in range(4):
            scale = f32(1) / work[k, k]
            for j in range(8):
                work[k, j] *= scale
            for i in range(4):
                if i != k:
                    factor = work[i, k]
                    for j in range(8):
                        work[i, j] -= factor * work[k, j]
        for i in range(4):
            for j in range(4):
                out[m, i, j] = work[i, j + 4]


def eigenvalues_3(scale: float) -> Problem:
    n = int(scale * 2048)
    a, out = positive_definite(n, 3, 7, "f8"), zeros((n, 3), "f8")
    reference = lambda: {"out": np.linalg.eigvalsh(a)}  # noqa: E731
    return posed("3×3 eigenvalues, Jacobi", {"a": a, "out": out}, "out", reference, {"n": n}, **DOUBLE)


@sv.kernel
def sv_eigenvalues_3(a: f64_3, out: f64_2):
    for m in range(a.shape[0]):
        s = sv.Matrix.zero(sv.f64, 3, 3)
        for i in range(3):
            for j in range(3):
                s[i, j] = a[m, i, j]
        for _ in range(5):
            for p in range(2):
                for q in range(p + 1, 3):
                    if abs(s[p, q]) > 1e-14:
                        theta = (s[q, q] - s[p, p]) / (2.0 * s[p, q])
                        t = 1.0 / (abs(theta) + sv.sqrt(theta * theta + 1.0))
                        if theta < 0.0:
                            t = -t
                        cosine = 1.0 / sv.sqrt(t * t + 1.0)
                        sine = t * cosine
                        for k in range(3):
                            x, y = s[k, p], s[k, q]
                            s[k, p] = cosine * x - sine * y
                            s[k, q] = sine * x + cosine * y
                        for k in range(3):
                            x, y = s[p, k], s[q, k]
                            s[p, k] = cosine * x - sine * y
                            s[q, k] = sine * x + cosine * y
        least = min(s[0, 0], s[1, 1], s[2, 2])
        most = max(s[0, 0], s[1, 1], s[2, 2])
        out[m, 0] = least
        out[m, 1] = s[0, 0] + s[1, 1] + s[2, 2] - least - most
        out[m, 2] = most


def nb_eigenvalues_3(a, out):
    for m in prange(a.shape[0]):
        s = np.zeros((3, 3))
        for i in range(3):
            for j in range(3):
                s[i, j] = a[m, i, j]
        for _ in range(5):
            for p in range(2):
                for q in range(p + 1, 3):
                    if abs(s[p, q]) > 1e-14:
                        theta = (s[q, q] - s[p, p]) / (2.0 * s[p, q])
                        t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                        if theta < 0.0:
                            t = -t
                        cosine = 1.0 / np.sqrt(t * t + 1.0)
                        sine = t * cosine
                        for k in range(3):
                            x, y = s[k, p], s[k, q]
                            s[k, p] = cosine * x - sine * y
                            s[k, q] = sine * x + cosine * y
                        for k in range(3):
                            x, y = s[p, k], s[q, k]
                            s[p, k] = cosine * x - sine * y
                            s[q, k] = sine * x + cosine * y
        least = min(s[0, 0], s[1, 1], s[2, 2])
        most = max(s[0, 0], s[1, 1], s[2, 2])
        out[m, 0] = least
        out[m, 1] = s[0, 0] + s[1, 1] + s[2, 2] - least - most
        out[m, 2] = most


def tridiagonal(name: str, shape: tuple[int, int], axis: int, seed: int) -> Problem:
    """Systems along `axis` of arrays of this shape: `a` below the diagonal, `b` on it, `c` above it."""
    a, c, d = (random_floats(-1, 1, shape, seed + k, "f8") for k in range(3))
    b, x, work = random_floats(3, 4, shape, seed + 3, "f8"), zeros(shape, "f8"), zeros(shape, "f8")

    def reference():
        below, middle, above, right = (np.moveaxis(array, axis, 1) for array in (a, b, c, d))
        out = np.zeros(right.shape)
        for m in range(right.shape[0]):
            matrix = np.diag(middle[m]) + np.diag(below[m, 1:], -1) + np.diag(above[m, :-1], 1)
            out[m] = np.linalg.solve(matrix, right[m])
        return {"x": np.moveaxis(out, 1, axis)}

    arrays = {"a": a, "b": b, "c": c, "d": d, "x": x, "work": work}
    return posed(name, arrays, "x", reference, {"rows": shape[0], "columns": shape[1]}, **DOUBLE)


def thomas_rows(scale: float) -> Problem:
    return tridiagonal("tridiagonal systems, rows", (max(4, int(scale * 128)), 96), 1, 10)


@sv.kernel
def sv_thomas_rows(a: f64_2, b: f64_2, c: f64_2, d: f64_2, x: f64_2, work: f64_2):
    n = x.shape[1]
    for m in range(x.shape[0]):
        work[m, 0] = c[m, 0] / b[m, 0]
        x[m, 0] = d[m, 0] / b[m, 0]
        for i in range(1, n):
            pivot = b[m, i] - a[m, i] * work[m, i - 1]
            work[m, i] = c[m, i] / pivot
            x[m, i] = (d[m, i] - a[m, i] * x[m, i - 1]) / pivot
        for i in range(n - 2, -1, -1):
            x[m, i] -= work[m, i] * x[m, i + 1]


def nb_thomas_rows(a, b, c, d, x, work):
    n = x.shape[1]
    for m in prange(x.shape[0]):
        work[m, 0] = c[m, 0] / b[m, 0]
        x[m, 0] = d[m, 0] / b[m, 0]
        for i in range(1, n):
            pivot = b[m, i] - a[m, i] * work[m, i - 1]
            work[m, i] = c[m, i] / pivot
            x[m, i] = (d[m, i] - a[m, i] * x[m, i - 1]) / pivot
        for i in range(n - 2, -1, -1):
            x[m, i] -= work[m, i] * x[m, i + 1]


def thomas_columns(scale: float) -> Problem:
    return tridiagonal("tridiagonal systems, columns", (128, max(4, int(scale * 256))), 0, 20)


@sv.kernel
def sv_thomas_columns(a: f64_2, b: f64_2, c: f64_2, d: f64_2, x: f64_2, work: f64_2):
    n = x.shape[0]
    for j in range(x.shape[1]):
        work[0, j] = c[0, j] / b[0, j]
        x[0, j] = d[0, j] / b[0, j]
        for i in range(1, n):
            pivot = b[i, j] - a[i, j] * work[i - 1, j]
            work[i, j] = c[i, j] / pivot
            x[i, j] = (d[i, j] - a[i, j] * x[i - 1, j]) / pivot
        for i in range(n - 2, -1, -1):
            x[i, j] -= work[i, j] * x[i + 1, j]


def nb_thomas_columns(a, b, c, d, x, work):
    n = x.shape[0]
    for j in prange(x.shape[1]):
        work[0, j] = c[0, j] / b[0, j]
        x[0, j] = d[0, j] / b[0, j]
        for i in range(1, n):
            pivot = b[i, j] - a[i, j] * work[i - 1, j]
            work[i, j] = c[i, j] / pivot
            x[i, j] = (d[i, j] - a[i, j] * x[i - 1, j]) / pivot
        for i in range(n - 2, -1, -1):
            x[i, j] -= work[i, j] * x[i + 1, j]


SYSTEMS = "a b c d x work int:rows int:columns"

ENTRIES = {
    "cholesky_6": Entry(cholesky_6, "a l int:n", "a l", sv_cholesky_6, nb_cholesky_6),
    "cholesky_6_local": Entry(cholesky_6_local, "a b x int:n", "a b x", sv_cholesky_6_local, nb_cholesky_6_local),
    "ldl_6": Entry(ldl_6, "a b x int:n", "a b x", sv_ldl_6, nb_ldl_6),
    "inverse_4": Entry(inverse_4, "a out int:n", "a out", sv_inverse_4, nb_inverse_4),
    "eigenvalues_3": Entry(eigenvalues_3, "a out int:n", "a out", sv_eigenvalues_3, nb_eigenvalues_3),
    "thomas_rows": Entry(thomas_rows, SYSTEMS, "a b c d x work", sv_thomas_rows, nb_thomas_rows),
    "thomas_columns": Entry(thomas_columns, SYSTEMS, "a b c d x work", sv_thomas_columns, nb_thomas_columns),
}
