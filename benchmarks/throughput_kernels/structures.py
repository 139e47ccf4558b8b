"""Structures that lie one after the other: colors, points, quaternions, vertices; and tables filled from themselves."""

import numpy as np
from problems import Problem

import samovar as sv
from throughput_kernels.entry import Entry, posed, random_floats, random_integers, zeros
from throughput_kernels.numba_names import prange

f32_2, f32_3 = (sv.types.NDArray[sv.f32, n] for n in (2, 3))
u8_2 = sv.types.NDArray[sv.u8, 2]
i32_1, i32_2, i32_3 = (sv.types.NDArray[sv.i32, n] for n in (1, 2, 3))
f32, i32 = np.float32, np.int32


def yuv(scale: float) -> Problem:
    n = int(scale * (1 << 19))
    rgb, out = random_integers(0, 256, (n, 3), 1, "u1"), zeros((n, 3), "u1")
    weights = np.array([[66, -38, 112], [129, -74, -94], [25, 112, -18]])
    reference = lambda: {"out": (rgb.astype(np.int64) @ weights + [4224, 32896, 32896]) >> 8}  # noqa: E731
    return posed("RGB to YUV", {"rgb": rgb, "out": out}, "out", reference, {"n": n})


@sv.kernel
def sv_yuv(rgb: u8_2, out: u8_2):
    for i in range(rgb.shape[0]):
        r, g, b = sv.i32(rgb[i, 0]), sv.i32(rgb[i, 1]), sv.i32(rgb[i, 2])
        out[i, 0] = sv.u8((66 * r + 129 * g + 25 * b + 4224) >> 8)
        out[i, 1] = sv.u8((-38 * r - 74 * g + 112 * b + 32896) >> 8)
        out[i, 2] = sv.u8((112 * r - 94 * g - 18 * b + 32896) >> 8)


def nb_yuv(rgb, out):
    for i in prange(rgb.shape[0]):
        r, g, b = i32(rgb[i, 0]), i32(rgb[i, 1]), i32(rgb[i, 2])
        out[i, 0] = np.uint8((i32(66) * r + i32(129) * g + i32(25) * b + i32(4224)) >> 8)
        out[i, 1] = np.uint8((i32(-38) * r - i32(74) * g + i32(112) * b + i32(32896)) >> 8)
        out[i, 2] = np.uint8((i32(112) * r - i32(94) * g - i32(18) * b + i32(32896)) >> 8)


def over(scale: float) -> Problem:
    n = int(scale * (1 << 18))
    front, back = (random_integers(0, 256, (n, 4), seed, "u1") for seed in (2, 3))
    out = zeros((n, 4), "u1")

    def reference():
        alpha = front[:, 3:].astype(np.int64)
        t = front.astype(np.int64) * alpha + back.astype(np.int64) * (255 - alpha) + 128
        found = (t + (t >> 8)) >> 8
        found[:, 3] = 255
        return {"out": found}

    return posed("colors over others", {"front": front, "back": back, "out": out}, "out", reference, {"n": n})


@sv.kernel
def sv_over(front: u8_2, back: u8_2, out: u8_2):
    for i in range(front.shape[0]):
        alpha = sv.i32(front[i, 3])
        for c in sv.static(range(3)):
            t = front[i, c] * alpha + back[i, c] * (255 - alpha) + 128
            out[i, c] = sv.u8((t + (t >> 8)) >> 8)
        out[i, 3] = sv.u8(255)


def nb_over(front, back, out):
    for i in prange(front.shape[0]):
        alpha = i32(front[i, 3])
        for c in range(3):
            t = i32(front[i, c]) * alpha + i32(back[i, c]) * (i32(255) - alpha) + i32(128)
            out[i, c] = np.uint8((t + (t >> i32(8))) >> i32(8))
        out[i, 3] = np.uint8(255)


def quaternions(scale: float) -> Problem:
    n = int(scale * (1 << 16))
    p, q, out = random_floats(-1, 1, (n, 4), 4), random_floats(-1, 1, (n, 4), 5), zeros((n, 4))

    def reference():
        (a, b, c, d), (w, x, y, z) = p.T, q.T
        parts = [a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y]
        parts += [a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w]
        return {"out": np.stack(parts, 1)}

    return posed("quaternions", {"p": p, "q": q, "out": out}, "out", reference, {"n": n})


@sv.kernel
def sv_quaternions(p: f32_2, q: f32_2, out: f32_2):
    for i in range(p.shape[0]):
        a, b, c, d = p[i, 0], p[i, 1], p[i, 2], p[i, 3]
        w, x, y, z = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
        out[i, 0] = a * w - b * x - c * y - d * z
        out[i, 1] = a * x + b * w + c * z - d * y
        out[i, 2] = a * y - b * z + c * w + d * x
        out[i, 3] = a * z + b * y - c * x + d * w


def nb_quaternions(p, q, out):
    for i in prange(p.shape[0]):
        a, b, c, d = p[i, 0], p[i, 1], p[i, 2], p[i, 3]
        w, x, y, z = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
        out[i, 0] = a * w - b * x - c * y - d * z
        out[i, 1] = a * x + b * w + c * z - d * y
        out[i, 2] = a * y - b * z + c * w + d * x
        out[i, 3] = a * z + b * y - c * x + d * w


