"""Particles and cells: neighbor lists and cell lists of any length, deposits on a grid, interpolation inside one."""

import numpy as np
from problems import Array, Problem, filled

import samovar as sv
from throughput_kernels.entry import Entry, posed, random_floats, side, zeros
from throughput_kernels.numba_names import prange
from throughput_kernels.pairs import apart, lattice

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
i32_1, i32_2 = (sv.types.NDArray[sv.i32, n] for n in (1, 2))
f32 = np.float32


def verlet(scale: float) -> Problem:
    p = lattice((10, 10, side(scale, 10)), 6, "f4")
    n, force = len(p), zeros(p.shape)
    near = apart(p)[1] < 6.25
    count = filled(near.sum(axis=1).astype("i4"))
    neighbors = zeros((n, int(count.max())), "i4")
    for i in range(n):
        neighbors[i, : count[i]] = np.flatnonzero(near[i])

    def reference():
        d, square = apart(p)
        factor = np.where(square < 4, 1 / square - 0.25, 0)
        return {"force": (d * factor[:, :, None]).sum(axis=1)}

    arrays = {"p": p, "count": count, "neighbors": neighbors, "force": force}
    return posed("neighbor lists of any length", arrays, "force", reference, {"n": n, "width": neighbors.shape[1]})


@sv.kernel
def sv_verlet(p: f32_2, count: i32_1, neighbors: i32_2, force: f32_2):
    for i in range(p.shape[0]):
        fx, fy, fz = 0.0, 0.0, 0.0
        for k in range(count[i]):
            j = neighbors[i, k]
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            square = dx * dx + dy * dy + dz * dz
            if square < 4.0:
                factor = 1.0 / square - 0.25
                fx += factor * dx
                fy += factor * dy
                fz += factor * dz
        force[i, 0] = fx
        force[i, 1] = fy
        force[i, 2] = fz


def nb_verlet(p, count, neighbors, force):
    for i in prange(p.shape[0]):
        fx, fy, fz = f32(0), f32(0), f32(0)
        for k in range(count[i]):
            j = neighbors[i, k]
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            square = dx * dx + dy * dy + dz * dz
            if square < f32(4):
                factor = f32(1) / square - f32(0.25)
                fx += factor * dx
                fy += factor * dy
                fz += factor * dz
        force[i, 0] = fx
        force[i, 1] = fy
        force[i, 2] = fz


def crowd(scale: float, size: int, seed: int) -> tuple[Array, Array, Array]:
    """Random points of a square, sorted by cells of size 1, and where the points of each cell begin."""
    p = np.random.default_rng(seed).uniform(0, size, (int(scale * size * size * 4), 2)).astype("f4")
    cell = p[:, 1].astype(int) * size + p[:, 0].astype(int)
    starts = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=size * size))])
    p = p[np.argsort(cell, kind="stable")]
    return filled(p[:, 0]), filled(p[:, 1]), filled(starts.astype("i4"))


def cell_density(scale: float) -> Problem:
    x, y, starts = crowd(scale, 20, 10)
    n, size, density = len(x), 20, zeros(len(x))

    def reference():
        square = np.minimum(apart(np.stack([x, y], 1))[1], 1)
        return {"density": 1 + ((1 - square) ** 3).sum(axis=1)}

    arrays = {"x": x, "y": y, "starts": starts, "density": density}
    return posed("density from cells", arrays, "density", reference, {"n": n, "size": size})


@sv.kernel
def sv_cell_density(x: f32_1, y: f32_1, starts: i32_1, density: f32_1, size: sv.i32):
    for i in range(x.shape[0]):
        cx, cy = sv.i32(x[i]), sv.i32(y[i])
        total = 0.0
        for v in range(max(cy - 1, 0), min(cy + 2, size)):
            for u in range(max(cx - 1, 0), min(cx + 2, size)):
                cell = v * size + u
                for j in range(starts[cell], starts[cell + 1]):
                    dx, dy = x[j] - x[i], y[j] - y[i]
                    square = dx * dx + dy * dy
                    if square < 1.0:
                        total += (1.0 - square) ** 3
        density[i] = total


def nb_cell_density(x, y, starts, density, size):
    for i in prange(x.shape[0]):
        cx, cy = int(x[i]), int(y[i])
        total = f32(0)
        for v in range(max(cy - 1, 0), min(cy + 2, size)):
            for u in range(max(cx - 1, 0), min(cx + 2, size)):
                cell = v * size + u
                for j in range(starts[cell], starts[cell + 1]):
                    dx, dy = x[j] - x[i], y[j] - y[i]
                    square = dx * dx + dy * dy
                    if square < f32(1):
                        total += (f32(1) - square) ** 3
        density[i] = total


