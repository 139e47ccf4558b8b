"""Nests of loops that run in order: time steps over whole grids, solvers, transforms, sieves."""

import numpy as np
from problems import Problem, filled

import samovar as sv
from throughput_kernels.entry import DOUBLE, EXACT, Entry, posed, random_floats, side, zeros
from throughput_kernels.numba_names import prange

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
f64_1, f64_2 = (sv.types.NDArray[sv.f64, n] for n in (1, 2))
i32_1 = sv.types.NDArray[sv.i32, 1]
u8_1 = sv.types.NDArray[sv.u8, 1]
f32 = np.float32


def smoothing(scale: float) -> Problem:
    n, steps = max(64, int(scale * 2048)), 256
    a, b = random_floats(0, 1, n, 1, "f8"), zeros(n, "f8")
    b[...] = a
    first = a.copy()

    def reference():
        out = first.copy()
        for _ in range(2 * steps):
            out[1:-1] = (out[:-2] + out[1:-1] + out[2:]) / 3
        return {"a": out}

    return posed("smoothing in time, 1-D", {"a": a, "b": b}, "a", reference, {"n": n, "steps": steps}, **DOUBLE)


@sv.kernel(serial=True)
def sv_smoothing(a: f64_1, b: f64_1, steps: sv.i32):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        for i in range(1, a.shape[0] - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0


def nb_smoothing(a, b, steps):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        for i in range(1, a.shape[0] - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0


def heat(scale: float) -> Problem:
    n, steps = side(scale, 128), 24
    a, b = random_floats(0, 1, (n, n), 2), zeros((n, n))
    b[...] = a
    first = a.astype("f8")

    def reference():
        out = first.copy()
        for _ in range(2 * steps):
            around = out[:-2, 1:-1] + out[2:, 1:-1] + out[1:-1, :-2] + out[1:-1, 2:]
            out[1:-1, 1:-1] += 0.2 * (around - 4 * out[1:-1, 1:-1])
        return {"a": out}

    return posed("heat in time, 2-D", {"a": a, "b": b}, "a", reference, {"n": n, "steps": steps})


@sv.kernel
def sv_heat(a: f32_2, b: f32_2, steps: sv.i32):
    for _ in range(1):
        for _step in range(steps):
            for i in range(1, a.shape[0] - 1):
                for j in range(1, a.shape[1] - 1):
                    b[i, j] = a[i, j] + 0.2 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] - 4.0 * a[i, j])
            for i in range(1, a.shape[0] - 1):
                for j in range(1, a.shape[1] - 1):
                    a[i, j] = b[i, j] + 0.2 * (b[i - 1, j] + b[i + 1, j] + b[i, j - 1] + b[i, j + 1] - 4.0 * b[i, j])


def nb_heat(a, b, steps):
    c, four = f32(0.2), f32(4)
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = a[i, j] + c * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] - four * a[i, j])
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = b[i, j] + c * (b[i - 1, j] + b[i + 1, j] + b[i, j - 1] + b[i, j + 1] - four * b[i, j])


def waves(scale: float) -> Problem:
    n, steps = side(scale, 96), 24
    ex, ey, hz = (random_floats(-1, 1, (n, n), seed, "f8") for seed in (3, 4, 5))
    first = ex.copy(), ey.copy(), hz.copy()

    def reference():
        x, y, z = (array.copy() for array in first)
        for _ in range(steps):
            y[1:] -= 0.5 * (z[1:] - z[:-1])
            x[:, 1:] -= 0.5 * (z[:, 1:] - z[:, :-1])
            z[:-1, :-1] -= 0.7 * (x[:-1, 1:] - x[:-1, :-1] + y[1:, :-1] - y[:-1, :-1])
        return {"ex": x, "ey": y, "hz": z}

    arrays, scalars = {"ex": ex, "ey": ey, "hz": hz}, {"n": n, "steps": steps}
    return posed("electromagnetic waves, 2-D", arrays, "ex ey hz", reference, scalars, **DOUBLE)


