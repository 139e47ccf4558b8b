"""Elements that are problems of their own: time steps, iterations, series, escape times."""

import math

import numpy as np
from problems import Problem

import samovar as sv
from throughput_kernels.entry import Entry, posed, random_floats, zeros
from throughput_kernels.numba_names import prange

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
f64_1 = sv.types.NDArray[sv.f64, 1]
i32_1 = sv.types.NDArray[sv.i32, 1]
f32 = np.float32


def oscillator(scale: float) -> Problem:
    n, steps = int(scale * (1 << 14)), 100
    x, v = random_floats(-1, 1, n, 1), random_floats(-1, 1, n, 2)
    first = x.copy(), v.copy()

    def reference():
        place, speed = (each.astype("f8") for each in first)
        for _ in range(steps):
            speed = speed - 0.01 * (place + 0.1 * place * place * place)
            place = place + 0.01 * speed
        return {"x": place, "v": speed}

    return posed("oscillators", {"x": x, "v": v}, "x v", reference, {"n": n, "steps": steps})


@sv.kernel
def sv_oscillator(x: f32_1, v: f32_1, steps: sv.i32):
    for i in range(x.shape[0]):
        place, speed = x[i], v[i]
        for _ in range(steps):
            speed -= 0.01 * (place + 0.1 * place * place * place)
            place += 0.01 * speed
        x[i] = place
        v[i] = speed


def nb_oscillator(x, v, steps):
    for i in prange(x.shape[0]):
        place, speed = x[i], v[i]
        for _ in range(steps):
            speed -= f32(0.01) * (place + f32(0.1) * place * place * place)
            place += f32(0.01) * speed
        x[i] = place
        v[i] = speed


def cube_root(scale: float) -> Problem:
    n = int(scale * (1 << 15))
    x, out = random_floats(1, 9, n, 3, "f8"), zeros(n, "f8")
    return posed("Newton, 20 steps, f64", {"x": x, "out": out}, "out", lambda: {"out": np.cbrt(x)}, {"n": n})


@sv.kernel
def sv_cube_root(x: f64_1, out: f64_1):
    for i in range(x.shape[0]):
        root = x[i]
        for _ in range(20):
            root -= (root * root * root - x[i]) / (3.0 * root * root)
        out[i] = root


def nb_cube_root(x, out):
    for i in prange(x.shape[0]):
        root = x[i]
        for _ in range(20):
            root -= (root * root * root - x[i]) / (3.0 * root * root)
        out[i] = root


def polynomial(scale: float) -> Problem:
    n, terms = int(scale * (1 << 15)), 24
    x, c, out = random_floats(-1, 1, n, 4), random_floats(-1, 1, terms, 5), zeros(n)
    reference = lambda: {"out": np.polyval(c.astype("f8"), x.astype("f8"))}  # noqa: E731
    return posed("polynomial, 24 terms", {"x": x, "c": c, "out": out}, "out", reference, {"n": n, "terms": terms})


@sv.kernel
def sv_polynomial(x: f32_1, c: f32_1, out: f32_1):
    for i in range(x.shape[0]):
        total = 0.0
        for k in range(c.shape[0]):
            total = total * x[i] + c[k]
        out[i] = total


def nb_polynomial(x, c, out):
    for i in prange(x.shape[0]):
        total = f32(0)
        for k in range(c.shape[0]):
            total = total * x[i] + c[k]
        out[i] = total


def julia(scale: float) -> Problem:
    n, limit = int(scale * (1 << 15)), 100
    x, y, out = random_floats(-1.5, 1.5, n, 6, "f8"), random_floats(-1, 1, n, 7, "f8"), zeros(n, "i4")

    def reference():
        zx, zy, count, inside = x.copy(), y.copy(), np.zeros(n, int), np.ones(n, bool)
        for _ in range(limit):
            inside &= zx * zx + zy * zy < 4.0
            count += inside
            zx, zy = np.where(inside, zx * zx - zy * zy - 0.7, zx), np.where(inside, 2 * zx * zy + 0.27015, zy)
        return {"out": count}

    return posed("Julia f64", {"x": x, "y": y, "out": out}, "out", reference, {"n": n, "limit": limit}, differing=0.02)


@sv.kernel
def sv_julia(x: f64_1, y: f64_1, out: i32_1, limit: sv.i32):
    for i in range(x.shape[0]):
        zx, zy = x[i], y[i]
        k = 0
        while k < limit and zx * zx + zy * zy < 4.0:
            following = zx * zx - zy * zy - 0.7
            zy = 2.0 * zx * zy + 0.27015
            zx = following
            k += 1
        out[i] = k


