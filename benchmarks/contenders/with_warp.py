"""Warp on the CPU, where a launch runs on one thread. Launches are recorded once, which is its fastest way to call.

The last dimension is a loop inside the thread where that lets its compiler vectorize.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp
from problems import BINS, Problem

LABEL = "Warp"
PARTS = 64
Run = Callable[[], None]

wp.config.quiet = True
wp.config.log_level = getattr(wp, "LOG_ERROR", 40)
wp.init()
wp.set_module_options({"fast_math": True, "enable_backward": False})

bins = wp.constant(BINS)
parts = wp.constant(PARTS)


@wp.kernel
def axpy(a: wp.float32, x: wp.array(dtype=wp.float32), y: wp.array(dtype=wp.float32)):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def stencil_2d(
    center: wp.float32, side: wp.float32, source: wp.array2d(dtype=wp.float32), target: wp.array2d(dtype=wp.float32)
):
    i = wp.tid() + 1
    for j in range(1, source.shape[1] - 1):
        around = source[i - 1, j] + source[i + 1, j] + source[i, j - 1] + source[i, j + 1]
        target[i, j] = center * source[i, j] + side * around


@wp.kernel
def stencil_3d(
    center: wp.float32, side: wp.float32, source: wp.array3d(dtype=wp.float32), target: wp.array3d(dtype=wp.float32)
):
    left, right = wp.tid()
    i = left + 1
    j = right + 1
    for k in range(1, source.shape[2] - 1):
        around = source[i - 1, j, k] + source[i + 1, j, k] + source[i, j - 1, k] + source[i, j + 1, k]
        around += source[i, j, k - 1] + source[i, j, k + 1]
        target[i, j, k] = center * source[i, j, k] + side * around


@wp.kernel
def total(x: wp.array(dtype=wp.float32), out: wp.array(dtype=wp.float32)):
    # One sum over everything would lose single precision, so a thread has its part of the range.
    part = wp.tid()
    if part == 0:
        out[0] = 0.0
    result = wp.float32(0.0)
    for i in range(part * (x.shape[0] // parts), (part + 1) * (x.shape[0] // parts)):
        result += x[i]
    wp.atomic_add(out, 0, result)


@wp.kernel
def dot(x: wp.array(dtype=wp.float32), y: wp.array(dtype=wp.float32), out: wp.array(dtype=wp.float32)):
    part = wp.tid()
    if part == 0:
        out[0] = 0.0
    result = wp.float32(0.0)
    for i in range(part * (x.shape[0] // parts), (part + 1) * (x.shape[0] // parts)):
        result += x[i] * y[i]
    wp.atomic_add(out, 0, result)


@wp.kernel
def histogram(keys: wp.array(dtype=wp.int32), counts: wp.array(dtype=wp.int32)):
    for b in range(bins):
        counts[b] = 0
    for i in range(keys.shape[0]):
        counts[keys[i]] = counts[keys[i]] + 1


@wp.kernel
def matmul(a: wp.array2d(dtype=wp.float32), b: wp.array2d(dtype=wp.float32), c: wp.array2d(dtype=wp.float32)):
    i = wp.tid()
    for j in range(b.shape[1]):
        c[i, j] = 0.0
    for k in range(a.shape[1]):
        factor = a[i, k]
        for j in range(b.shape[1]):
            c[i, j] = c[i, j] + factor * b[k, j]


@wp.kernel
def nbody(
    x: wp.array(dtype=wp.float32),
    y: wp.array(dtype=wp.float32),
    z: wp.array(dtype=wp.float32),
    mass: wp.array(dtype=wp.float32),
    ax: wp.array(dtype=wp.float32),
    ay: wp.array(dtype=wp.float32),
    az: wp.array(dtype=wp.float32),
    softening: wp.float32,
):
    i = wp.tid()
    sx = wp.float32(0.0)
    sy = wp.float32(0.0)
    sz = wp.float32(0.0)
    for j in range(x.shape[0]):
        dx = x[j] - x[i]
        dy = y[j] - y[i]
        dz = z[j] - z[i]
        inverse = 1.0 / wp.sqrt(dx * dx + dy * dy + dz * dz + softening)
        weight = mass[j] * inverse * inverse * inverse
        sx += weight * dx
        sy += weight * dy
        sz += weight * dz
    ax[i] = sx
    ay[i] = sy
    az[i] = sz


@wp.kernel
def mandelbrot(iterations: wp.array2d(dtype=wp.int32), limit: wp.int32):
    i, j = wp.tid()
    cx = -2.0 + wp.float32(j) * (3.0 / wp.float32(iterations.shape[1]))
    cy = -1.0 + wp.float32(i) * (2.0 / wp.float32(iterations.shape[0]))
    zx = wp.float32(0.0)
    zy = wp.float32(0.0)
    k = wp.int32(0)
    while k < limit and zx * zx + zy * zy < 4.0:
        following = zx * zx - zy * zy + cx
        zy = 2.0 * zx * zy + cy
        zx = following
        k += 1
    iterations[i, j] = k


@wp.func
def cumulative_normal(d: wp.float32):
    size = wp.abs(d)
    k = 1.0 / (1.0 + 0.2316419 * size)
    polynomial = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.39894228 * wp.exp(-0.5 * size * size) * polynomial
    return wp.where(d > 0.0, 1.0 - tail, tail)


@wp.kernel
def black_scholes(
    price: wp.array(dtype=wp.float32),
    strike: wp.array(dtype=wp.float32),
    years: wp.array(dtype=wp.float32),
    call: wp.array(dtype=wp.float32),
    put: wp.array(dtype=wp.float32),
    rate: wp.float32,
    volatility: wp.float32,
):
    i = wp.tid()
    root = volatility * wp.sqrt(years[i])
    d1 = (wp.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / root
    n1 = cumulative_normal(d1)
    n2 = cumulative_normal(d1 - root)
    discounted = strike[i] * wp.exp(-rate * years[i])
    call[i] = price[i] * n1 - discounted * n2
    put[i] = discounted * (1.0 - n2) - price[i] * (1.0 - n1)


@wp.kernel
def lcg(seeds: wp.array(dtype=wp.uint32), out: wp.array(dtype=wp.uint32), rounds: wp.int32):
    i = wp.tid()
    state = seeds[i]
    for _k in range(rounds):
        state = state * wp.uint32(1664525) + wp.uint32(1013904223)
    out[i] = state


def caller(kernel: Any, extent: Callable[[Problem], int | tuple[int, ...]], *names: str) -> Callable[[Problem], Run]:
    """A recorded launch of `kernel` over `extent`; buffers are wrapped, not copied."""

    def prepare(problem: Problem) -> Run:
        arguments = []
        for name in names:
            value = problem.arrays.get(name, problem.scalars.get(name))
            if isinstance(value, np.ndarray):
                value = wp.array(value, dtype=wp.dtype_from_numpy(value.dtype), device="cpu", copy=False)
            arguments.append(value)
        command = wp.launch(kernel, dim=extent(problem), inputs=arguments, device="cpu", record_cmd=True)
        return lambda: command.launch()

    return prepare


def size(problem: Problem) -> int:
    return int(problem.scalars["n"])


KERNELS: dict[str, Callable[[Problem], Run]] = {
    "axpy": caller(axpy, size, "a", "x", "y"),
    "stencil_2d": caller(stencil_2d, lambda p: size(p) - 2, "center", "side", "source", "target"),
    "stencil_3d": caller(stencil_3d, lambda p: (size(p) - 2, size(p) - 2), "center", "side", "source", "target"),
    "sum": caller(total, lambda p: PARTS, "x", "out"),
    "dot": caller(dot, lambda p: PARTS, "x", "y", "out"),
    "histogram": caller(histogram, lambda p: 1, "keys", "counts"),
    "matmul": caller(matmul, size, "a", "b", "c"),
    "nbody": caller(nbody, size, "x", "y", "z", "mass", "ax", "ay", "az", "softening"),
    "mandelbrot": caller(mandelbrot, lambda p: p.arrays["iterations"].shape, "iterations", "limit"),
    "black_scholes": caller(black_scholes, size, "price", "strike", "years", "call", "put", "rate", "volatility"),
    "lcg": caller(lcg, size, "seeds", "out", "rounds"),
}
