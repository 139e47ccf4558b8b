"""Sparse matrices: rows of 0 to 64 elements, by rows, by columns, padded, as coordinates; solves and sums over graphs."""

from dataclasses import dataclass

import numpy as np
from problems import Array, Arrays, Problem, filled

import samovar as sv
from throughput_kernels.entry import DOUBLE, EXACT, Entry, posed, random_floats, random_integers, zeros
from throughput_kernels.numba_names import prange

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
f64_1 = sv.types.NDArray[sv.f64, 1]
i32_1, i32_2 = (sv.types.NDArray[sv.i32, n] for n in (1, 2))
f32 = np.float32


@dataclass(frozen=True)
class Sparse:
    """A random matrix in compressed rows: row i has the elements from starts[i] to starts[i + 1]."""

    starts: Array
    columns: Array
    values: Array

    @property
    def rows(self) -> Array:
        """The row of each element."""
        return filled(np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts)).astype("i4"))

    @property
    def arrays(self) -> Arrays:
        return {"starts": self.starts, "columns": self.columns, "values": self.values}

    def product(self, x: Array) -> Array:
        return np.bincount(self.rows, self.values.astype("f8") * x[self.columns], len(self.starts) - 1)


def sparse_matrix(n: int, longest: int, seed: int, dtype: str = "f4", lower: bool = False) -> Sparse:
    """`longest` is the length of the longest row, the shortest have none; a lower one has no elements on its diagonal."""
    generator = np.random.default_rng(seed)
    limit = np.minimum(np.arange(n) if lower else np.full(n, n), longest)
    lengths = generator.integers(0, limit + 1)
    rows = [np.sort(generator.choice(i if lower else n, length, replace=False)) for i, length in enumerate(lengths)]
    starts = filled(np.concatenate([[0], np.cumsum(lengths)]).astype("i4"))
    columns = filled(np.concatenate(rows).astype("i4"))
    return Sparse(starts, columns, random_floats(-1, 1, len(columns), seed + 1, dtype))


def uneven_rows(scale: float) -> Problem:
    n = max(64, int(scale * 2048))
    matrix, x = sparse_matrix(n, 64, 1), random_floats(-1, 1, n, 3)
    arrays = matrix.arrays | {"x": x, "y": zeros(n)}
    return posed("sparse rows of 0 to 64", arrays, "y", lambda: {"y": matrix.product(x)}, {"n": n})


@sv.kernel
def sv_uneven_rows(starts: i32_1, columns: i32_1, values: f32_1, x: f32_1, y: f32_1):
    for i in range(y.shape[0]):
        y[i] = 0.0
        for k in range(starts[i], starts[i + 1]):
            y[i] += values[k] * x[columns[k]]


def nb_uneven_rows(starts, columns, values, x, y):
    for i in prange(y.shape[0]):
        y[i] = 0
        for k in range(starts[i], starts[i + 1]):
            y[i] += values[k] * x[columns[k]]


def by_columns(scale: float) -> Problem:
    n = max(64, int(scale * 2048))
    matrix, x = sparse_matrix(n, 64, 4, "f8"), random_floats(-1, 1, n, 6, "f8")
    reference = lambda: {"y": np.bincount(matrix.columns, matrix.values * x[matrix.rows], n)}  # noqa: E731
    arrays = {"starts": matrix.starts, "rows": matrix.columns, "values": matrix.values, "x": x, "y": zeros(n, "f8")}
    return posed("sparse columns, f64", arrays, "y", reference, {"n": n}, **DOUBLE)


@sv.kernel(serial=True)
def sv_by_columns(starts: i32_1, rows: i32_1, values: f64_1, x: f64_1, y: f64_1):
    for i in range(y.shape[0]):
        y[i] = 0.0
    for j in range(x.shape[0]):
        for k in range(starts[j], starts[j + 1]):
            y[rows[k]] += values[k] * x[j]


def nb_by_columns(starts, rows, values, x, y):
    for i in range(y.shape[0]):
        y[i] = 0.0
    for j in range(x.shape[0]):
        for k in range(starts[j], starts[j + 1]):
            y[rows[k]] += values[k] * x[j]


def padded_rows(scale: float) -> Problem:
    n, width = max(64, int(scale * 4096)), 32
    matrix, x = sparse_matrix(n, width, 7), random_floats(-1, 1, n, 9)
    columns, values = zeros((n, width), "i4"), zeros((n, width))
    columns[...] = -1
    for i in range(n):
        first, last = matrix.starts[i], matrix.starts[i + 1]
        columns[i, : last - first], values[i, : last - first] = matrix.columns[first:last], matrix.values[first:last]
    arrays = {"columns": columns, "values": values, "x": x, "y": zeros(n)}
    return posed("sparse rows, padded", arrays, "y", lambda: {"y": matrix.product(x)}, {"n": n, "width": width})


