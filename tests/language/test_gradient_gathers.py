"""Reverses of reads at constant distances: each element takes what it gets, without atomics."""

import numpy as np
import pytest

import samovar as sv


@pytest.fixture(autouse=True)
def double():
    sv.init(default_fp=sv.f64)
    yield
    sv.reset()


def field(*shape, seed=None):
    made = sv.field(sv.f64, shape, needs_grad=True)
    if seed is not None:
        made.from_numpy(np.random.default_rng(seed).uniform(0.2, 1.1, shape))
    return made


def require_gather(kernel, x, y, *arguments, gathers=True):
    """The reverse of a kernel agrees with differences along a direction, and has atomics only if it does not gather."""
    numbers = np.random.default_rng(7)
    start, before = x.to_numpy().copy(), y.to_numpy().copy()
    weights, old = (numbers.uniform(-1, 1, array.to_numpy().shape) for array in (y, x))
    x.grad.from_numpy(old)
    y.grad.from_numpy(weights)
    kernel.grad(*arguments)
    assert ("atomic" not in kernel.grad.inspect("ir")) == gathers
    found = x.grad.to_numpy() - old

    def value(at):
        x.from_numpy(at)
        y.from_numpy(before)
        kernel(*arguments)
        return float((y.to_numpy() * weights).sum())

    expected = np.zeros_like(start)
    for place in np.ndindex(start.shape):
        moved = np.zeros_like(start)
        moved[place] = 1e-6
        expected[place] = (value(start + moved) - value(start - moved)) / 2e-6
    x.from_numpy(start)
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("size", [3, 4, 5, 9, 37])
def test_a_stencil_in_one_dimension(size):
    x, y = field(size, seed=1), field(size, seed=2)

    @sv.kernel
    def run(begin: sv.i32, end: sv.i32):
        for i in range(begin, end):
            y[i] = x[i - 1] * x[i + 1] + sv.sin(x[i]) * x[i + 1]

    require_gather(run, x, y, 1, size - 1)
    require_gather(run, x, y, 2, 2)
    require_gather(run, x, y, size - 1, 1)
    require_gather(run, x, y, 2**31 - 1, 0)


def test_distances_larger_than_the_loop():
    x, y = field(12, seed=1), field(12)

    @sv.kernel
    def run():
        for i in range(5, 7):
            y[i] = x[i - 5] * x[i + 5] * x[i]

    require_gather(run, x, y)


@pytest.mark.parametrize("shape", [(3, 3), (4, 7), (8, 5)])
def test_a_stencil_in_two_dimensions(shape):
    x, y = field(*shape, seed=1), field(*shape)

    @sv.kernel
    def run():
        for i, j in sv.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):
            y[i, j] = x[i, j] * (x[i - 1, j] + x[i + 1, j]) + x[i, j - 1] * x[i, j + 1] + x[i - 1, j + 1]

    require_gather(run, x, y)


def test_other_indices_beside_those_of_the_loop():
    x, y = field(3, 5, 4, seed=1), field(4, 5)

    @sv.kernel
    def run(t: sv.i32):
        for j, i in sv.ndrange(3, (1, 4)):  # the axes of x in another order
            y[j, i] = x[t, i - 1, j] * x[t + 1, i, j + 1] + x[(i + j) % 3, i + 1, j]

    require_gather(run, x, y, 1)


def test_reads_under_conditions():
    x, y = field(9, seed=1), field(9)

    @sv.kernel
    def run():
        for i in range(9):
            if i > 0:
                y[i] += x[i - 1] * x[i]
            if i < 8:
                s = x[i + 1] * x[i]
                if s > 0.4:
                    s *= x[i + 1]
                y[i] -= s

    require_gather(run, x, y)


def test_short_loops_over_neighbors():
    x, y = field(9, seed=1), field(9)

    @sv.kernel
    def run():
        for i in range(2, 7):
            s = 0.0
            for k in range(2, -3, -2):
                if k != 0:
                    for m in range(2):
                        s += x[i + k] * x[i - m]
            y[i] = s * s

    require_gather(run, x, y)


def test_a_field_indexed_by_time():
    u, w = field(4, 6, 5, seed=1), field(6, 5, seed=2)

    @sv.kernel
    def step(t: sv.i32):
        for i, j in sv.ndrange((1, 5), (1, 4)):
            around = u[t, i - 1, j] * u[t, i + 1, j] + u[t, i, j - 1] * u[t, i, j + 1]
            u[t + 1, i, j] = 2 * u[t, i, j] - u[t - 1, i, j] + 0.1 * w[i, j] * around

    @sv.kernel
    def total():
        for i, j in w:
            loss[None] += u[3, i, j] ** 2

    loss = field()

    def f(u):
        loss.fill(0)
        for t in range(1, 3):
            step(t)
        total()
        return loss

    step.grad(1)
    assert "atomic" not in step.grad.inspect("ir")
    assert sv.ad.check(f, u) < 1e-6

    @sv.kernel
    def in_place(t: sv.i32, s: sv.i32):  # t and s may be the same
        for i in range(1, 5):
            u[s, 2 * i % 6, 1] = u[t, i - 1, 1] + u[t, i + 1, 1]

    in_place.grad(0, 1)
    assert "atomic" in in_place.grad.inspect("ir")


