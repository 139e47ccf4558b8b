"""Escape times of the Mandelbrot set, as integers, in double precision."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu, default_fp=qd.f64)


@qd.kernel
def escape(times: qd.types.ndarray(dtype=qd.i32, ndim=2), limit: qd.i32):
    for i, j in qd.ndrange(times.shape[0], times.shape[1]):
        cr = -2.0 + 3.0 * (i + 0.5) / times.shape[0]
        ci = -1.5 + 3.0 * (j + 0.5) / times.shape[1]
        zr, zi = 0.0, 0.0
        count = 0
        for _ in range(limit):
            zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
            if zr * zr + zi * zi > 4:
                break
            count += 1
        times[i, j] = count


times = np.zeros((40, 40), np.int32)
escape(times, 60)
results = {"times": times}
