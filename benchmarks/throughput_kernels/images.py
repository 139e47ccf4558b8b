"""Images and signals: bytes and floats, filters along rows and around pixels."""

import numpy as np
from problems import Problem

import samovar as sv
from throughput_kernels.entry import Entry, posed, random_floats, random_integers, side, zeros
from throughput_kernels.numba_names import prange

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
u8_1, u8_2, u8_3 = (sv.types.NDArray[sv.u8, n] for n in (1, 2, 3))
f32 = np.float32


def gray(scale: float) -> Problem:
    n = side(scale, 768)
    image, out = random_integers(0, 256, (n, n, 3), 1, "u1"), zeros((n, n), "u1")
    weights = np.array([77, 150, 29])
    reference = lambda: {"out": (image.astype(np.int64) @ weights) >> 8}  # noqa: E731
    return posed("RGB to gray", {"image": image, "out": out}, "out", reference, {"n": n})


@sv.kernel
def sv_gray(image: u8_3, out: u8_2):
    for i, j in out:
        r, g, b = sv.i32(image[i, j, 0]), sv.i32(image[i, j, 1]), sv.i32(image[i, j, 2])
        out[i, j] = sv.u8((77 * r + 150 * g + 29 * b) >> 8)


def nb_gray(image, out):
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            r, g, b = np.int32(image[i, j, 0]), np.int32(image[i, j, 1]), np.int32(image[i, j, 2])
            out[i, j] = np.uint8((np.int32(77) * r + np.int32(150) * g + np.int32(29) * b) >> 8)


def blend(scale: float) -> Problem:
    n = int(scale * (1 << 19))
    a, b, out = random_integers(0, 256, n, 2, "u1"), random_integers(0, 256, n, 3, "u1"), zeros(n, "u1")
    reference = lambda: {"out": (a.astype(np.int64) * 180 + b.astype(np.int64) * 76) >> 8}  # noqa: E731
    return posed("blend u8", {"a": a, "b": b, "out": out}, "out", reference, {"n": n})


@sv.kernel
def sv_blend(a: u8_1, b: u8_1, out: u8_1):
    for i in range(a.shape[0]):
        out[i] = sv.u8((sv.i32(a[i]) * 180 + sv.i32(b[i]) * 76) >> 8)


def nb_blend(a, b, out):
    for i in prange(a.shape[0]):
        out[i] = np.uint8((np.int32(a[i]) * np.int32(180) + np.int32(b[i]) * np.int32(76)) >> 8)


def blur(scale: float) -> Problem:
    n = side(scale, 640)
    source, target = random_floats(0, 1, (n, n), 4), zeros((n, n))

    def reference():
        out = np.zeros((n, n))
        for di in range(5):
            for dj in range(5):
                out[2:-2, 2:-2] += source[di : n - 4 + di, dj : n - 4 + dj]
        return {"target": out * 0.04}

    return posed("blur 5×5", {"source": source, "target": target}, "target", reference, {"n": n})


@sv.kernel
def sv_blur(source: f32_2, target: f32_2):
    for i, j in sv.ndrange((2, source.shape[0] - 2), (2, source.shape[1] - 2)):
        total = 0.0
        for di in range(-2, 3):
            for dj in range(-2, 3):
                total += source[i + di, j + dj]
        target[i, j] = total * 0.04


def nb_blur(source, target):
    for i in prange(2, source.shape[0] - 2):
        for j in range(2, source.shape[1] - 2):
            total = f32(0)
            for di in range(-2, 3):
                for dj in range(-2, 3):
                    total += source[i + di, j + dj]
            target[i, j] = total * f32(0.04)


def sobel(scale: float) -> Problem:
    n = side(scale, 640)
    source, target = random_integers(0, 256, (n, n), 5, "u1"), zeros((n, n), "u1")

    def reference():
        s = source.astype(np.int64)
        x = s[:-2, 2:] + 2 * s[1:-1, 2:] + s[2:, 2:] - s[:-2, :-2] - 2 * s[1:-1, :-2] - s[2:, :-2]
        y = s[2:, :-2] + 2 * s[2:, 1:-1] + s[2:, 2:] - s[:-2, :-2] - 2 * s[:-2, 1:-1] - s[:-2, 2:]
        out = np.zeros((n, n))
        out[1:-1, 1:-1] = np.minimum(255, np.abs(x) + np.abs(y))
        return {"target": out}

    return posed("Sobel u8", {"source": source, "target": target}, "target", reference, {"n": n})


@sv.func
def at(source, i, j):
    return sv.i32(source[i, j])


