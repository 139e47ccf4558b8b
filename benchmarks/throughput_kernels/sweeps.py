"""Sweeps in place: red-black and Gauss-Seidel relaxation, implicit steps by directions, fast sweeping."""

import numpy as np
from problems import Problem

import samovar as sv
from throughput_kernels.entry import DOUBLE, Entry, posed, random_floats, side, zeros
from throughput_kernels.numba_names import prange

f32_2, f64_2 = sv.types.NDArray[sv.f32, 2], sv.types.NDArray[sv.f64, 2]
f32 = np.float32


def relax(u, right, color: int, omega: float) -> None:
    """Over-relaxation of the interior points of one color, in place."""
    i, j = np.indices(u.shape)[:, 1:-1, 1:-1]
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    changed = u[1:-1, 1:-1] + omega * (0.25 * (around - right[1:-1, 1:-1]) - u[1:-1, 1:-1])
    u[1:-1, 1:-1] = np.where((i + j) % 2 == color, changed, u[1:-1, 1:-1])


def sor(scale: float) -> Problem:
    n = side(scale, 384)
    u, right = random_floats(0, 1, (n, n), 1), random_floats(0, 0.01, (n, n), 2)
    before = u.copy()

    def reference():
        out = before.astype("f8")
        relax(out, right, 1, 1.5)
        return {"u": out}

    return posed("SOR, every second element", {"u": u, "right": right}, "u", reference, {"n": n, "omega": 1.5})


@sv.kernel
def sv_sor(u: f32_2, right: f32_2, omega: sv.f32):
    for i in range(1, u.shape[0] - 1):
        for j in range(1 + i % 2, u.shape[1] - 1, 2):
            around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            u[i, j] += omega * (0.25 * (around - right[i, j]) - u[i, j])


def nb_sor(u, right, omega):
    for i in prange(1, u.shape[0] - 1):
        for j in range(1 + i % 2, u.shape[1] - 1, 2):
            around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            u[i, j] += omega * (f32(0.25) * (around - right[i, j]) - u[i, j])


def red_black_if(scale: float) -> Problem:
    n = side(scale, 384)
    u, right = random_floats(0, 1, (n, n), 3), random_floats(0, 0.01, (n, n), 4)
    before = u.copy()

    def reference():
        out = before.astype("f8")
        relax(out, right, 0, 1.0)
        relax(out, right, 1, 1.0)
        return {"u": out}

    return posed("red-black, color by if", {"u": u, "right": right}, "u", reference, {"n": n})


@sv.kernel
def sv_red_black_if(u: f32_2, right: f32_2):
    for i, j in sv.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        if (i + j) % 2 == 0:
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - right[i, j])
    for i, j in sv.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        if (i + j) % 2 == 1:
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - right[i, j])


def nb_red_black_if(u, right):
    for color in range(2):
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                if (i + j) % 2 == color:
                    u[i, j] = f32(0.25) * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - right[i, j])


def red_black_serial(scale: float) -> Problem:
    n, sweeps = side(scale, 128), 8
    u, right = random_floats(0, 1, (n, n), 5, "f8"), random_floats(0, 0.01, (n, n), 6, "f8")
    before = u.copy()

    def reference():
        out = before.copy()
        for _ in range(sweeps):
            relax(out, right, 1, 1.0)
            relax(out, right, 0, 1.0)
        return {"u": out}

    scalars = {"n": n, "sweeps": sweeps}
    return posed("red-black sweeps f64, serial", {"u": u, "right": right}, "u", reference, scalars, **DOUBLE)


@sv.kernel(serial=True)
def sv_red_black_serial(u: f64_2, right: f64_2, sweeps: sv.i32):
    for _ in range(sweeps):
        for color in range(2):
            for i in range(1, u.shape[0] - 1):
                for j in range(1 + (i + color) % 2, u.shape[1] - 1, 2):
                    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - right[i, j])


