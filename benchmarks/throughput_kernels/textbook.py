"""Loops of textbooks: counting and packing, series, transforms, tables, elimination, cellular automata."""

import numpy as np
from problems import Problem, filled

import samovar as sv
from throughput_kernels.entry import DOUBLE, EXACT, Entry, posed, random_floats, random_integers, side, zeros
from throughput_kernels.numba_names import prange

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
f64_1, f64_2, f64_3 = (sv.types.NDArray[sv.f64, n] for n in (1, 2, 3))
i32_1 = sv.types.NDArray[sv.i32, 1]
i64_1 = sv.types.NDArray[sv.i64, 1]
u8_1 = sv.types.NDArray[sv.u8, 1]
f32, i32, u8 = np.float32, np.int32, np.uint8


def subset_sum(scale: float) -> Problem:
    items, n = max(4, int(scale * 64)), 4001
    weight, reached = random_integers(3, 60, items, 1), zeros(n, "u1")

    def reference():
        out = np.zeros(n, bool)
        out[0] = True
        for w in weight:
            out[w:] |= out[:-w].copy()
        return {"reached": out}

    arrays, scalars = {"weight": weight, "reached": reached}, {"items": items, "n": n}
    return posed("subset sum, bytes", arrays, "reached", reference, scalars, **EXACT)


@sv.kernel(serial=True)
def sv_subset_sum(weight: i32_1, reached: u8_1):
    for j in range(reached.shape[0]):
        reached[j] = 0
    reached[0] = 1
    for k in range(weight.shape[0]):
        for j in range(reached.shape[0] - 1, weight[k] - 1, -1):
            reached[j] |= reached[j - weight[k]]


def nb_subset_sum(weight, reached):
    for j in range(reached.shape[0]):
        reached[j] = 0
    reached[0] = 1
    for k in range(weight.shape[0]):
        for j in range(reached.shape[0] - 1, weight[k] - 1, -1):
            reached[j] |= reached[j - weight[k]]


def knapsack_if(scale: float) -> Problem:
    items, n = max(4, int(scale * 64)), 4001
    weight, value, best = random_integers(3, 60, items, 2), random_floats(0, 1, items, 3), zeros(n)

    def reference():
        out = np.zeros(n)
        for w, v in zip(weight, value, strict=True):
            out[w:] = np.maximum(out[w:], out[:-w] + v)
        return {"best": out}

    arrays, scalars = {"weight": weight, "value": value, "best": best}, {"items": items, "n": n}
    return posed("knapsack by `if`, f32", arrays, "best", reference, scalars)


@sv.kernel(serial=True)
def sv_knapsack_if(weight: i32_1, value: f32_1, best: f32_1):
    for j in range(best.shape[0]):
        best[j] = 0.0
    for k in range(weight.shape[0]):
        size, gain = weight[k], value[k]
        for j in range(best.shape[0] - 1, size - 1, -1):
            if best[j - size] + gain > best[j]:
                best[j] = best[j - size] + gain


def nb_knapsack_if(weight, value, best):
    for j in range(best.shape[0]):
        best[j] = f32(0.0)
    for k in range(weight.shape[0]):
        size, gain = weight[k], value[k]
        for j in range(best.shape[0] - 1, size - 1, -1):
            if best[j - size] + gain > best[j]:
                best[j] = best[j - size] + gain


def coin_change(scale: float) -> Problem:
    n = max(256, int(scale * 6001))
    coins, ways = filled(np.array([1, 2, 5, 10, 20, 50, 100, 200], "i4")), zeros(n, "i8")

    def reference():
        out = np.zeros(n, int)
        out[0] = 1
        for coin in coins:
            for j in range(coin, n):
                out[j] += out[j - coin]
        return {"ways": out}

    arrays, scalars = {"coins": coins, "ways": ways}, {"count": 8, "n": n}
    return posed("ways to change coins", arrays, "ways", reference, scalars, **EXACT)


@sv.kernel(serial=True)
def sv_coin_change(coins: i32_1, ways: i64_1):
    for j in range(ways.shape[0]):
        ways[j] = 0
    ways[0] = 1
    for k in range(coins.shape[0]):
        c = coins[k]
        for j in range(c, ways.shape[0]):
            ways[j] += ways[j - c]


def nb_coin_change(coins, ways):
    for j in range(ways.shape[0]):
        ways[j] = 0
    ways[0] = 1
    for k in range(coins.shape[0]):
        c = coins[k]
        for j in range(c, ways.shape[0]):
            ways[j] += ways[j - c]