@sv.kernel
def sv_padded_rows(columns: i32_2, values: f32_2, x: f32_1, y: f32_1):
    for i in range(y.shape[0]):
        total = 0.0
        for k in range(columns.shape[1]):
            if columns[i, k] >= 0:
                total += values[i, k] * x[columns[i, k]]
        y[i] = total


def nb_padded_rows(columns, values, x, y):
    for i in prange(y.shape[0]):
        total = f32(0)
        for k in range(columns.shape[1]):
            if columns[i, k] >= 0:
                total += values[i, k] * x[columns[i, k]]
        y[i] = total


def coordinates(scale: float) -> Problem:
    n = max(64, int(scale * 2048))
    matrix, x = sparse_matrix(n, 64, 10), random_floats(-1, 1, n, 12)
    arrays = {"rows": matrix.rows, "columns": matrix.columns, "values": matrix.values, "x": x, "y": zeros(n)}
    scalars = {"n": n, "count": len(matrix.columns)}
    return posed("sparse coordinates", arrays, "y", lambda: {"y": matrix.product(x)}, scalars)


@sv.kernel
def sv_coordinates(rows: i32_1, columns: i32_1, values: f32_1, x: f32_1, y: f32_1):
    for i in range(y.shape[0]):
        y[i] = 0.0
    for k in range(values.shape[0]):
        y[rows[k]] += values[k] * x[columns[k]]


def nb_coordinates(rows, columns, values, x, y):
    y[:] = 0
    for k in range(values.shape[0]):
        y[rows[k]] += values[k] * x[columns[k]]


def sparse_solve(scale: float) -> Problem:
    n = max(64, int(scale * 4096))
    matrix, b = sparse_matrix(n, 32, 13, "f8", lower=True), random_floats(-1, 1, n, 15, "f8")
    matrix.values[...] *= 0.1

    def reference():
        out = np.zeros(n)
        for i in range(n):
            row = slice(matrix.starts[i], matrix.starts[i + 1])
            out[i] = b[i] - matrix.values[row] @ out[matrix.columns[row]]
        return {"x": out}

    arrays = matrix.arrays | {"b": b, "x": zeros(n, "f8")}
    return posed("sparse lower solve, f64", arrays, "x", reference, {"n": n}, **DOUBLE)


@sv.kernel(serial=True)
def sv_sparse_solve(starts: i32_1, columns: i32_1, values: f64_1, b: f64_1, x: f64_1):
    for i in range(x.shape[0]):
        total = b[i]
        for k in range(starts[i], starts[i + 1]):
            total -= values[k] * x[columns[k]]
        x[i] = total


def nb_sparse_solve(starts, columns, values, b, x):
    for i in range(x.shape[0]):
        total = b[i]
        for k in range(starts[i], starts[i + 1]):
            total -= values[k] * x[columns[k]]
        x[i] = total


def solve_by_levels(scale: float) -> Problem:
    n = max(64, int(scale * 16384))
    matrix, b = sparse_matrix(n, 3, 26, "f8", lower=True), random_floats(-1, 1, n, 28, "f8")
    level = np.zeros(n, int)
    for i in range(n):
        row = matrix.columns[matrix.starts[i] : matrix.starts[i + 1]]
        level[i] = 1 + level[row].max() if len(row) else 0
    order = filled(np.argsort(level, kind="stable").astype("i4"))
    levels = filled(np.concatenate([[0], np.cumsum(np.bincount(level))]).astype("i4"))

    def reference():
        out = np.zeros(n)
        for i in range(n):
            row = slice(matrix.starts[i], matrix.starts[i + 1])
            out[i] = b[i] - matrix.values[row] @ out[matrix.columns[row]]
        return {"x": out}

    arrays = {"levels": levels, "order": order} | matrix.arrays | {"b": b, "x": zeros(n, "f8")}
    scalars = {"count": len(levels) - 1}
    return posed("sparse solve by levels, f64", arrays, "x", reference, scalars, relative=1e-6, absolute=1e-6)


@sv.kernel(serial=True)
def sv_solve_by_levels(levels: i32_1, order: i32_1, starts: i32_1, columns: i32_1, values: f64_1, b: f64_1, x: f64_1):
    for level in range(levels.shape[0] - 1):
        for r in range(levels[level], levels[level + 1]):
            i = order[r]
            x[i] = b[i]
            for k in range(starts[i], starts[i + 1]):
                x[i] -= values[k] * x[columns[k]]


def nb_solve_by_levels(levels, order, starts, columns, values, b, x):
    for level in range(levels.shape[0] - 1):
        for r in range(levels[level], levels[level + 1]):
            i = order[r]
            x[i] = b[i]
            for k in range(starts[i], starts[i + 1]):
                x[i] -= values[k] * x[columns[k]]


def sparse_block(scale: float) -> Problem:
    n, width = max(64, int(scale * 1024)), 8
    matrix, x = sparse_matrix(n, 64, 16), random_floats(-1, 1, (n, width), 18)
    reference = lambda: {"y": np.stack([matrix.product(x[:, c]) for c in range(width)], 1)}  # noqa: E731
    arrays = matrix.arrays | {"x": x, "y": zeros((n, width))}
    return posed("sparse × 8 columns", arrays, "y", reference, {"n": n, "width": width})


