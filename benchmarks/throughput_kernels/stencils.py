"""Stencils: in place, with boundaries that are clamped or wrapped, over time levels, on bytes."""

import numpy as np
from problems import Problem

import samovar as sv
from throughput_kernels.entry import Entry, posed, random_floats, random_integers, side, zeros
from throughput_kernels.numba_names import prange

f32_2 = sv.types.NDArray[sv.f32, 2]
f64_2 = sv.types.NDArray[sv.f64, 2]
u8_2 = sv.types.NDArray[sv.u8, 2]
f32 = np.float32
Clamped = sv.types.ndarray(dtype=sv.f32, ndim=2, boundary="clamp")


def clamped(scale: float) -> Problem:
    n = side(scale, 768)
    source, target = random_floats(0, 1, (n, n), 1), zeros((n, n))

    def reference():
        padded = np.pad(source, 1, mode="edge")
        return {"target": 0.25 * (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:])}

    return posed("stencil, clamped", {"source": source, "target": target}, "target", reference, {"n": n})


@sv.kernel
def sv_clamped(source: f32_2, target: f32_2):
    rows, columns = source.shape[0], source.shape[1]
    for i, j in target:
        up, down = max(i - 1, 0), min(i + 1, rows - 1)
        left, right = max(j - 1, 0), min(j + 1, columns - 1)
        target[i, j] = 0.25 * (source[up, j] + source[down, j] + source[i, left] + source[i, right])


def nb_clamped(source, target):
    rows, columns = source.shape
    for i in prange(rows):
        up, down = max(i - 1, 0), min(i + 1, rows - 1)
        for j in range(columns):
            left, right = max(j - 1, 0), min(j + 1, columns - 1)
            target[i, j] = f32(0.25) * (source[up, j] + source[down, j] + source[i, left] + source[i, right])


@sv.kernel
def sv_clamped_by_type(source: Clamped, target: f32_2):
    for i, j in target:
        target[i, j] = 0.25 * (source[i - 1, j] + source[i + 1, j] + source[i, j - 1] + source[i, j + 1])


def clamped_by_type(scale: float) -> Problem:
    problem = clamped(scale)
    return posed("stencil, boundary='clamp'", problem.arrays, "target", problem.reference, problem.scalars)


def wrapped(scale: float) -> Problem:
    n = side(scale, 768)
    source, target = random_floats(0, 1, (n, n), 2), zeros((n, n))

    def reference():
        around = sum(np.roll(source, shift, axis) for axis in (0, 1) for shift in (-1, 1))
        return {"target": 0.25 * around}

    return posed("stencil, wrapped", {"source": source, "target": target}, "target", reference, {"n": n})


@sv.kernel
def sv_wrapped(source: f32_2, target: f32_2):
    rows, columns = source.shape[0], source.shape[1]
    for i, j in target:
        up, down = (i + rows - 1) % rows, (i + 1) % rows
        left, right = (j + columns - 1) % columns, (j + 1) % columns
        target[i, j] = 0.25 * (source[up, j] + source[down, j] + source[i, left] + source[i, right])


def nb_wrapped(source, target):
    rows, columns = source.shape
    for i in prange(rows):
        up, down = (i + rows - 1) % rows, (i + 1) % rows
        for j in range(columns):
            left, right = (j + columns - 1) % columns, (j + 1) % columns
            target[i, j] = f32(0.25) * (source[up, j] + source[down, j] + source[i, left] + source[i, right])


def red_black(scale: float) -> Problem:
    n = side(scale, 768) // 2 * 2
    u = random_floats(0, 1, (n, n), 3)
    before = u.copy()

    def reference():
        out = before.copy()
        for parity in (0, 1):
            rows = slice(1 + parity, n - 1, 2)
            around = out[parity : n - 2 : 2, 1:-1] + out[2 + parity :: 2, 1:-1]
            out[rows, 1:-1] = f32(0.5) * around
        return {"u": out}

    return posed("rows in place, by turns", {"u": u}, "u", reference, {"n": n})