def seam(scale: float) -> Problem:
    rows, columns = max(8, int(scale * 200)), 300
    cost, t = random_floats(0, 1, (rows, columns), 4, "f8"), zeros((rows, columns), "f8")

    def reference():
        out = cost.copy()
        for i in range(1, rows):
            above = np.pad(out[i - 1], 1, constant_values=np.inf)
            out[i] += np.minimum(np.minimum(above[:-2], above[1:-1]), above[2:])
        return {"t": out}

    return posed("seam", {"cost": cost, "t": t}, "t", reference, {"rows": rows, "columns": columns}, **DOUBLE)


@sv.kernel(serial=True)
def sv_seam(cost: f64_2, t: f64_2):
    for j in range(cost.shape[1]):
        t[0, j] = cost[0, j]
    for i in range(1, cost.shape[0]):
        for j in range(cost.shape[1]):
            best = t[i - 1, j]
            if j > 0:
                best = min(best, t[i - 1, j - 1])
            if j < cost.shape[1] - 1:
                best = min(best, t[i - 1, j + 1])
            t[i, j] = cost[i, j] + best


def nb_seam(cost, t):
    for j in range(cost.shape[1]):
        t[0, j] = cost[0, j]
    for i in range(1, cost.shape[0]):
        for j in range(cost.shape[1]):
            best = t[i - 1, j]
            if j > 0:
                best = min(best, t[i - 1, j - 1])
            if j < cost.shape[1] - 1:
                best = min(best, t[i - 1, j + 1])
            t[i, j] = cost[i, j] + best


def inversions(scale: float) -> Problem:
    n = side(scale, 1200)
    x, out = random_integers(0, 1000, n, 5), zeros(1, "i4")
    reference = lambda: {"out": np.array([sum(np.count_nonzero(x[i] > x[i + 1 :]) for i in range(n))])}  # noqa: E731
    return posed("inversions", {"x": x, "out": out}, "out", reference, {"n": n}, **EXACT)


@sv.kernel(serial=True)
def sv_inversions(x: i32_1, out: i32_1):
    count = 0
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            if x[i] > x[j]:
                count += 1
    out[0] = count


def nb_inversions(x, out):
    count = 0
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            if x[i] > x[j]:
                count += 1
    out[0] = count


def smooth_rows(scale: float) -> Problem:
    rows, columns, a = max(8, int(scale * 200)), 300, 0.3
    x, y = random_floats(0, 1, (rows, columns), 6, "f8"), zeros((rows, columns), "f8")

    def reference():
        out, level = np.empty_like(x), x[:, 0]
        for i in range(columns):
            level = a * x[:, i] + (1 - a) * level
            out[:, i] = level
        return {"y": out}

    arrays, scalars = {"x": x, "y": y}, {"a": a, "rows": rows, "columns": columns}
    return posed("exponential smoothing of rows", arrays, "y", reference, scalars, relative=1e-6, absolute=1e-6)


@sv.kernel
def sv_smooth_rows(x: f64_2, y: f64_2, a: sv.f64):
    for r in range(x.shape[0]):
        level = x[r, 0]
        for i in range(x.shape[1]):
            level = a * x[r, i] + (1.0 - a) * level
            y[r, i] = level


def nb_smooth_rows(x, y, a):
    for r in prange(x.shape[0]):
        level = x[r, 0]
        for i in range(x.shape[1]):
            level = a * x[r, i] + (1.0 - a) * level
            y[r, i] = level


def window_max(scale: float) -> Problem:
    n = max(64, int(scale * 30000))
    x, y = random_floats(0, 1, n, 7, "f8"), zeros(n, "f8")

    def reference():
        out = np.zeros(n)
        out[:-8] = np.lib.stride_tricks.sliding_window_view(x, 8)[:-1].max(axis=1)
        return {"y": out}

    return posed("largest of 8 neighbors", {"x": x, "y": y}, "y", reference, {"n": n}, **DOUBLE)


@sv.kernel
def sv_window_max(x: f64_1, y: f64_1):
    for i in range(x.shape[0] - 8):
        best = x[i]
        for k in range(1, 8):
            best = max(best, x[i + k])
        y[i] = best


def nb_window_max(x, y):
    for i in prange(x.shape[0] - 8):
        best = x[i]
        for k in range(1, 8):
            best = max(best, x[i + k])
        y[i] = best


def walsh_hadamard(scale: float) -> Problem:
    n = 1 << max(6, int(12 + np.log2(scale)))
    x, y = random_floats(-1, 1, n, 8), zeros(n)

    def reference():
        out, h = x.astype("f8"), 1
        while h < n:
            pairs = out.reshape(-1, 2, h)
            out = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(n)
            h *= 2
        return {"y": out}

    return posed("Walsh-Hadamard transform", {"x": x, "y": y}, "y", reference, {"n": n}, absolute=1e-3)


