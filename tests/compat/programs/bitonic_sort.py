"""A bitonic sorting network over an array of keys with values."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 256


@qd.kernel
def stage(keys: qd.types.ndarray(qd.u32, 1), values: qd.types.ndarray(qd.i32, 1), k: qd.i32, j: qd.i32):
    for i in range(keys.shape[0]):
        other = i ^ j
        if other > i:
            ascending = (i & k) == 0
            if (keys[i] > keys[other]) == ascending:
                key, value = keys[i], values[i]
                keys[i], values[i] = keys[other], values[other]
                keys[other], values[other] = key, value


keys = qd.ndarray(qd.u32, n)
values = qd.ndarray(qd.i32, n)
keys.from_numpy(np.random.default_rng(5).permutation(100000)[:n].astype(np.uint32) * 37)
values.from_numpy(np.arange(n, dtype=np.int32))
k = 2
while k <= n:
    j = k // 2
    while j > 0:
        stage(keys, values, k, j)
        j //= 2
    k *= 2
results = {"keys": keys.to_numpy(), "values": values.to_numpy()}
