"""Programs whose gradients other frameworks get wrong or refuse, by the issue that reports it. Expected values come from
steps along the imaginary axis."""

import numpy as np
import pytest

import samovar as sv

N = 5
START = np.linspace(0.4, 1.2, N)


@pytest.fixture(autouse=True)
def double():
    sv.init(default_fp=sv.f64)
    yield
    sv.reset()


def array(*shape):
    return sv.ndarray(sv.f64, shape, needs_grad=True)


def gradient(x, loss, run):
    x.from_numpy(START)
    with sv.ad.Tape(loss):
        run()
    return x.grad.to_numpy()


def expected(f):
    return pytest.approx([f(START + 1e-30j * each).imag / 1e-30 for each in np.eye(N)], rel=1e-12)


def test_global_data_access_rule():
    """An element is read, and overwritten later in the same launch."""

    @sv.kernel
    def run():
        for i in x:
            y[i] = x[i] * x[i]
            x[i] = sv.sin(x[i])
        for i in x:
            loss[None] += x[i] * y[i]

    x, y, loss = array(N), array(N), array()
    assert gradient(x, loss, run) == expected(lambda v: (np.sin(v) * v * v).sum())


def test_taichi_8802_what_another_iteration_wrote():
    @sv.kernel(serial=True)
    def run():
        for i in range(1, N):
            x[i] = x[i] * x[i - 1] + x[i]
        loss[None] = x[N - 1]

    def value(v):
        total = v[0]
        for each in v[1:]:
            total = each * total + each
        return total

    x, loss = array(N), array()
    assert gradient(x, loss, run) == expected(value)


@pytest.mark.parametrize("kind", ["while", "continue", "break"])
def test_taichi_1074_2387_7771_jumps(kind):
    @sv.kernel
    def run(kind: sv.template()):
        for i in x:
            total, k = x[i], 0
            if sv.static(kind == "while"):
                while total < 3.0:
                    total = total * total + 0.8
            elif sv.static(kind == "continue"):
                for k in range(6):
                    if (i + k) % 2 == 0:
                        continue
                    total *= sv.sin(total)
            else:
                for _ in range(20):
                    if total > 2.0:
                        break
                    total += x[i] * x[i]
            loss[None] += total

    def one(i, v):
        total = v
        if kind == "while":
            while total.real < 3.0:
                total = total * total + 0.8
        elif kind == "continue":
            for k in range(6):
                if (i + k) % 2:
                    total = total * np.sin(total)
        else:
            while total.real <= 2.0:
                total = total + v * v
        return total

    x, loss = array(N), array()
    found = gradient(x, loss, lambda: run(kind))
    assert found == expected(lambda v: sum(one(i, each) for i, each in enumerate(v)))


def test_taichi_8356_sums_of_other_elements_in_nested_loops():
    @sv.kernel
    def run():
        for i in range(N):
            for j in range(N):
                y[i] += x[j]
        for i in range(N):
            loss[None] += y[i] * y[i] * (i + 1)

    x, y, loss = array(N), array(N), array()
    assert gradient(x, loss, run) == expected(lambda v: (v.sum() ** 2 * np.arange(1, N + 1)).sum())


def test_warp_1294_an_element_is_increased_in_place():
    @sv.kernel
    def run():
        for i in x:
            x[i] = x[i] + 1.0
            x[i] *= x[i]
        for i in x:
            loss[None] += x[i]

    x, loss = array(N), array()
    assert gradient(x, loss, run) == expected(lambda v: ((v + 1) ** 2).sum())


def test_warp_1350_an_array_is_reused_by_a_later_launch():
    @sv.kernel
    def fill(power: sv.i32):
        for i in x:
            y[i] = x[i] ** power

    @sv.kernel
    def add():
        for i in x:
            loss[None] += y[i] * x[i]

    def run():
        for power in (2, 3):
            fill(power)
            add()

    x, y, loss = array(N), array(N), array()
    assert gradient(x, loss, run) == expected(lambda v: (v**3 + v**4).sum())


def test_warp_1470_an_array_changes_before_backward():
    @sv.kernel
    def run():
        for i in x:
            loss[None] += x[i] * x[i]

    x, loss = array(N), array()
    x.from_numpy(START)
    tape = sv.ad.Tape()
    with tape:
        run()
        run()
    x.fill(0)
    loss.grad.fill(1)
    with pytest.raises(sv.SamovarRuntimeError, match=r"`x`.* was written to outside the kernels that the tape records"):
        tape.backward()
