"""A picture that is blurred, sharpened and thresholded, with weights that are templates."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)


@qd.kernel
def blur(source: qd.types.ndarray(ndim=3), out: qd.types.ndarray(ndim=3), radius: qd.template()):
    for i, j, c in out:
        total, count = 0.0, 0
        for di, dj in qd.static(qd.ndrange((-radius, radius + 1), (-radius, radius + 1))):
            a, b = i + di, j + dj
            if 0 <= a < source.shape[0] and 0 <= b < source.shape[1]:
                total += source[a, b, c]
                count += 1
        out[i, j, c] = total / count


@qd.kernel
def to_bytes(source: qd.types.ndarray(ndim=3), blurred: qd.types.ndarray(ndim=3), out: qd.types.ndarray(qd.u8, 2)):
    for i, j in out:
        sharp = 0.0
        for c in range(3):
            sharp += 1.5 * source[i, j, c] - 0.5 * blurred[i, j, c]
        out[i, j] = qd.cast(qd.math.clamp(sharp / 3, 0.0, 1.0) * 255 + 0.25, qd.u8)


source = np.random.default_rng(19).random((16, 20, 3)).astype(np.float32)
once, twice, bytes_ = np.zeros_like(source), np.zeros_like(source), np.zeros((16, 20), np.uint8)
blur(source, once, 1)
blur(once, twice, 2)
to_bytes(source, twice, bytes_)
results = {"twice": twice, "bytes": bytes_ // 8}
