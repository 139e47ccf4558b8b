"""Gradients of whole programs against central differences: what kernels can say, and what other frameworks get wrong."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import samovar as sv

N = 5


@pytest.fixture(autouse=True)
def double():
    sv.init(default_fp=sv.f64)
    yield
    sv.reset()


def field(*shape):
    return sv.field(sv.f64, shape, needs_grad=True)


def filled(*shape, seed=0, low=0.2, high=1.1):
    made = field(*shape)
    made.from_numpy(np.random.default_rng(seed).uniform(low, high, shape))
    return made


def differences(run, x, loss, step=1e-6):
    """Central differences of a loss that `run` computes from x."""
    start = x.to_numpy().copy()
    found = np.zeros_like(start)
    for place in np.ndindex(start.shape):
        values = []
        for by in (step, -step):
            moved = start.copy()
            moved[place] += by
            x.from_numpy(moved)
            loss.fill(0)
            run()
            values.append(loss[None])
        found[place] = (values[0] - values[1]) / (2 * step)
    x.from_numpy(start)
    return found


def require_gradient(run, x, loss, others=(), tolerance=1e-7):
    """The gradient of a program by x is that of differences. `others` are arrays that the program changes."""
    start = [(each, each.to_numpy().copy()) for each in (x, *others)]

    def again():
        for array, content in start[1:]:
            array.from_numpy(content)
        run()

    for array, content in start:
        array.from_numpy(content)
    loss.fill(0)
    with sv.ad.Tape(loss):
        run()
    found = x.grad.to_numpy().copy()
    x.from_numpy(start[0][1])
    np.testing.assert_allclose(found, differences(again, x, loss), rtol=tolerance, atol=tolerance)
    return found


def test_an_element_is_read_and_overwritten_later():
    x, loss = filled(N), field()

    @sv.kernel
    def run():
        for i in x:
            x[i] = x[i] * x[i]
            x[i] = sv.sin(x[i]) * x[i]
        for i in x:
            loss[None] += x[i] ** 3

    def program():
        run()

    start = x.to_numpy().copy()
    loss.fill(0)
    with sv.ad.Tape(loss) as tape:
        program()
    found = x.grad.to_numpy().copy()
    square = start * start
    inner = np.sin(square) * square
    expected = 3 * inner**2 * (np.cos(square) * square + np.sin(square)) * 2 * start
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert [size for _, _, size, _ in tape.report()] == [8 * N]


def test_without_a_tape_an_overwritten_element_is_an_error_at_its_line():
    x = filled(N)

    @sv.kernel
    def run():
        for i in x:
            x[i] = x[i] * x[i]

    run()
    with pytest.raises(sv.SamovarCompilationError, match=r"x\[i\] = x\[i\] \* x\[i\]") as caught:
        run.grad()
    assert "sv.ad.Tape" in str(caught.value)


def test_without_a_tape_a_kernel_that_overwrites_nothing_it_needs():
    x, y = filled(N), field(N)

    @sv.kernel
    def run():
        for i in x:
            y[i] = sv.exp(x[i])
            y[i] += x[i] * x[i]

    run()
    y.grad.fill(1)
    run.grad()
    values = x.to_numpy()
    np.testing.assert_allclose(x.grad.to_numpy(), np.exp(values) + 2 * values, rtol=1e-12)
    assert not y.grad.to_numpy().any()


def test_time_steps_in_one_array_keep_nothing():
    steps = 4
    x, loss = filled(steps + 1, N), field()

    @sv.kernel
    def step(t: sv.i32):
        for i in range(N):
            x[t + 1, i] = x[t, i] * x[t, (i + 1) % N] + 0.5 * x[t, i]

    @sv.kernel
    def total():
        for i in range(N):
            loss[None] += x[steps, i] ** 2

    def program():
        for t in range(steps):
            step(t)
        total()

    with sv.ad.Tape(loss) as tape:
        program()
    assert tape.report() == []
    found = x.grad.to_numpy()[0]
    expected = differences(program, x, loss)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_loop_carries_what_it_wrote():
    x, loss = filled(N), field()

    @sv.kernel(serial=True)
    def scan():
        for i in range(1, N):
            x[i] = x[i] * x[i - 1] + sv.sin(x[i - 1])
        for i in range(N):
            loss[None] += x[i] * x[i]

    require_gradient(scan, x, loss)


def test_records_of_nested_loops_are_taken_last_first():
    x, d, loss = filled(N), filled(N, seed=1), field()

    @sv.kernel(serial=True)
    def run():
        for i in range(1, N):
            for _ in range(i, 7, 2):  # only adds; what it reads is saved, as the next loop overwrites it
                loss[None] += i * d[i] * d[i] * x[i]
        for i in d:
            d[i] = x[i]

    require_gradient(run, x, loss, [d])
    require_gradient(run, d, loss, [x])


def test_loops_of_lengths_that_depend_on_data():
    x, lengths, loss = filled(N), sv.field(sv.i32, N), field()
    lengths.from_numpy(np.array([0, 3, 1, 7, 2], np.int32))

    @sv.kernel
    def run():
        for i in x:
            y = x[i]
            for k in range(lengths[i]):
                y = sv.sin(y) * (1.0 + x[k % N])
            loss[None] += y * y

    require_gradient(run, x, loss)


def test_while_break_and_continue():
    x, loss = filled(N), field()

    @sv.kernel
    def run():
        for i in x:
            y = x[i]
            while y < 3:
                y = y * 1.5 + x[i]
                if y > 2.5:
                    break
            z = 1.0
            for k in range(9):
                if k % 2 == 0:
                    continue
                z *= y + 0.1 * k
                if z > 50:
                    break
                z += x[(i + k) % N]
            loss[None] += z + y

    require_gradient(run, x, loss, tolerance=1e-6)


def test_newtons_iteration():
    x, loss = filled(N, low=1, high=3), field()

    @sv.kernel
    def run():
        for i in x:
            root = x[i]
            while abs(root * root - x[i]) > 1e-14:
                root = 0.5 * (root + x[i] / root)
            loss[None] += root

    found = require_gradient(run, x, loss)
    np.testing.assert_allclose(found, 0.5 / np.sqrt(x.to_numpy()), rtol=1e-6)


def test_sums_in_nested_loops():
    x, y, loss = field(N), filled(N), field()

    @sv.kernel
    def run():
        for i in x:
            for j in range(N):
                x[i] += y[j] * (i + 1)
        for i in x:
            loss[None] += x[i] ** 2

    require_gradient(run, y, loss, [x])


@pytest.mark.parametrize("sign", ["+=", "-=", "*=", "/="])
def test_updates_in_place(sign, tmp_path, monkeypatch):
    (tmp_path / "updating.py").write_text(
        "import samovar as sv\n"
        "def make(x, y, loss):\n"
        "    @sv.kernel\n"
        "    def run():\n"
        "        for i in x:\n"
        f"            x[i] {sign} y[i] * x[i] + 1.5\n"
        f"            x[i] {sign} y[i]\n"
        "        for i in x:\n"
        "            loss[None] += x[i] * x[i]\n"
        "    return run\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "updating", raising=False)
    import updating

    x, y, loss = filled(N), filled(N, seed=1), field()
    run = updating.make(x, y, loss)
    require_gradient(run, x, loss)
    require_gradient(run, y, loss, [x])


def test_variables_that_iterations_share():
    x, loss = filled(N), field()

    @sv.kernel
    def run():
        total = 0.0
        for i in x:
            total += x[i] * x[i]
        mean = total / N
        for i in x:
            loss[None] += (x[i] - mean) ** 3
        loss[None] += sv.sin(total)

    require_gradient(run, x, loss)


def test_softmax():
    x, y, loss = filled(N), field(N), field()

    @sv.kernel
    def run():
        total = 0.0
        for i in x:
            total += sv.exp(x[i])
        for i in x:
            y[i] = sv.exp(x[i]) / total
        for i in x:
            loss[None] += y[i] * y[i] * (i + 1)

    require_gradient(run, x, loss, [y])


def test_vectors_matrices_and_local_arrays():
    x, loss = filled(N), field()

    @sv.kernel
    def run():
        for i in range(N - 2):
            v = sv.Vector([x[i], x[i + 1], x[i + 2]])
            m = v.outer_product(v) + sv.Matrix([[1.0, 0.2, 0], [0, 1, 0.3], [0.1, 0, 1]])
            w = m @ v
            w[i] *= 2
            for k in range(3):
                w[k] += w[(k + 1) % 3] * v[k]
            loss[None] += w.dot(v) + w.norm() + m.determinant() + m.inverse()[0, 1] + m.trace()

    require_gradient(run, x, loss, tolerance=1e-6)


def test_arrays_of_vectors_and_structs():
    ball = sv.types.struct(pos=sv.types.vector(2, sv.f64), mass=sv.f64)
    balls = ball.field(shape=N, needs_grad=True)
    loss = field()
    balls.mass.fill(2.0)
    numbers = np.random.default_rng(3).uniform(0.1, 1, (N, 2))
    balls.pos.from_numpy(numbers)

    @sv.kernel
    def run():
        for i in balls:
            balls[i].pos *= balls[i].mass
            loss[None] += balls[i].pos.norm_sqr() * balls[i].mass

    loss.fill(0)
    with sv.ad.Tape(loss):
        run()
    np.testing.assert_allclose(balls.pos.grad.to_numpy(), 2 * 8 * numbers, rtol=1e-12)
    np.testing.assert_allclose(balls.mass.grad.to_numpy(), 3 * 4 * (numbers**2).sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("name", ["svd", "polar", "eigen", "solve"])
def test_decompositions(name):
    x, loss = filled(9, seed=4), field()

    @sv.kernel
    def by_svd():
        for _ in range(1):
            a = sv.Matrix([[x[0] + 2, x[1], x[2]], [x[3], x[4] - 1, x[5]], [x[6], x[7], x[8] + 4]])
            _, s, _ = sv.svd(a)
            loss[None] += s[0, 0] * 2 + s[1, 1] ** 2 + sv.sin(s[2, 2])

    @sv.kernel
    def by_polar():
        for _ in range(1):
            a = sv.Matrix([[x[0] + 2, x[1]], [x[2], x[3] + 1]])
            u, p = sv.polar_decompose(a)
            loss[None] += u[0, 1] * 2 + p[0, 1] ** 2 + p[1, 1]

    @sv.kernel
    def by_eigen():
        for _ in range(1):
            a = sv.Matrix([[x[0] + 2, x[1]], [x[1], x[3] - 1]])
            values, vectors = sv.sym_eig(a)
            loss[None] += values[0] * 2 + values[1] ** 2 + vectors[0, 0] ** 2

    @sv.kernel
    def by_solve():
        for _ in range(1):
            a = sv.Matrix([[x[0] + 2, x[1], x[2]], [x[3], x[4] - 1, x[5]], [x[6], x[7], x[8] + 4]])
            loss[None] += sv.solve(a, sv.Vector([x[0], 2.0, x[3]])).norm()

    run = {"svd": by_svd, "polar": by_polar, "eigen": by_eigen, "solve": by_solve}[name]
    require_gradient(run, x, loss, tolerance=1e-6)


def test_functions_of_all_kinds():
    x, loss = filled(N), field()

    @sv.real_func
    def power(a: sv.f64, n: sv.i32) -> sv.f64:
        result = 1.0
        for _ in range(n):
            result *= a
        return result

    @sv.func
    def clipped(a):
        if a > 0.9:
            return 0.9 + 0.1 * a
        if a < 0.4:
            return a * a
        return sv.tan(a)

    @sv.func
    def root(a):
        return a * math.sqrt(a)

    @sv.kernel
    def run():
        for i in x:
            loss[None] += power(x[i], i + 1) + clipped(x[i]) * root(x[i])

    require_gradient(run, x, loss)


def test_slices_in_kernels():
    x, loss = sv.ndarray(sv.f64, N, needs_grad=True), field()
    x.from_numpy(np.linspace(0.2, 0.9, N))

    @sv.func
    def double(v, n):
        for k in range(n):
            v[k] = v[k] * v[k] + v[0]

    @sv.kernel(serial=True)
    def run():
        double(x[1:], 3)
        double(x[:2], 2)
        for i in range(N):
            loss[None] += x[i] * (i + 1)

    require_gradient(run, x, loss)


def test_old_values_of_updates():
    x, loss = filled(N), field()

    @sv.kernel
    def run():
        for i in x:
            before = sv.atomic_add(x[i], sv.sin(x[i]))
            between = sv.atomic_sub(x[i], before * before)
            last = sv.atomic_max(x[i], 0.5 * between)
            loss[None] += before * between + last * x[i]

    require_gradient(run, x, loss)


@pytest.mark.parametrize("code", ["max", "min"])
@pytest.mark.parametrize("dtype", [sv.f32, sv.f64])
def test_extremes_that_iterations_share(code, dtype):
    """The gradient goes to the last iteration that reaches the extreme, or stays with the element."""
    x, best = (sv.field(dtype, n, needs_grad=True) for n in ((4, 3), 3))
    loss, total = (sv.field(dtype, (), needs_grad=True) for _ in range(2))
    group = sv.field(sv.i32, 4)
    group.from_numpy(np.array([0, 1, 0, 2], np.int32))
    atomic = getattr(sv, f"atomic_{code}")
    sign = 1 if code == "max" else -1

    @sv.kernel
    def run():
        for i, j in x:
            for k in range(2):
                if j != k:
                    atomic(best[group[i]], sign * (x[i, j] * (k + 1)))
        for i in best:
            atomic(total[None], best[i] * best[i] * sign)
        for i in best:
            loss[None] += best[i] * (i + 1)
        loss[None] += total[None]

    numbers = np.array([[1, 2, 3], [3, 1, 3], [1, 3, 1], [0.1, 0.1, 0.1]])
    x.from_numpy(numbers.astype(dtype.name.replace("f", "float")))
    best.from_numpy(sign * np.array([0, 0, 2], x.to_numpy().dtype))
    total.fill(-sign)
    with sv.ad.Tape(loss):
        run()
    assert best.to_numpy().tolist() == [6 * sign, 6 * sign, 2 * sign]
    # x[0, 2], and both x[1, 0] and x[1, 2], reach 6 with k = 1.
    expected = np.zeros((4, 3))
    expected[0, 2] = 2 * sign * 1
    expected[1, 2] = 2 * sign * (2 + 2 * 6)
    np.testing.assert_allclose(x.grad.to_numpy(), expected)
    assert best.grad.to_numpy().tolist() == [0, 0, 3]
    assert total.grad[None] == 0
    with pytest.raises(sv.SamovarCompilationError, match=r"atomic\((best|total)\[[\s\S]*sv.ad.Tape"):
        run.grad()


def test_extremes_of_variables_that_iterations_share():
    """As for elements; iterations that reach the extreme several times count once."""
    x, loss = filled(N), field()
    x.from_numpy(np.array([0.4, 0.9, 0.2, 0.9, 0.3]))

    @sv.kernel
    def run():
        most, least, old = -1e30, 0.25, 2.0
        for i in range(N):
            for _ in range(2):
                sv.atomic_max(most, 2 * x[i])
            sv.atomic_max(most, x[i] * 2)
            sv.atomic_min(least, x[i] * x[0])
            sv.atomic_max(old, x[i])
        for i in x:
            loss[None] += sv.exp(x[i] - most) * least * (i + 1)
        loss[None] += most * old

    def value(x, winner):
        return (np.exp(x - 2 * x[winner]) * x[2] * x[0] * np.arange(1, N + 1)).sum() + 4 * x[winner]

    start = x.to_numpy()
    expected = [value(start + 1e-30j * each, 3).imag / 1e-30 for each in np.eye(N)]
    with sv.ad.Tape(loss):
        run()
    np.testing.assert_allclose(x.grad.to_numpy(), expected, rtol=1e-12)
    sv.ad.clear_all_gradients()
    loss.grad.fill(1)
    run.grad()
    np.testing.assert_allclose(x.grad.to_numpy(), expected, rtol=1e-12)


def test_gathers_scatters_and_selections():
    x, order, loss, y = filled(N), sv.field(sv.i32, N), field(), field(N)
    order.from_numpy(np.array([3, 0, 4, 4, 1], np.int32))

    @sv.kernel
    def run():
        for i in x:
            y[order[i]] += x[i] * x[order[i]]
        for i in x:
            loss[None] += sv.max(y[i], 0.3) * sv.min(x[i], 0.7) + (y[i] if i % 2 == 0 else abs(y[i] - 0.4))

    require_gradient(run, x, loss, [y])


def test_methods_and_members():
    @sv.data_oriented
    class Model:
        def __init__(self):
            self.x, self.loss = filled(N), field()

        @sv.kernel
        def run(self, scale: sv.f64):
            for i in self.x:
                self.loss[None] += scale * self.x[i] ** 2

    model = Model()
    model.run(3.0)
    model.loss.grad.fill(1)
    model.run.grad(3.0)
    np.testing.assert_allclose(model.x.grad.to_numpy(), 6 * model.x.to_numpy())
    with sv.ad.Tape(model.loss):
        model.run(2.0)
    np.testing.assert_allclose(model.x.grad.to_numpy(), 4 * model.x.to_numpy())


@dataclass
class State:
    x: sv.types.NDArray[sv.f64, 1]
    v: sv.types.NDArray[sv.f64, 1]


def test_members_of_dataclasses():
    state = State(*(sv.ndarray(sv.f64, N, needs_grad=True) for _ in range(2)))
    state.x.fill(0.5)
    state.v.fill(2.0)
    loss = field()

    @sv.kernel
    def step(state: State):
        for i in state.x:
            state.v[i] -= 0.1 * sv.sin(state.x[i])
            state.x[i] += 0.1 * state.v[i]

    @sv.kernel
    def total(state: State):
        for i in state.x:
            loss[None] += state.x[i] * state.v[i]

    def by_v(v):
        x = 0.5
        for _ in range(3):
            v = v - 0.1 * math.sin(x)
            x = x + 0.1 * v
        return x * v

    with sv.ad.Tape(loss) as tape:
        for _ in range(3):
            step(state)
        total(state)
    expected = (by_v(2 + 1e-6) - by_v(2 - 1e-6)) / 2e-6
    np.testing.assert_allclose(state.v.grad.to_numpy(), expected, rtol=1e-8)
    assert {name for name, *_ in tape.report()} == {"test_members_of_dataclasses.<locals>.step"}


def test_numpy_arrays_are_inputs():
    x, weights, loss = filled(N), np.linspace(1, 2, N), field()

    @sv.kernel
    def run(weights: sv.types.NDArray[sv.f64, 1]):
        for i in x:
            loss[None] += x[i] ** 2 * weights[i]

    with sv.ad.Tape(loss):
        run(weights)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * x.to_numpy() * weights)


@pytest.mark.parametrize("dtype", [sv.f16, sv.f32, sv.f64])
def test_dtypes(dtype):
    x, y = (sv.ndarray(dtype, N, needs_grad=True) for _ in range(2))
    x.fill(0.5)
    y.grad.fill(1)

    @sv.kernel
    def run(x: sv.types.NDArray[dtype, 1], y: sv.types.NDArray[dtype, 1]):
        for i in x:
            y[i] = sv.cast(sv.sin(sv.cast(x[i], sv.f64)) * x[i], dtype)

    run(x, y)
    run.grad(x, y)
    expected = math.cos(0.5) * 0.5 + math.sin(0.5)
    np.testing.assert_allclose(x.grad.to_numpy().astype(float), expected, rtol=2e-3 if dtype is sv.f16 else 1e-6)


@pytest.mark.parametrize("options", [{"debug": True}, {"check_races": True}, {"fast_math": False}, {"opt_level": 0}])
def test_options(options):
    sv.init(default_fp=sv.f64, **options)
    x, loss = filled(N), field()

    @sv.kernel
    def run():
        for i in x:
            for k in range(i):
                x[i] = sv.sin(x[i]) + 0.1 * k
        for i in x:
            loss[None] += x[i] * x[(i + 1) % N]

    require_gradient(run, x, loss)


def test_a_sum_of_what_is_not_differentiated_stays():
    x, counts, loss = filled(N), sv.field(sv.i32, ()), field()

    @sv.kernel
    def run():
        for i in x:
            if x[i] > 0.5:
                counts[None] += 1
            loss[None] += x[i] ** 2

    with sv.ad.Tape(loss):
        run()
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * x.to_numpy())
    assert counts[None] == (x.to_numpy() > 0.5).sum()


def test_iterations_that_read_what_others_write_are_an_error():
    """The values of such a loop depend on the order of its iterations; run in order, its gradient is right."""
    x, loss = (sv.ndarray(sv.f64, shape, needs_grad=True) for shape in (16, ()))
    grid = sv.ndarray(sv.f64, (4, 4), needs_grad=True)

    @sv.kernel
    def carried():
        for i in range(1, 16):
            x[i] = x[i] + 0.5 * x[i - 1]

    @sv.kernel
    def updated(n: sv.i32):
        for i in range(n):
            x[i] += 0.5 * x[i + 2]

    @sv.kernel
    def rows():
        for i in range(1, 4):
            for j in range(4):
                grid[i, j] = grid[i - 1, j]

    for kernel, arguments in ((carried, ()), (updated, (14,)), (rows, ())):
        with pytest.raises(sv.SamovarError, match="reads an element that another one writes in line") as caught:
            kernel.grad(*arguments)
        assert "serialize=True" in str(caught.value)
        with pytest.raises(sv.SamovarError, match="another one writes"), sv.ad.Tape(loss):
            kernel(*arguments)

    @sv.kernel
    def in_order():
        sv.loop_config(serialize=True)
        for i in range(1, 16):
            x[i] = x[i] + 0.5 * x[i - 1]

    @sv.kernel
    def total():
        for i in x:
            loss[None] += x[i]

    x.fill(1)
    with sv.ad.Tape(loss):
        in_order()
        total()
    jacobian = np.eye(16)
    for i in range(1, 16):
        jacobian[i] += 0.5 * jacobian[i - 1]
    np.testing.assert_allclose(x.grad.to_numpy(), jacobian.sum(0), rtol=1e-14)


def test_iterations_that_stay_apart_are_no_error():
    x, loss = (sv.ndarray(sv.f64, shape, needs_grad=True) for shape in ((3, 16), ()))

    @sv.kernel
    def step(t: sv.i32):
        for i in range(1, 15):
            x[t + 1, i] = x[t, i - 1] + x[t, i + 1]

    @sv.kernel
    def red_and_black(t: sv.i32):
        for i in range(1, 15):
            if i % 2 == 0:
                x[t, i] = 0.5 * (x[t, i - 1] + x[t, i + 1])

    @sv.kernel
    def halves():
        for i in range(8):
            x[2, 2 * i] = x[2, 2 * i + 1]
        for i in range(8):
            x[2, i] += x[2, i + 8]

    @sv.kernel
    def total():
        for i in range(16):
            loss[None] += x[2, i] * i

    x.fill(1)

    def f(x):
        loss.fill(0)
        step(0)
        red_and_black(1)
        step(1)
        halves()
        total()
        return loss

    assert sv.ad.check(f, x) < 1e-6


def test_kernels_that_return_early():
    @sv.kernel
    def run(limit: sv.f64) -> sv.i32:
        for i in x:
            y[i] = x[i] * x[i]
        k = 0
        while k < 3:
            if x[k] > limit:
                return k
            k += 1
        most = 0
        for k in range(5):
            most += sv.i32(x[k] < limit)
        if most == 0:
            return -1
        for i in range(most):
            y[i] = sv.sin(y[i]) * most
        scale = y[1]
        for i in x:
            y[i] *= scale
        return 100 + most

    @sv.kernel
    def total():
        for i in x:
            loss[None] += y[i] * (i + 1)

    x, y, loss = (sv.field(sv.f64, n, needs_grad=True) for n in (5, 5, ()))
    start = np.linspace(0.3, 1.4, 5)

    def value(at, limit):
        out = at * at
        if not (at[:3] > limit).any():
            most = int((at < limit).sum())
            out = np.where(np.arange(5) < most, np.sin(out) * most, out)
            out = out * out[1]
        return (out * np.arange(1, 6)).sum()

    for limit, status in ((0.2, 0), (0.5, 1), (1.0, 103), (9.0, 105)):
        x.from_numpy(start)
        loss[None] = 0
        with sv.ad.Tape(loss):
            assert run(limit) == status
            total()
        assert loss[None] == pytest.approx(value(start, limit), rel=1e-14)
        expected = [(value(start + e, limit) - value(start - e, limit)) / 2e-6 for e in 1e-6 * np.eye(5)]
        assert x.grad.to_numpy() == pytest.approx(expected, rel=1e-7)
        x.from_numpy(start)
        loss[None] = 0
        with sv.ad.FwdMode(loss, x, seed=[1.0] * 5):
            run(limit)
            total()
        assert loss.dual[None] == pytest.approx(sum(expected), rel=1e-7)


def test_positions_that_iterations_share_are_an_error():
    x, out, count, loss = filled(N), field(N), sv.field(sv.i32, ()), field()

    @sv.kernel
    def compact(ordered: sv.template()):
        sv.loop_config(serialize=ordered)
        for i in x:
            if x[i] > 0.5:
                out[sv.atomic_add(count[None], 1)] = x[i] * x[i]
        for i in range(count[None]):
            loss[None] += out[i] * (i + 1)

    def run():
        count[None] = 0
        compact(True)

    require_gradient(run, x, loss, [out])
    with pytest.raises(sv.SamovarCompilationError, match="the old value that this update returns"), sv.ad.Tape(loss):
        compact(False)


def test_flags_that_a_serial_kernel_sets():
    x, flags, loss = filled(N), sv.field(sv.i32, N), field()

    @sv.kernel(serial=True)
    def run():
        for i in range(2 * N):
            if sv.atomic_or(flags[i % N], 1 << (i % 3)) < 2:
                x[i % N] *= 1.0 + x[i % N]
            loss[None] += x[i % N]
        for i in flags:
            flags[i] = 0

    require_gradient(run, x, loss)


def test_an_array_that_is_passed_twice_and_written_is_an_error_with_the_line():
    x, loss = filled(N), field()

    @sv.kernel
    def run(a: sv.template(), b: sv.template()):
        for i in a:
            loss[None] += b[i]
            a[i] = a[i] * b[i]

    with pytest.raises(sv.SamovarCompilationError, match=r"`a` is written here[\s\S]*a\[i\] = a\[i\] \* b\[i\]"):
        run.grad(x, x)
    with pytest.raises(sv.SamovarCompilationError, match=r"`a` is written here"), sv.ad.Tape(loss):
        run(x, x)
