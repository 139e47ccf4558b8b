"""Filters of images and signals: windows of any size, medians, running sums, recursive filters, weights with exp."""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from problems import Problem, filled

import samovar as sv
from throughput_kernels.entry import Entry, posed, random_floats, random_integers, side, zeros
from throughput_kernels.numba_names import prange

f32_2, i32_1 = sv.types.NDArray[sv.f32, 2], sv.types.NDArray[sv.i32, 1]
u8_1, u8_2 = (sv.types.NDArray[sv.u8, n] for n in (1, 2))
f32 = np.float32


def convolve_2d(scale: float) -> Problem:
    n, size = side(scale, 128), 7
    image, weights, out = random_floats(0, 1, (n, n), 1), random_floats(-1, 1, (size, size), 2), zeros((n - 6, n - 6))
    reference = lambda: {"out": np.einsum("ijpq,pq->ij", sliding_window_view(image, (size, size)), weights)}  # noqa: E731
    arrays = {"image": image, "weights": weights, "out": out}
    return posed("convolution 2-D, any size", arrays, "out", reference, {"n": n, "size": size})


@sv.kernel
def sv_convolve_2d(image: f32_2, weights: f32_2, out: f32_2):
    for i, j in out:
        total = 0.0
        for p in range(weights.shape[0]):
            for q in range(weights.shape[1]):
                total += weights[p, q] * image[i + p, j + q]
        out[i, j] = total


def nb_convolve_2d(image, weights, out):
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            total = f32(0)
            for p in range(weights.shape[0]):
                for q in range(weights.shape[1]):
                    total += weights[p, q] * image[i + p, j + q]
            out[i, j] = total


def bilateral(scale: float) -> Problem:
    n, radius = side(scale, 64), 2
    image, out = random_floats(0, 1, (n, n), 3), zeros((n, n))

    def reference():
        window = sliding_window_view(image.astype("f8"), (5, 5))
        middle = image[2:-2, 2:-2, None, None]
        p, q = np.indices((5, 5)) - 2
        weight = np.exp(-0.2 * (p * p + q * q) - 8.0 * (window - middle) ** 2)
        result = np.zeros((n, n))
        result[2:-2, 2:-2] = (weight * window).sum((2, 3)) / weight.sum((2, 3))
        return {"out": result}

    return posed("bilateral filter", {"image": image, "out": out}, "out", reference, {"n": n, "radius": radius})


@sv.kernel
def sv_bilateral(image: f32_2, out: f32_2, radius: sv.i32):
    for i, j in sv.ndrange((radius, image.shape[0] - radius), (radius, image.shape[1] - radius)):
        total, weights = 0.0, 0.0
        for p in range(-radius, radius + 1):
            for q in range(-radius, radius + 1):
                d = image[i + p, j + q] - image[i, j]
                weight = sv.exp(-0.2 * (p * p + q * q) - 8.0 * d * d)
                total += weight * image[i + p, j + q]
                weights += weight
        out[i, j] = total / weights


def nb_bilateral(image, out, radius):
    for i in prange(radius, image.shape[0] - radius):
        for j in range(radius, image.shape[1] - radius):
            total, weights = f32(0), f32(0)
            for p in range(-radius, radius + 1):
                for q in range(-radius, radius + 1):
                    d = image[i + p, j + q] - image[i, j]
                    weight = f32(math.exp(f32(-0.2) * f32(p * p + q * q) - f32(8) * d * d))
                    total += weight * image[i + p, j + q]
                    weights += weight
            out[i, j] = total / weights


def running_mean(scale: float) -> Problem:
    rows, columns, radius = max(4, int(scale * 512)), 256, 8
    x, out = random_floats(0, 1, (rows, columns), 4), zeros((rows, columns))

    def reference():
        result = np.zeros((rows, columns))
        result[:, 8:-8] = sliding_window_view(x.astype("f8"), 17, axis=1).mean(axis=2)
        return {"out": result}

    scalars = {"rows": rows, "columns": columns, "radius": radius}
    return posed("running mean of rows", {"x": x, "out": out}, "out", reference, scalars)


@sv.kernel
def sv_running_mean(x: f32_2, out: f32_2, radius: sv.i32):
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(2 * radius + 1):
            total += x[i, j]
        out[i, radius] = total / (2 * radius + 1)
        for j in range(radius + 1, x.shape[1] - radius):
            total += x[i, j + radius] - x[i, j - radius - 1]
            out[i, j] = total / (2 * radius + 1)


