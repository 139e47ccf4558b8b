"""Statistics and layers of networks: norms by rows and by columns, running sums, gates, histograms with weights, ranks."""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from problems import Problem

import samovar as sv
from throughput_kernels.entry import EXACT, Entry, posed, random_floats, random_integers, zeros
from throughput_kernels.numba_names import prange

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
f64_1, f64_2 = (sv.types.NDArray[sv.f64, n] for n in (1, 2))
i32_1 = sv.types.NDArray[sv.i32, 1]
f32 = np.float32


def layer_norm(scale: float) -> Problem:
    rows, columns = max(4, int(scale * 512)), 256
    x = random_floats(-1, 1, (rows, columns), 1)
    gain, bias = random_floats(0.5, 1, columns, 2), random_floats(0, 1, columns, 3)

    def reference():
        apart = x - x.mean(axis=1, keepdims=True, dtype="f8")
        return {"out": gain * apart / np.sqrt((apart**2).mean(axis=1, keepdims=True) + 1e-5) + bias}

    arrays = {"x": x, "gain": gain, "bias": bias, "out": zeros((rows, columns))}
    return posed("layer norm of rows", arrays, "out", reference, {"rows": rows, "columns": columns})


@sv.kernel
def sv_layer_norm(x: f32_2, gain: f32_1, bias: f32_1, out: f32_2):
    n = x.shape[1]
    for i in range(x.shape[0]):
        mean = 0.0
        for j in range(n):
            mean += x[i, j]
        mean /= n
        variance = 0.0
        for j in range(n):
            variance += (x[i, j] - mean) ** 2
        scale = 1.0 / sv.sqrt(variance / n + 1e-5)
        for j in range(n):
            out[i, j] = gain[j] * (x[i, j] - mean) * scale + bias[j]


def nb_layer_norm(x, gain, bias, out):
    n = x.shape[1]
    for i in prange(x.shape[0]):
        mean = f32(0)
        for j in range(n):
            mean += x[i, j]
        mean /= f32(n)
        variance = f32(0)
        for j in range(n):
            variance += (x[i, j] - mean) ** 2
        scale = f32(1) / np.sqrt(variance / f32(n) + f32(1e-5))
        for j in range(n):
            out[i, j] = gain[j] * (x[i, j] - mean) * scale + bias[j]


def batch_norm(scale: float) -> Problem:
    rows, columns = max(8, int(scale * 2048)), 96
    x = random_floats(-1, 1, (rows, columns), 4)

    def reference():
        apart = x - x.mean(axis=0, dtype="f8")
        return {"out": apart / np.sqrt((apart**2).mean(axis=0) + 1e-5)}

    scalars = {"rows": rows, "columns": columns}
    return posed("batch norm of columns", {"x": x, "out": zeros((rows, columns))}, "out", reference, scalars)


@sv.kernel
def sv_batch_norm(x: f32_2, out: f32_2):
    n = x.shape[0]
    for j in range(x.shape[1]):
        mean, square = 0.0, 0.0
        for i in range(n):
            mean += x[i, j]
            square += x[i, j] * x[i, j]
        mean /= n
        scale = 1.0 / sv.sqrt(square / n - mean * mean + 1e-5)
        for i in range(n):
            out[i, j] = (x[i, j] - mean) * scale


def nb_batch_norm(x, out):
    n = x.shape[0]
    for j in prange(x.shape[1]):
        mean, square = f32(0), f32(0)
        for i in range(n):
            mean += x[i, j]
            square += x[i, j] * x[i, j]
        mean /= f32(n)
        scale = f32(1) / np.sqrt(square / f32(n) - mean * mean + f32(1e-5))
        for i in range(n):
            out[i, j] = (x[i, j] - mean) * scale


def gates(scale: float) -> Problem:
    rows, width = max(4, int(scale * 32)), 128
    z, c = random_floats(-3, 3, (rows, 4 * width), 5), random_floats(-1, 1, (rows, width), 6)

    def reference():
        a, b, d, e = (z[:, k * width : (k + 1) * width].astype("f8") for k in range(4))
        new = c / (1 + np.exp(-b)) + np.tanh(d) / (1 + np.exp(-a))
        return {"after": new, "h": np.tanh(new) / (1 + np.exp(-e))}

    arrays = {"z": z, "c": c, "after": zeros((rows, width)), "h": zeros((rows, width))}
    return posed("LSTM gates", arrays, "after h", reference, {"rows": rows, "width": width})


@sv.func
def sigmoid(x):
    return 1.0 / (1.0 + sv.exp(-x))