@sv.kernel(serial=True)
def sv_walsh_hadamard(x: f32_1, y: f32_1):
    n = x.shape[0]
    for i in range(n):
        y[i] = x[i]
    h = 1
    while h < n:
        for i in range(0, n, 2 * h):
            for j in range(i, i + h):
                a, b = y[j], y[j + h]
                y[j] = a + b
                y[j + h] = a - b
        h *= 2


def nb_walsh_hadamard(x, y):
    n = x.shape[0]
    for i in range(n):
        y[i] = x[i]
    h = 1
    while h < n:
        for i in range(0, n, 2 * h):
            for j in range(i, i + h):
                a, b = (y[j], y[j + h])
                y[j] = a + b
                y[j + h] = a - b
        h *= 2


def horner(scale: float) -> Problem:
    n, degree = max(64, int(scale * 10000)), 13
    c, x, y = random_floats(0, 1, degree, 9, "f8"), random_floats(-1, 1, n, 10, "f8"), zeros(n, "f8")
    reference = lambda: {"y": np.polyval(c[::-1], x)}  # noqa: E731
    arrays, scalars = {"c": c, "x": x, "y": y}, {"degree": degree, "n": n}
    return posed("polynomial, coefficients in an array", arrays, "y", reference, scalars, **DOUBLE)


@sv.kernel
def sv_horner(c: f64_1, x: f64_1, y: f64_1):
    for i in range(x.shape[0]):
        total = 0.0
        for k in range(c.shape[0] - 1, -1, -1):
            total = total * x[i] + c[k]
        y[i] = total


def nb_horner(c, x, y):
    for i in prange(x.shape[0]):
        total = 0.0
        for k in range(c.shape[0] - 1, -1, -1):
            total = total * x[i] + c[k]
        y[i] = total


def interpolate_scan(scale: float) -> Problem:
    n, size = max(64, int(scale * 60000)), 40
    xs, ys = filled(np.sort(random_floats(0, 1, size, 11, "f8"))), random_floats(0, 1, size, 12, "f8")
    x, y = random_floats(0.1, 0.9, n, 13, "f8"), zeros(n, "f8")
    reference = lambda: {"y": np.interp(x, xs, ys)}  # noqa: E731
    arrays, scalars = {"xs": xs, "ys": ys, "x": x, "y": y}, {"size": size, "n": n}
    return posed("interpolation, table searched in order", arrays, "y", reference, scalars, **DOUBLE)


@sv.kernel
def sv_interpolate_scan(xs: f64_1, ys: f64_1, x: f64_1, y: f64_1):
    for i in range(x.shape[0]):
        k = 0
        while k < xs.shape[0] - 2 and xs[k + 1] < x[i]:
            k += 1
        f = (x[i] - xs[k]) / (xs[k + 1] - xs[k])
        y[i] = ys[k] + f * (ys[k + 1] - ys[k])


def nb_interpolate_scan(xs, ys, x, y):
    for i in prange(x.shape[0]):
        k = 0
        while k < xs.shape[0] - 2 and xs[k + 1] < x[i]:
            k += 1
        f = (x[i] - xs[k]) / (xs[k + 1] - xs[k])
        y[i] = ys[k] + f * (ys[k + 1] - ys[k])


def gcd(scale: float) -> Problem:
    n = max(64, int(scale * 4000))
    a, b, g = random_integers(1, 100000, n, 14), random_integers(1, 100000, n, 15), zeros(n, "i4")
    reference = lambda: {"g": np.gcd(a, b)}  # noqa: E731
    return posed("greatest common divisors", {"a": a, "b": b, "g": g}, "g", reference, {"n": n}, **EXACT)


@sv.kernel
def sv_gcd(a: i32_1, b: i32_1, g: i32_1):
    for i in range(a.shape[0]):
        x, y = a[i], b[i]
        while y != 0:
            t = x % y
            x = y
            y = t
        g[i] = x


def nb_gcd(a, b, g):
    for i in prange(a.shape[0]):
        x, y = (a[i], b[i])
        while y != 0:
            t = x % y
            x = y
            y = t
        g[i] = x


def rule_110(scale: float) -> Problem:
    n, steps = max(64, int(scale * 2048)), 64
    x, y = random_integers(0, 2, n, 16, "u1"), zeros(n, "u1")
    first = x.copy()

    def reference():
        out = first.astype(int)
        for _ in range(steps):
            out[1:-1] = 110 >> (4 * out[:-2] + 2 * out[1:-1] + out[2:]) & 1
        return {"x": out}

    return posed("rule 110, bytes", {"x": x, "y": y}, "x", reference, {"n": n, "steps": steps}, **EXACT)