def nb_running_mean(x, out, radius):
    width = f32(2 * radius + 1)
    for i in prange(x.shape[0]):
        total = f32(0)
        for j in range(2 * radius + 1):
            total += x[i, j]
        out[i, radius] = total / width
        for j in range(radius + 1, x.shape[1] - radius):
            total += x[i, j + radius] - x[i, j - radius - 1]
            out[i, j] = total / width


def median(scale: float) -> Problem:
    n = side(scale, 96)
    image, out = random_floats(0, 1, (n, n), 5), zeros((n, n))

    def reference():
        result = np.zeros((n, n))
        result[1:-1, 1:-1] = np.median(sliding_window_view(image, (3, 3)).reshape(n - 2, n - 2, 9), axis=2)
        return {"out": result}

    return posed("median of 3×3, sorted", {"image": image, "out": out}, "out", reference, {"n": n})


@sv.kernel
def sv_median(image: f32_2, out: f32_2):
    for i, j in sv.ndrange((1, image.shape[0] - 1), (1, image.shape[1] - 1)):
        window = [0.0] * 9
        count = 0
        for p in range(-1, 2):
            for q in range(-1, 2):
                value = image[i + p, j + q]
                k = count
                while k > 0 and window[k - 1] > value:
                    window[k] = window[k - 1]
                    k -= 1
                window[k] = value
                count += 1
        out[i, j] = window[4]


def nb_median(image, out):
    for i in prange(1, image.shape[0] - 1):
        window = np.zeros(9, f32)
        for j in range(1, image.shape[1] - 1):
            count = 0
            for p in range(-1, 2):
                for q in range(-1, 2):
                    value = image[i + p, j + q]
                    k = count
                    while k > 0 and window[k - 1] > value:
                        window[k] = window[k - 1]
                        k -= 1
                    window[k] = value
                    count += 1
            out[i, j] = window[4]


