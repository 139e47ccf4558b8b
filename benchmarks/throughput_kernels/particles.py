"""Particles and grids: gathers, scatters, branches."""

import numpy as np
from problems import Problem

import samovar as sv
from throughput_kernels.entry import Entry, posed, random_floats, random_integers, zeros
from throughput_kernels.numba_names import prange

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
i32_1 = sv.types.NDArray[sv.i32, 1]
f32 = np.float32


def bounce(scale: float) -> Problem:
    n = int(scale * (1 << 17))
    x, v = random_floats(0, 1, n, 1), random_floats(-1, 1, n, 2)
    first_x, first_v = x.copy(), v.copy()

    def reference():
        place, speed = first_x + f32(0.01) * first_v, first_v.copy()
        out = (place < 0) | (place > 1)
        place = np.where(place < 0, -place, np.where(place > 1, 2 - place, place))
        return {"x": place, "v": np.where(out, -speed, speed)}

    return posed("bounce in a box", {"x": x, "v": v}, "x v", reference, {"n": n})


@sv.kernel
def sv_bounce(x: f32_1, v: f32_1):
    for i in range(x.shape[0]):
        place, speed = x[i] + 0.01 * v[i], v[i]
        if place < 0.0:
            place = -place
            speed = -speed
        elif place > 1.0:
            place = 2.0 - place
            speed = -speed
        x[i] = place
        v[i] = speed


def nb_bounce(x, v):
    for i in prange(x.shape[0]):
        place, speed = x[i] + f32(0.01) * v[i], v[i]
        if place < f32(0):
            place = -place
            speed = -speed
        elif place > f32(1):
            place = f32(2) - place
            speed = -speed
        x[i] = place
        v[i] = speed


def interpolate(scale: float) -> Problem:
    n, size = int(scale * (1 << 17)), 256
    grid, x, y, out = random_floats(-1, 1, (size, size), 3), *(random_floats(0, size - 2, n, s) for s in (4, 5)), zeros(n)

    def reference():
        i, j = x.astype(int), y.astype(int)
        s, t = x - i, y - j
        low = (1 - t) * grid[i, j] + t * grid[i, j + 1]
        high = (1 - t) * grid[i + 1, j] + t * grid[i + 1, j + 1]
        return {"out": (1 - s) * low + s * high}

    return posed("bilinear gather", {"grid": grid, "x": x, "y": y, "out": out}, "out", reference, {"n": n, "size": size})


@sv.kernel
def sv_interpolate(grid: f32_2, x: f32_1, y: f32_1, out: f32_1):
    for k in range(x.shape[0]):
        i, j = sv.i32(x[k]), sv.i32(y[k])
        s, t = x[k] - i, y[k] - j
        low = (1.0 - t) * grid[i, j] + t * grid[i, j + 1]
        high = (1.0 - t) * grid[i + 1, j] + t * grid[i + 1, j + 1]
        out[k] = (1.0 - s) * low + s * high


def nb_interpolate(grid, x, y, out):
    one = f32(1)
    for k in prange(x.shape[0]):
        i, j = np.uint32(x[k]), np.uint32(y[k])
        s, t = x[k] - f32(i), y[k] - f32(j)
        low = (one - t) * grid[i, j] + t * grid[i, j + 1]
        high = (one - t) * grid[i + 1, j] + t * grid[i + 1, j + 1]
        out[k] = (one - s) * low + s * high


def deposit(scale: float) -> Problem:
    n, size = int(scale * (1 << 17)), 1024
    x, mass, grid = random_floats(0, size - 2, n, 6), random_floats(0, 1, n, 7), zeros(size)

    def reference():
        i = x.astype(int)
        t = x - i
        out = np.bincount(i, (1 - t) * mass, size) + np.bincount(i + 1, t * mass, size)
        return {"grid": out}

    return posed("deposit on a grid", {"x": x, "mass": mass, "grid": grid}, "grid", reference, {"n": n, "size": size})


@sv.kernel
def sv_deposit(x: f32_1, mass: f32_1, grid: f32_1):
    for i in range(grid.shape[0]):
        grid[i] = 0.0
    for k in range(x.shape[0]):
        i = sv.i32(x[k])
        t = x[k] - i
        grid[i] += (1.0 - t) * mass[k]
        grid[i + 1] += t * mass[k]


def nb_deposit(x, mass, grid):
    parts = 2
    private = np.zeros((parts, grid.shape[0]), f32)
    for part in prange(parts):
        mine = private[part]
        for k in range(x.shape[0] * part // parts, x.shape[0] * (part + 1) // parts):
            i = np.uint32(x[k])
            t = x[k] - f32(i)
            mine[i] += (f32(1) - t) * mass[k]
            mine[i + 1] += t * mass[k]
    for i in range(grid.shape[0]):
        grid[i] = private[0, i] + private[1, i]


def permute(scale: float) -> Problem:
    n = int(scale * (1 << 18))
    x, out = random_floats(-1, 1, n, 8), zeros(n)
    order = random_integers(0, n, n, 9)
    return posed("gather", {"x": x, "order": order, "out": out}, "out", lambda: {"out": x[order]}, {"n": n})


@sv.kernel
def sv_permute(x: f32_1, order: i32_1, out: f32_1):
    for i in range(out.shape[0]):
        out[i] = x[order[i]]


def nb_permute(x, order, out):
    for i in prange(out.shape[0]):
        out[i] = x[np.uint32(order[i])]


def neighbors(scale: float) -> Problem:
    n, around = int(scale * (1 << 14)), 32
    x, y, out = random_floats(0, 1, n, 10), random_floats(0, 1, n, 11), zeros(n)
    near = random_integers(0, n, (n, around), 12)

    def reference():
        dx, dy = x[near] - x[:, None], y[near] - y[:, None]
        distance = dx * dx + dy * dy
        return {"out": np.where(distance < 0.25, 0.25 - distance, 0).sum(axis=1)}

    arrays = {"x": x, "y": y, "near": near, "out": out}
    return posed("sum over neighbors", arrays, "out", reference, {"n": n, "around": around})


@sv.kernel
def sv_neighbors(x: f32_1, y: f32_1, near: sv.types.NDArray[sv.i32, 2], out: f32_1):
    for i in range(x.shape[0]):
        total = 0.0
        for k in range(near.shape[1]):
            j = near[i, k]
            dx, dy = x[j] - x[i], y[j] - y[i]
            distance = dx * dx + dy * dy
            if distance < 0.25:
                total += 0.25 - distance
        out[i] = total


def nb_neighbors(x, y, near, out):
    for i in prange(x.shape[0]):
        total = f32(0)
        for k in range(near.shape[1]):
            j = np.uint32(near[i, k])
            dx, dy = x[j] - x[i], y[j] - y[i]
            distance = dx * dx + dy * dy
            if distance < f32(0.25):
                total += f32(0.25) - distance
        out[i] = total


ENTRIES = {
    "bounce": Entry(bounce, "x v int:n", "x v", sv_bounce, nb_bounce),
    "interpolate": Entry(interpolate, "grid x y out int:n int:size", "grid x y out", sv_interpolate, nb_interpolate),
    "deposit": Entry(deposit, "x mass grid int:n int:size", "x mass grid", sv_deposit, nb_deposit),
    "permute": Entry(permute, "x order out int:n", "x order out", sv_permute, nb_permute),
    "neighbors": Entry(neighbors, "x y near out int:n int:around", "x y near out", sv_neighbors, nb_neighbors),
}
