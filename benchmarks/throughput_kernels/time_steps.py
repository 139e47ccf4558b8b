"""Steps in time within each iteration, with exp, log, sin and pow: escape times, ODEs, random paths, rays, filters."""

import math

import numpy as np
from problems import Problem

import samovar as sv
from throughput_kernels.entry import Entry, posed, random_floats, random_integers, side, zeros
from throughput_kernels.numba_names import prange

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
f64_1 = sv.types.NDArray[sv.f64, 1]
i32_1, u32_1 = sv.types.NDArray[sv.i32, 1], sv.types.NDArray[sv.u32, 1]
f32, u32 = np.float32, np.uint32


def mandelbrot_smooth(scale: float) -> Problem:
    rows, columns, limit = side(scale, 64), side(scale, 96), 100
    out = zeros((rows, columns))

    def reference():
        cx = -2 + 3 * np.arange(columns)[None, :] / columns
        cy = -1 + 2 * np.arange(rows)[:, None] / rows
        c = cx + 1j * cy
        z, count, inside = np.zeros_like(c), np.zeros(c.shape), np.ones(c.shape, bool)
        for _ in range(limit):
            inside &= abs(z) < 16
            count += inside
            z = np.where(inside, z * z + c, z)
        with np.errstate(divide="ignore", invalid="ignore"):
            return {"out": np.where(count < limit, count + 1 - np.log2(np.log2(abs(z))), 0)}

    scalars = {"rows": rows, "columns": columns, "limit": limit}
    return posed("Mandelbrot, smooth with log", {"out": out}, "out", reference, scalars, relative=1e-2, differing=0.05)


@sv.kernel
def sv_mandelbrot_smooth(out: f32_2, limit: sv.i32):
    for i, j in out:
        cx, cy = -2.0 + 3.0 * j / out.shape[1], -1.0 + 2.0 * i / out.shape[0]
        x, y, k = 0.0, 0.0, 0
        while k < limit and x * x + y * y < 256.0:
            x, y = x * x - y * y + cx, 2.0 * x * y + cy
            k += 1
        if k < limit:
            out[i, j] = k + 1.0 - sv.log(0.5 * sv.log(x * x + y * y) / sv.log(2.0)) / sv.log(2.0)
        else:
            out[i, j] = 0.0


def nb_mandelbrot_smooth(out, limit):
    rows, columns = out.shape
    two = f32(math.log(2.0))
    for i in prange(rows):
        for j in range(columns):
            cx, cy = f32(-2) + f32(3) * f32(j) / f32(columns), f32(-1) + f32(2) * f32(i) / f32(rows)
            x, y, k = f32(0), f32(0), 0
            while k < limit and x * x + y * y < f32(256):
                x, y = x * x - y * y + cx, f32(2) * x * y + cy
                k += 1
            if k < limit:
                out[i, j] = f32(k) + f32(1) - math.log(f32(0.5) * math.log(x * x + y * y) / two) / two
            else:
                out[i, j] = 0


def pendulum(scale: float) -> Problem:
    n, steps = int(scale * 1024), 16
    angle, speed, out = random_floats(-3, 3, n, 1), random_floats(-1, 1, n, 2), zeros(n)

    def reference():
        def slope(a, s):
            return s, -np.sin(a) - 0.1 * s

        a, s, h = angle.astype("f8"), speed.astype("f8"), 0.05
        for _ in range(steps):
            k1, l1 = slope(a, s)
            k2, l2 = slope(a + h / 2 * k1, s + h / 2 * l1)
            k3, l3 = slope(a + h / 2 * k2, s + h / 2 * l2)
            k4, l4 = slope(a + h * k3, s + h * l3)
            a, s = a + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), s + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
        return {"out": a}

    arrays = {"angle": angle, "speed": speed, "out": out}
    return posed("pendulum, Runge-Kutta with sin", arrays, "out", reference, {"n": n, "steps": steps})


@sv.kernel
def sv_pendulum(angle: f32_1, speed: f32_1, out: f32_1, steps: sv.i32):
    for i in range(angle.shape[0]):
        a, s = angle[i], speed[i]
        for _ in range(steps):
            k1, l1 = s, -sv.sin(a) - 0.1 * s
            k2, l2 = s + 0.025 * l1, -sv.sin(a + 0.025 * k1) - 0.1 * (s + 0.025 * l1)
            k3, l3 = s + 0.025 * l2, -sv.sin(a + 0.025 * k2) - 0.1 * (s + 0.025 * l2)
            k4, l4 = s + 0.05 * l3, -sv.sin(a + 0.05 * k3) - 0.1 * (s + 0.05 * l3)
            a += 0.05 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
            s += 0.05 / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4)
        out[i] = a


