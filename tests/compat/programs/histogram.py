"""A histogram and its running sums, by atomics."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
bins = 16


@qd.kernel
def count(x: qd.types.ndarray(dtype=qd.f32, ndim=1), h: qd.types.ndarray(dtype=qd.i32, ndim=1)):
    for i in x:
        b = qd.min(qd.cast(x[i] * bins, qd.i32), bins - 1)
        qd.atomic_add(h[b], 1)


@qd.kernel
def extremes(x: qd.types.ndarray(dtype=qd.f32, ndim=1), lowest: qd.template(), highest: qd.template()):
    for i in x:
        qd.atomic_min(lowest[None], x[i])
        qd.atomic_max(highest[None], x[i])


@qd.kernel
def running(h: qd.types.ndarray(dtype=qd.i32, ndim=1), total: qd.types.ndarray(dtype=qd.i32, ndim=1)):
    qd.loop_config(serialize=True)
    for i in range(bins):
        total[i] = h[i]
        if i > 0:
            total[i] += total[i - 1]


x = (np.random.default_rng(7).random(5000) ** 2).astype(np.float32)
h, total = np.zeros(bins, np.int32), np.zeros(bins, np.int32)
lowest, highest = qd.field(qd.f32, ()), qd.field(qd.f32, ())
lowest[None], highest[None] = 10, -10
count(x, h)
running(h, total)
extremes(x, lowest, highest)
results = {"h": h, "total": total, "extremes": np.array([lowest[None], highest[None]], np.float32)}
