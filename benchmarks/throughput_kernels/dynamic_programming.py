"""Dynamic programming: tables filled from themselves, with a comparison or an `if` for each element."""

import numpy as np
from problems import Problem

import samovar as sv
from throughput_kernels.entry import EXACT, Entry, posed, random_floats, random_integers, side, zeros
from throughput_kernels.numba_names import prange

f32_2, f32_3 = (sv.types.NDArray[sv.f32, n] for n in (2, 3))
i32_1, i32_2, i32_3 = (sv.types.NDArray[sv.i32, n] for n in (1, 2, 3))
u8_1, u8_2 = (sv.types.NDArray[sv.u8, n] for n in (1, 2))
i32 = np.int32


def common_subsequence(scale: float) -> Problem:
    n, size = max(2, int(scale * 16)), 160
    a, b = random_integers(0, 4, (n, size), 1, "u1"), random_integers(0, 4, (n, size), 2, "u1")
    t = zeros((n, size + 1, size + 1), "i4")

    def reference():
        out = np.zeros(t.shape, int)
        for i in range(1, size + 1):
            for j in range(1, size + 1):
                longer = np.maximum(out[:, i - 1, j], out[:, i, j - 1])
                out[:, i, j] = np.where(a[:, i - 1] == b[:, j - 1], out[:, i - 1, j - 1] + 1, longer)
        return {"t": out}

    arrays = {"a": a, "b": b, "t": t}
    return posed("longest common subsequence", arrays, "t", reference, {"n": n, "size": size}, **EXACT)


@sv.kernel
def sv_common_subsequence(a: u8_2, b: u8_2, t: i32_3):
    for m in range(a.shape[0]):
        for i in range(1, t.shape[1]):
            for j in range(1, t.shape[2]):
                if a[m, i - 1] == b[m, j - 1]:
                    t[m, i, j] = t[m, i - 1, j - 1] + 1
                else:
                    t[m, i, j] = max(t[m, i - 1, j], t[m, i, j - 1])


def nb_common_subsequence(a, b, t):
    for m in prange(a.shape[0]):
        for i in range(1, t.shape[1]):
            for j in range(1, t.shape[2]):
                if a[m, i - 1] == b[m, j - 1]:
                    t[m, i, j] = t[m, i - 1, j - 1] + 1
                else:
                    t[m, i, j] = max(t[m, i - 1, j], t[m, i, j - 1])


def time_warping(scale: float) -> Problem:
    n, size = max(2, int(scale * 8)), 128
    x, y = random_floats(0, 1, (n, size), 3), random_floats(0, 1, (n, size), 4)
    d = zeros((n, size + 1, size + 1))
    d[:, 0, 1:] = d[:, 1:, 0] = 1e6

    def reference():
        out = d.astype("f8")
        for i in range(1, size + 1):
            for j in range(1, size + 1):
                least = np.minimum(np.minimum(out[:, i - 1, j], out[:, i, j - 1]), out[:, i - 1, j - 1])
                out[:, i, j] = abs(x[:, i - 1] - y[:, j - 1]) + least
        return {"d": out}

    return posed("dynamic time warping", {"x": x, "y": y, "d": d}, "d", reference, {"n": n, "size": size})


@sv.kernel
def sv_time_warping(x: f32_2, y: f32_2, d: f32_3):
    for m in range(x.shape[0]):
        for i in range(1, d.shape[1]):
            for j in range(1, d.shape[2]):
                least = min(d[m, i - 1, j], d[m, i, j - 1], d[m, i - 1, j - 1])
                d[m, i, j] = abs(x[m, i - 1] - y[m, j - 1]) + least


def nb_time_warping(x, y, d):
    for m in prange(x.shape[0]):
        for i in range(1, d.shape[1]):
            for j in range(1, d.shape[2]):
                least = min(d[m, i - 1, j], d[m, i, j - 1], d[m, i - 1, j - 1])
                d[m, i, j] = abs(x[m, i - 1] - y[m, j - 1]) + least