def nb_pendulum(angle, speed, out, steps):
    half, full, sixth, two, drag = f32(0.025), f32(0.05), f32(0.05 / 6.0), f32(2), f32(0.1)
    for i in prange(angle.shape[0]):
        a, s = angle[i], speed[i]
        for _ in range(steps):
            k1, l1 = s, -math.sin(a) - drag * s
            k2, l2 = s + half * l1, -math.sin(a + half * k1) - drag * (s + half * l1)
            k3, l3 = s + half * l2, -math.sin(a + half * k2) - drag * (s + half * l2)
            k4, l4 = s + full * l3, -math.sin(a + full * k3) - drag * (s + full * l3)
            a += sixth * (k1 + two * k2 + two * k3 + k4)
            s += sixth * (l1 + two * l2 + two * l3 + l4)
        out[i] = a


def neurons(scale: float) -> Problem:
    n, steps = int(scale * 512), 200
    current, spikes = random_floats(10, 40, n, 3), zeros(n, "i4")

    def reference():
        v, count = np.full(n, -65.0), np.zeros(n)
        for _ in range(steps):
            v += 0.05 * (-(v + 65) + 2 * np.exp((v + 50) / 2) + current)
            count += v > -30
            v = np.where(v > -30, -65, v)
        return {"spikes": count}

    scalars = {"n": n, "steps": steps}
    arrays = {"current": current, "spikes": spikes}
    return posed("spiking neurons with exp", arrays, "spikes", reference, scalars, absolute=1, differing=0.02)


@sv.kernel
def sv_neurons(current: f32_1, spikes: i32_1, steps: sv.i32):
    for i in range(current.shape[0]):
        v, count = -65.0, 0
        for _ in range(steps):
            v += 0.05 * (-(v + 65.0) + 2.0 * sv.exp((v + 50.0) / 2.0) + current[i])
            if v > -30.0:
                v = -65.0
                count += 1
        spikes[i] = count


def nb_neurons(current, spikes, steps):
    for i in prange(current.shape[0]):
        v, count = f32(-65), 0
        for _ in range(steps):
            v += f32(0.05) * (-(v + f32(65)) + f32(2) * math.exp((v + f32(50)) / f32(2)) + current[i])
            if v > f32(-30):
                v = f32(-65)
                count += 1
        spikes[i] = count


def cooling(scale: float) -> Problem:
    n, steps = int(scale * 1024), 32
    start, exponent, out = random_floats(300, 400, n, 4, "f8"), random_floats(1.1, 1.4, n, 5, "f8"), zeros(n, "f8")

    def reference():
        t = start.copy()
        for _ in range(steps):
            t -= 0.05 * (t - 290) ** exponent
        return {"out": t}

    arrays = {"start": start, "exponent": exponent, "out": out}
    return posed("cooling with pow, f64", arrays, "out", reference, {"n": n, "steps": steps})


@sv.kernel
def sv_cooling(start: f64_1, exponent: f64_1, out: f64_1, steps: sv.i32):
    for i in range(start.shape[0]):
        t = start[i]
        for _ in range(steps):
            t -= 0.05 * (t - 290.0) ** exponent[i]
        out[i] = t


def nb_cooling(start, exponent, out, steps):
    for i in prange(start.shape[0]):
        t = start[i]
        for _ in range(steps):
            t -= 0.05 * (t - 290.0) ** exponent[i]
        out[i] = t


def random_paths(scale: float) -> Problem:
    n, steps = int(scale * 512), 16
    seeds, out = random_integers(0, 2**32, n, 6, "u4"), zeros(n)

    def reference():
        state, value = seeds.copy(), np.ones(n)
        for _ in range(steps):
            state = state * u32(1664525) + u32(1013904223)
            first = ((state >> u32(9)) + 0.5) / 8388608
            state = state * u32(1664525) + u32(1013904223)
            second = ((state >> u32(9)) + 0.5) / 8388608
            value *= np.exp(-0.001 + 0.05 * np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * second))
        return {"out": np.maximum(value - 1, 0)}

    return posed("random paths, log cos exp", {"seeds": seeds, "out": out}, "out", reference, {"n": n, "steps": steps})


