"""Sums over a range, with functions chosen at compile time."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu, default_fp=qd.f64)


@qd.func
def parabola(x):
    return x * x


@qd.func
def bell(x):
    return qd.exp(-x * x / 2) / qd.sqrt(2 * qd.math.pi)


@qd.func
def ripple(x):
    return qd.atan2(qd.sin(x), 1 + qd.cos(x) ** 2) + qd.tanh(x) * qd.log(1 + x * x)


@qd.kernel
def integrate(f: qd.template(), low: float, high: float, n: int) -> float:
    total = 0.0
    width = (high - low) / n
    for i in range(n):
        total += f(low + (i + 0.5) * width) * width
    return total


results = {"sums": np.array([integrate(f, -1.0, 2.0, 1000) for f in (parabola, bell, ripple)])}