@sv.kernel
def sv_gates(z: f32_2, c: f32_2, after: f32_2, h: f32_2):
    width = c.shape[1]
    for i, j in c:
        write, forget = sigmoid(z[i, j]), sigmoid(z[i, j + width])
        value, read = sv.tanh(z[i, j + 2 * width]), sigmoid(z[i, j + 3 * width])
        after[i, j] = forget * c[i, j] + write * value
        h[i, j] = read * sv.tanh(after[i, j])


def nb_gates(z, c, after, h):
    width = c.shape[1]
    one = f32(1)
    for i in prange(c.shape[0]):
        for j in range(width):
            write, forget = one / (one + math.exp(-z[i, j])), one / (one + math.exp(-z[i, j + width]))
            value, read = math.tanh(z[i, j + 2 * width]), one / (one + math.exp(-z[i, j + 3 * width]))
            after[i, j] = forget * c[i, j] + write * value
            h[i, j] = read * math.tanh(after[i, j])


def cross_entropy(scale: float) -> Problem:
    rows, columns = max(4, int(scale * 2048)), 50
    x, target, loss = random_floats(-4, 4, (rows, columns), 7), random_integers(0, columns, rows, 8), zeros(rows)
    reference = lambda: {"loss": np.log(np.exp(x.astype("f8")).sum(axis=1)) - x[np.arange(rows), target]}  # noqa: E731
    arrays = {"x": x, "target": target, "loss": loss}
    return posed("cross entropy of rows of 50", arrays, "loss", reference, {"rows": rows, "columns": columns})


@sv.kernel
def sv_cross_entropy(x: f32_2, target: i32_1, loss: f32_1):
    for i in range(x.shape[0]):
        largest = x[i, 0]
        for j in range(1, x.shape[1]):
            largest = max(largest, x[i, j])
        total = 0.0
        for j in range(x.shape[1]):
            total += sv.exp(x[i, j] - largest)
        loss[i] = sv.log(total) + largest - x[i, target[i]]


def nb_cross_entropy(x, target, loss):
    for i in prange(x.shape[0]):
        largest = x[i, 0]
        for j in range(1, x.shape[1]):
            largest = max(largest, x[i, j])
        total = f32(0)
        for j in range(x.shape[1]):
            total += math.exp(x[i, j] - largest)
        loss[i] = math.log(total) + largest - x[i, target[i]]


def weighted_histogram(scale: float) -> Problem:
    n, bins = int(scale * 65536), 100
    x, weight, out = random_floats(-0.2, 1.2, n, 9), random_floats(0, 1, n, 10), zeros(bins)
    reference = lambda: {"out": np.histogram(x, bins, (0, 1), weights=weight.astype("f8"))[0]}  # noqa: E731
    arrays = {"x": x, "weight": weight, "out": out}
    return posed("histogram with weights", arrays, "out", reference, {"n": n, "bins": bins}, relative=1e-2)


@sv.kernel
def sv_weighted_histogram(x: f32_1, weight: f32_1, out: f32_1):
    for b in range(out.shape[0]):
        out[b] = 0.0
    for i in range(x.shape[0]):
        if x[i] >= 0.0 and x[i] < 1.0:
            out[sv.i32(x[i] * out.shape[0])] += weight[i]


def nb_weighted_histogram(x, weight, out):
    out[:] = 0
    bins = f32(out.shape[0])
    for i in range(x.shape[0]):
        if x[i] >= 0 and x[i] < 1:
            out[int(x[i] * bins)] += weight[i]


def prefix_rows(scale: float) -> Problem:
    rows, columns = max(4, int(scale * 512)), 200
    x, out = random_floats(-1, 1, (rows, columns), 11, "f8"), zeros((rows, columns), "f8")
    reference = lambda: {"out": np.cumsum(x, axis=1)}  # noqa: E731
    return posed("prefix sums of rows, f64", {"x": x, "out": out}, "out", reference, {"rows": rows, "columns": columns})


@sv.kernel
def sv_prefix_rows(x: f64_2, out: f64_2):
    for i in range(x.shape[0]):
        out[i, 0] = x[i, 0]
        for j in range(1, x.shape[1]):
            out[i, j] = out[i, j - 1] + x[i, j]


def nb_prefix_rows(x, out):
    for i in prange(x.shape[0]):
        out[i, 0] = x[i, 0]
        for j in range(1, x.shape[1]):
            out[i, j] = out[i, j - 1] + x[i, j]


