"""Reductions of every kind: over everything and per row, of floats, doubles and bytes."""

import math

import numpy as np
from problems import Problem

import samovar as sv
from throughput_kernels.entry import Entry, posed, random_floats, random_integers, side, zeros
from throughput_kernels.numba_names import prange

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
f64_1 = sv.types.NDArray[sv.f64, 1]
u8_1 = sv.types.NDArray[sv.u8, 1]
i32_1 = sv.types.NDArray[sv.i32, 1]
f32 = np.float32


def largest(scale: float) -> Problem:
    n = int(scale * (1 << 18))
    x, out = random_floats(-1, 1, n, 1), zeros(1)
    return posed("maximum", {"x": x, "out": out}, "out", lambda: {"out": np.array([x.max()])}, {"n": n})


@sv.kernel
def sv_largest(x: f32_1, out: f32_1):
    out[0] = -math.inf
    for i in range(x.shape[0]):
        sv.atomic_max(out[0], x[i])


def nb_largest(x, out):
    result = f32(-np.inf)
    for i in prange(x.shape[0]):
        result = max(result, x[i])
    out[0] = result


def row_largest(scale: float) -> Problem:
    n = side(scale, 512)
    x, out = random_floats(-1, 1, (n, n), 2), zeros(n)
    return posed("maximum of rows", {"x": x, "out": out}, "out", lambda: {"out": x.max(axis=1)}, {"n": n})


@sv.kernel
def sv_row_largest(x: f32_2, out: f32_1):
    for i in range(x.shape[0]):
        best = x[i, 0]
        for j in range(x.shape[1]):
            best = max(best, x[i, j])
        out[i] = best


def nb_row_largest(x, out):
    for i in prange(x.shape[0]):
        best = x[i, 0]
        for j in range(x.shape[1]):
            best = max(best, x[i, j])
        out[i] = best


def bytes_sum(scale: float) -> Problem:
    n = int(scale * (1 << 20))
    x, out = random_integers(0, 256, n, 3, "u1"), zeros(1, "i4")
    return posed("sum of u8", {"x": x, "out": out}, "out", lambda: {"out": np.array([x.sum(dtype="i8")])}, {"n": n})


@sv.kernel
def sv_bytes_sum(x: u8_1, out: i32_1):
    out[0] = 0
    for i in range(x.shape[0]):
        out[0] += sv.i32(x[i])


def nb_bytes_sum(x, out):
    result = np.int32(0)
    for i in prange(x.shape[0]):
        result += np.int32(x[i])
    out[0] = result


def count_bytes(scale: float) -> Problem:
    n = int(scale * (1 << 20))
    x, out = random_integers(0, 256, n, 4, "u1"), zeros(1, "i4")
    return posed("count of u8", {"x": x, "out": out}, "out", lambda: {"out": np.array([(x > 100).sum()])}, {"n": n})


@sv.kernel
def sv_count_bytes(x: u8_1, out: i32_1):
    out[0] = 0
    for i in range(x.shape[0]):
        if x[i] > 100:
            out[0] += 1


def nb_count_bytes(x, out):
    result = np.int32(0)
    for i in prange(x.shape[0]):
        if x[i] > 100:
            result += np.int32(1)
    out[0] = result


def moments(scale: float) -> Problem:
    n = int(scale * (1 << 18))
    x, out = random_floats(-1, 1, n, 5, "f8"), zeros(2, "f8")
    return posed("two sums f64", {"x": x, "out": out}, "out", lambda: {"out": np.array([x.sum(), (x * x).sum()])}, {"n": n})


@sv.kernel
def sv_moments(x: f64_1, out: f64_1):
    out[0] = 0.0
    out[1] = 0.0
    for i in range(x.shape[0]):
        out[0] += x[i]
        out[1] += x[i] * x[i]


def nb_moments(x, out):
    first, second = 0.0, 0.0
    for i in prange(x.shape[0]):
        first += x[i]
        second += x[i] * x[i]
    out[0] = first
    out[1] = second


def apart(scale: float) -> Problem:
    n = int(scale * (1 << 18))
    x, y, out = random_floats(-1, 1, n, 6), random_floats(-1, 1, n, 7), zeros(1)
    reference = lambda: {"out": np.array([np.abs(x - y).max()])}  # noqa: E731
    return posed("largest difference", {"x": x, "y": y, "out": out}, "out", reference, {"n": n})


@sv.kernel
def sv_apart(x: f32_1, y: f32_1, out: f32_1):
    out[0] = 0.0
    for i in range(x.shape[0]):
        sv.atomic_max(out[0], abs(x[i] - y[i]))


def nb_apart(x, y, out):
    result = f32(0)
    for i in prange(x.shape[0]):
        result = max(result, abs(x[i] - y[i]))
    out[0] = result


def short_rows(scale: float) -> Problem:
    n, width = int(scale * (1 << 14)), 48
    x, out = random_floats(-1, 1, (n, width), 8), zeros(n)
    arrays = {"x": x, "out": out}
    return posed("norms of rows of 48", arrays, "out", lambda: {"out": (x * x).sum(axis=1)}, {"n": n, "width": width})


@sv.kernel
def sv_short_rows(x: f32_2, out: f32_1):
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j] * x[i, j]
        out[i] = total


def nb_short_rows(x, out):
    for i in prange(x.shape[0]):
        total = f32(0)
        for j in range(x.shape[1]):
            total += x[i, j] * x[i, j]
        out[i] = total


def softmax(scale: float) -> Problem:
    n, width = int(scale * (1 << 11)), 128
    x, out = random_floats(-3, 3, (n, width), 9), zeros((n, width))

    def reference():
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return {"out": e / e.sum(axis=1, keepdims=True)}

    return posed("softmax of rows", {"x": x, "out": out}, "out", reference, {"n": n, "width": width})


@sv.kernel
def sv_softmax(x: f32_2, out: f32_2):
    for i in range(x.shape[0]):
        best = x[i, 0]
        for j in range(x.shape[1]):
            best = max(best, x[i, j])
        total = 0.0
        for j in range(x.shape[1]):
            value = sv.exp(x[i, j] - best)
            out[i, j] = value
            total += value
        inverse = 1.0 / total
        for j in range(x.shape[1]):
            out[i, j] *= inverse


def nb_softmax(x, out):
    for i in prange(x.shape[0]):
        best = x[i, 0]
        for j in range(x.shape[1]):
            best = max(best, x[i, j])
        total = f32(0)
        for j in range(x.shape[1]):
            value = math.exp(x[i, j] - best)
            out[i, j] = value
            total += value
        inverse = f32(1) / total
        for j in range(x.shape[1]):
            out[i, j] *= inverse


ENTRIES = {
    "largest": Entry(largest, "x out int:n", "x out", sv_largest, nb_largest),
    "row_largest": Entry(row_largest, "x out int:n", "x out", sv_row_largest, nb_row_largest),
    "bytes_sum": Entry(bytes_sum, "x out int:n", "x out", sv_bytes_sum, nb_bytes_sum),
    "count_bytes": Entry(count_bytes, "x out int:n", "x out", sv_count_bytes, nb_count_bytes),
    "moments": Entry(moments, "x out int:n", "x out", sv_moments, nb_moments),
    "apart": Entry(apart, "x y out int:n", "x y out", sv_apart, nb_apart),
    "short_rows": Entry(short_rows, "x out int:n int:width", "x out", sv_short_rows, nb_short_rows),
    "softmax": Entry(softmax, "x out int:n int:width", "x out", sv_softmax, nb_softmax),
}
