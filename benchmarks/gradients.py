"""Gradients on Samovar, Quadrants and Taichi, from one source, and on Warp: what reverses cost relative to forward runs.

Usage: python benchmarks/gradients.py [--rounds 7] [--only wave,bodies] [--threads 1]. Packages that are not installed are
left out. For three problems, an adjoint written by hand in C (gcc -O3 -march=native -ffast-math, one thread) runs too.

Each contender runs in a process of its own. The reverse is the time of a run on a tape less that of a run without one, both
medians of rounds; memory is what the process takes at its peak, less what it took before the problem. Gradients are compared
with Samovar's: "wrong" means that they differ by more than 1e-3, "refused" that the package raised an error.
"""

import argparse
import ctypes
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONTENDERS = ("samovar", "quadrants", "taichi", "warp")
IN_WARP = ("wave", "bodies", "arm", "options", "sparse")
OPTIONS = {"quadrants": {"ad_stack_experimental_enabled": True}}


def wave(m):
    size, steps = 256, 200
    u, loss = m.field(m.f32, (steps + 2, size, size), needs_grad=True), m.field(m.f32, (), needs_grad=True)

    @m.kernel
    def step(t: m.i32):
        for i, j in m.ndrange((1, size - 1), (1, size - 1)):
            around = u[t, i - 1, j] + u[t, i + 1, j] + u[t, i, j - 1] + u[t, i, j + 1]
            u[t + 1, i, j] = 2.0 * u[t, i, j] - u[t - 1, i, j] + 0.2 * (around - 4.0 * u[t, i, j])

    @m.kernel
    def energy():
        for i, j in m.ndrange(size, size):
            loss[None] += u[steps + 1, i, j] ** 2

    def run():
        for t in range(1, steps + 1):
            step(t)
        energy()

    return run, loss, u, lambda k: math.sin(0.001 * k) if k < 2 * size * size else 0.0


def springs(m):
    side, steps = 256, 20
    x, v = (m.Vector.field(2, m.f32, (steps + 1, side * side), needs_grad=True) for _ in range(2))
    loss = m.field(m.f32, (), needs_grad=True)

    @m.kernel
    def step(t: m.i32):
        for p in range(side * side):
            i, j = p // side, p % side
            force = m.Vector([0.0, 0.0])
            for d in m.static(range(4)):
                a, b = i + m.static((1, -1, 0, 0)[d]), j + m.static((0, 0, 1, -1)[d])
                if 0 <= a < side and 0 <= b < side:
                    along = x[t, a * side + b] - x[t, p]
                    force += 50.0 * (along.norm() - 0.02) * along / along.norm()
            v[t + 1, p] = 0.99 * v[t, p] + 0.01 * force
            x[t + 1, p] = x[t, p] + 0.01 * (0.99 * v[t, p] + 0.01 * force)

    @m.kernel
    def energy():
        for p in range(side * side):
            loss[None] += x[steps, p].dot(x[steps, p])

    def run():
        for t in range(steps):
            step(t)
        energy()

    def start(k):
        p, axis = k // 2, k % 2
        return 0.03 * (p // side if axis == 0 else p % side) if p < side * side else 0.0

    return run, loss, x, start


def bodies(m):
    count = 2048
    x = m.Vector.field(3, m.f32, count, needs_grad=True)
    loss = m.field(m.f32, (), needs_grad=True)

    @m.kernel
    def run():
        for i in range(count):
            total = 0.0
            for j in range(count):
                d = x[i] - x[j]
                total += 1.0 / m.sqrt(d.dot(d) + 0.01)
            loss[None] += total

    return run, loss, x, lambda k: math.sin(1.7 * k)


def lattice(m):
    size = 512
    f, g = (m.field(m.f32, (9, size, size), needs_grad=True) for _ in range(2))
    loss = m.field(m.f32, (), needs_grad=True)
    ex, ey = (0, 1, 0, -1, 0, 1, -1, -1, 1), (0, 0, 1, 0, -1, 1, 1, -1, -1)
    w = (4 / 9, *(1 / 9,) * 4, *(1 / 36,) * 4)

    @m.kernel
    def step():
        for i, j in m.ndrange((1, size - 1), (1, size - 1)):
            rho, a, b = 0.0, 0.0, 0.0
            for k in m.static(range(9)):
                part = f[k, i - m.static(ex[k]), j - m.static(ey[k])]
                rho += part
                a += m.static(ex[k]) * part
                b += m.static(ey[k]) * part
            a /= rho
            b /= rho
            for k in m.static(range(9)):
                part = f[k, i - m.static(ex[k]), j - m.static(ey[k])]
                along = m.static(ex[k]) * a + m.static(ey[k]) * b
                equal = m.static(w[k]) * rho * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * (a * a + b * b))
                g[k, i, j] = part - 0.6 * (part - equal)

    @m.kernel
    def energy():
        for i, j in m.ndrange(size, size):
            for k in m.static(range(9)):
                loss[None] += g[k, i, j] ** 2

    def run():
        step()
        energy()

    return run, loss, f, lambda k: 0.1 + 0.02 * math.sin(0.01 * k)