def nb_red_black_serial(u, right, sweeps):
    for _ in range(sweeps):
        for color in range(2):
            for i in range(1, u.shape[0] - 1):
                for j in range(1 + (i + color) % 2, u.shape[1] - 1, 2):
                    u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - right[i, j])


def gauss_seidel_9(scale: float) -> Problem:
    n = side(scale, 192)
    u = random_floats(0, 1, (n, n), 7, "f8")
    before = u.tolist()

    def reference():
        out = [list(row) for row in before]
        for i in range(1, n - 1):
            up, here, down = out[i - 1 : i + 2]
            for j in range(1, n - 1):
                here[j] = (sum(up[j - 1 : j + 2]) + sum(here[j - 1 : j + 2]) + sum(down[j - 1 : j + 2])) / 9
        return {"u": np.array(out)}

    return posed("Gauss-Seidel, 9 points, f64", {"u": u}, "u", reference, {"n": n}, **DOUBLE)


@sv.kernel(serial=True)
def sv_gauss_seidel_9(u: f64_2):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            total = u[i - 1, j - 1] + u[i - 1, j] + u[i - 1, j + 1]
            total += u[i, j - 1] + u[i, j] + u[i, j + 1]
            total += u[i + 1, j - 1] + u[i + 1, j] + u[i + 1, j + 1]
            u[i, j] = total / 9.0


def nb_gauss_seidel_9(u):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            total = u[i - 1, j - 1] + u[i - 1, j] + u[i - 1, j + 1]
            total += u[i, j - 1] + u[i, j] + u[i, j + 1]
            total += u[i + 1, j - 1] + u[i + 1, j] + u[i + 1, j + 1]
            u[i, j] = total / 9.0


def alternating(scale: float) -> Problem:
    n, r = side(scale, 160), 0.5
    u, v, p, q = random_floats(0, 1, (n, n), 8, "f8"), *(zeros((n, n), "f8") for _ in range(3))
    first = u.copy()

    def half(before):
        """Implicit along the second axis, explicit along the first."""
        after, p, q = before.copy(), np.zeros((n, n)), np.zeros((n, n))
        q[:, 0] = before[:, 0]
        for j in range(1, n - 1):
            pivot = 1 + 2 * r - r * p[1:-1, j - 1]
            p[1:-1, j] = r / pivot
            explicit = r * before[:-2, j] + (1 - 2 * r) * before[1:-1, j] + r * before[2:, j]
            q[1:-1, j] = (explicit + r * q[1:-1, j - 1]) / pivot
        for j in range(n - 2, 0, -1):
            after[1:-1, j] = p[1:-1, j] * after[1:-1, j + 1] + q[1:-1, j]
        return after

    def reference():
        return {"u": half(half(first).T).T}

    v[...] = u
    arrays = {"u": u, "v": v, "p": p, "q": q}
    return posed("alternating directions, f64", arrays, "u", reference, {"n": n, "r": r}, **DOUBLE)


@sv.kernel
def sv_alternating(u: f64_2, v: f64_2, p: f64_2, q: f64_2, r: sv.f64):
    n = u.shape[0]
    for i in range(1, n - 1):
        p[i, 0] = 0.0
        q[i, 0] = u[i, 0]
        for j in range(1, n - 1):
            pivot = 1.0 + 2.0 * r - r * p[i, j - 1]
            p[i, j] = r / pivot
            q[i, j] = (r * u[i - 1, j] + (1.0 - 2.0 * r) * u[i, j] + r * u[i + 1, j] + r * q[i, j - 1]) / pivot
        for j in range(n - 2, 0, -1):
            v[i, j] = p[i, j] * v[i, j + 1] + q[i, j]
    for j in range(1, n - 1):
        p[0, j] = 0.0
        q[0, j] = v[0, j]
        for i in range(1, n - 1):
            pivot = 1.0 + 2.0 * r - r * p[i - 1, j]
            p[i, j] = r / pivot
            q[i, j] = (r * v[i, j - 1] + (1.0 - 2.0 * r) * v[i, j] + r * v[i, j + 1] + r * q[i - 1, j]) / pivot
        for i in range(n - 2, 0, -1):
            u[i, j] = p[i, j] * u[i + 1, j] + q[i, j]