def linked_cells(scale: float) -> Problem:
    x, y, starts = crowd(scale, 20, 11)
    n, size = len(x), 20
    head, following = zeros((size, size), "i4"), zeros(n, "i4")
    for cell in range(size * size):
        members = [*range(starts[cell], starts[cell + 1]), -1]
        head[cell // size, cell % size] = members[0]
        following[members[:-1]] = members[1:]

    def reference():
        d, square = apart(np.stack([x, y], 1))
        push = np.where(square < 1, 1 / np.sqrt(square + 1e-6) - 1, 0)
        force = -(d * push[:, :, None]).sum(axis=1)
        return {"fx": force[:, 0], "fy": force[:, 1]}

    arrays = {"x": x, "y": y, "head": head, "following": following, "fx": zeros(n), "fy": zeros(n)}
    scalars = {"n": n, "size": size}
    return posed("forces from linked cells", arrays, "fx fy", reference, scalars, relative=1e-3, absolute=1e-2)


@sv.kernel
def sv_linked_cells(x: f32_1, y: f32_1, head: i32_2, following: i32_1, fx: f32_1, fy: f32_1):
    for i in range(x.shape[0]):
        cx, cy = sv.i32(x[i]), sv.i32(y[i])
        fx[i] = 0.0
        fy[i] = 0.0
        for v in range(max(cy - 1, 0), min(cy + 2, head.shape[0])):
            for u in range(max(cx - 1, 0), min(cx + 2, head.shape[1])):
                j = head[v, u]
                while j >= 0:
                    dx, dy = x[j] - x[i], y[j] - y[i]
                    square = dx * dx + dy * dy
                    if square < 1.0 and j != i:
                        push = 1.0 / sv.sqrt(square + 1e-6) - 1.0
                        fx[i] -= push * dx
                        fy[i] -= push * dy
                    j = following[j]


def nb_linked_cells(x, y, head, following, fx, fy):
    for i in prange(x.shape[0]):
        cx, cy = int(x[i]), int(y[i])
        fx[i] = 0
        fy[i] = 0
        for v in range(max(cy - 1, 0), min(cy + 2, head.shape[0])):
            for u in range(max(cx - 1, 0), min(cx + 2, head.shape[1])):
                j = head[v, u]
                while j >= 0:
                    dx, dy = x[j] - x[i], y[j] - y[i]
                    square = dx * dx + dy * dy
                    if square < f32(1) and j != i:
                        push = f32(1) / np.sqrt(square + f32(1e-6)) - f32(1)
                        fx[i] -= push * dx
                        fy[i] -= push * dy
                    j = following[j]


def deposit_2d(scale: float) -> Problem:
    n, size = int(scale * 32768), 128
    x, y, mass = random_floats(0, size - 2, n, 12), random_floats(0, size - 2, n, 13), random_floats(0, 1, n, 14)

    def reference():
        i, j = x.astype(int), y.astype(int)
        s, t = x - i, y - j
        out = np.zeros((size, size))
        for di, dj, weight in ((0, 0, (1 - s) * (1 - t)), (0, 1, (1 - s) * t), (1, 0, s * (1 - t)), (1, 1, s * t)):
            np.add.at(out, (i + di, j + dj), weight * mass)
        return {"grid": out}

    arrays = {"x": x, "y": y, "mass": mass, "grid": zeros((size, size))}
    return posed("deposit on a 2-D grid", arrays, "grid", reference, {"n": n, "size": size}, absolute=1e-3)


@sv.kernel
def sv_deposit_2d(x: f32_1, y: f32_1, mass: f32_1, grid: f32_2):
    for i, j in grid:
        grid[i, j] = 0.0
    for k in range(x.shape[0]):
        i, j = sv.i32(x[k]), sv.i32(y[k])
        s, t = x[k] - i, y[k] - j
        grid[i, j] += (1.0 - s) * (1.0 - t) * mass[k]
        grid[i, j + 1] += (1.0 - s) * t * mass[k]
        grid[i + 1, j] += s * (1.0 - t) * mass[k]
        grid[i + 1, j + 1] += s * t * mass[k]


def nb_deposit_2d(x, y, mass, grid):
    total = np.zeros(grid.shape, f32)
    one = f32(1)
    for k in range(x.shape[0]):
        i, j = int(x[k]), int(y[k])
        s, t = x[k] - f32(i), y[k] - f32(j)
        total[i, j] += (one - s) * (one - t) * mass[k]
        total[i, j + 1] += (one - s) * t * mass[k]
        total[i + 1, j] += s * (one - t) * mass[k]
        total[i + 1, j + 1] += s * t * mass[k]
    grid[:] = total


def advection(scale: float) -> Problem:
    n = side(scale, 128)
    q, u, v = random_floats(0, 1, (n, n), 15), random_floats(-3, 3, (n, n), 16), random_floats(-3, 3, (n, n), 17)

    def reference():
        i, j = np.indices((n, n))
        x, y = i - u, j - v
        inside = (x >= 0) & (x < n - 1) & (y >= 0) & (y < n - 1)
        x, y = np.where(inside, x, 0), np.where(inside, y, 0)
        a, b = x.astype(int), y.astype(int)
        s, t = x - a, y - b
        low = (1 - t) * q[a, b] + t * q[a, b + 1]
        high = (1 - t) * q[a + 1, b] + t * q[a + 1, b + 1]
        return {"out": np.where(inside, (1 - s) * low + s * high, 0)}

    arrays = {"q": q, "u": u, "v": v, "out": zeros((n, n))}
    return posed("advection, backwards inside", arrays, "out", reference, {"n": n}, absolute=1e-3)


@sv.kernel
def sv_advection(q: f32_2, u: f32_2, v: f32_2, out: f32_2):
    rows, columns = q.shape[0], q.shape[1]
    for i, j in out:
        x, y = i - u[i, j], j - v[i, j]
        if x >= 0.0 and x < rows - 1 and y >= 0.0 and y < columns - 1:
            a, b = sv.i32(x), sv.i32(y)
            s, t = x - a, y - b
            low = (1.0 - t) * q[a, b] + t * q[a, b + 1]
            high = (1.0 - t) * q[a + 1, b] + t * q[a + 1, b + 1]
            out[i, j] = (1.0 - s) * low + s * high
        else:
            out[i, j] = 0.0


def nb_advection(q, u, v, out):
    rows, columns = q.shape
    one = f32(1)
    for i in prange(rows):
        for j in range(columns):
            x, y = f32(i) - u[i, j], f32(j) - v[i, j]
            if x >= 0 and x < f32(rows - 1) and y >= 0 and y < f32(columns - 1):
                a, b = int(x), int(y)
                s, t = x - f32(a), y - f32(b)
                low = (one - t) * q[a, b] + t * q[a, b + 1]
                high = (one - t) * q[a + 1, b] + t * q[a + 1, b + 1]
                out[i, j] = (one - s) * low + s * high
            else:
                out[i, j] = 0


def table_lookup(scale: float) -> Problem:
    n, size = int(scale * 65536), 256
    table, x, out = random_floats(-1, 1, size, 18), random_floats(-0.1, 1.1, n, 19), zeros(n)
    reference = lambda: {"out": np.interp(x.astype("f8") * (size - 1), np.arange(size), table)}  # noqa: E731
    arrays = {"table": table, "x": x, "out": out}
    return posed("table lookup with limits", arrays, "out", reference, {"n": n, "size": size}, absolute=1e-3)


@sv.kernel
def sv_table_lookup(table: f32_1, x: f32_1, out: f32_1):
    last = table.shape[0] - 1
    for i in range(x.shape[0]):
        place = x[i] * last
        if place <= 0.0:
            out[i] = table[0]
        elif place >= last:
            out[i] = table[last]
        else:
            k = sv.i32(sv.floor(place))
            out[i] = table[k] + (place - k) * (table[k + 1] - table[k])


def nb_table_lookup(table, x, out):
    last = table.shape[0] - 1
    for i in prange(x.shape[0]):
        place = x[i] * f32(last)
        if place <= 0:
            out[i] = table[0]
        elif place >= f32(last):
            out[i] = table[last]
        else:
            k = int(np.floor(place))
            out[i] = table[k] + (place - f32(k)) * (table[k + 1] - table[k])


ENTRIES = {
    "verlet": Entry(verlet, "p count neighbors force int:n int:width", "p count neighbors force", sv_verlet, nb_verlet),
    "cell_density": Entry(
        cell_density, "x y starts density int:n int:size", "x y starts density size", sv_cell_density, nb_cell_density
    ),
    "linked_cells": Entry(
        linked_cells, "x y head following fx fy int:n int:size", "x y head following fx fy", sv_linked_cells, nb_linked_cells
    ),
    "deposit_2d": Entry(deposit_2d, "x y mass grid int:n int:size", "x y mass grid", sv_deposit_2d, nb_deposit_2d),
    "advection": Entry(advection, "q u v out int:n", "q u v out", sv_advection, nb_advection),
    "table_lookup": Entry(table_lookup, "table x out int:n int:size", "table x out", sv_table_lookup, nb_table_lookup),
}