def test_what_stays_atomic():
    x, y = field(9, seed=1), field(9)

    @sv.kernel
    def strided():
        for i in range(1, 4):
            y[i] = x[2 * i] * x[i]

    @sv.kernel
    def shared():
        for i, j in sv.ndrange((1, 8), 3):
            y[i] += x[i - 1] * x[i + 1] * j

    @sv.kernel
    def looked_up():
        for i in range(1, 8):
            y[i] = x[i - 1] * x[i + 1] * x[(i * i) % 9]

    for kernel in (strided, shared, looked_up):
        require_gather(kernel, x, y, gathers=False)


def test_what_is_read_after_it_was_written_stays():
    x, y = field(9, seed=1), field(9)

    @sv.kernel
    def run():
        for i in range(1, 8):
            y[i] = x[i - 1] * x[i + 1]
            y[i] = sv.sin(y[i]) * x[i]

    with sv.ad.Tape() as tape:
        run()
    y.grad.fill(1)
    tape.backward()
    values = x.to_numpy()
    expected = np.zeros(9)
    for i in range(1, 8):
        product = values[i - 1] * values[i + 1]
        expected[i] += np.sin(product)
        expected[i - 1] += np.cos(product) * values[i] * values[i + 1]
        expected[i + 1] += np.cos(product) * values[i] * values[i - 1]
    np.testing.assert_allclose(x.grad.to_numpy(), expected)


def test_second_derivatives_of_a_stencil():
    x, y, loss = field(7, seed=1), field(7), field()

    @sv.kernel
    def step():
        for i in range(1, 6):
            y[i] = x[i - 1] * x[i + 1] * x[i]

    @sv.kernel
    def total():
        loss[None] = 0
        for i in y:
            loss[None] += y[i] ** 2

    def f(x):
        step()
        total()
        return loss

    def gradient(at):
        x.from_numpy(at)
        return sv.ad.value_and_grad(f)(x)[1].to_numpy().copy()

    start, direction = x.to_numpy().copy(), np.linspace(-1, 1, 7)
    (found,) = sv.ad.hvp(f, [x], [direction])
    expected = (gradient(start + 1e-6 * direction) - gradient(start - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(found.to_numpy(), expected, atol=1e-7)


def test_grids_in_one_dimension():
    """`p // n * n + p % n` is `p`, so neighbors in a flattened grid are at constant distances."""
    side = 9

    @sv.kernel
    def spread():
        for p in range(side * side):
            i, j = p // side, p % side
            force = sv.Vector([0.0, 0.0])
            for d in sv.static(range(4)):
                a, b = i + sv.static((1, -1, 0, 0)[d]), j + sv.static((0, 0, 1, -1)[d])
                if 0 <= a < side and 0 <= b < side:
                    along = x[a * side + b] - x[p]
                    force += along * along.norm()
            y[p] = x[p] + 0.1 * force

    x, y = (sv.Vector.field(2, sv.f64, side * side, needs_grad=True) for _ in range(2))

    def f(*_):
        spread()
        return y

    def value(at):
        x.from_numpy(at)
        y.fill(0)
        spread()
        return y.to_numpy()

    numbers = np.random.default_rng(1)
    start, w, v = (numbers.uniform(-1, 1, (side * side, 2)) for _ in range(3))
    x.from_numpy(start)
    with sv.ad.Tape() as tape:
        f()
    y.grad.from_numpy(w)
    tape.backward()
    difference = (value(start + 1e-6 * v) - value(start - 1e-6 * v)) / 2e-6
    assert np.sum(x.grad.to_numpy() * v) == pytest.approx(np.sum(w * difference), rel=1e-8)


def test_updates_of_one_element_become_one():
    """Unless something between them uses the element."""

    size = 12

    @sv.kernel
    def separate():
        for i in range(size):
            p = order[i]
            y[i] = x[p] * x[i] + sv.sin(x[p])
            if x[p] > 0.0:
                y[i] += x[p] * x[p]

    @sv.kernel(serial=True)
    def dependent():
        for i in range(size):
            y[order[i]] = x[i] * y[order[i]] + y[i]
            y[i] += sv.sin(y[order[i]]) * x[order[i]]

    x, y = (sv.field(sv.f64, size, needs_grad=True) for _ in range(2))
    order = sv.field(sv.i32, size)
    numbers = np.random.default_rng(2)
    order.from_numpy(numbers.integers(0, size, size, np.int32))
    for kernel in (separate, dependent):
        start, w, v = (numbers.uniform(-1, 1, size) for _ in range(3))

        def value(at, kernel=kernel):
            x.from_numpy(at)
            y.fill(0.5)
            kernel()
            return y.to_numpy()

        x.from_numpy(start)
        y.fill(0.5)
        with sv.ad.Tape() as tape:
            kernel()
        y.grad.from_numpy(w)
        tape.backward()
        difference = (value(start + 1e-6 * v) - value(start - 1e-6 * v)) / 2e-6
        assert np.sum(x.grad.to_numpy() * v) == pytest.approx(np.sum(w * difference), rel=1e-7)
