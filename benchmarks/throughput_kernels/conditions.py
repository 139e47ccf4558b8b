"""Conditions for each element: borders, sides, limits, error diffusion, points inside a shape."""

import numpy as np
from problems import Problem, filled

import samovar as sv
from throughput_kernels.entry import EXACT, Entry, posed, random_floats, random_integers, side, zeros
from throughput_kernels.numba_names import prange

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
i32_1, i32_2 = (sv.types.NDArray[sv.i32, n] for n in (1, 2))
u8_1, u8_2 = (sv.types.NDArray[sv.u8, n] for n in (1, 2))
f32, i32 = np.float32, np.int32


def points_in_box(scale: float) -> Problem:
    n = int(scale * 65536)
    p, low, high = random_floats(0, 1, (n, 3), 1), random_floats(0.1, 0.2, 3, 2), random_floats(0.8, 0.9, 3, 3)
    reference = lambda: {"out": ((p >= low) & (p <= high)).all(axis=1)}  # noqa: E731
    arrays = {"p": p, "low": low, "high": high, "out": zeros(n, "i4")}
    return posed("points in a box, or in a loop", arrays, "out", reference, {"n": n}, **EXACT)


@sv.kernel
def sv_points_in_box(p: f32_2, low: f32_1, high: f32_1, out: i32_1):
    for i in range(p.shape[0]):
        inside = 1
        for c in range(3):
            if p[i, c] < low[c] or p[i, c] > high[c]:
                inside = 0
        out[i] = inside


def nb_points_in_box(p, low, high, out):
    for i in prange(p.shape[0]):
        inside = 1
        for c in range(3):
            if p[i, c] < low[c] or p[i, c] > high[c]:
                inside = 0
        out[i] = inside


def polygon(scale: float) -> Problem:
    n, corners = int(scale * 4096), 24
    angles = np.arange(corners) * (2 * np.pi / corners)
    radius = np.random.default_rng(4).uniform(0.4, 1.0, corners)
    vx, vy = filled((radius * np.cos(angles)).astype("f4")), filled((radius * np.sin(angles)).astype("f4"))
    x, y = random_floats(-1, 1, n, 5), random_floats(-1, 1, n, 6)

    def reference():
        inside, k = np.zeros(n, bool), corners - 1
        for v in range(corners):
            with np.errstate(divide="ignore"):
                cross = (vx[k] - vx[v]) * (y - vy[v]) / (vy[k] - vy[v]) + vx[v]
            inside ^= ((vy[v] > y) != (vy[k] > y)) & (x < cross)
            k = v
        return {"out": inside}

    arrays = {"x": x, "y": y, "vx": vx, "vy": vy, "out": zeros(n, "i4")}
    return posed("points in a polygon", arrays, "out", reference, {"n": n, "corners": corners}, differing=0.001)


@sv.kernel
def sv_polygon(x: f32_1, y: f32_1, vx: f32_1, vy: f32_1, out: i32_1):
    for i in range(x.shape[0]):
        inside = 0
        k = vx.shape[0] - 1
        for v in range(vx.shape[0]):
            crossed = (vy[v] > y[i]) != (vy[k] > y[i])
            if crossed and x[i] < (vx[k] - vx[v]) * (y[i] - vy[v]) / (vy[k] - vy[v]) + vx[v]:
                inside = 1 - inside
            k = v
        out[i] = inside


def nb_polygon(x, y, vx, vy, out):
    for i in prange(x.shape[0]):
        inside = 0
        k = vx.shape[0] - 1
        for v in range(vx.shape[0]):
            crossed = (vy[v] > y[i]) != (vy[k] > y[i])
            if crossed and x[i] < (vx[k] - vx[v]) * (y[i] - vy[v]) / (vy[k] - vy[v]) + vx[v]:
                inside = 1 - inside
            k = v
        out[i] = inside


def life_if(scale: float) -> Problem:
    n = side(scale, 192)
    cells, following = random_integers(0, 2, (n, n), 7, "u1"), zeros((n, n), "u1")

    def reference():
        padded = np.pad(cells, 1).astype(int)
        count = sum(padded[1 + p : n + 1 + p, 1 + q : n + 1 + q] for p in (-1, 0, 1) for q in (-1, 0, 1)) - cells
        return {"following": (count == 3) | ((count == 2) & (cells == 1))}

    arrays = {"cells": cells, "following": following}
    return posed("game of life, borders by if", arrays, "following", reference, {"n": n}, **EXACT)


@sv.kernel
def sv_life_if(cells: u8_2, following: u8_2):
    rows, columns = cells.shape[0], cells.shape[1]
    for i, j in cells:
        count = 0
        for p in range(-1, 2):
            for q in range(-1, 2):
                if i + p >= 0 and i + p < rows and j + q >= 0 and j + q < columns and (p != 0 or q != 0):
                    count += cells[i + p, j + q]
        if count == 3 or (count == 2 and cells[i, j] == 1):
            following[i, j] = 1
        else:
            following[i, j] = 0