@sv.kernel
def sv_red_black(u: f32_2):
    for i, j in sv.ndrange((0, u.shape[0] // 2 - 1), (1, u.shape[1] - 1)):
        u[2 * i + 1, j] = 0.5 * (u[2 * i, j] + u[2 * i + 2, j])
    for i, j in sv.ndrange((0, u.shape[0] // 2 - 1), (1, u.shape[1] - 1)):
        u[2 * i + 2, j] = 0.5 * (u[2 * i + 1, j] + u[2 * i + 3, j])


def nb_red_black(u):
    for parity in range(2):
        for k in prange(u.shape[0] // 2 - 1):
            i = 2 * k + 1 + parity
            for j in range(1, u.shape[1] - 1):
                u[i, j] = f32(0.5) * (u[i - 1, j] + u[i + 1, j])


def wave(scale: float) -> Problem:
    n = side(scale, 512)
    now, before = random_floats(0, 1, (n, n), 4, "f8"), random_floats(0, 1, (n, n), 5, "f8")
    first = before.copy()

    def reference():
        out = first.copy()
        around = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4 * now[1:-1, 1:-1]
        out[1:-1, 1:-1] = 2 * now[1:-1, 1:-1] - first[1:-1, 1:-1] + 0.1 * around
        return {"before": out}

    return posed("wave f64, in place", {"now": now, "before": before}, "before", reference, {"n": n})


@sv.kernel
def sv_wave(now: f64_2, before: f64_2):
    for i, j in sv.ndrange((1, now.shape[0] - 1), (1, now.shape[1] - 1)):
        around = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1] - 4.0 * now[i, j]
        before[i, j] = 2.0 * now[i, j] - before[i, j] + 0.1 * around


def nb_wave(now, before):
    for i in prange(1, now.shape[0] - 1):
        for j in range(1, now.shape[1] - 1):
            around = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1] - 4.0 * now[i, j]
            before[i, j] = 2.0 * now[i, j] - before[i, j] + 0.1 * around


def sweep(scale: float) -> Problem:
    n = side(scale, 768)
    u = random_floats(0, 1, (n, n), 6)
    before = u.copy()

    def reference():
        out = before.copy()
        for i in range(1, n - 1):
            out[i] = f32(0.25) * out[i - 1] + f32(0.5) * out[i] + f32(0.25) * out[i + 1]
        return {"u": out}

    return posed("sweep over rows, in place", {"u": u}, "u", reference, {"n": n})


@sv.kernel
def sv_sweep(u: f32_2):
    for j in range(u.shape[1]):
        for i in range(1, u.shape[0] - 1):
            u[i, j] = 0.25 * u[i - 1, j] + 0.5 * u[i, j] + 0.25 * u[i + 1, j]


def nb_sweep(u):
    for block in prange((u.shape[1] + 63) // 64):
        first, last = block * 64, min(block * 64 + 64, u.shape[1])
        for i in range(1, u.shape[0] - 1):
            for j in range(first, last):
                u[i, j] = f32(0.25) * u[i - 1, j] + f32(0.5) * u[i, j] + f32(0.25) * u[i + 1, j]


def life(scale: float) -> Problem:
    n = side(scale, 640)
    cells, following = random_integers(0, 2, (n, n), 7, "u1"), zeros((n, n), "u1")

    def reference():
        c = cells.astype(np.int64)
        count = sum(c[1 + i : n - 1 + i, 1 + j : n - 1 + j] for i in (-1, 0, 1) for j in (-1, 0, 1)) - c[1:-1, 1:-1]
        out = np.zeros((n, n))
        out[1:-1, 1:-1] = (count == 3) | ((count == 2) & (c[1:-1, 1:-1] == 1))
        return {"following": out}

    return posed("game of life u8", {"cells": cells, "following": following}, "following", reference, {"n": n})


@sv.kernel
def sv_life(cells: u8_2, following: u8_2):
    for i, j in sv.ndrange((1, cells.shape[0] - 1), (1, cells.shape[1] - 1)):
        count = cells[i - 1, j - 1] + cells[i - 1, j] + cells[i - 1, j + 1] + cells[i, j - 1]
        count += cells[i, j + 1] + cells[i + 1, j - 1] + cells[i + 1, j] + cells[i + 1, j + 1]
        lives = count == 3 or (count == 2 and cells[i, j] == 1)
        following[i, j] = sv.u8(lives)


def nb_life(cells, following):
    for i in prange(1, cells.shape[0] - 1):
        for j in range(1, cells.shape[1] - 1):
            count = np.uint8(cells[i - 1, j - 1] + cells[i - 1, j] + cells[i - 1, j + 1] + cells[i, j - 1])
            count = np.uint8(count + cells[i, j + 1] + cells[i + 1, j - 1] + cells[i + 1, j] + cells[i + 1, j + 1])
            following[i, j] = np.uint8((count == 3) | ((count == 2) & (cells[i, j] == 1)))


ENTRIES = {
    "clamped": Entry(clamped, "source target int:n", "source target", sv_clamped, nb_clamped),
    "clamped_by_type": Entry(clamped_by_type, "source target int:n", "source target", sv_clamped_by_type, nb_clamped),
    "wrapped": Entry(wrapped, "source target int:n", "source target", sv_wrapped, nb_wrapped),
    "red_black": Entry(red_black, "u int:n", "u", sv_red_black, nb_red_black),
    "wave": Entry(wave, "now before int:n", "now before", sv_wave, nb_wave),
    "sweep": Entry(sweep, "u int:n", "u", sv_sweep, nb_sweep),
    "life": Entry(life, "cells following int:n", "cells following", sv_life, nb_life),
}