def unit(scale: float) -> Problem:
    n = int(scale * (1 << 17))
    p, out = random_floats(0.1, 1, (n, 3), 6), zeros((n, 3))
    reference = lambda: {"out": p / np.sqrt((p * p).sum(1, keepdims=True))}  # noqa: E731
    return posed("vectors of length 1", {"p": p, "out": out}, "out", reference, {"n": n})


@sv.kernel
def sv_unit(p: f32_2, out: f32_2):
    for i in range(p.shape[0]):
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        s = 1.0 / sv.sqrt(x * x + y * y + z * z)
        out[i, 0], out[i, 1], out[i, 2] = s * x, s * y, s * z


def nb_unit(p, out):
    for i in prange(p.shape[0]):
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        s = f32(1) / np.sqrt(x * x + y * y + z * z)
        out[i, 0], out[i, 1], out[i, 2] = s * x, s * y, s * z


def skin(scale: float) -> Problem:
    n = int(scale * (1 << 15))
    p, weights, bones = (random_floats(-1, 1, shape, 7) for shape in ((n, 3), (n, 4), (4, 3, 4)))
    out = zeros((n, 3))

    def reference():
        moved = np.einsum("kij,nj->nki", bones[:, :, :3], p) + bones[:, :, 3]
        return {"out": np.einsum("nk,nki->ni", weights, moved)}

    arrays = {"p": p, "weights": weights, "bones": bones, "out": out}
    return posed("vertices on four bones", arrays, "out", reference, {"n": n})


@sv.kernel
def sv_skin(p: f32_2, weights: f32_2, bones: f32_3, out: f32_2):
    for i in range(p.shape[0]):
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        a, b, c = 0.0, 0.0, 0.0
        for k in range(4):
            weight = weights[i, k]
            a += weight * (bones[k, 0, 0] * x + bones[k, 0, 1] * y + bones[k, 0, 2] * z + bones[k, 0, 3])
            b += weight * (bones[k, 1, 0] * x + bones[k, 1, 1] * y + bones[k, 1, 2] * z + bones[k, 1, 3])
            c += weight * (bones[k, 2, 0] * x + bones[k, 2, 1] * y + bones[k, 2, 2] * z + bones[k, 2, 3])
        out[i, 0], out[i, 1], out[i, 2] = a, b, c


def nb_skin(p, weights, bones, out):
    for i in prange(p.shape[0]):
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        a, b, c = f32(0), f32(0), f32(0)
        for k in range(4):
            weight = weights[i, k]
            a += weight * (bones[k, 0, 0] * x + bones[k, 0, 1] * y + bones[k, 0, 2] * z + bones[k, 0, 3])
            b += weight * (bones[k, 1, 0] * x + bones[k, 1, 1] * y + bones[k, 1, 2] * z + bones[k, 1, 3])
            c += weight * (bones[k, 2, 0] * x + bones[k, 2, 1] * y + bones[k, 2, 2] * z + bones[k, 2, 3])
        out[i, 0], out[i, 1], out[i, 2] = a, b, c


def edits(scale: float) -> Problem:
    n, size = max(2, int(scale * 8)), 192
    a, b, d = random_integers(0, 4, (n, size), 8), random_integers(0, 4, size, 9), zeros((n, size + 1, size + 1), "i4")
    d[:, 0] = d[:, :, 0] = np.arange(size + 1)

    def reference():
        out = d.copy()
        for i in range(1, size + 1):
            least = np.minimum(out[:, i - 1, 1:] + 1, out[:, i - 1, :-1] + (a[:, i - 1 : i] != b))
            for j in range(1, size + 1):
                out[:, i, j] = np.minimum(least[:, j - 1], out[:, i, j - 1] + 1)
        return {"d": out}

    return posed("edit distances", {"a": a, "b": b, "d": d}, "d", reference, {"n": n, "size": size})


@sv.kernel
def sv_edits(a: i32_2, b: i32_1, d: i32_3):
    for m in range(a.shape[0]):
        for i in range(1, d.shape[1]):
            for j in range(1, d.shape[2]):
                cost = 0 if a[m, i - 1] == b[j - 1] else 1
                d[m, i, j] = min(d[m, i - 1, j] + 1, d[m, i, j - 1] + 1, d[m, i - 1, j - 1] + cost)


def nb_edits(a, b, d):
    for m in prange(a.shape[0]):
        for i in range(1, d.shape[1]):
            for j in range(1, d.shape[2]):
                cost = i32(0) if a[m, i - 1] == b[j - 1] else i32(1)
                other = min(d[m, i - 1, j] + i32(1), d[m, i - 1, j - 1] + cost)
                d[m, i, j] = min(other, d[m, i, j - 1] + i32(1))


ENTRIES = {
    "yuv": Entry(yuv, "rgb out int:n", "rgb out", sv_yuv, nb_yuv),
    "over": Entry(over, "front back out int:n", "front back out", sv_over, nb_over),
    "quaternions": Entry(quaternions, "p q out int:n", "p q out", sv_quaternions, nb_quaternions),
    "unit": Entry(unit, "p out int:n", "p out", sv_unit, nb_unit),
    "skin": Entry(skin, "p weights bones out int:n", "p weights bones out", sv_skin, nb_skin),
    "edits": Entry(edits, "a b d int:n int:size", "a b d", sv_edits, nb_edits),
}