@sv.kernel
def sv_sparse_block(starts: i32_1, columns: i32_1, values: f32_1, x: f32_2, y: f32_2):
    for i in range(y.shape[0]):
        for c in range(y.shape[1]):
            y[i, c] = 0.0
        for k in range(starts[i], starts[i + 1]):
            for c in range(y.shape[1]):
                y[i, c] += values[k] * x[columns[k], c]


def nb_sparse_block(starts, columns, values, x, y):
    for i in prange(y.shape[0]):
        for c in range(y.shape[1]):
            y[i, c] = 0
        for k in range(starts[i], starts[i + 1]):
            for c in range(y.shape[1]):
                y[i, c] += values[k] * x[columns[k], c]


def sampled_products(scale: float) -> Problem:
    n, width = max(64, int(scale * 2048)), 16
    matrix = sparse_matrix(n, 32, 19)
    a, b = random_floats(-1, 1, (n, width), 21), random_floats(-1, 1, (n, width), 22)
    reference = lambda: {"out": matrix.values * (a[matrix.rows] * b[matrix.columns]).sum(axis=1)}  # noqa: E731
    arrays = matrix.arrays | {"a": a, "b": b, "out": zeros(len(matrix.columns))}
    return posed("dot products at sparse places", arrays, "out", reference, {"n": n, "width": width})


@sv.kernel
def sv_sampled_products(starts: i32_1, columns: i32_1, values: f32_1, a: f32_2, b: f32_2, out: f32_1):
    for i in range(a.shape[0]):
        for k in range(starts[i], starts[i + 1]):
            total = 0.0
            for c in range(a.shape[1]):
                total += a[i, c] * b[columns[k], c]
            out[k] = values[k] * total


def nb_sampled_products(starts, columns, values, a, b, out):
    for i in prange(a.shape[0]):
        for k in range(starts[i], starts[i + 1]):
            total = f32(0)
            for c in range(a.shape[1]):
                total += a[i, c] * b[columns[k], c]
            out[k] = values[k] * total


def neighbor_labels(scale: float) -> Problem:
    n = max(64, int(scale * 8192))
    matrix, label = sparse_matrix(n, 32, 23), random_integers(0, 1 << 20, n, 25)

    def reference():
        out = label.copy()
        np.minimum.at(out, matrix.rows, label[matrix.columns])
        return {"out": out}

    arrays = {"starts": matrix.starts, "columns": matrix.columns, "label": label, "out": zeros(n, "i4")}
    return posed("least label of neighbors", arrays, "out", reference, {"n": n}, **EXACT)


@sv.kernel
def sv_neighbor_labels(starts: i32_1, columns: i32_1, label: i32_1, out: i32_1):
    for i in range(out.shape[0]):
        least = label[i]
        for k in range(starts[i], starts[i + 1]):
            if label[columns[k]] < least:
                least = label[columns[k]]
        out[i] = least


def nb_neighbor_labels(starts, columns, label, out):
    for i in prange(out.shape[0]):
        least = label[i]
        for k in range(starts[i], starts[i + 1]):
            if label[columns[k]] < least:
                least = label[columns[k]]
        out[i] = least


ROWS = "starts columns values"

ENTRIES = {
    "uneven_rows": Entry(uneven_rows, f"{ROWS} x y int:n", f"{ROWS} x y", sv_uneven_rows, nb_uneven_rows),
    "by_columns": Entry(
        by_columns, "starts rows values x y int:n", "starts rows values x y", sv_by_columns, nb_by_columns, serial=True
    ),
    "padded_rows": Entry(
        padded_rows, "columns values x y int:n int:width", "columns values x y", sv_padded_rows, nb_padded_rows
    ),
    "coordinates": Entry(
        coordinates, "rows columns values x y int:n int:count", "rows columns values x y", sv_coordinates, nb_coordinates
    ),
    "sparse_solve": Entry(sparse_solve, f"{ROWS} b x int:n", f"{ROWS} b x", sv_sparse_solve, nb_sparse_solve, serial=True),
    "solve_by_levels": Entry(
        solve_by_levels,
        f"levels order {ROWS} b x int:count",
        f"levels order {ROWS} b x",
        sv_solve_by_levels,
        nb_solve_by_levels,
        serial=True,
    ),
    "sparse_block": Entry(sparse_block, f"{ROWS} x y int:n int:width", f"{ROWS} x y", sv_sparse_block, nb_sparse_block),
    "sampled_products": Entry(
        sampled_products, f"{ROWS} a b out int:n int:width", f"{ROWS} a b out", sv_sampled_products, nb_sampled_products
    ),
    "neighbor_labels": Entry(
        neighbor_labels, "starts columns label out int:n", "starts columns label out", sv_neighbor_labels, nb_neighbor_labels
    ),
}