@sv.kernel(serial=True)
def sv_waves(ex: f64_2, ey: f64_2, hz: f64_2, steps: sv.i32):
    rows, columns = hz.shape[0], hz.shape[1]
    for _ in range(steps):
        for i in range(1, rows):
            for j in range(columns):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(rows):
            for j in range(1, columns):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(rows - 1):
            for j in range(columns - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def nb_waves(ex, ey, hz, steps):
    rows, columns = hz.shape
    for _ in range(steps):
        for i in range(1, rows):
            for j in range(columns):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(rows):
            for j in range(1, columns):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(rows - 1):
            for j in range(columns - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def conjugate_gradient(scale: float) -> Problem:
    n, steps = side(scale, 64), 32
    b, x, r, p, q = random_floats(-1, 1, (n, n), 6, "f8"), *(zeros((n, n), "f8") for _ in range(4))

    def reference():
        def product(v):
            v = np.pad(v, 1)
            return 4 * v[1:-1, 1:-1] - v[:-2, 1:-1] - v[2:, 1:-1] - v[1:-1, :-2] - v[1:-1, 2:]

        solution, residual = np.zeros((n - 2, n - 2)), b[1:-1, 1:-1].copy()
        direction, old = residual.copy(), (residual**2).sum()
        for _ in range(steps):
            image = product(direction)
            alpha = old / (direction * image).sum()
            solution += alpha * direction
            residual -= alpha * image
            new = (residual**2).sum()
            direction, old = residual + new / old * direction, new
        return {"x": np.pad(solution, 1)}

    arrays, scalars = {"b": b, "x": x, "r": r, "p": p, "q": q}, {"n": n, "steps": steps}
    return posed("conjugate gradient, 32 steps", arrays, "x", reference, scalars, **DOUBLE)


@sv.kernel(serial=True)
def sv_conjugate_gradient(b: f64_2, x: f64_2, r: f64_2, p: f64_2, q: f64_2, steps: sv.i32):
    last = b.shape[0] - 1
    old = 0.0
    for i in range(1, last):
        for j in range(1, last):
            x[i, j] = 0.0
            r[i, j] = b[i, j]
            p[i, j] = b[i, j]
            old += b[i, j] * b[i, j]
    for _ in range(steps):
        curvature = 0.0
        for i in range(1, last):
            for j in range(1, last):
                q[i, j] = 4.0 * p[i, j] - p[i - 1, j] - p[i + 1, j] - p[i, j - 1] - p[i, j + 1]
                curvature += p[i, j] * q[i, j]
        alpha, new = old / curvature, 0.0
        for i in range(1, last):
            for j in range(1, last):
                x[i, j] += alpha * p[i, j]
                r[i, j] -= alpha * q[i, j]
                new += r[i, j] * r[i, j]
        for i in range(1, last):
            for j in range(1, last):
                p[i, j] = r[i, j] + new / old * p[i, j]
        old = new


def nb_conjugate_gradient(b, x, r, p, q, steps):
    last = b.shape[0] - 1
    old = 0.0
    for i in range(1, last):
        for j in range(1, last):
            x[i, j] = 0.0
            r[i, j] = b[i, j]
            p[i, j] = b[i, j]
            old += b[i, j] * b[i, j]
    for _ in range(steps):
        curvature = 0.0
        for i in range(1, last):
            for j in range(1, last):
                q[i, j] = 4.0 * p[i, j] - p[i - 1, j] - p[i + 1, j] - p[i, j - 1] - p[i, j + 1]
                curvature += p[i, j] * q[i, j]
        alpha, new = old / curvature, 0.0
        for i in range(1, last):
            for j in range(1, last):
                x[i, j] += alpha * p[i, j]
                r[i, j] -= alpha * q[i, j]
                new += r[i, j] * r[i, j]
        for i in range(1, last):
            for j in range(1, last):
                p[i, j] = r[i, j] + new / old * p[i, j]
        old = new


def fourier(scale: float) -> Problem:
    rows, n = max(2, int(scale * 32)), 512
    re, im = random_floats(-1, 1, (rows, n), 7), random_floats(-1, 1, (rows, n), 8)
    bits = n.bit_length() - 1
    order = filled(np.array([int(f"{i:0{bits}b}"[::-1], 2) for i in range(n)], "i4"))
    angles = -2 * np.pi * np.arange(n // 2) / n
    cosine, sine = filled(np.cos(angles).astype("f4")), filled(np.sin(angles).astype("f4"))
    arrays = {"re": re, "im": im, "order": order, "cosine": cosine, "sine": sine}
    arrays |= {"x": zeros((rows, n)), "y": zeros((rows, n))}

    def reference():
        out = np.fft.fft(re + 1j * im, axis=1)
        return {"x": out.real, "y": out.imag}

    return posed("Fourier transforms of 512", arrays, "x y", reference, {"rows": rows, "n": n}, absolute=1e-3)


@sv.kernel
def sv_fourier(re: f32_2, im: f32_2, order: i32_1, cosine: f32_1, sine: f32_1, x: f32_2, y: f32_2):
    n = x.shape[1]
    for m in range(x.shape[0]):
        for i in range(n):
            x[m, i] = re[m, order[i]]
            y[m, i] = im[m, order[i]]
        half = 1
        while half < n:
            step = n // (2 * half)
            for start in range(0, n, 2 * half):
                for k in range(half):
                    c, s = cosine[k * step], sine[k * step]
                    i, j = start + k, start + k + half
                    u, v = c * x[m, j] - s * y[m, j], c * y[m, j] + s * x[m, j]
                    x[m, j] = x[m, i] - u
                    y[m, j] = y[m, i] - v
                    x[m, i] += u
                    y[m, i] += v
            half *= 2


def nb_fourier(re, im, order, cosine, sine, x, y):
    n = x.shape[1]
    for m in prange(x.shape[0]):
        for i in range(n):
            x[m, i] = re[m, order[i]]
            y[m, i] = im[m, order[i]]
        half = 1
        while half < n:
            step = n // (2 * half)
            for start in range(0, n, 2 * half):
                for k in range(half):
                    c, s = cosine[k * step], sine[k * step]
                    i, j = start + k, start + k + half
                    u, v = c * x[m, j] - s * y[m, j], c * y[m, j] + s * x[m, j]
                    x[m, j] = x[m, i] - u
                    y[m, j] = y[m, i] - v
                    x[m, i] += u
                    y[m, i] += v
            half *= 2


def sieve(scale: float) -> Problem:
    n = int(scale * 131072)
    composite, count = zeros(n, "u1"), zeros(1, "i4")

    def reference():
        flags = np.zeros(n, bool)
        flags[:2] = True
        for p in range(2, int(n**0.5) + 1):
            flags[p * p :: p] = True
        return {"count": np.array([n - flags.sum()])}

    return posed("sieve of primes", {"composite": composite, "count": count}, "count", reference, {"n": n}, **EXACT)


@sv.kernel(serial=True)
def sv_sieve(composite: u8_1, count: i32_1):
    n = composite.shape[0]
    for i in range(n):
        composite[i] = 0
    p = 2
    while p * p < n:
        if composite[p] == 0:
            for q in range(p * p, n, p):
                composite[q] = 1
        p += 1
    found = 0
    for i in range(2, n):
        if composite[i] == 0:
            found += 1
    count[0] = found


def nb_sieve(composite, count):
    n = composite.shape[0]
    for i in range(n):
        composite[i] = 0
    p = 2
    while p * p < n:
        if composite[p] == 0:
            for q in range(p * p, n, p):
                composite[q] = 1
        p += 1
    found = 0
    for i in range(2, n):
        if composite[i] == 0:
            found += 1
    count[0] = found


def levinson(scale: float) -> Problem:
    n = side(scale, 768)
    r, y, z = filled(0.5 ** np.arange(1.0, n + 1) + 0.1 / np.arange(1.0, n + 1)), zeros(n, "f8"), zeros(n, "f8")

    def reference():
        first = np.concatenate([[1.0], r[:-1]])
        matrix = first[np.abs(np.arange(n)[:, None] - np.arange(n))]
        return {"y": np.linalg.solve(matrix, -r)}

    return posed("Levinson-Durbin", {"r": r, "y": y, "z": z}, "y", reference, {"n": n}, **DOUBLE)


@sv.kernel(serial=True)
def sv_levinson(r: f64_1, y: f64_1, z: f64_1):
    y[0] = -r[0]
    alpha, beta = -r[0], 1.0
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        total = r[k]
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -total / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


def nb_levinson(r, y, z):
    y[0] = -r[0]
    alpha, beta = -r[0], 1.0
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        total = r[k]
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -total / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha


ENTRIES = {
    "smoothing": Entry(smoothing, "a b int:n int:steps", "a b steps", sv_smoothing, nb_smoothing, serial=True),
    "heat": Entry(heat, "a b int:n int:steps", "a b steps", sv_heat, nb_heat, serial=True),
    "waves": Entry(waves, "ex ey hz int:n int:steps", "ex ey hz steps", sv_waves, nb_waves, serial=True),
    "conjugate_gradient": Entry(
        conjugate_gradient,
        "b x r p q int:n int:steps",
        "b x r p q steps",
        sv_conjugate_gradient,
        nb_conjugate_gradient,
        serial=True,
    ),
    "fourier": Entry(
        fourier, "re im order cosine sine x y int:rows int:n", "re im order cosine sine x y", sv_fourier, nb_fourier
    ),
    "sieve": Entry(sieve, "composite count int:n", "composite count", sv_sieve, nb_sieve, serial=True),
    "levinson": Entry(levinson, "r y z int:n", "r y z", sv_levinson, nb_levinson, serial=True),
}
