"""The lengths of Collatz sequences, with 64-bit numbers."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu, default_ip=qd.i64)


@qd.kernel
def lengths(out: qd.types.ndarray(dtype=qd.i64, ndim=1)):
    for i in range(out.shape[0]):
        value, steps = i + 1, 0
        while value != 1:
            value = value // 2 if value % 2 == 0 else 3 * value + 1
            steps += 1
        out[i] = steps


out = np.zeros(500, np.int64)
lengths(out)
results = {"lengths": out}