def alignment(scale: float) -> Problem:
    n, size = max(2, int(scale * 8)), 128
    a, b = random_integers(0, 4, (n, size), 5, "u1"), random_integers(0, 4, (n, size), 6, "u1")
    h, e, best = zeros((n, size + 1), "i4"), zeros((n, size + 1), "i4"), zeros(n, "i4")

    def reference():
        row, gaps, most = np.zeros((n, size + 1), int), np.zeros((n, size + 1), int), np.zeros(n, int)
        for i in range(size):
            diagonal, gap = np.zeros(n, int), np.zeros(n, int)
            for j in range(1, size + 1):
                gaps[:, j] = np.maximum(gaps[:, j] - 1, row[:, j] - 3)
                gap = np.maximum(gap - 1, row[:, j - 1] - 3)
                score = diagonal + np.where(a[:, i] == b[:, j - 1], 2, -1)
                diagonal = row[:, j].copy()
                row[:, j] = np.maximum(np.maximum(score, 0), np.maximum(gaps[:, j], gap))
            most = np.maximum(most, row.max(axis=1))
        return {"best": most}

    arrays = {"a": a, "b": b, "h": h, "e": e, "best": best}
    return posed("local alignment, affine gaps", arrays, "best", reference, {"n": n, "size": size}, **EXACT)


@sv.kernel
def sv_alignment(a: u8_2, b: u8_2, h: i32_2, e: i32_2, best: i32_1):
    for m in range(a.shape[0]):
        for j in range(h.shape[1]):
            h[m, j] = 0
            e[m, j] = 0
        most = 0
        for i in range(a.shape[1]):
            diagonal, f = 0, 0
            for j in range(1, h.shape[1]):
                e[m, j] = max(e[m, j] - 1, h[m, j] - 3)
                f = max(f - 1, h[m, j - 1] - 3)
                score = diagonal + (2 if a[m, i] == b[m, j - 1] else -1)
                diagonal = h[m, j]
                h[m, j] = max(0, score, e[m, j], f)
                if h[m, j] > most:
                    most = h[m, j]
        best[m] = most


def nb_alignment(a, b, h, e, best):
    for m in prange(a.shape[0]):
        for j in range(h.shape[1]):
            h[m, j] = 0
            e[m, j] = 0
        most = i32(0)
        for i in range(a.shape[1]):
            diagonal, f = i32(0), i32(0)
            for j in range(1, h.shape[1]):
                e[m, j] = max(e[m, j] - i32(1), h[m, j] - i32(3))
                f = max(f - i32(1), h[m, j - 1] - i32(3))
                score = diagonal + (i32(2) if a[m, i] == b[m, j - 1] else i32(-1))
                diagonal = h[m, j]
                h[m, j] = max(i32(0), score, e[m, j], f)
                if h[m, j] > most:
                    most = h[m, j]
        best[m] = most


def folding(scale: float) -> Problem:
    n = side(scale, 112)
    bases, t = random_integers(0, 4, n, 7, "u1"), zeros((n, n), "i4")

    def reference():
        out = np.zeros((n, n), int)
        for i in range(n - 1, -1, -1):
            for j in range(i + 1, n):
                pair = out[i + 1, j - 1] + int(bases[i] + bases[j] == 3) if i < j - 1 else 0
                split = (out[i, i:j] + out[i + 1 : j + 1, j]).max()
                out[i, j] = max(pair, split)
        return {"t": out}

    return posed("folding of a sequence", {"bases": bases, "t": t}, "t", reference, {"n": n}, **EXACT)


@sv.kernel(serial=True)
def sv_folding(bases: u8_1, t: i32_2):
    n = t.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = max(t[i, j - 1], t[i + 1, j])
            if i < j - 1:
                pair = 1 if bases[i] + bases[j] == 3 else 0
                best = max(best, t[i + 1, j - 1] + pair)
            for k in range(i + 1, j):
                best = max(best, t[i, k] + t[k + 1, j])
            t[i, j] = best