def nb_alternating(u, v, p, q, r):
    n = u.shape[0]
    for i in prange(1, n - 1):
        p[i, 0] = 0.0
        q[i, 0] = u[i, 0]
        for j in range(1, n - 1):
            pivot = 1.0 + 2.0 * r - r * p[i, j - 1]
            p[i, j] = r / pivot
            q[i, j] = (r * u[i - 1, j] + (1.0 - 2.0 * r) * u[i, j] + r * u[i + 1, j] + r * q[i, j - 1]) / pivot
        for j in range(n - 2, 0, -1):
            v[i, j] = p[i, j] * v[i, j + 1] + q[i, j]
    for j in prange(1, n - 1):
        p[0, j] = 0.0
        q[0, j] = v[0, j]
        for i in range(1, n - 1):
            pivot = 1.0 + 2.0 * r - r * p[i - 1, j]
            p[i, j] = r / pivot
            q[i, j] = (r * v[i, j - 1] + (1.0 - 2.0 * r) * v[i, j] + r * v[i, j + 1] + r * q[i - 1, j]) / pivot
        for i in range(n - 2, 0, -1):
            u[i, j] = p[i, j] * u[i + 1, j] + q[i, j]


def eikonal(scale: float) -> Problem:
    n = side(scale, 192)
    slowness, u = random_floats(0.5, 1.5, (n, n), 9), zeros((n, n))
    u[...] = 1000.0
    u[n // 2, n // 2] = 0.0
    before = u.tolist()

    def reference():
        out, cost = [list(row) for row in before], slowness.astype("f8").tolist()
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a, b = min(out[i - 1][j], out[i + 1][j]), min(out[i][j - 1], out[i][j + 1])
                f = cost[i][j]
                x = min(a, b) + f if abs(a - b) >= f else 0.5 * (a + b + (2 * f * f - (a - b) ** 2) ** 0.5)
                out[i][j] = min(out[i][j], x)
        return {"u": np.array(out)}

    return posed("eikonal, fast sweeping", {"slowness": slowness, "u": u}, "u", reference, {"n": n})


@sv.kernel(serial=True)
def sv_eikonal(slowness: f32_2, u: f32_2):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            a = min(u[i - 1, j], u[i + 1, j])
            b = min(u[i, j - 1], u[i, j + 1])
            f = slowness[i, j]
            if abs(a - b) >= f:
                x = min(a, b) + f
            else:
                x = 0.5 * (a + b + sv.sqrt(2.0 * f * f - (a - b) * (a - b)))
            if x < u[i, j]:
                u[i, j] = x


def nb_eikonal(slowness, u):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            a = min(u[i - 1, j], u[i + 1, j])
            b = min(u[i, j - 1], u[i, j + 1])
            f = slowness[i, j]
            if abs(a - b) >= f:
                x = min(a, b) + f
            else:
                x = f32(0.5) * (a + b + np.sqrt(f32(2) * f * f - (a - b) * (a - b)))
            if x < u[i, j]:
                u[i, j] = x


ENTRIES = {
    "sor": Entry(sor, "u right float:omega int:n", "u right omega", sv_sor, nb_sor),
    "red_black_if": Entry(red_black_if, "u right int:n", "u right", sv_red_black_if, nb_red_black_if),
    "red_black_serial": Entry(
        red_black_serial, "u right int:n int:sweeps", "u right sweeps", sv_red_black_serial, nb_red_black_serial, serial=True
    ),
    "gauss_seidel_9": Entry(gauss_seidel_9, "u int:n", "u", sv_gauss_seidel_9, nb_gauss_seidel_9, serial=True),
    "alternating": Entry(alternating, "u v p q double:r int:n", "u v p q r", sv_alternating, nb_alternating),
    "eikonal": Entry(eikonal, "slowness u int:n", "slowness u", sv_eikonal, nb_eikonal, serial=True),
}
