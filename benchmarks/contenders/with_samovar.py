"""Samovar: each kernel as a user would write it, on NumPy's buffers as they are."""

from collections.abc import Callable

from problems import BINS, Problem
from throughput_kernels import ENTRIES

import samovar as sv

LABEL = "Samovar"
Run = Callable[[], None]

f32_1 = sv.types.NDArray[sv.f32, 1]
f32_2 = sv.types.NDArray[sv.f32, 2]
f32_3 = sv.types.NDArray[sv.f32, 3]
i32_1 = sv.types.NDArray[sv.i32, 1]
i32_2 = sv.types.NDArray[sv.i32, 2]
u32_1 = sv.types.NDArray[sv.u32, 1]


@sv.kernel
def axpy(a: sv.f32, x: f32_1, y: f32_1):
    for i in range(x.shape[0]):
        y[i] = a * x[i] + y[i]


@sv.kernel
def stencil_2d(center: sv.f32, side: sv.f32, source: f32_2, target: f32_2):
    for i, j in sv.ndrange((1, source.shape[0] - 1), (1, source.shape[1] - 1)):
        around = source[i - 1, j] + source[i + 1, j] + source[i, j - 1] + source[i, j + 1]
        target[i, j] = center * source[i, j] + side * around


@sv.kernel
def stencil_3d(center: sv.f32, side: sv.f32, source: f32_3, target: f32_3):
    for i, j, k in sv.ndrange((1, source.shape[0] - 1), (1, source.shape[1] - 1), (1, source.shape[2] - 1)):
        around = source[i - 1, j, k] + source[i + 1, j, k] + source[i, j - 1, k] + source[i, j + 1, k]
        around += source[i, j, k - 1] + source[i, j, k + 1]
        target[i, j, k] = center * source[i, j, k] + side * around


@sv.kernel
def total(x: f32_1, out: f32_1):
    out[0] = 0.0
    for i in range(x.shape[0]):
        out[0] += x[i]


@sv.kernel
def dot(x: f32_1, y: f32_1, out: f32_1):
    out[0] = 0.0
    for i in range(x.shape[0]):
        out[0] += x[i] * y[i]


@sv.kernel
def histogram(keys: i32_1, counts: i32_1):
    for b in range(BINS):
        counts[b] = 0
    for i in range(keys.shape[0]):
        counts[keys[i]] += 1


@sv.kernel
def matmul(a: f32_2, b: f32_2, c: f32_2):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
        for k in range(a.shape[1]):
            factor = a[i, k]
            for j in range(b.shape[1]):
                c[i, j] += factor * b[k, j]


@sv.kernel
def nbody(x: f32_1, y: f32_1, z: f32_1, mass: f32_1, ax: f32_1, ay: f32_1, az: f32_1, softening: sv.f32):
    for i in range(x.shape[0]):
        xi, yi, zi = x[i], y[i], z[i]
        sx, sy, sz = 0.0, 0.0, 0.0
        for j in range(x.shape[0]):
            dx, dy, dz = x[j] - xi, y[j] - yi, z[j] - zi
            inverse = sv.rsqrt(dx * dx + dy * dy + dz * dz + softening)
            weight = mass[j] * inverse * inverse * inverse
            sx += weight * dx
            sy += weight * dy
            sz += weight * dz
        ax[i] = sx
        ay[i] = sy
        az[i] = sz


@sv.kernel
def mandelbrot(iterations: i32_2, limit: sv.i32):
    for i, j in iterations:
        cx = -2.0 + j * (3.0 / iterations.shape[1])
        cy = -1.0 + i * (2.0 / iterations.shape[0])
        zx, zy = 0.0, 0.0
        k = 0
        while k < limit and zx * zx + zy * zy < 4.0:
            following = zx * zx - zy * zy + cx
            zy = 2.0 * zx * zy + cy
            zx = following
            k += 1
        iterations[i, j] = k


@sv.func
def cumulative_normal(d):
    size = abs(d)
    k = 1.0 / (1.0 + 0.2316419 * size)
    polynomial = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.39894228 * sv.exp(-0.5 * size * size) * polynomial
    return 1.0 - tail if d > 0.0 else tail


@sv.kernel
def black_scholes(price: f32_1, strike: f32_1, years: f32_1, call: f32_1, put: f32_1, rate: sv.f32, volatility: sv.f32):
    for i in range(price.shape[0]):
        root = volatility * sv.sqrt(years[i])
        d1 = (sv.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / root
        n1, n2 = cumulative_normal(d1), cumulative_normal(d1 - root)
        discounted = strike[i] * sv.exp(-rate * years[i])
        call[i] = price[i] * n1 - discounted * n2
        put[i] = discounted * (1.0 - n2) - price[i] * (1.0 - n1)


@sv.kernel
def lcg(seeds: u32_1, out: u32_1, rounds: sv.i32):
    for i in range(seeds.shape[0]):
        state = seeds[i]
        for _ in range(rounds):
            state = state * 1664525 + 1013904223
        out[i] = state


def caller(kernel: Callable[..., None], *names: str) -> Callable[[Problem], Run]:
    def prepare(problem: Problem) -> Run:
        arguments = [problem.arrays.get(name, problem.scalars.get(name)) for name in names]
        return lambda: kernel(*arguments)

    return prepare


KERNELS: dict[str, Callable[[Problem], Run]] = {
    "axpy": caller(axpy, "a", "x", "y"),
    "stencil_2d": caller(stencil_2d, "center", "side", "source", "target"),
    "stencil_3d": caller(stencil_3d, "center", "side", "source", "target"),
    "sum": caller(total, "x", "out"),
    "dot": caller(dot, "x", "y", "out"),
    "histogram": caller(histogram, "keys", "counts"),
    "matmul": caller(matmul, "a", "b", "c"),
    "nbody": caller(nbody, "x", "y", "z", "mass", "ax", "ay", "az", "softening"),
    "mandelbrot": caller(mandelbrot, "iterations", "limit"),
    "black_scholes": caller(black_scholes, "price", "strike", "years", "call", "put", "rate", "volatility"),
    "lcg": caller(lcg, "seeds", "out", "rounds"),
    **{name: caller(entry.samovar, *entry.names.split()) for name, entry in ENTRIES.items()},
}