def nb_julia(x, y, out, limit):
    for i in prange(x.shape[0]):
        zx, zy = x[i], y[i]
        k = 0
        while k < limit and zx * zx + zy * zy < 4.0:
            following = zx * zx - zy * zy - 0.7
            zy = 2.0 * zx * zy + 0.27015
            zx = following
            k += 1
        out[i] = k


def kepler(scale: float) -> Problem:
    n = int(scale * (1 << 12))
    mean, out = random_floats(0.2, 3, n, 8), zeros(n)

    def reference():
        e = mean.astype("f8")
        for _ in range(6):
            e = e - (e - 0.4 * np.sin(e) - mean) / (1 - 0.4 * np.cos(e))
        return {"out": e}

    return posed("Kepler's equation", {"mean": mean, "out": out}, "out", reference, {"n": n})


@sv.kernel
def sv_kepler(mean: f32_1, out: f32_1):
    for i in range(mean.shape[0]):
        e = mean[i]
        for _ in range(6):
            e -= (e - 0.4 * sv.sin(e) - mean[i]) / (1.0 - 0.4 * sv.cos(e))
        out[i] = e


def nb_kepler(mean, out):
    for i in prange(mean.shape[0]):
        e = mean[i]
        for _ in range(6):
            e -= (e - f32(0.4) * math.sin(e) - mean[i]) / (f32(1) - f32(0.4) * math.cos(e))
        out[i] = e


def activation(scale: float) -> Problem:
    n = int(scale * (1 << 16))
    x, out = random_floats(-3, 3, n, 9), zeros(n)
    inside = lambda: 0.7978845608 * (x + 0.044715 * x**3)  # noqa: E731
    reference = lambda: {"out": 0.5 * x * (1 + np.tanh(inside()))}  # noqa: E731
    return posed("activation with exp", {"x": x, "out": out}, "out", reference, {"n": n})


@sv.kernel
def sv_activation(x: f32_1, out: f32_1):
    for i in range(x.shape[0]):
        e = sv.exp(-1.5957691216 * (x[i] + 0.044715 * x[i] * x[i] * x[i]))
        out[i] = x[i] / (1.0 + e)


def nb_activation(x, out):
    for i in prange(x.shape[0]):
        e = math.exp(f32(-1.5957691216) * (x[i] + f32(0.044715) * x[i] * x[i] * x[i]))
        out[i] = x[i] / (f32(1) + e)


def pieces(scale: float) -> Problem:
    n = int(scale * (1 << 17))
    x, out = random_floats(-2, 2, n, 10), zeros(n)
    reference = lambda: {"out": np.where(x < -1, -1, np.where(x > 1, 1, x * (1.5 - 0.5 * x * x)))}  # noqa: E731
    return posed("function in pieces", {"x": x, "out": out}, "out", reference, {"n": n})


@sv.kernel
def sv_pieces(x: f32_1, out: f32_1):
    for i in range(x.shape[0]):
        value = x[i]
        if value < -1.0:
            out[i] = -1.0
        elif value > 1.0:
            out[i] = 1.0
        else:
            out[i] = value * (1.5 - 0.5 * value * value)


def nb_pieces(x, out):
    for i in prange(x.shape[0]):
        value = x[i]
        if value < f32(-1):
            out[i] = f32(-1)
        elif value > f32(1):
            out[i] = f32(1)
        else:
            out[i] = value * (f32(1.5) - f32(0.5) * value * value)


ENTRIES = {
    "oscillator": Entry(oscillator, "x v int:n int:steps", "x v steps", sv_oscillator, nb_oscillator),
    "cube_root": Entry(cube_root, "x out int:n", "x out", sv_cube_root, nb_cube_root),
    "polynomial": Entry(polynomial, "x c out int:n int:terms", "x c out", sv_polynomial, nb_polynomial),
    "julia": Entry(julia, "x y out int:n int32:limit", "x y out limit", sv_julia, nb_julia),
    "kepler": Entry(kepler, "mean out int:n", "mean out", sv_kepler, nb_kepler),
    "activation": Entry(activation, "x out int:n", "x out", sv_activation, nb_activation),
    "pieces": Entry(pieces, "x out int:n", "x out", sv_pieces, nb_pieces),
}