@sv.kernel(serial=True)
def sv_rule_110(x: u8_1, y: u8_1, steps: sv.i32):
    for _ in range(steps):
        for i in range(1, x.shape[0] - 1):
            v = 4 * x[i - 1] + 2 * x[i] + x[i + 1]
            y[i] = sv.u8((110 >> sv.i32(v)) & 1)
        for i in range(1, x.shape[0] - 1):
            x[i] = y[i]


def nb_rule_110(x, y, steps):
    for _ in range(steps):
        for i in range(1, x.shape[0] - 1):
            v = 4 * x[i - 1] + 2 * x[i] + x[i + 1]
            y[i] = u8(110 >> i32(v) & 1)
        for i in range(1, x.shape[0] - 1):
            x[i] = y[i]


def matmul_kij(scale: float) -> Problem:
    n = max(16, int(scale ** (1 / 3) * 128))
    a, b, c = random_floats(0, 1, (n, n), 17), random_floats(0, 1, (n, n), 18), zeros((n, n))
    reference = lambda: {"c": a.astype("f8") @ b}  # noqa: E731
    return posed("matrix product, k outermost", {"a": a, "b": b, "c": c}, "c", reference, {"n": n})


@sv.kernel(serial=True)
def sv_matmul_kij(a: f32_2, b: f32_2, c: f32_2):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            c[i, j] = 0.0
    for k in range(n):
        for i in range(n):
            for j in range(n):
                c[i, j] += a[i, k] * b[k, j]


def nb_matmul_kij(a, b, c):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            c[i, j] = f32(0.0)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                c[i, j] += a[i, k] * b[k, j]


def banded_product(scale: float) -> Problem:
    n = max(64, int(scale * 20000))
    a, x, y = random_floats(0, 1, (7, n), 19, "f8"), random_floats(0, 1, n, 20, "f8"), zeros(n, "f8")

    def reference():
        around = np.pad(x, 3)
        return {"y": sum(a[k] * around[k : k + n] for k in range(7))}

    return posed("banded matrix × vector", {"a": a, "x": x, "y": y}, "y", reference, {"n": n}, **DOUBLE)


@sv.kernel
def sv_banded_product(a: f64_2, x: f64_1, y: f64_1):
    n = x.shape[0]
    for i in range(n):
        total = 0.0
        for k in range(max(0, 3 - i), min(7, n + 3 - i)):
            total += a[k, i] * x[i + k - 3]
        y[i] = total


def nb_banded_product(a, x, y):
    n = x.shape[0]
    for i in prange(n):
        total = 0.0
        for k in range(max(0, 3 - i), min(7, n + 3 - i)):
            total += a[k, i] * x[i + k - 3]
        y[i] = total


def gauss_pivot(scale: float) -> Problem:
    n = max(8, int(scale ** (1 / 3) * 96))
    a, w, x = random_floats(-1, 1, (n, n + 1), 21, "f8"), zeros((n, n + 1), "f8"), zeros(n, "f8")
    reference = lambda: {"x": np.linalg.solve(a[:, :n], a[:, n])}  # noqa: E731
    arrays = {"a": a, "w": w, "x": x}
    return posed("Gauss elimination with pivots", arrays, "x", reference, {"n": n}, relative=1e-6, absolute=1e-6)


