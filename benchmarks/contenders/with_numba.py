"""Numba: `njit(parallel=True, fastmath=True)`, each kernel in the spelling that Numba compiles best.

Single precision needs every literal as np.float32, or Numba calculates in double.
"""

import math
from collections.abc import Callable

import numpy as np
from numba import get_num_threads, njit, parallel_chunksize, prange
from problems import BINS, Problem
from throughput_kernels import ENTRIES

LABEL = "Numba"
Run = Callable[[], None]

f32 = np.float32
ZERO, HALF, ONE, TWO, FOUR = f32(0), f32(0.5), f32(1), f32(2), f32(4)
SPAN_X, SPAN_Y = f32(3), f32(2)
NORMAL, SLOPE = f32(0.39894228), f32(0.2316419)
C1, C2, C3, C4, C5 = f32(0.319381530), f32(-0.356563782), f32(1.781477937), f32(-1.821255978), f32(1.330274429)

parallel = njit(parallel=True, fastmath=True)
serial = njit(fastmath=True)


@parallel
def axpy(a, x, y):
    for i in prange(x.shape[0]):
        y[i] = a * x[i] + y[i]


@parallel
def stencil_2d(center, side, source, target):
    for i in prange(1, source.shape[0] - 1):
        for j in range(1, source.shape[1] - 1):
            around = source[i - 1, j] + source[i + 1, j] + source[i, j - 1] + source[i, j + 1]
            target[i, j] = center * source[i, j] + side * around


@parallel
def stencil_3d(center, side, source, target):
    for i in prange(1, source.shape[0] - 1):
        for j in range(1, source.shape[1] - 1):
            for k in range(1, source.shape[2] - 1):
                around = source[i - 1, j, k] + source[i + 1, j, k] + source[i, j - 1, k] + source[i, j + 1, k]
                around += source[i, j, k - 1] + source[i, j, k + 1]
                target[i, j, k] = center * source[i, j, k] + side * around


@parallel
def total(x, out):
    result = ZERO
    for i in prange(x.shape[0]):
        result += x[i]
    out[0] = result


@parallel
def dot(x, y, out):
    result = ZERO
    for i in prange(x.shape[0]):
        result += x[i] * y[i]
    out[0] = result


@parallel
def histogram(keys, counts):
    # Private rows, one per thread; the unsigned key spares the test for a negative index.
    threads = get_num_threads()
    private = np.zeros((threads, BINS), dtype=np.int32)
    for thread in prange(threads):
        first = keys.shape[0] * thread // threads
        last = keys.shape[0] * (thread + 1) // threads
        mine = private[thread]
        for i in range(first, last):
            mine[np.uint32(keys[i])] += 1
    counts[:] = private.sum(axis=0)


@parallel
def matmul(a, b, c):
    for i in prange(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = ZERO
        for k in range(a.shape[1]):
            factor = a[i, k]
            for j in range(b.shape[1]):
                c[i, j] += factor * b[k, j]


@parallel
def nbody(x, y, z, mass, ax, ay, az, softening):
    for i in prange(x.shape[0]):
        xi, yi, zi = x[i], y[i], z[i]
        sx, sy, sz = ZERO, ZERO, ZERO
        for j in range(x.shape[0]):
            dx, dy, dz = x[j] - xi, y[j] - yi, z[j] - zi
            inverse = ONE / math.sqrt(dx * dx + dy * dy + dz * dz + softening)
            weight = mass[j] * inverse * inverse * inverse
            sx += weight * dx
            sy += weight * dy
            sz += weight * dz
        ax[i] = sx
        ay[i] = sy
        az[i] = sz


@parallel
def mandelbrot(iterations, limit):
    rows, columns = iterations.shape
    step_x, step_y = SPAN_X / f32(columns), SPAN_Y / f32(rows)
    with parallel_chunksize(4):
        for i in prange(rows):
            for j in range(columns):
                cx, cy = -TWO + f32(j) * step_x, -ONE + f32(i) * step_y
                zx, zy = ZERO, ZERO
                k = 0
                while k < limit and zx * zx + zy * zy < FOUR:
                    following = zx * zx - zy * zy + cx
                    zy = TWO * zx * zy + cy
                    zx = following
                    k += 1
                iterations[i, j] = k


@serial
def cumulative_normal(d):
    size = abs(d)
    k = ONE / (ONE + SLOPE * size)
    polynomial = k * (C1 + k * (C2 + k * (C3 + k * (C4 + k * C5))))
    tail = NORMAL * math.exp(-HALF * size * size) * polynomial
    return ONE - tail if d > ZERO else tail


@parallel
def black_scholes(price, strike, years, call, put, rate, volatility):
    for i in prange(price.shape[0]):
        root = volatility * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (rate + HALF * volatility * volatility) * years[i]) / root
        n1, n2 = cumulative_normal(d1), cumulative_normal(d1 - root)
        discounted = strike[i] * math.exp(-rate * years[i])
        call[i] = price[i] * n1 - discounted * n2
        put[i] = discounted * (ONE - n2) - price[i] * (ONE - n1)


@parallel
def lcg(seeds, out, rounds):
    for i in prange(seeds.shape[0]):
        state = seeds[i]
        for _ in range(rounds):
            state = np.uint32(state * np.uint32(1664525) + np.uint32(1013904223))
        out[i] = state


def caller(function: Callable[..., None], *names: str) -> Callable[[Problem], Run]:
    """A call of `function`; a name is a buffer or a scalar, floats are single."""

    def prepare(problem: Problem) -> Run:
        arguments = []
        for name in names:
            value = problem.arrays.get(name, problem.scalars.get(name))
            arguments.append(f32(value) if isinstance(value, float) else value)
        return lambda: function(*arguments)

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
    **{
        name: caller((serial if entry.serial else parallel)(entry.numba), *entry.names.split())
        for name, entry in ENTRIES.items()
    },
}