def max_pool(scale: float) -> Problem:
    n, window = side(scale, 384) // 3 * 3, 3
    image, out = random_floats(-1, 1, (n, n), 6), zeros((n // 3, n // 3))
    reference = lambda: {"out": image.reshape(n // 3, 3, n // 3, 3).max((1, 3))}  # noqa: E731
    return posed("largest of windows", {"image": image, "out": out}, "out", reference, {"n": n, "window": window})


@sv.kernel
def sv_max_pool(image: f32_2, out: f32_2, window: sv.i32):
    for i, j in out:
        best = image[i * window, j * window]
        for p in range(window):
            for q in range(window):
                if image[i * window + p, j * window + q] > best:
                    best = image[i * window + p, j * window + q]
        out[i, j] = best


def nb_max_pool(image, out, window):
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            best = image[i * window, j * window]
            for p in range(window):
                for q in range(window):
                    if image[i * window + p, j * window + q] > best:
                        best = image[i * window + p, j * window + q]
            out[i, j] = best


def two_way(scale: float) -> Problem:
    rows, columns = max(4, int(scale * 96)), 256
    x, forward, out = random_floats(0, 1, (rows, columns), 7), zeros((rows, columns)), zeros((rows, columns))

    def reference():
        there, back = np.zeros((rows, columns + 2)), np.zeros((rows, columns + 2))
        padded = np.pad(x.astype("f8"), ((0, 0), (1, 2)))
        for j in range(columns):
            there[:, j + 2] = 0.2 * padded[:, j + 1] + 0.1 * padded[:, j] + 0.9 * there[:, j + 1] - 0.25 * there[:, j]
        for j in range(columns - 1, -1, -1):
            back[:, j] = 0.15 * padded[:, j + 2] + 0.05 * padded[:, j + 3] + 0.9 * back[:, j + 1] - 0.25 * back[:, j + 2]
        return {"out": there[:, 2:] + back[:, :-2]}

    arrays = {"x": x, "forward": forward, "out": out}
    return posed("recursive filter, both ways", arrays, "out", reference, {"rows": rows, "columns": columns})


@sv.kernel
def sv_two_way(x: f32_2, forward: f32_2, out: f32_2):
    for i in range(x.shape[0]):
        before, older, last = 0.0, 0.0, 0.0
        for j in range(x.shape[1]):
            forward[i, j] = 0.2 * x[i, j] + 0.1 * last + 0.9 * before - 0.25 * older
            last = x[i, j]
            older = before
            before = forward[i, j]
        after, later, following, second = 0.0, 0.0, 0.0, 0.0
        for j in range(x.shape[1] - 1, -1, -1):
            back = 0.15 * following + 0.05 * second + 0.9 * after - 0.25 * later
            second = following
            following = x[i, j]
            later = after
            after = back
            out[i, j] = forward[i, j] + back


def nb_two_way(x, forward, out):
    zero = f32(0)
    for i in prange(x.shape[0]):
        before, older, last = zero, zero, zero
        for j in range(x.shape[1]):
            forward[i, j] = f32(0.2) * x[i, j] + f32(0.1) * last + f32(0.9) * before - f32(0.25) * older
            last = x[i, j]
            older = before
            before = forward[i, j]
        after, later, following, second = zero, zero, zero, zero
        for j in range(x.shape[1] - 1, -1, -1):
            back = f32(0.15) * following + f32(0.05) * second + f32(0.9) * after - f32(0.25) * later
            second = following
            following = x[i, j]
            later = after
            after = back
            out[i, j] = forward[i, j] + back


def row_histograms(scale: float) -> Problem:
    rows, columns = max(4, int(scale * 192)), 1024
    image = random_integers(0, 256, (rows, columns), 8, "u1")
    counts = zeros((rows, 256), "i4")
    reference = lambda: {"counts": np.stack([np.bincount(row, minlength=256) for row in image])}  # noqa: E731
    scalars = {"rows": rows, "columns": columns}
    return posed("histograms of rows", {"image": image, "counts": counts}, "counts", reference, scalars)


@sv.kernel
def sv_row_histograms(image: u8_2, counts: sv.types.NDArray[sv.i32, 2]):
    for i in range(image.shape[0]):
        for b in range(256):
            counts[i, b] = 0
        for j in range(image.shape[1]):
            counts[i, image[i, j]] += 1


def nb_row_histograms(image, counts):
    for i in prange(image.shape[0]):
        for b in range(256):
            counts[i, b] = 0
        for j in range(image.shape[1]):
            counts[i, image[i, j]] += 1


def equalize(scale: float) -> Problem:
    n = int(scale * 131072)
    image = filled((random_integers(0, 256, n, 9).astype(float) ** 2 / 256).astype("u1"))
    counts, table, out = zeros(256, "i4"), zeros(256, "u1"), zeros(n, "u1")

    def reference():
        total = np.cumsum(np.bincount(image, minlength=256))
        return {"out": (255 * total // n)[image]}

    arrays = {"image": image, "counts": counts, "table": table, "out": out}
    return posed("histogram equalization, serial", arrays, "out", reference, {"n": n})


@sv.kernel(serial=True)
def sv_equalize(image: u8_1, counts: i32_1, table: u8_1, out: u8_1):
    for b in range(256):
        counts[b] = 0
    for i in range(image.shape[0]):
        counts[image[i]] += 1
    total = 0
    for b in range(256):
        total += counts[b]
        table[b] = sv.u8(255 * total // image.shape[0])
    for i in range(image.shape[0]):
        out[i] = table[image[i]]


def nb_equalize(image, counts, table, out):
    for b in range(256):
        counts[b] = 0
    for i in range(image.shape[0]):
        counts[image[i]] += 1
    total = 0
    for b in range(256):
        total += counts[b]
        table[b] = 255 * total // image.shape[0]
    for i in range(image.shape[0]):
        out[i] = table[image[i]]


ENTRIES = {
    "convolve_2d": Entry(
        convolve_2d, "image weights out int:n int:size", "image weights out", sv_convolve_2d, nb_convolve_2d
    ),
    "bilateral": Entry(bilateral, "image out int:n int:radius", "image out radius", sv_bilateral, nb_bilateral),
    "running_mean": Entry(
        running_mean, "x out int:rows int:columns int:radius", "x out radius", sv_running_mean, nb_running_mean
    ),
    "median": Entry(median, "image out int:n", "image out", sv_median, nb_median),
    "max_pool": Entry(max_pool, "image out int:n int:window", "image out window", sv_max_pool, nb_max_pool),
    "two_way": Entry(two_way, "x forward out int:rows int:columns", "x forward out", sv_two_way, nb_two_way),
    "row_histograms": Entry(
        row_histograms, "image counts int:rows int:columns", "image counts", sv_row_histograms, nb_row_histograms
    ),
    "equalize": Entry(
        equalize, "image counts table out int:n", "image counts table out", sv_equalize, nb_equalize, serial=True
    ),
}