@sv.kernel
def sv_random_paths(seeds: u32_1, out: f32_1, steps: sv.i32):
    for i in range(seeds.shape[0]):
        state, value = seeds[i], 1.0
        for _ in range(steps):
            state = state * 1664525 + 1013904223
            first = (sv.f32(state >> 9) + 0.5) / 8388608.0
            state = state * 1664525 + 1013904223
            second = (sv.f32(state >> 9) + 0.5) / 8388608.0
            normal = sv.sqrt(-2.0 * sv.log(first)) * sv.cos(2.0 * math.pi * second)
            value *= sv.exp(-0.001 + 0.05 * normal)
        out[i] = max(value - 1.0, 0.0)


def nb_random_paths(seeds, out, steps):
    half, unit, turn = f32(0.5), f32(1 / 8388608), f32(2 * math.pi)
    for i in prange(seeds.shape[0]):
        state, value = seeds[i], f32(1)
        for _ in range(steps):
            state = u32(state * u32(1664525) + u32(1013904223))
            first = (f32(state >> u32(9)) + half) * unit
            state = u32(state * u32(1664525) + u32(1013904223))
            second = (f32(state >> u32(9)) + half) * unit
            normal = math.sqrt(f32(-2) * math.log(first)) * math.cos(turn * second)
            value *= math.exp(f32(-0.001) + f32(0.05) * normal)
        out[i] = max(value - f32(1), f32(0))


def rays(scale: float) -> Problem:
    n = side(scale, 48)
    out = zeros((n, n))

    def reference():
        y, x = 2 * np.indices((n, n)) / n - 1
        t, going = np.zeros((n, n)), np.ones((n, n), bool)
        length = np.sqrt(x * x + y * y + 1)
        for _ in range(64):
            px, py, pz = t * x / length, t * y / length, t / length - 3
            d = np.sqrt(px * px + py * py + pz * pz) - 1 + 0.1 * np.sin(5 * px) * np.sin(5 * py)
            going &= (d > 1e-3) & (t < 10)
            t = np.where(going, t + 0.7 * d, t)
        return {"out": t}

    return posed("rays by distance, with sin", {"out": out}, "out", reference, {"n": n}, absolute=1e-2, differing=0.02)


@sv.kernel
def sv_rays(out: f32_2):
    n = out.shape[0]
    for i, j in out:
        x, y = 2.0 * j / n - 1.0, 2.0 * i / n - 1.0
        length = sv.sqrt(x * x + y * y + 1.0)
        t = 0.0
        for _ in range(64):
            px, py, pz = t * x / length, t * y / length, t / length - 3.0
            d = sv.sqrt(px * px + py * py + pz * pz) - 1.0 + 0.1 * sv.sin(5.0 * px) * sv.sin(5.0 * py)
            if d < 1e-3 or t > 10.0:
                break
            t += 0.7 * d
        out[i, j] = t


def nb_rays(out):
    n = out.shape[0]
    one, two, five = f32(1), f32(2), f32(5)
    for i in prange(n):
        for j in range(n):
            x, y = two * f32(j) / f32(n) - one, two * f32(i) / f32(n) - one
            length = math.sqrt(x * x + y * y + one)
            t = f32(0)
            for _ in range(64):
                px, py, pz = t * x / length, t * y / length, t / length - f32(3)
                d = math.sqrt(px * px + py * py + pz * pz) - one + f32(0.1) * math.sin(five * px) * math.sin(five * py)
                if d < f32(1e-3) or t > f32(10):
                    break
                t += f32(0.7) * d
            out[i, j] = t


def kalman(scale: float) -> Problem:
    n, steps = max(4, int(scale * 256)), 64
    measured, out = random_floats(-1, 1, (n, steps), 7), zeros(n)

    def reference():
        x, v = np.zeros(n), np.zeros(n)
        a, b, c = np.ones(n), np.zeros(n), np.ones(n)
        for k in range(steps):
            x, a, b, c = x + 0.1 * v, a + 0.2 * b + 0.01 * c + 0.001, b + 0.1 * c, c + 0.01
            gain, rate, error = a / (a + 0.5), b / (a + 0.5), measured[:, k] - x
            x, v = x + gain * error, v + rate * error
            a, b, c = (1 - gain) * a, (1 - gain) * b, c - rate * b
        return {"out": x}

    return posed("Kalman filter of rows", {"measured": measured, "out": out}, "out", reference, {"n": n, "steps": steps})


