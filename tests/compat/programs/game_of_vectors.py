"""Swizzles, element-wise functions and comparisons of vectors."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 20
a = qd.Vector.field(4, qd.f32, n)
b = qd.Vector.field(3, qd.f32, n)
flags = qd.field(qd.i32, (n, 4))


@qd.kernel
def compute():
    for i in a:
        v = a[i]
        w = v.zyx * 2.0 + v.xxy
        w.xy = w.yx
        b[i] = qd.max(qd.sin(w), 0.25) + qd.math.fract(w) + qd.floor(w) - qd.math.sign(w - 1)
        b[i].z += qd.math.mix(v.x, v.y, 0.3) + qd.math.smoothstep(0.0, 1.0, v.z)
        flags[i, 0] = qd.cast(v > 0.5, qd.i32).sum()
        flags[i, 1] = (v > 0.1).all()
        flags[i, 2] = qd.select(v.x > v.y, 3, 4)
        flags[i, 3] = qd.cast(v * 10, qd.i32).max()


a.from_numpy(np.random.default_rng(18).random((n, 4)).astype(np.float32))
compute()
results = {"b": b.to_numpy(), "flags": flags.to_numpy()}