def rolling_deviation(scale: float) -> Problem:
    n, window = int(scale * 8192), 20
    x, out = random_floats(0, 1, n, 12, "f8"), zeros(n, "f8")

    def reference():
        result = np.zeros(n)
        result[window - 1 :] = sliding_window_view(x, window).std(axis=1)
        return {"out": result}

    return posed("rolling deviation of 20, f64", {"x": x, "out": out}, "out", reference, {"n": n, "window": window})


@sv.kernel
def sv_rolling_deviation(x: f64_1, out: f64_1, window: sv.i32):
    for i in range(window - 1, x.shape[0]):
        mean, variance = 0.0, 0.0
        for k in range(window):
            mean += x[i - k]
        mean /= window
        for k in range(window):
            variance += (x[i - k] - mean) ** 2
        out[i] = sv.sqrt(variance / window)


def nb_rolling_deviation(x, out, window):
    for i in prange(window - 1, x.shape[0]):
        mean, variance = 0.0, 0.0
        for k in range(window):
            mean += x[i - k]
        mean /= window
        for k in range(window):
            variance += (x[i - k] - mean) ** 2
        out[i] = math.sqrt(variance / window)


def drawdown(scale: float) -> Problem:
    rows, columns = max(4, int(scale * 384)), 250
    x, out = random_floats(50, 150, (rows, columns), 13), zeros(rows)
    reference = lambda: {"out": (1 - x / np.maximum.accumulate(x, axis=1)).max(axis=1)}  # noqa: E731
    return posed("largest fall of rows", {"x": x, "out": out}, "out", reference, {"rows": rows, "columns": columns})


@sv.kernel
def sv_drawdown(x: f32_2, out: f32_1):
    for i in range(x.shape[0]):
        peak, worst = x[i, 0], 0.0
        for j in range(x.shape[1]):
            if x[i, j] > peak:
                peak = x[i, j]
            elif 1.0 - x[i, j] / peak > worst:
                worst = 1.0 - x[i, j] / peak
        out[i] = worst


def nb_drawdown(x, out):
    for i in prange(x.shape[0]):
        peak, worst = x[i, 0], f32(0)
        for j in range(x.shape[1]):
            if x[i, j] > peak:
                peak = x[i, j]
            elif f32(1) - x[i, j] / peak > worst:
                worst = f32(1) - x[i, j] / peak
        out[i] = worst


def ranks(scale: float) -> Problem:
    n = max(8, int(scale**0.5 * 1024))
    x, out = random_integers(0, 300, n, 14), zeros(n, "i4")
    reference = lambda: {"out": np.argsort(np.argsort(x, kind="stable"), kind="stable")}  # noqa: E731
    return posed("ranks by counting", {"x": x, "out": out}, "out", reference, {"n": n}, **EXACT)


@sv.kernel
def sv_ranks(x: i32_1, out: i32_1):
    for i in range(x.shape[0]):
        count = 0
        for j in range(x.shape[0]):
            if x[j] < x[i] or (x[j] == x[i] and j < i):
                count += 1
        out[i] = count


def nb_ranks(x, out):
    for i in prange(x.shape[0]):
        count = 0
        for j in range(x.shape[0]):
            if x[j] < x[i] or (x[j] == x[i] and j < i):
                count += 1
        out[i] = count


TABLE = "int:rows int:columns"

ENTRIES = {
    "layer_norm": Entry(layer_norm, f"x gain bias out {TABLE}", "x gain bias out", sv_layer_norm, nb_layer_norm),
    "batch_norm": Entry(batch_norm, f"x out {TABLE}", "x out", sv_batch_norm, nb_batch_norm),
    "gates": Entry(gates, "z c after h int:rows int:width", "z c after h", sv_gates, nb_gates),
    "cross_entropy": Entry(cross_entropy, f"x target loss {TABLE}", "x target loss", sv_cross_entropy, nb_cross_entropy),
    "weighted_histogram": Entry(
        weighted_histogram, "x weight out int:n int:bins", "x weight out", sv_weighted_histogram, nb_weighted_histogram
    ),
    "prefix_rows": Entry(prefix_rows, f"x out {TABLE}", "x out", sv_prefix_rows, nb_prefix_rows),
    "rolling_deviation": Entry(
        rolling_deviation, "x out int:n int:window", "x out window", sv_rolling_deviation, nb_rolling_deviation
    ),
    "drawdown": Entry(drawdown, f"x out {TABLE}", "x out", sv_drawdown, nb_drawdown),
    "ranks": Entry(ranks, "x out int:n", "x out", sv_ranks, nb_ranks),
}