@sv.kernel
def sv_sobel(source: u8_2, target: u8_2):
    for i, j in sv.ndrange((1, source.shape[0] - 1), (1, source.shape[1] - 1)):
        x = at(source, i - 1, j + 1) + 2 * at(source, i, j + 1) + at(source, i + 1, j + 1)
        x -= at(source, i - 1, j - 1) + 2 * at(source, i, j - 1) + at(source, i + 1, j - 1)
        y = at(source, i + 1, j - 1) + 2 * at(source, i + 1, j) + at(source, i + 1, j + 1)
        y -= at(source, i - 1, j - 1) + 2 * at(source, i - 1, j) + at(source, i - 1, j + 1)
        target[i, j] = sv.u8(min(255, abs(x) + abs(y)))


def nb_sobel(source, target):
    i32 = np.int32
    two = i32(2)
    for i in prange(1, source.shape[0] - 1):
        for j in range(1, source.shape[1] - 1):
            a, b, c = i32(source[i - 1, j - 1]), i32(source[i - 1, j]), i32(source[i - 1, j + 1])
            d, f = i32(source[i, j - 1]), i32(source[i, j + 1])
            g, h, k = i32(source[i + 1, j - 1]), i32(source[i + 1, j]), i32(source[i + 1, j + 1])
            x = c + two * f + k - a - two * d - g
            y = g + two * h + k - a - two * b - c
            target[i, j] = np.uint8(min(i32(255), abs(x) + abs(y)))


def convolution(scale: float) -> Problem:
    n, taps = int(scale * (1 << 16)), 33
    x, w, y = random_floats(-1, 1, n + taps - 1, 6), random_floats(-1, 1, taps, 7), zeros(n)
    reference = lambda: {"y": np.correlate(x.astype("f8"), w.astype("f8"), "valid")}  # noqa: E731
    return posed("convolution, 33 taps", {"x": x, "w": w, "y": y}, "y", reference, {"n": n, "taps": taps})


@sv.kernel
def sv_convolution(x: f32_1, w: f32_1, y: f32_1):
    for i in range(y.shape[0]):
        total = 0.0
        for k in range(w.shape[0]):
            total += w[k] * x[i + k]
        y[i] = total


def nb_convolution(x, w, y):
    for i in prange(y.shape[0]):
        total = f32(0)
        for k in range(w.shape[0]):
            total += w[k] * x[i + k]
        y[i] = total


def filter_columns(scale: float) -> Problem:
    n = side(scale, 512)
    x, y = random_floats(-1, 1, (n, n), 8), zeros((n, n))

    def reference():
        out, last = np.zeros((n, n)), np.zeros(n)
        for i in range(n):
            last = 0.2 * x[i] + 0.8 * last
            out[i] = last
        return {"y": out}

    return posed("recursive filter, columns", {"x": x, "y": y}, "y", reference, {"n": n})


@sv.kernel
def sv_filter_columns(x: f32_2, y: f32_2):
    for j in range(x.shape[1]):
        last = 0.0
        for i in range(x.shape[0]):
            last = 0.2 * x[i, j] + 0.8 * last
            y[i, j] = last


def nb_filter_columns(x, y):
    for block in prange((x.shape[1] + 63) // 64):
        first, last = block * 64, min(block * 64 + 64, x.shape[1])
        for j in range(first, last):
            y[0, j] = f32(0.2) * x[0, j]
        for i in range(1, x.shape[0]):
            for j in range(first, last):
                y[i, j] = f32(0.2) * x[i, j] + f32(0.8) * y[i - 1, j]


def filter_rows(scale: float) -> Problem:
    n = side(scale, 512)
    x, y = random_floats(-1, 1, (n, n), 9), zeros((n, n))

    def reference():
        out, last = np.zeros((n, n)), np.zeros(n)
        for j in range(n):
            last = 0.2 * x[:, j] + 0.8 * last
            out[:, j] = last
        return {"y": out}

    return posed("recursive filter, rows", {"x": x, "y": y}, "y", reference, {"n": n})


@sv.kernel
def sv_filter_rows(x: f32_2, y: f32_2):
    for i in range(x.shape[0]):
        last = 0.0
        for j in range(x.shape[1]):
            last = 0.2 * x[i, j] + 0.8 * last
            y[i, j] = last


def nb_filter_rows(x, y):
    for i in prange(x.shape[0]):
        last = f32(0)
        for j in range(x.shape[1]):
            last = f32(0.2) * x[i, j] + f32(0.8) * last
            y[i, j] = last


ENTRIES = {
    "gray": Entry(gray, "image out int:n", "image out", sv_gray, nb_gray),
    "blend": Entry(blend, "a b out int:n", "a b out", sv_blend, nb_blend),
    "blur": Entry(blur, "source target int:n", "source target", sv_blur, nb_blur),
    "sobel": Entry(sobel, "source target int:n", "source target", sv_sobel, nb_sobel),
    "convolution": Entry(convolution, "x w y int:n int:taps", "x w y", sv_convolution, nb_convolution),
    "filter_columns": Entry(filter_columns, "x y int:n", "x y", sv_filter_columns, nb_filter_columns),
    "filter_rows": Entry(filter_rows, "x y int:n", "x y", sv_filter_rows, nb_filter_rows),
}
