"""The problems of the throughput benchmark: buffers, scalars, sizes, and what the result must be.

Every contender works on the very same NumPy buffers (64-byte aligned, so that nobody is favored by luck), and
is compared with a reference calculated here by NumPy before anything is timed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]
Arrays = dict[str, Array]

ALIGNMENT = 64
BINS = 256


@dataclass(frozen=True)
class Problem:
    """One problem of one size. `arrays` holds inputs and outputs; `start` the first contents of what is overwritten."""

    name: str
    arrays: Arrays
    scalars: dict[str, int | float]
    outputs: tuple[str, ...]
    reference: Callable[[], Arrays]
    gigabytes: float = 0.0
    gigaflops: float = 0.0
    relative: float = 1e-5
    absolute: float = 0.0
    differing: float = 0.0
    start: Arrays = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.outputs:
            self.start.setdefault(name, self.arrays[name].copy())

    def reset(self) -> None:
        """Bring every output back to its first contents."""
        for name in self.outputs:
            self.arrays[name][...] = self.start[name]

    def difference(self, expected: Arrays) -> str | None:
        """What is wrong with the outputs, or None. `differing` is the fraction of elements allowed to be off."""
        for name in self.outputs:
            found = self.arrays[name].astype(np.float64)
            wanted = expected[name].astype(np.float64)
            off = ~np.isclose(found, wanted, rtol=self.relative, atol=self.absolute)
            if np.count_nonzero(off) > self.differing * off.size:
                where = tuple(int(axis) for axis in np.argwhere(off)[0])
                count = np.count_nonzero(off)
                return f"{name}{list(where)} is {found[where]!r}, expected {wanted[where]!r} ({count} differ)"
        return None


def aligned(shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> Array:
    """A zeroed array whose first element lies on a cache line."""
    kind = np.dtype(dtype)
    size = int(np.prod(shape)) * kind.itemsize
    raw = np.zeros(size + ALIGNMENT, dtype=np.uint8)
    offset = -raw.ctypes.data % ALIGNMENT
    return raw[offset : offset + size].view(kind).reshape(shape)


def filled(values: npt.NDArray[np.generic]) -> Array:
    """An aligned copy of `values`."""
    result = aligned(values.shape, values.dtype)
    result[...] = values
    return result


def uniform(low: float, high: float, shape: int | tuple[int, ...], seed: int) -> Array:
    values = np.random.default_rng(seed).random(shape, dtype=np.float32)
    return filled(np.float32(low) + np.float32(high - low) * values)


def axpy(scale: float) -> Problem:
    n = int(scale * (1 << 24))
    a, x, y = 0.75, uniform(0, 1, n, 1), uniform(0, 1, n, 2)
    before = y.copy()
    return Problem(
        "axpy",
        {"x": x, "y": y},
        {"a": a, "n": n},
        ("y",),
        reference=lambda: {"y": np.float32(a) * x + before},
        gigabytes=12e-9 * n,
        relative=1e-6,
    )


def stencil_2d(scale: float) -> Problem:
    n = int(scale**0.5 * 4096)
    center, side = 0.5, 0.125
    source, target = uniform(0, 1, (n, n), 3), aligned((n, n), np.float32)

    def reference() -> Arrays:
        out = np.zeros_like(source)
        around = source[:-2, 1:-1] + source[2:, 1:-1] + source[1:-1, :-2] + source[1:-1, 2:]
        out[1:-1, 1:-1] = np.float32(center) * source[1:-1, 1:-1] + np.float32(side) * around
        return {"target": out}

    return Problem(
        "stencil 2-D",
        {"source": source, "target": target},
        {"center": center, "side": side, "n": n},
        ("target",),
        reference,
        gigabytes=8e-9 * n * n,
        relative=1e-6,
    )


def stencil_3d(scale: float) -> Problem:
    n = int(scale ** (1 / 3) * 256)
    center, side = 0.4, 0.1
    source, target = uniform(0, 1, (n, n, n), 4), aligned((n, n, n), np.float32)

    def reference() -> Arrays:
        out = np.zeros_like(source)
        inner = slice(1, -1)
        around = source[:-2, inner, inner] + source[2:, inner, inner]
        around = around + source[inner, :-2, inner] + source[inner, 2:, inner]
        around = around + source[inner, inner, :-2] + source[inner, inner, 2:]
        out[inner, inner, inner] = np.float32(center) * source[inner, inner, inner] + np.float32(side) * around
        return {"target": out}

    return Problem(
        "stencil 3-D",
        {"source": source, "target": target},
        {"center": center, "side": side, "n": n},
        ("target",),
        reference,
        gigabytes=8e-9 * n**3,
        relative=1e-6,
    )


def total(scale: float) -> Problem:
    n = int(scale * (1 << 24))
    x, out = uniform(0, 1, n, 5), aligned(1, np.float32)
    return Problem(
        "sum",
        {"x": x, "out": out},
        {"n": n},
        ("out",),
        reference=lambda: {"out": np.array([x.sum(dtype=np.float64)])},
        gigabytes=4e-9 * n,
        relative=1e-3,
    )


def dot(scale: float) -> Problem:
    n = int(scale * (1 << 24))
    x, y, out = uniform(0, 1, n, 6), uniform(0, 1, n, 7), aligned(1, np.float32)
    return Problem(
        "dot",
        {"x": x, "y": y, "out": out},
        {"n": n},
        ("out",),
        reference=lambda: {"out": np.array([np.dot(x.astype(np.float64), y.astype(np.float64))])},
        gigabytes=8e-9 * n,
        relative=1e-3,
    )


def histogram(scale: float) -> Problem:
    n = int(scale * (1 << 24))
    keys = filled(np.random.default_rng(8).integers(0, BINS, n, dtype=np.int32))
    counts = aligned(BINS, np.int32)
    return Problem(
        "histogram",
        {"keys": keys, "counts": counts},
        {"n": n},
        ("counts",),
        reference=lambda: {"counts": np.bincount(keys, minlength=BINS)},
        gigabytes=4e-9 * n,
        relative=0.0,
    )


def matmul(scale: float) -> Problem:
    n = 512 if scale >= 1 else 192
    a, b, c = uniform(-1, 1, (n, n), 9), uniform(-1, 1, (n, n), 10), aligned((n, n), np.float32)
    return Problem(
        f"matmul {n}",
        {"a": a, "b": b, "c": c},
        {"n": n},
        ("c",),
        reference=lambda: {"c": a.astype(np.float64) @ b.astype(np.float64)},
        gigaflops=2e-9 * n**3,
        relative=1e-4,
        absolute=1e-4,
    )


def nbody(scale: float) -> Problem:
    n = int(scale**0.5 * 4096)
    softening = 1e-3
    arrays = {name: uniform(-1, 1, n, 11 + k) for k, name in enumerate(("x", "y", "z"))}
    arrays["mass"] = uniform(0.1, 1, n, 14)
    arrays |= {name: aligned(n, np.float32) for name in ("ax", "ay", "az")}

    def reference() -> Arrays:
        place = np.stack([arrays[name].astype(np.float64) for name in ("x", "y", "z")])
        mass = arrays["mass"].astype(np.float64)
        result = np.zeros((3, n))
        for first in range(0, n, 256):
            apart = place[:, None, :] - place[:, first : first + 256, None]
            weight = mass / (np.sum(apart * apart, axis=0) + softening) ** 1.5
            result[:, first : first + 256] = np.sum(weight * apart, axis=2)
        return {"ax": result[0], "ay": result[1], "az": result[2]}

    return Problem(
        "n-body",
        arrays,
        {"softening": softening, "n": n},
        ("ax", "ay", "az"),
        reference,
        gigaflops=20e-9 * n * n,
        relative=1e-3,
        absolute=1.0,
    )


def mandelbrot(scale: float) -> Problem:
    rows = int(scale**0.5 * 512)
    columns, limit = rows * 3 // 2, 200
    iterations = aligned((rows, columns), np.int32)

    def reference() -> Arrays:
        step_x, step_y = np.float32(3.0) / np.float32(columns), np.float32(2.0) / np.float32(rows)
        cx = (np.float32(-2.0) + np.arange(columns, dtype=np.float32) * step_x)[None, :]
        cy = (np.float32(-1.0) + np.arange(rows, dtype=np.float32) * step_y)[:, None]
        zx, zy = np.zeros((2, rows, columns), dtype=np.float32)
        count = np.zeros((rows, columns), dtype=np.int32)
        inside = np.ones((rows, columns), dtype=bool)
        for _ in range(limit):
            inside &= zx * zx + zy * zy < 4.0
            count += inside
            zx, zy = np.where(inside, zx * zx - zy * zy + cx, zx), np.where(inside, 2 * zx * zy + cy, zy)
        return {"iterations": count}

    # Contraction moves points near the border of the set, which is a fractal, by some iterations.
    return Problem(
        "mandelbrot",
        {"iterations": iterations},
        {"rows": rows, "columns": columns, "limit": limit},
        ("iterations",),
        reference,
        gigaflops=0.0,
        relative=0.0,
        differing=0.02,
    )


def black_scholes(scale: float) -> Problem:
    n = int(scale * (1 << 22))
    rate, volatility = 0.02, 0.3
    arrays = {"price": uniform(5, 30, n, 15), "strike": uniform(1, 100, n, 16), "years": uniform(0.25, 10, n, 17)}
    arrays |= {"call": aligned(n, np.float32), "put": aligned(n, np.float32)}

    def cumulative_normal(d: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        size = np.abs(d)
        k = 1 / (1 + 0.2316419 * size)
        terms = (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)
        polynomial = sum(term * k ** (power + 1) for power, term in enumerate(terms))
        tail = 0.39894228 * np.exp(-0.5 * size * size) * polynomial
        return np.where(d > 0, 1 - tail, tail)

    def reference() -> Arrays:
        price, strike, years = (arrays[name].astype(np.float64) for name in ("price", "strike", "years"))
        root = volatility * np.sqrt(years)
        d1 = (np.log(price / strike) + (rate + 0.5 * volatility**2) * years) / root
        n1, n2 = cumulative_normal(d1), cumulative_normal(d1 - root)
        discounted = strike * np.exp(-rate * years)
        return {"call": price * n1 - discounted * n2, "put": discounted * (1 - n2) - price * (1 - n1)}

    return Problem(
        "Black-Scholes",
        arrays,
        {"rate": rate, "volatility": volatility, "n": n},
        ("call", "put"),
        reference,
        gigabytes=20e-9 * n,
        relative=1e-3,
        absolute=2e-4,
    )


def lcg(scale: float) -> Problem:
    n, rounds = int(scale * (1 << 20)), 100
    seeds = filled(np.random.default_rng(18).integers(0, 2**32, n, dtype=np.uint32))
    out = aligned(n, np.uint32)

    def reference() -> Arrays:
        state = seeds.copy()
        for _ in range(rounds):
            state = state * np.uint32(1664525) + np.uint32(1013904223)
        return {"out": state}

    return Problem(
        "LCG",
        {"seeds": seeds, "out": out},
        {"n": n, "rounds": rounds},
        ("out",),
        reference,
        gigaflops=2e-9 * n * rounds,
        relative=0.0,
    )


PROBLEMS: dict[str, Callable[[float], Problem]] = {
    "axpy": axpy,
    "stencil_2d": stencil_2d,
    "stencil_3d": stencil_3d,
    "sum": total,
    "dot": dot,
    "histogram": histogram,
    "matmul": matmul,
    "nbody": nbody,
    "mandelbrot": mandelbrot,
    "black_scholes": black_scholes,
    "lcg": lcg,
}
