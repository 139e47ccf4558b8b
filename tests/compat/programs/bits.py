"""Functions of bits, and integer division of negative numbers."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)


@qd.kernel
def compute(x: qd.types.ndarray(qd.i32, 1), out: qd.types.ndarray(qd.i32, 2)):
    for i in x:
        out[i, 0] = qd.math.popcnt(x[i])
        out[i, 1] = qd.math.clz(x[i])
        out[i, 2] = x[i] // 7
        out[i, 3] = x[i] % 7
        out[i, 4] = x[i] & 0xFF
        out[i, 5] = (x[i] << 3) ^ (x[i] >> 2)
        out[i, 6] = qd.raw_mod(x[i], 7)
        out[i, 7] = qd.raw_div(x[i], 7)
        out[i, 8] = ~x[i] | 1


x = np.random.default_rng(13).integers(-(2**30), 2**30, 50).astype(np.int32)
out = np.zeros((50, 9), np.int32)
compute(x, out)
results = {"out": out}