def nb_life_if(cells, following):
    rows, columns = cells.shape
    for i in prange(rows):
        for j in range(columns):
            count = 0
            for p in range(-1, 2):
                for q in range(-1, 2):
                    if i + p >= 0 and i + p < rows and j + q >= 0 and j + q < columns and (p != 0 or q != 0):
                        count += cells[i + p, j + q]
            if count == 3 or (count == 2 and cells[i, j] == 1):
                following[i, j] = 1
            else:
                following[i, j] = 0


def neighbor_mean(scale: float) -> Problem:
    n = side(scale, 384)
    source, target = random_floats(0, 1, (n, n), 8), zeros((n, n))

    def reference():
        value, one = np.pad(source.astype("f8"), 1), np.pad(np.ones((n, n)), 1)
        total, count = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] for a in (value, one))
        return {"target": total / count}

    arrays = {"source": source, "target": target}
    return posed("mean of neighbors, borders by if", arrays, "target", reference, {"n": n})


@sv.kernel
def sv_neighbor_mean(source: f32_2, target: f32_2):
    for i, j in source:
        total, count = 0.0, 0
        if i > 0:
            total += source[i - 1, j]
            count += 1
        if i < source.shape[0] - 1:
            total += source[i + 1, j]
            count += 1
        if j > 0:
            total += source[i, j - 1]
            count += 1
        if j < source.shape[1] - 1:
            total += source[i, j + 1]
            count += 1
        target[i, j] = total / count


def nb_neighbor_mean(source, target):
    rows, columns = source.shape
    for i in prange(rows):
        for j in range(columns):
            total, count = f32(0), i32(0)
            if i > 0:
                total += source[i - 1, j]
                count += i32(1)
            if i < rows - 1:
                total += source[i + 1, j]
                count += i32(1)
            if j > 0:
                total += source[i, j - 1]
                count += i32(1)
            if j < columns - 1:
                total += source[i, j + 1]
                count += i32(1)
            target[i, j] = total / f32(count)


def upwind(scale: float) -> Problem:
    n = side(scale, 256)
    q, u, v = random_floats(0, 1, (n, n), 9), random_floats(-1, 1, (n, n), 10), random_floats(-1, 1, (n, n), 11)

    def reference():
        middle, a, b = q[1:-1, 1:-1].astype("f8"), u[1:-1, 1:-1], v[1:-1, 1:-1]
        dx = np.where(a > 0, middle - q[:-2, 1:-1], q[2:, 1:-1] - middle)
        dy = np.where(b > 0, middle - q[1:-1, :-2], q[1:-1, 2:] - middle)
        out = np.zeros((n, n))
        out[1:-1, 1:-1] = middle - 0.1 * (a * dx + b * dy)
        return {"out": out}

    arrays = {"q": q, "u": u, "v": v, "out": zeros((n, n))}
    return posed("upwind differences, side by if", arrays, "out", reference, {"n": n})


@sv.kernel
def sv_upwind(q: f32_2, u: f32_2, v: f32_2, out: f32_2):
    for i, j in sv.ndrange((1, q.shape[0] - 1), (1, q.shape[1] - 1)):
        if u[i, j] > 0.0:
            dx = q[i, j] - q[i - 1, j]
        else:
            dx = q[i + 1, j] - q[i, j]
        if v[i, j] > 0.0:
            dy = q[i, j] - q[i, j - 1]
        else:
            dy = q[i, j + 1] - q[i, j]
        out[i, j] = q[i, j] - 0.1 * (u[i, j] * dx + v[i, j] * dy)


def nb_upwind(q, u, v, out):
    for i in prange(1, q.shape[0] - 1):
        for j in range(1, q.shape[1] - 1):
            if u[i, j] > 0:
                dx = q[i, j] - q[i - 1, j]
            else:
                dx = q[i + 1, j] - q[i, j]
            if v[i, j] > 0:
                dy = q[i, j] - q[i, j - 1]
            else:
                dy = q[i, j + 1] - q[i, j]
            out[i, j] = q[i, j] - f32(0.1) * (u[i, j] * dx + v[i, j] * dy)


def slopes(scale: float) -> Problem:
    rows, columns = max(4, int(scale * 512)), 256
    q, out = random_floats(0, 1, (rows, columns), 12), zeros((rows, columns))

    def reference():
        a, b = np.diff(q)[:, :-1], np.diff(q)[:, 1:]
        result = np.zeros((rows, columns))
        result[:, 1:-1] = np.where(a * b <= 0, 0, np.where(abs(a) < abs(b), a, b))
        return {"out": result}

    return posed("limited slopes", {"q": q, "out": out}, "out", reference, {"rows": rows, "columns": columns})