def marching(m):
    count = 1 << 17
    aim, loss = m.field(m.f32, count, needs_grad=True), m.field(m.f32, (), needs_grad=True)

    @m.kernel
    def run():
        for i in aim:
            depth, distance = 0.0, 1.0
            for _ in range(64):
                if distance > 1e-3:
                    x, z = aim[i] * depth, 3.0 - depth
                    distance = m.sqrt(x * x + z * z) - 1.0
                    depth += distance
            loss[None] += depth

    return run, loss, aim, lambda k: 0.3 * math.sin(k)


def newton(m):
    count = 1 << 17
    a, loss = m.field(m.f32, count, needs_grad=True), m.field(m.f32, (), needs_grad=True)

    @m.kernel
    def run():
        for i in a:
            x = 1.0
            while abs(x * x * x - a[i]) > 1e-4:
                x -= (x * x * x - a[i]) / (3.0 * x * x)
            loss[None] += x * x

    return run, loss, a, lambda k: 1.0 + 0.8 * math.sin(k)


def singular_values(m):
    count = 1 << 15
    f, loss = m.Matrix.field(3, 3, m.f32, count, needs_grad=True), m.field(m.f32, (), needs_grad=True)

    @m.kernel
    def run():
        for e in f:
            _, s, _ = m.svd(f[e], m.f32)
            for k in m.static(range(3)):
                loss[None] += (s[k, k] - 1.0) ** 2

    return run, loss, f, lambda k: (1.0 + 0.2 * (k % 9 // 4) if k % 9 % 4 == 0 else 0.0) + 0.1 * math.sin(k)


def perceptron(m):
    n, batch = 256, 256
    w, b = m.field(m.f32, (n, n), needs_grad=True), m.field(m.f32, n, needs_grad=True)
    x, y = (m.field(m.f32, (batch, n), needs_grad=True) for _ in range(2))
    loss = m.field(m.f32, (), needs_grad=True)

    @m.kernel
    def layer():
        for s, i in y:
            total = b[i]
            for j in range(n):
                total += w[i, j] * x[s, j]
            y[s, i] = m.tanh(total)

    @m.kernel
    def softmax():
        for s in range(batch):
            total = 0.0
            for i in range(n):
                total += m.exp(y[s, i])
            loss[None] += m.log(total) - y[s, s % n]

    def run():
        layer()
        softmax()

    x.from_numpy(filled((batch, n), lambda k: math.cos(k)))
    return run, loss, w, lambda k: 0.1 * math.sin(k)


def arm(m):
    count, joints = 1 << 16, 7
    angle, loss = m.field(m.f32, (count, joints), needs_grad=True), m.field(m.f32, (), needs_grad=True)

    @m.kernel
    def run():
        for i in range(count):
            x, y, total = 0.0, 0.0, 0.0
            for k in m.static(range(joints)):
                total += angle[i, k]
                x += m.cos(total)
                y += m.sin(total)
            loss[None] += (x - 1.0) ** 2 + (y - 2.0) ** 2

    return run, loss, angle, lambda k: 0.4 * math.sin(k)


def options(m):
    count = 1 << 18
    p, loss = m.field(m.f32, (4, count), needs_grad=True), m.field(m.f32, (), needs_grad=True)

    @m.kernel
    def run():
        for i in range(count):
            root = p[3, i] * m.sqrt(p[2, i])
            one = (m.log(p[0, i] / p[1, i]) + (0.02 + 0.5 * p[3, i] * p[3, i]) * p[2, i]) / root
            two = one - root
            first = 1.0 / (1.0 + m.exp(-1.702 * one))  # the logistic approximation, which all packages have
            second = 1.0 / (1.0 + m.exp(-1.702 * two))
            loss[None] += p[0, i] * first - p[1, i] * m.exp(-0.02 * p[2, i]) * second

    return run, loss, p, lambda k: 1.0 + 0.3 * math.sin(k)


def sparse(m):
    rows, each = 1 << 16, 8
    values, x = m.field(m.f32, rows * each, needs_grad=True), m.field(m.f32, rows, needs_grad=True)
    columns, starts, loss = m.field(m.i32, rows * each), m.field(m.i32, rows + 1), m.field(m.f32, (), needs_grad=True)

    @m.kernel
    def run():
        for i in range(rows):
            total = 0.0
            for k in range(starts[i], starts[i + 1]):
                total += values[k] * x[columns[k]]
            loss[None] += total * total

    import numpy

    columns.from_numpy((numpy.arange(rows * each) * 7919 % rows).astype(numpy.int32))
    starts.from_numpy((numpy.arange(rows + 1) * each).astype(numpy.int32))
    x.from_numpy(filled((rows,), lambda k: math.cos(k)))
    return run, loss, values, lambda k: math.sin(k)


def material(m):
    side, rows, steps = 128, 90, 256
    count, dt = rows * rows, 2e-4
    x, v = (m.Vector.field(2, m.f32, (steps + 1, count), needs_grad=True) for _ in range(2))
    c = m.Matrix.field(2, 2, m.f32, (steps + 1, count), needs_grad=True)
    density = m.field(m.f32, (steps + 1, count), needs_grad=True)
    momentum = m.Vector.field(2, m.f32, (steps, side, side), needs_grad=True)
    speed = m.Vector.field(2, m.f32, (steps, side, side), needs_grad=True)
    mass = m.field(m.f32, (steps, side, side), needs_grad=True)
    loss = m.field(m.f32, (), needs_grad=True)

    @m.kernel
    def clear():
        for t, i, j in mass:
            mass[t, i, j] = 0.0
            momentum[t, i, j] = m.Vector([0.0, 0.0])

    @m.kernel
    def to_grid(t: m.i32):
        for p in range(count):
            base = (x[t, p] * side - 0.5).cast(int)
            fx = x[t, p] * side - base.cast(float)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]
            stress = -4.0 * dt * 400.0 * (density[t, p] - 1.0) * side * side * 1e-4
            affine = m.Matrix([[stress, 0.0], [0.0, stress]]) + 1e-4 * c[t, p]
            for i in m.static(range(3)):
                for j in m.static(range(3)):
                    node = m.Vector([float(i), float(j)])
                    share = w[i][0] * w[j][1]
                    push = share * (1e-4 * v[t, p] + affine @ ((node - fx) / side))
                    momentum[t, base[0] + i, base[1] + j] += push
                    mass[t, base[0] + i, base[1] + j] += share * 1e-4

    @m.kernel
    def on_grid(t: m.i32):
        for i, j in m.ndrange(side, side):
            found = momentum[t, i, j] / (mass[t, i, j] + 1e-10)
            found[1] -= dt * 9.8
            if (i < 3 and found[0] < 0.0) or (i > side - 3 and found[0] > 0.0):
                found[0] = 0.0
            if (j < 3 and found[1] < 0.0) or (j > side - 3 and found[1] > 0.0):
                found[1] = 0.0
            speed[t, i, j] = found

    @m.kernel
    def to_particles(t: m.i32):
        for p in range(count):
            base = (x[t, p] * side - 0.5).cast(int)
            fx = x[t, p] * side - base.cast(float)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]
            velocity, slope = m.Vector([0.0, 0.0]), m.Matrix([[0.0, 0.0], [0.0, 0.0]])
            for i in m.static(range(3)):
                for j in m.static(range(3)):
                    node = m.Vector([float(i), float(j)])
                    found = w[i][0] * w[j][1] * speed[t, base[0] + i, base[1] + j]
                    velocity += found
                    slope += 4.0 * side * found.outer_product(node - fx)
            v[t + 1, p] = velocity
            x[t + 1, p] = x[t, p] + dt * velocity
            c[t + 1, p] = slope
            density[t + 1, p] = density[t, p] * (1.0 + dt * slope.trace())

    @m.kernel
    def place():
        for p in range(count):
            density[0, p] = 1.0
            v[0, p] = m.Vector([0.0, -3.0])

    @m.kernel
    def energy():
        for p in range(count):
            loss[None] += x[steps, p][1]

    place()

    def run():
        for t in range(steps):
            to_grid(t)
            on_grid(t)
            to_particles(t)
        energy()

    def start(k):
        p, axis = k // 2, k % 2
        return 0.3 + 0.4 * ((p // rows if axis == 0 else p % rows) + 0.5) / rows if p < count else 0.3

    run.clear = clear
    return run, loss, x, start


PROBLEMS = {
    "wave": wave, "springs": springs, "material": material, "bodies": bodies, "lattice": lattice, "marching": marching,
    "newton": newton, "singular_values": singular_values, "perceptron": perceptron, "arm": arm, "options": options,
    "sparse": sparse,
}  # fmt: skip

C = r"""
#include <math.h>
#include <string.h>
enum { N = 256, T = 200, B = 2048, O = 1 << 18 };
static float u[T + 2][N][N], au[T + 2][N][N], x[B][3], ax[B][3], p[4][O], ap[4][O];
float wave_forward(void) {
    for (int t = 1; t <= T; t++) for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++)
        u[t+1][i][j] = 2*u[t][i][j] - u[t-1][i][j] + 0.2f*(u[t][i-1][j]+u[t][i+1][j]+u[t][i][j-1]+u[t][i][j+1]-4*u[t][i][j]);
    float loss = 0;
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) loss += u[T+1][i][j]*u[T+1][i][j];
    return loss;
}
void wave_reverse(void) { /* gathers, from the last state to the first; a border of zeros spares conditions */
    static float b[N + 2][N + 2];
    memset(au, 0, sizeof au);
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) au[T+1][i][j] = 2*u[T+1][i][j];
    for (int t = T; t >= 1; t--) {
        for (int i = 1; i < N - 1; i++) { memcpy(&b[i+1][2], &au[t+1][i][1], (N - 2) * sizeof(float)); }
        for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {
            float a = b[i+1][j+1];
            au[t][i][j] += 2*a + 0.2f*(b[i][j+1]+b[i+2][j+1]+b[i+1][j]+b[i+1][j+2]-4*a);
            au[t-1][i][j] -= a;
        }
    }
}
float bodies_forward(void) {
    float loss = 0;
    for (int i = 0; i < B; i++) for (int j = 0; j < B; j++) {
        float s = 0.01f;
        for (int k = 0; k < 3; k++) { float d = x[i][k]-x[j][k]; s += d*d; }
        loss += 1/sqrtf(s);
    }
    return loss;
}
void bodies_reverse(void) { /* by symmetry, both ends at once */
    for (int i = 0; i < B; i++) {
        float a = 0, b = 0, c = 0;
        for (int j = 0; j < B; j++) {
            float dx = x[i][0]-x[j][0], dy = x[i][1]-x[j][1], dz = x[i][2]-x[j][2], r = 1/sqrtf(dx*dx+dy*dy+dz*dz+0.01f);
            float w = -2*r*r*r;
            a += w*dx; b += w*dy; c += w*dz;
        }
        ax[i][0] = a; ax[i][1] = b; ax[i][2] = c;
    }
}
float options_forward(void) {
    float loss = 0;
    for (int i = 0; i < O; i++) {
        float S = p[0][i], K = p[1][i], t = p[2][i], v = p[3][i], r = v*sqrtf(t);
        float d1 = (logf(S/K)+(0.02f+0.5f*v*v)*t)/r, d2 = d1-r;
        loss += S/(1+expf(-1.702f*d1)) - K*expf(-0.02f*t)/(1+expf(-1.702f*d2));
    }
    return loss;
}
void options_reverse(void) {
    for (int i = 0; i < O; i++) {
        float S = p[0][i], K = p[1][i], t = p[2][i], v = p[3][i], q = sqrtf(t), r = v*q, n = logf(S/K)+(0.02f+0.5f*v*v)*t;
        float d1 = n/r, d2 = d1-r, f = 1/(1+expf(-1.702f*d1)), s = 1/(1+expf(-1.702f*d2)), e = expf(-0.02f*t);
        float a1 = S*1.702f*f*(1-f), a2 = -K*e*1.702f*s*(1-s), a = a1+a2, ar = -a2-a*n/(r*r), an = a/r;
        ap[0][i] = f+an/S; ap[1][i] = -e*s-an/K;
        ap[2][i] = 0.02f*K*e*s+an*(0.02f+0.5f*v*v)+ar*v*0.5f/q; ap[3][i] = an*v*t+ar*q;
    }
}
float *wave_input(void) { return &u[0][0][0]; } float *wave_gradient(void) { return &au[0][0][0]; }
float *bodies_input(void) { return &x[0][0]; } float *bodies_gradient(void) { return &ax[0][0]; }
float *options_input(void) { return &p[0][0]; } float *options_gradient(void) { return &ap[0][0]; }
"""
IN_C = ("wave", "bodies", "options")


def filled(shape, start):
    import numpy

    size = math.prod(shape)
    return numpy.fromiter(map(start, range(size)), numpy.float32, size).reshape(shape)


def median_of(run, rounds):
    """The median time of some rounds: of the processor, which does not depend on what else the machine does."""
    taken = []
    run()
    for _ in range(rounds):
        begin = time.process_time()
        run()
        taken.append(time.process_time() - begin)
    return statistics.median(taken)


def measure(package, name, rounds, threads):
    """Forward and reverse seconds, memory, and the gradient of one problem on one package."""
    import numpy

    m = __import__(package)
    limit = {"num_threads": threads} if package == "samovar" else {"cpu_max_num_threads": threads}
    m.init(arch=m.cpu, default_fp=m.f32, **limit, **OPTIONS.get(package, {}))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run, loss, x, start = PROBLEMS[name](m)
    x.from_numpy(filled(x.to_numpy().shape, start))
    clear = getattr(run, "clear", lambda: None)

    def forward():
        clear()
        loss[None] = 0.0
        run()

    def both():
        clear()
        loss[None] = 0.0
        with m.ad.Tape(loss):
            run()

    both()
    gradient = x.grad.to_numpy().reshape(-1)[: 1 << 15]
    first = median_of(forward, rounds)
    second = median_of(both, rounds) - first
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    numbers = numpy.asarray(gradient, float).tolist()
    return {"forward": first, "reverse": second, "memory": memory / 1024, "gradient": numbers}


def measure_c(name, rounds):
    import numpy

    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "adjoints.c"), Path(folder, "adjoints.so")
        source.write_text(C)
        flags = ("-O3", "-march=native", "-ffast-math", "-shared", "-fPIC")
        subprocess.run(["gcc", *flags, str(source), "-o", str(library), "-lm"], check=True)
        c = ctypes.CDLL(str(library))
    sizes = {"wave": 202 * 256 * 256, "bodies": 2048 * 3, "options": 4 << 18}
    for each in ("input", "gradient"):
        getattr(c, f"{name}_{each}").restype = ctypes.POINTER(ctypes.c_float)
    starts = {
        "wave": lambda k: math.sin(0.001 * k) if k < 2 * 256 * 256 else 0.0,
        "bodies": lambda k: math.sin(1.7 * k),
        "options": lambda k: 1.0 + 0.3 * math.sin(k),
    }
    numpy.ctypeslib.as_array(getattr(c, f"{name}_input")(), (sizes[name],))[:] = filled((sizes[name],), starts[name])
    first, second = (median_of(getattr(c, f"{name}_{each}"), rounds) for each in ("forward", "reverse"))
    gradient = numpy.ctypeslib.as_array(getattr(c, f"{name}_gradient")(), (sizes[name],))[: 1 << 15]
    return {"forward": first, "reverse": second, "memory": 0.0, "gradient": gradient.astype(float).tolist()}


def measure_warp(name, rounds):
    import gradients_warp

    memory = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # noqa: E731
    return gradients_warp.measure(name, rounds, filled, median_of, memory)


def child(package, name, rounds, threads):
    """The result of a measurement in a process of its own, or why there is none."""
    options = {"--child": package, "--only": name, "--rounds": str(rounds), "--threads": str(threads)}
    program = [sys.executable, __file__, *(part for option in options.items() for part in option)]
    try:
        done = subprocess.run(program, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "more than 300 s"
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        return "absent" if f"No module named '{package}'" in done.stderr else "refused"
    return json.loads(lines[-1])


def verdict(found, right):
    import numpy

    one, other = numpy.array(found["gradient"]), numpy.array(right["gradient"])
    return "" if numpy.abs(one - other).max() <= 1e-3 * max(1e-6, numpy.abs(other).max()) else " wrong"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default=",".join(PROBLEMS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--child")
    given = parser.parse_args()
    if given.child:
        package, own = given.child, {"c": measure_c, "warp": measure_warp}
        if package in own:
            print(json.dumps(own[package](given.only, given.rounds)))
        else:
            print(json.dumps(measure(package, given.only, given.rounds, given.threads)))
        return
    print(f"reverse over forward; milliseconds of both, peak memory in MiB; {given.threads} thread(s)")
    ratios = []
    for name in given.only.split(","):
        right = child("samovar", name, given.rounds, given.threads)
        cells = []
        contenders = [each for each in CONTENDERS if each != "warp" or name in IN_WARP]
        for package in (*contenders, *(("c",) if name in IN_C else ())):
            found = right if package == "samovar" else child(package, name, given.rounds, given.threads)
            if isinstance(found, str) or isinstance(right, str):
                cells.append(f"{package}: {found if isinstance(found, str) else 'alone'}")
                continue
            ratio = found["reverse"] / found["forward"]
            if package == "samovar":
                ratios.append(ratio)
            numbers = f"{1e3 * found['forward']:.2f} + {1e3 * found['reverse']:.2f} ms, {found['memory']:.0f} MiB"
            faster = "" if package == "samovar" else f", {found['reverse'] / right['reverse']:.2f} times Samovar's reverse"
            cells.append(f"{package}: {ratio:.2f} ({numbers}{faster}){verdict(found, right)}")
        print(f"{name:16}" + "\n                ".join(cells), flush=True)
    if ratios:
        print(f"median of Samovar's ratios: {statistics.median(ratios):.2f}, greatest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
