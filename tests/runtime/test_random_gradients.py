"""Gradients of kernels that draw random numbers: the reverse draws those of the launch again."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import samovar as sv

N = 500


@pytest.fixture(autouse=True, params=[1, 2], ids=["one thread", "two threads"])
def options(request):
    sv.init(default_fp=sv.f64, num_threads=request.param, random_seed=5)
    yield
    sv.reset()


def array(*shape, value=0.0):
    made = sv.ndarray(sv.f64, shape, needs_grad=True)
    made.fill(value)
    return made


@sv.func
def drawn_in_a_func(scale):
    if sv.random() < 0.5:
        return scale * sv.random()
    return scale * scale * sv.randn()


@sv.real_func
def drawn_in_a_real_func(n: sv.i32) -> sv.f64:
    result = 0.0
    for _ in range(n):
        result += sv.random()
    return result


def on_a_tape(run, x, y):
    """What `run` computes, and the gradient of its sum."""
    with sv.ad.Tape() as tape:
        run()
    value = y.to_numpy().copy()
    y.grad.fill(1)
    tape.backward()
    return value, x.grad.to_numpy()


def test_a_product_with_a_random_number():
    x, y, loss, after = array(N, value=3), array(N), array(), array(N)

    @sv.kernel
    def run():
        for i in x:
            y[i] = x[i] * sv.random()

    @sv.kernel
    def total():
        for i in y:
            loss[None] += y[i] * y[i]

    @sv.kernel
    def later():
        for i in after:
            after[i] = sv.random()

    expected = []
    for taped in (False, True):
        sv.seed(8)
        loss.fill(0)
        if taped:
            with sv.ad.Tape(loss):
                run()
                run()
                total()
            factor = y.to_numpy() / 3
            np.testing.assert_allclose(x.grad.to_numpy(), 2 * y.to_numpy() * factor, rtol=1e-14)
            assert len(np.unique(factor)) == N
        else:
            run()
            run()
            total()
        later()
        expected.append((y.to_numpy().copy(), after.to_numpy().copy()))
    for plain, taped in zip(*expected, strict=True):
        np.testing.assert_array_equal(plain, taped)


def test_launches_that_repeat_draw_each_their_own():
    x, y = array(N, value=2), array(N, value=1)

    @sv.kernel
    def run():
        for i in x:
            y[i] *= x[i] * (0.5 + sv.random())

    value, gradient = on_a_tape(lambda: [run() for _ in range(4)], x, y)
    np.testing.assert_allclose(gradient, 4 * value / 2, rtol=1e-13)


def test_loops_branches_and_funcs():
    x, y = array(N, value=1.5), array(N)

    @sv.kernel
    def run(p: sv.f64):
        offset = sv.random()
        for i in x:
            total = offset * x[i]
            for _ in range(i % 7):
                if sv.random() < p:
                    total += x[i] * sv.random()
                    continue
                total -= drawn_in_a_func(0.5) * x[i]
            while sv.random() < 0.7:
                total += sv.randn() * x[i]
            y[i] = total + drawn_in_a_real_func(i % 3) * x[i] * sv.randint(1, 4)
        for i in x:
            y[i] += sv.random() * x[i]

    value, gradient = on_a_tape(lambda: run(0.4), x, y)
    np.testing.assert_allclose(gradient, value / 1.5, rtol=1e-12)


def test_a_stencil_in_two_dimensions():
    x, y = array(20, 30), array(20, 30)
    start, w = np.random.default_rng(1).uniform(1, 2, (2, 20, 30))
    x.from_numpy(start)

    @sv.kernel
    def run():
        for i, j in sv.ndrange((1, 19), (2, 28)):
            r = sv.random()
            y[i, j] = r * x[i, j] + r * r * (x[i - 1, j] + x[i + 1, j]) - sv.random() * (x[i, j - 2] + x[i, j + 2])

    with sv.ad.Tape() as tape:
        run()
    y.grad.from_numpy(w)
    found = float((y.to_numpy() * w).sum())
    tape.backward()
    assert found == pytest.approx(float((x.grad.to_numpy() * start).sum()), rel=1e-12)


def test_both_modes_second_derivatives_and_checks():
    x, loss = array(6, value=1.2), array()

    @sv.kernel
    def run():
        loss[None] = 0
        for i in x:
            loss[None] += x[i] ** 3 * sv.random()

    def f(x):
        run()
        return loss

    sv.seed(3)
    value, gradient = sv.ad.value_and_grad(f)(x)
    sv.seed(3)
    same, tangent = sv.ad.jvp(f, [x], [np.ones(6)])
    assert float(same.to_numpy()) == pytest.approx(value, rel=1e-14)  # sums may be in another order
    assert float(tangent.to_numpy()) == pytest.approx(gradient.to_numpy().sum(), rel=1e-14)
    sv.seed(3)
    (twice,) = sv.ad.hvp(f, [x], [np.ones(6)])
    np.testing.assert_allclose(twice.to_numpy(), gradient.to_numpy() * 2 / 1.2, rtol=1e-13)
    assert sv.ad.check(f, x) < 1e-7


def test_the_largest_of_random_products():
    x, y = array(N, value=2), array(1, value=-1)

    @sv.kernel
    def run():
        for i in x:
            sv.atomic_max(y[0], x[i] * sv.random())

    value, gradient = on_a_tape(run, x, y)
    assert np.count_nonzero(gradient) == 1
    assert gradient.sum() == pytest.approx(value[0] / 2, rel=1e-14)


def test_other_threads_draw_in_between():
    x, y, other = array(N, value=2), array(N), array(N)

    @sv.kernel
    def run():
        for i in x:
            y[i] += x[i] * sv.random()

    @sv.kernel
    def elsewhere():
        for i in other:
            other[i] = sv.random()

    def draw():
        for _ in range(200):
            elsewhere()

    elsewhere()
    thread = threading.Thread(target=draw)
    thread.start()
    value, gradient = on_a_tape(lambda: [run() for _ in range(50)], x, y)
    thread.join()
    np.testing.assert_allclose(gradient, value / 2, rtol=1e-12)


def test_checkpointed_steps_draw_again():
    x, loss = array(N, value=1), array()

    @sv.kernel
    def step(draws: sv.i32):
        for i in x:
            x[i] *= 0.5 + sv.random() * draws

    @sv.kernel
    def total():
        for i in x:
            loss[None] += x[i]

    def loop(t):
        for draws in range(t % 3):
            step(draws)

    with sv.ad.Tape(loss):
        sv.ad.checkpointed(loop, 20)
        total()
    first = x.to_numpy().copy()
    np.testing.assert_allclose(x.grad.to_numpy(), first, rtol=1e-12)
    step(1)
    changed = x.to_numpy() / first
    sv.seed(5)
    x.fill(1)
    for t in range(20):
        loop(t)
    np.testing.assert_array_equal(x.to_numpy(), first)
    step(1)
    np.testing.assert_allclose(x.to_numpy() / first, changed)

    def seeds(t):
        sv.seed(t)
        step(1)

    with pytest.raises(sv.SamovarRuntimeError, match=r"step 0 of a checkpointed loop draws[^$]*sv\.seed"), sv.ad.Tape(loss):
        sv.ad.checkpointed(seeds, 3)


def test_without_a_tape_it_is_an_error_at_the_line():
    x, y = array(N, value=2), array(N)

    @sv.kernel
    def added():
        for i in x:
            y[i] = 2 * x[i] + sv.random()

    @sv.kernel
    def multiplied():
        for i in x:
            y[i] = sv.random() + x[i]
            y[i] += x[i] * sv.random()  # here

    y.grad.fill(1)
    added.grad()
    assert (x.grad.to_numpy() == 2).all()
    with pytest.raises(sv.SamovarCompilationError, match=r"(?s)random number.*# here.*sv\.ad\.Tape"):
        multiplied.grad()


PROGRAM = """
import numpy as np
import samovar as sv

x, loss = (sv.ndarray(sv.f64, shape, needs_grad=True) for shape in (50, ()))

@sv.kernel
def run():
    for i in x:
        if sv.random() < 0.5:
            loss[None] += x[i] * sv.randn(sv.f64)

x.fill(1)
sv.seed(4)
with sv.ad.Tape(loss):
    run()
assert abs(x.grad.to_numpy().sum() - loss[None]) < 1e-12
print(loss[None], x.grad.to_numpy().tolist(), file=open("numbers", "a"))
"""


def test_a_second_process_draws_the_same(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    for _ in range(2):
        subprocess.run([sys.executable, file], cwd=tmp_path, check=True, timeout=120)
    first, second = (tmp_path / "numbers").read_text().splitlines()
    assert first == second