def nb_folding(bases, t):
    n = t.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = max(t[i, j - 1], t[i + 1, j])
            if i < j - 1:
                pair = i32(1) if bases[i] + bases[j] == 3 else i32(0)
                best = max(best, t[i + 1, j - 1] + pair)
            for k in range(i + 1, j):
                best = max(best, t[i, k] + t[k + 1, j])
            t[i, j] = best


def knapsack(scale: float) -> Problem:
    items, capacity = max(8, int(scale * 256)), 8192
    weight, value = random_integers(20, 400, items, 8), random_integers(1, 1000, items, 9)
    best = zeros(capacity + 1, "i4")

    def reference():
        out = np.zeros(capacity + 1, int)
        for w, v in zip(weight, value, strict=True):
            out[w:] = np.maximum(out[w:], out[:-w] + v)
        return {"best": out}

    arrays = {"weight": weight, "value": value, "best": best}
    return posed("knapsack", arrays, "best", reference, {"items": items, "capacity": capacity}, **EXACT)


@sv.kernel(serial=True)
def sv_knapsack(weight: i32_1, value: i32_1, best: i32_1):
    for w in range(best.shape[0]):
        best[w] = 0
    for item in range(weight.shape[0]):
        for w in range(best.shape[0] - 1, weight[item] - 1, -1):
            best[w] = max(best[w], best[w - weight[item]] + value[item])


def nb_knapsack(weight, value, best):
    for w in range(best.shape[0]):
        best[w] = 0
    for item in range(weight.shape[0]):
        for w in range(best.shape[0] - 1, weight[item] - 1, -1):
            best[w] = max(best[w], best[w - weight[item]] + value[item])


def shortest_paths(scale: float) -> Problem:
    n = side(scale, 112)
    edges, d = random_floats(1, 100, (n, n), 10), zeros((n, n))

    def reference():
        out = edges.copy()
        for k in range(n):
            out = np.minimum(out, out[:, k : k + 1] + out[k])
        return {"d": out}

    return posed("shortest paths, Floyd-Warshall", {"edges": edges, "d": d}, "d", reference, {"n": n})


@sv.kernel(serial=True)
def sv_shortest_paths(edges: f32_2, d: f32_2):
    n = d.shape[0]
    for i in range(n):
        for j in range(n):
            d[i, j] = edges[i, j]
    for k in range(n):
        for i in range(n):
            first = d[i, k]
            for j in range(n):
                if first + d[k, j] < d[i, j]:
                    d[i, j] = first + d[k, j]


def nb_shortest_paths(edges, d):
    n = d.shape[0]
    for i in range(n):
        for j in range(n):
            d[i, j] = edges[i, j]
    for k in range(n):
        for i in range(n):
            first = d[i, k]
            for j in range(n):
                if first + d[k, j] < d[i, j]:
                    d[i, j] = first + d[k, j]


ENTRIES = {
    "common_subsequence": Entry(
        common_subsequence, "a b t int:n int:size", "a b t", sv_common_subsequence, nb_common_subsequence
    ),
    "time_warping": Entry(time_warping, "x y d int:n int:size", "x y d", sv_time_warping, nb_time_warping),
    "alignment": Entry(alignment, "a b h e best int:n int:size", "a b h e best", sv_alignment, nb_alignment),
    "folding": Entry(folding, "bases t int:n", "bases t", sv_folding, nb_folding, serial=True),
    "knapsack": Entry(
        knapsack, "weight value best int:items int:capacity", "weight value best", sv_knapsack, nb_knapsack, serial=True
    ),
    "shortest_paths": Entry(shortest_paths, "edges d int:n", "edges d", sv_shortest_paths, nb_shortest_paths, serial=True),
}
