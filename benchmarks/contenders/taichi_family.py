"""The kernels for Taichi and for Quadrants, which share their language: `kernels(module)` defines them for one.

Best spellings, found by trying: sums and histograms are split into one part per thread by hand, because an
augmented assignment to an element of an ndarray is a true atomic there.
"""

from collections.abc import Callable
from typing import Any

from problems import BINS, Problem

Run = Callable[[], None]


def kernels(ti: Any, threads: int) -> dict[str, Callable[[Problem], Run]]:
    f32_1 = ti.types.ndarray(dtype=ti.f32, ndim=1)
    f32_2 = ti.types.ndarray(dtype=ti.f32, ndim=2)
    f32_3 = ti.types.ndarray(dtype=ti.f32, ndim=3)
    i32_1 = ti.types.ndarray(dtype=ti.i32, ndim=1)
    i32_2 = ti.types.ndarray(dtype=ti.i32, ndim=2)
    u32_1 = ti.types.ndarray(dtype=ti.u32, ndim=1)

    @ti.kernel
    def axpy(a: ti.f32, x: f32_1, y: f32_1):
        for i in range(x.shape[0]):
            y[i] = a * x[i] + y[i]

    @ti.kernel
    def stencil_2d(center: ti.f32, side: ti.f32, source: f32_2, target: f32_2):
        for i in range(1, source.shape[0] - 1):
            for j in range(1, source.shape[1] - 1):
                around = source[i - 1, j] + source[i + 1, j] + source[i, j - 1] + source[i, j + 1]
                target[i, j] = center * source[i, j] + side * around

    @ti.kernel
    def stencil_3d(center: ti.f32, side: ti.f32, source: f32_3, target: f32_3):
        for i in range(1, source.shape[0] - 1):
            for j in range(1, source.shape[1] - 1):
                for k in range(1, source.shape[2] - 1):
                    around = source[i - 1, j, k] + source[i + 1, j, k] + source[i, j - 1, k] + source[i, j + 1, k]
                    around += source[i, j, k - 1] + source[i, j, k + 1]
                    target[i, j, k] = center * source[i, j, k] + side * around

    @ti.kernel
    def total(x: f32_1, out: f32_1):
        out[0] = 0.0
        part = (x.shape[0] + threads - 1) // threads
        for thread in range(threads):
            result = 0.0
            for i in range(thread * part, ti.min((thread + 1) * part, x.shape[0])):
                result += x[i]
            out[0] += result

    @ti.kernel
    def dot(x: f32_1, y: f32_1, out: f32_1):
        out[0] = 0.0
        part = (x.shape[0] + threads - 1) // threads
        for thread in range(threads):
            result = 0.0
            for i in range(thread * part, ti.min((thread + 1) * part, x.shape[0])):
                result += x[i] * y[i]
            out[0] += result

    @ti.kernel
    def histogram(keys: i32_1, counts: i32_1, private: i32_2):
        part = (keys.shape[0] + threads - 1) // threads
        for thread in range(threads):
            for b in range(BINS):
                private[thread, b] = 0
            for i in range(thread * part, ti.min((thread + 1) * part, keys.shape[0])):
                private[thread, keys[i]] = private[thread, keys[i]] + 1
        for b in range(BINS):
            result = 0
            for thread in range(threads):
                result += private[thread, b]
            counts[b] = result

    @ti.kernel
    def matmul(a: f32_2, b: f32_2, c: f32_2):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                c[i, j] = 0.0
            for k in range(a.shape[1]):
                factor = a[i, k]
                for j in range(b.shape[1]):
                    c[i, j] = c[i, j] + factor * b[k, j]

    @ti.kernel
    def nbody(x: f32_1, y: f32_1, z: f32_1, mass: f32_1, ax: f32_1, ay: f32_1, az: f32_1, softening: ti.f32):
        for i in range(x.shape[0]):
            xi, yi, zi = x[i], y[i], z[i]
            sx, sy, sz = 0.0, 0.0, 0.0
            for j in range(x.shape[0]):
                dx, dy, dz = x[j] - xi, y[j] - yi, z[j] - zi
                inverse = ti.rsqrt(dx * dx + dy * dy + dz * dz + softening)
                weight = mass[j] * inverse * inverse * inverse
                sx += weight * dx
                sy += weight * dy
                sz += weight * dz
            ax[i] = sx
            ay[i] = sy
            az[i] = sz

    @ti.kernel
    def mandelbrot(iterations: i32_2, limit: ti.i32):
        for i, j in iterations:
            step_x = 3.0 / ti.cast(iterations.shape[1], ti.f32)
            step_y = 2.0 / ti.cast(iterations.shape[0], ti.f32)
            cx, cy = -2.0 + j * step_x, -1.0 + i * step_y
            zx, zy = 0.0, 0.0
            k = 0
            while k < limit and zx * zx + zy * zy < 4.0:
                following = zx * zx - zy * zy + cx
                zy = 2.0 * zx * zy + cy
                zx = following
                k += 1
            iterations[i, j] = k

    @ti.func
    def cumulative_normal(d):
        size = ti.abs(d)
        k = 1.0 / (1.0 + 0.2316419 * size)
        polynomial = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        tail = 0.39894228 * ti.exp(-0.5 * size * size) * polynomial
        return ti.select(d > 0.0, 1.0 - tail, tail)

    @ti.kernel
    def black_scholes(
        price: f32_1, strike: f32_1, years: f32_1, call: f32_1, put: f32_1, rate: ti.f32, volatility: ti.f32
    ):
        for i in range(price.shape[0]):
            root = volatility * ti.sqrt(years[i])
            d1 = (ti.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / root
            n1, n2 = cumulative_normal(d1), cumulative_normal(d1 - root)
            discounted = strike[i] * ti.exp(-rate * years[i])
            call[i] = price[i] * n1 - discounted * n2
            put[i] = discounted * (1.0 - n2) - price[i] * (1.0 - n1)

    @ti.kernel
    def lcg(seeds: u32_1, out: u32_1, rounds: ti.i32):
        for i in range(seeds.shape[0]):
            state = seeds[i]
            for _ in range(rounds):
                state = state * ti.u32(1664525) + ti.u32(1013904223)
            out[i] = state

    def caller(function: Callable[..., None], *names: str) -> Callable[[Problem], Run]:
        def prepare(problem: Problem) -> Run:
            arguments = [problem.arrays.get(name, problem.scalars.get(name)) for name in names]
            return lambda: function(*arguments)

        return prepare

    def prepare_histogram(problem: Problem) -> Run:
        private = ti.ndarray(dtype=ti.i32, shape=(threads, BINS))
        keys, counts = problem.arrays["keys"], problem.arrays["counts"]
        return lambda: histogram(keys, counts, private)

    return {
        "axpy": caller(axpy, "a", "x", "y"),
        "stencil_2d": caller(stencil_2d, "center", "side", "source", "target"),
        "stencil_3d": caller(stencil_3d, "center", "side", "source", "target"),
        "sum": caller(total, "x", "out"),
        "dot": caller(dot, "x", "y", "out"),
        "histogram": prepare_histogram,
        "matmul": caller(matmul, "a", "b", "c"),
        "nbody": caller(nbody, "x", "y", "z", "mass", "ax", "ay", "az", "softening"),
        "mandelbrot": caller(mandelbrot, "iterations", "limit"),
        "black_scholes": caller(black_scholes, "price", "strike", "years", "call", "put", "rate", "volatility"),
        "lcg": caller(lcg, "seeds", "out", "rounds"),
    }