@sv.kernel(serial=True)
def sv_gauss_pivot(a: f64_2, w: f64_2, x: f64_1):
    n = a.shape[0]
    for i in range(n):
        for j in range(n + 1):
            w[i, j] = a[i, j]
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(w[i, k]) > abs(w[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(k, n + 1):
                t = w[k, j]
                w[k, j] = w[pivot, j]
                w[pivot, j] = t
        for i in range(k + 1, n):
            f = w[i, k] / w[k, k]
            for j in range(k, n + 1):
                w[i, j] -= f * w[k, j]
    for i in range(n - 1, -1, -1):
        total = w[i, n]
        for j in range(i + 1, n):
            total -= w[i, j] * x[j]
        x[i] = total / w[i, i]


def nb_gauss_pivot(a, w, x):
    n = a.shape[0]
    for i in range(n):
        for j in range(n + 1):
            w[i, j] = a[i, j]
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(w[i, k]) > abs(w[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(k, n + 1):
                t = w[k, j]
                w[k, j] = w[pivot, j]
                w[pivot, j] = t
        for i in range(k + 1, n):
            f = w[i, k] / w[k, k]
            for j in range(k, n + 1):
                w[i, j] -= f * w[k, j]
    for i in range(n - 1, -1, -1):
        total = w[i, n]
        for j in range(i + 1, n):
            total -= w[i, j] * x[j]
        x[i] = total / w[i, i]


def products_3x3(scale: float) -> Problem:
    n = max(16, int(scale * 2000))
    a, b, c = random_floats(0, 1, (n, 3, 3), 22, "f8"), random_floats(0, 1, (n, 3, 3), 23, "f8"), zeros((n, 3, 3), "f8")
    return posed("3×3 products", {"a": a, "b": b, "c": c}, "c", lambda: {"c": a @ b}, {"n": n}, **DOUBLE)


@sv.kernel
def sv_products_3x3(a: f64_3, b: f64_3, c: f64_3):
    for m in range(a.shape[0]):
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += a[m, i, k] * b[m, k, j]
                c[m, i, j] = total


def nb_products_3x3(a, b, c):
    for m in prange(a.shape[0]):
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += a[m, i, k] * b[m, k, j]
                c[m, i, j] = total


def deposit_cic(scale: float) -> Problem:
    n = max(64, int(scale * 20000))
    x, rho = random_floats(0, 255, n, 24, "f8"), zeros(257, "f8")

    def reference():
        k, f = x.astype(int), x % 1
        return {"rho": np.bincount(k, 1 - f, 257) + np.bincount(k + 1, f, 257)}

    return posed("deposit in two cells, serial", {"x": x, "rho": rho}, "rho", reference, {"n": n}, **DOUBLE)


@sv.kernel(serial=True)
def sv_deposit_cic(x: f64_1, rho: f64_1):
    for i in range(rho.shape[0]):
        rho[i] = 0.0
    for i in range(x.shape[0]):
        k = int(x[i])
        f = x[i] - k
        rho[k] += 1.0 - f
        rho[k + 1] += f


def nb_deposit_cic(x, rho):
    for i in range(rho.shape[0]):
        rho[i] = 0.0
    for i in range(x.shape[0]):
        k = int(x[i])
        f = x[i] - k
        rho[k] += 1.0 - f
        rho[k + 1] += f


ENTRIES = {
    "subset_sum": Entry(
        subset_sum, "weight reached int:items int:n", "weight reached", sv_subset_sum, nb_subset_sum, serial=True
    ),
    "knapsack_if": Entry(
        knapsack_if, "weight value best int:items int:n", "weight value best", sv_knapsack_if, nb_knapsack_if, serial=True
    ),
    "coin_change": Entry(
        coin_change, "coins ways int:count int:n", "coins ways", sv_coin_change, nb_coin_change, serial=True
    ),
    "seam": Entry(seam, "cost t int:rows int:columns", "cost t", sv_seam, nb_seam, serial=True),
    "inversions": Entry(inversions, "x out int:n", "x out", sv_inversions, nb_inversions, serial=True),
    "smooth_rows": Entry(smooth_rows, "x y double:a int:rows int:columns", "x y a", sv_smooth_rows, nb_smooth_rows),
    "window_max": Entry(window_max, "x y int:n", "x y", sv_window_max, nb_window_max),
    "walsh_hadamard": Entry(walsh_hadamard, "x y int:n", "x y", sv_walsh_hadamard, nb_walsh_hadamard, serial=True),
    "horner": Entry(horner, "c x y int:degree int:n", "c x y", sv_horner, nb_horner),
    "interpolate_scan": Entry(
        interpolate_scan, "xs ys x y int:size int:n", "xs ys x y", sv_interpolate_scan, nb_interpolate_scan
    ),
    "gcd": Entry(gcd, "a b g int:n", "a b g", sv_gcd, nb_gcd),
    "rule_110": Entry(rule_110, "x y int:steps int:n", "x y steps", sv_rule_110, nb_rule_110, serial=True),
    "matmul_kij": Entry(matmul_kij, "a b c int:n", "a b c", sv_matmul_kij, nb_matmul_kij, serial=True),
    "banded_product": Entry(banded_product, "a x y int:n", "a x y", sv_banded_product, nb_banded_product),
    "gauss_pivot": Entry(gauss_pivot, "a w x int:n", "a w x", sv_gauss_pivot, nb_gauss_pivot, serial=True),
    "products_3x3": Entry(products_3x3, "a b c int:n", "a b c", sv_products_3x3, nb_products_3x3),
    "deposit_cic": Entry(deposit_cic, "x rho int:n", "x rho", sv_deposit_cic, nb_deposit_cic, serial=True),
}