@sv.kernel
def sv_slopes(q: f32_2, out: f32_2):
    for i in range(q.shape[0]):
        for j in range(1, q.shape[1] - 1):
            a, b = q[i, j] - q[i, j - 1], q[i, j + 1] - q[i, j]
            if a * b <= 0.0:
                out[i, j] = 0.0
            elif abs(a) < abs(b):
                out[i, j] = a
            else:
                out[i, j] = b


def nb_slopes(q, out):
    for i in prange(q.shape[0]):
        for j in range(1, q.shape[1] - 1):
            a, b = q[i, j] - q[i, j - 1], q[i, j + 1] - q[i, j]
            if a * b <= 0:
                out[i, j] = 0
            elif abs(a) < abs(b):
                out[i, j] = a
            else:
                out[i, j] = b


def quantize(scale: float) -> Problem:
    n = int(scale * 262144)
    x, out = random_floats(-0.2, 1.2, n, 13), zeros(n, "u1")
    reference = lambda: {"out": np.clip(f32(255) * x + f32(0.5), 0, 255).astype("u1")}  # noqa: E731
    return posed("floats to bytes, limits by if", {"x": x, "out": out}, "out", reference, {"n": n}, absolute=1)


@sv.kernel
def sv_quantize(x: f32_1, out: u8_1):
    for i in range(x.shape[0]):
        value = 255.0 * x[i] + 0.5
        if value < 0.0:
            out[i] = 0
        elif value > 255.0:
            out[i] = 255
        else:
            out[i] = sv.u8(value)


def nb_quantize(x, out):
    for i in prange(x.shape[0]):
        value = f32(255) * x[i] + f32(0.5)
        if value < 0:
            out[i] = 0
        elif value > 255:
            out[i] = 255
        else:
            out[i] = np.uint8(value)


def dither(scale: float) -> Problem:
    n = side(scale, 192)
    image, work, out = random_integers(0, 256, (n, n), 15, "u1"), zeros((n, n), "i4"), zeros((n, n), "u1")

    def reference():
        values, found = np.pad(image.astype(int), 1).tolist(), np.zeros((n, n))
        for i in range(1, n + 1):
            for j in range(1, n + 1):
                found[i - 1, j - 1] = 255 if values[i][j] >= 128 else 0
                error = values[i][j] - int(found[i - 1, j - 1])
                for p, q, weight in ((0, 1, 7), (1, -1, 3), (1, 0, 5), (1, 1, 1)):
                    values[i + p][j + q] += error * weight >> 4
        return {"out": found}

    arrays = {"image": image, "work": work, "out": out}
    return posed("error diffusion, serial", arrays, "out", reference, {"n": n}, **EXACT)


@sv.kernel(serial=True)
def sv_dither(image: u8_2, work: i32_2, out: u8_2):
    rows, columns = image.shape[0], image.shape[1]
    for i in range(rows):
        for j in range(columns):
            work[i, j] = image[i, j]
    for i in range(rows):
        for j in range(columns):
            value = 255 if work[i, j] >= 128 else 0
            error = work[i, j] - value
            out[i, j] = sv.u8(value)
            if j + 1 < columns:
                work[i, j + 1] += error * 7 >> 4
            if i + 1 < rows:
                if j > 0:
                    work[i + 1, j - 1] += error * 3 >> 4
                work[i + 1, j] += error * 5 >> 4
                if j + 1 < columns:
                    work[i + 1, j + 1] += error >> 4


def nb_dither(image, work, out):
    rows, columns = image.shape
    for i in range(rows):
        for j in range(columns):
            work[i, j] = image[i, j]
    for i in range(rows):
        for j in range(columns):
            value = 255 if work[i, j] >= 128 else 0
            error = work[i, j] - value
            out[i, j] = value
            if j + 1 < columns:
                work[i, j + 1] += error * 7 >> 4
            if i + 1 < rows:
                if j > 0:
                    work[i + 1, j - 1] += error * 3 >> 4
                work[i + 1, j] += error * 5 >> 4
                if j + 1 < columns:
                    work[i + 1, j + 1] += error >> 4


ENTRIES = {
    "points_in_box": Entry(points_in_box, "p low high out int:n", "p low high out", sv_points_in_box, nb_points_in_box),
    "polygon": Entry(polygon, "x y vx vy out int:n int:corners", "x y vx vy out", sv_polygon, nb_polygon),
    "life_if": Entry(life_if, "cells following int:n", "cells following", sv_life_if, nb_life_if),
    "neighbor_mean": Entry(neighbor_mean, "source target int:n", "source target", sv_neighbor_mean, nb_neighbor_mean),
    "upwind": Entry(upwind, "q u v out int:n", "q u v out", sv_upwind, nb_upwind),
    "slopes": Entry(slopes, "q out int:rows int:columns", "q out", sv_slopes, nb_slopes),
    "quantize": Entry(quantize, "x out int:n", "x out", sv_quantize, nb_quantize),
    "dither": Entry(dither, "image work out int:n", "image work out", sv_dither, nb_dither, serial=True),
}
