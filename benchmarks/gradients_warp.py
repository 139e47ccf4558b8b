"""The problems of benchmarks/gradients.py that Warp can differentiate, in its language. `PROBLEMS` returns for each what
launches the kernels, and the array with the gradient."""

import math

import numpy
import warp as wp


def array(values):
    return wp.array(values, dtype=float, requires_grad=True)


@wp.kernel
def wave_step(u: wp.array3d(dtype=float), t: int):
    i, j = wp.tid()
    i, j = i + 1, j + 1
    around = u[t, i - 1, j] + u[t, i + 1, j] + u[t, i, j - 1] + u[t, i, j + 1]
    u[t + 1, i, j] = 2.0 * u[t, i, j] - u[t - 1, i, j] + 0.2 * (around - 4.0 * u[t, i, j])


@wp.kernel
def wave_energy(u: wp.array3d(dtype=float), t: int, loss: wp.array(dtype=float)):
    i, j = wp.tid()
    wp.atomic_add(loss, 0, u[t, i, j] * u[t, i, j])


def wave(filled, loss):
    size, steps = 256, 200
    x = array(filled((steps + 2, size, size), lambda k: math.sin(0.001 * k) if k < 2 * size * size else 0.0))

    def run():
        for t in range(1, steps + 1):
            wp.launch(wave_step, dim=(size - 2, size - 2), inputs=[x, t])
        wp.launch(wave_energy, dim=(size, size), inputs=[x, steps + 1, loss])

    return run, x


@wp.kernel
def bodies_energy(x: wp.array2d(dtype=float), count: int, loss: wp.array(dtype=float)):
    i = wp.tid()
    total = float(0.0)  # noqa: UP018 (variables that loops change)
    for j in range(count):
        a, b, c = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
        total += 1.0 / wp.sqrt(a * a + b * b + c * c + 0.01)
    wp.atomic_add(loss, 0, total)


def bodies(filled, loss):
    x = array(filled((2048, 3), lambda k: math.sin(1.7 * k)))
    return lambda: wp.launch(bodies_energy, dim=2048, inputs=[x, 2048, loss]), x


@wp.kernel
def arm_reach(angle: wp.array2d(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    x, y, total = float(0.0), float(0.0), float(0.0)  # noqa: UP018 (variables that loops change)
    for k in range(7):
        total += angle[i, k]
        x += wp.cos(total)
        y += wp.sin(total)
    wp.atomic_add(loss, 0, (x - 1.0) * (x - 1.0) + (y - 2.0) * (y - 2.0))


def arm(filled, loss):
    x = array(filled((1 << 16, 7), lambda k: 0.4 * math.sin(k)))
    return lambda: wp.launch(arm_reach, dim=1 << 16, inputs=[x, loss]), x


@wp.kernel
def options_value(p: wp.array2d(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    root = p[3, i] * wp.sqrt(p[2, i])
    one = (wp.log(p[0, i] / p[1, i]) + (0.02 + 0.5 * p[3, i] * p[3, i]) * p[2, i]) / root
    two = one - root
    first = 1.0 / (1.0 + wp.exp(-1.702 * one))
    second = 1.0 / (1.0 + wp.exp(-1.702 * two))
    wp.atomic_add(loss, 0, p[0, i] * first - p[1, i] * wp.exp(-0.02 * p[2, i]) * second)


def options(filled, loss):
    x = array(filled((4, 1 << 18), lambda k: 1.0 + 0.3 * math.sin(k)))
    return lambda: wp.launch(options_value, dim=1 << 18, inputs=[x, loss]), x


@wp.kernel
def sparse_product(
    values: wp.array(dtype=float),
    x: wp.array(dtype=float),
    columns: wp.array(dtype=int),
    starts: wp.array(dtype=int),
    loss: wp.array(dtype=float),
):
    i = wp.tid()
    total = float(0.0)  # noqa: UP018 (variables that loops change)
    for k in range(starts[i], starts[i + 1]):
        total += values[k] * x[columns[k]]
    wp.atomic_add(loss, 0, total * total)


def sparse(filled, loss):
    rows, each = 1 << 16, 8
    values = array(filled((rows * each,), lambda k: math.sin(k)))
    x = array(filled((rows,), lambda k: math.cos(k)))
    columns = wp.array((numpy.arange(rows * each) * 7919 % rows).astype(numpy.int32))
    starts = wp.array((numpy.arange(rows + 1) * each).astype(numpy.int32))
    return lambda: wp.launch(sparse_product, dim=rows, inputs=[values, x, columns, starts, loss]), values


PROBLEMS = {"wave": wave, "bodies": bodies, "arm": arm, "options": options, "sparse": sparse}


def measure(name, rounds, filled, median_of, memory):
    """Forward and reverse seconds, memory, and the gradient of one problem."""
    wp.init()
    before = memory()
    with wp.ScopedDevice("cpu"):
        loss = array(numpy.zeros(1, numpy.float32))
        run, x = PROBLEMS[name](filled, loss)

        def forward():
            loss.zero_()
            run()

        def both():
            loss.zero_()
            tape = wp.Tape()
            with tape:
                run()
            tape.backward(loss)
            found = x.grad.numpy().reshape(-1)[: 1 << 15].copy()
            tape.zero()
            return found

        gradient = both()
        first = median_of(forward, rounds)
        second = median_of(both, rounds) - first
    used = (memory() - before) / 1024
    return {"forward": first, "reverse": second, "memory": used, "gradient": gradient.astype(float).tolist()}
