"""Products, inverses, determinants, traces and transposes of small matrices."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 10
A = qd.Matrix.field(3, 3, dtype=qd.f32, shape=n)
B = qd.Matrix.field(3, 3, dtype=qd.f32, shape=n)
numbers = qd.field(qd.f32, shape=(n, 4))
v = qd.Vector.field(3, qd.f32, shape=n)


@qd.kernel
def compute():
    for i in A:
        m = A[i] + 2.0 * qd.Matrix.identity(qd.f32, 3)
        B[i] = m @ m.transpose() - m.inverse()
        numbers[i, 0] = m.determinant()
        numbers[i, 1] = m.trace()
        numbers[i, 2] = m.norm()
        numbers[i, 3] = m.max() - m.min() + m.sum()
        w = m @ qd.Vector([1.0, 2.0, 3.0])
        v[i] = w.cross(qd.Vector([0.0, 1.0, 0.0])) + qd.Vector([m[0, 0], m[1, 1], m[2, 2]])


A.from_numpy(np.random.default_rng(10).random((n, 3, 3)).astype(np.float32))
compute()
results = {"B": B.to_numpy(), "numbers": numbers.to_numpy(), "v": v.to_numpy()}