@sv.kernel
def sv_kalman(measured: f32_2, out: f32_1):
    for i in range(measured.shape[0]):
        x, v = 0.0, 0.0
        a, b, c = 1.0, 0.0, 1.0
        for k in range(measured.shape[1]):
            x += 0.1 * v
            a += 0.2 * b + 0.01 * c + 0.001
            b += 0.1 * c
            c += 0.01
            gain, rate, error = a / (a + 0.5), b / (a + 0.5), measured[i, k] - x
            x += gain * error
            v += rate * error
            c -= rate * b
            a *= 1.0 - gain
            b *= 1.0 - gain
        out[i] = x


def nb_kalman(measured, out):
    one, half = f32(1), f32(0.5)
    for i in prange(measured.shape[0]):
        x, v = f32(0), f32(0)
        a, b, c = f32(1), f32(0), f32(1)
        for k in range(measured.shape[1]):
            x += f32(0.1) * v
            a += f32(0.2) * b + f32(0.01) * c + f32(0.001)
            b += f32(0.1) * c
            c += f32(0.01)
            gain, rate, error = a / (a + half), b / (a + half), measured[i, k] - x
            x += gain * error
            v += rate * error
            c -= rate * b
            a *= one - gain
            b *= one - gain
        out[i] = x


def burgers(scale: float) -> Problem:
    n, steps = max(64, int(scale * 1024)), 512
    start, u, flux = random_floats(-1, 1, n, 8), zeros(n), zeros(n)

    def reference():
        v = start.astype("f8")
        for _ in range(steps):
            f = np.where(v[:-1] + v[1:] > 0, 0.5 * v[:-1] ** 2, 0.5 * v[1:] ** 2)
            v[1:-1] -= 0.2 * np.diff(f)
        return {"u": v}

    arrays, scalars = {"start": start, "u": u, "flux": flux}, {"n": n, "steps": steps}
    return posed("Burgers' equation, serial", arrays, "u", reference, scalars, absolute=1e-2)


@sv.kernel(serial=True)
def sv_burgers(start: f32_1, u: f32_1, flux: f32_1, steps: sv.i32):
    n = u.shape[0]
    for i in range(n):
        u[i] = start[i]
    for _ in range(steps):
        for i in range(n - 1):
            if u[i] + u[i + 1] > 0.0:
                flux[i] = 0.5 * u[i] * u[i]
            else:
                flux[i] = 0.5 * u[i + 1] * u[i + 1]
        for i in range(1, n - 1):
            u[i] -= 0.2 * (flux[i] - flux[i - 1])


def nb_burgers(start, u, flux, steps):
    n = u.shape[0]
    for i in range(n):
        u[i] = start[i]
    for _ in range(steps):
        for i in range(n - 1):
            if u[i] + u[i + 1] > 0:
                flux[i] = f32(0.5) * u[i] * u[i]
            else:
                flux[i] = f32(0.5) * u[i + 1] * u[i + 1]
        for i in range(1, n - 1):
            u[i] -= f32(0.2) * (flux[i] - flux[i - 1])


ENTRIES = {
    "mandelbrot_smooth": Entry(
        mandelbrot_smooth, "out int:rows int:columns int:limit", "out limit", sv_mandelbrot_smooth, nb_mandelbrot_smooth
    ),
    "pendulum": Entry(pendulum, "angle speed out int:n int:steps", "angle speed out steps", sv_pendulum, nb_pendulum),
    "neurons": Entry(neurons, "current spikes int:n int:steps", "current spikes steps", sv_neurons, nb_neurons),
    "cooling": Entry(cooling, "start exponent out int:n int:steps", "start exponent out steps", sv_cooling, nb_cooling),
    "random_paths": Entry(random_paths, "seeds out int:n int:steps", "seeds out steps", sv_random_paths, nb_random_paths),
    "rays": Entry(rays, "out int:n", "out", sv_rays, nb_rays),
    "kalman": Entry(kalman, "measured out int:n int:steps", "measured out", sv_kalman, nb_kalman),
    "burgers": Entry(burgers, "start u flux int:n int:steps", "start u flux steps", sv_burgers, nb_burgers, serial=True),
}
