"""Tapes: what they keep and notice, and derivatives of functions that launch kernels."""

import copy
import gc
import os
import resource
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import samovar as sv
from samovar._native import as_ndarray, is_shared

N = 4


@pytest.fixture(autouse=True)
def double():
    sv.init(default_fp=sv.f64)
    yield
    sv.reset()


def array(*shape, value=0.0):
    made = sv.ndarray(sv.f64, shape, needs_grad=True)
    made.fill(value)
    return made


def squares(x, y):
    @sv.kernel
    def run():
        for i in x:
            y[i] = x[i] * x[i]

    return run


def summed(x, loss):
    @sv.kernel
    def run():
        for i in x:
            loss[None] += x[i]

    return run


def test_what_is_overwritten_is_kept_once_and_put_back():
    x, y, loss = array(N, value=3), array(N), array()
    square, total = squares(x, y), summed(y, loss)

    @sv.kernel
    def clear():
        for i in x:
            x[i] = 0

    with sv.ad.Tape(loss) as tape:
        square()
        total()
        clear()
        clear()
    (row,) = tape.report()
    assert row[2] == 8 * N
    assert "needed by the reverse of squares" in row[3]
    np.testing.assert_array_equal(x.to_numpy(), 0)
    np.testing.assert_array_equal(x.grad.to_numpy(), 6)
    np.testing.assert_array_equal(y.to_numpy(), 9)


def test_changes_by_the_program_are_noticed():
    x, y, loss = array(N, value=3), array(N), array()
    square, total = squares(x, y), summed(y, loss)

    def taped(*steps):
        with sv.ad.Tape(loss):
            for step in steps:
                step()

    with pytest.raises(sv.SamovarRuntimeError, match="outside the kernels"):
        taped(square, lambda: y.fill(0), total)
    with pytest.raises(sv.SamovarRuntimeError, match="outside the kernels"):
        taped(square, total, lambda: x.fill(5))
    taped(lambda: x.fill(5), square, total)


def test_launches_that_a_tape_does_not_record_are_noticed():
    x, y, loss = array(N, value=3), array(N), array()
    square, total = squares(x, y), summed(y, loss)

    def elsewhere(step):
        thread = threading.Thread(target=step)
        thread.start()
        thread.join()

    def taped(*steps):
        with sv.ad.Tape(loss):
            for step in steps:
                step()

    for _ in range(2):  # compiled just now, and before; `summed` calls it x
        with pytest.raises(sv.SamovarRuntimeError, match=r"`x`, of shape \(4,\).*before summed"):
            taped(lambda: elsewhere(square), total)
        with pytest.raises(sv.SamovarRuntimeError, match=r"`x`.*before the tape goes backward"):
            taped(square, total, lambda: elsewhere(square))
    with sv.graph.record() as step:
        square()
    step()
    taped(step, total)
    with pytest.raises(sv.SamovarRuntimeError, match="`x`"):
        taped(square, lambda: elsewhere(step), total)
    elsewhere(square)
    taped(square, total)

    with sv.ad.Tape() as first:
        square()
        total()
    with sv.ad.Tape() as second:
        squares(y, x)()
    second.backward()
    with pytest.raises(sv.SamovarRuntimeError, match="before the tape goes backward"):
        first.backward()
    with sv.ad.Tape() as first:
        step = chained(x)
        step()
    with sv.ad.Tape() as second:
        total()
    first.backward()  # replays: writes to x, and undoes that
    second.backward()


def chained(x):
    @sv.kernel
    def run():
        for i in x:
            x[i] = sv.sin(x[i])
        for i in x:
            x[i] = sv.sin(x[i])

    return run


def on_another_thread(function):
    """Call a function on a thread of its own; what it returns or raises."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).exception()


def test_a_tape_is_alone_and_nobody_disturbs_it():
    x, y, loss = array(N, value=2), array(N), array()
    square, total = squares(x, y), summed(y, loss)

    def open_another():
        with sv.ad.Tape(loss):
            pass

    def open_forward_mode():
        with sv.ad.FwdMode(loss=loss, param=x, seed=[1.0] * N):
            pass

    with sv.ad.Tape(loss):
        square()
        for attempt in (open_another, open_forward_mode):
            x.grad.fill(0)
            with pytest.raises(sv.SamovarRuntimeError, match="another tape or forward mode is open"):
                attempt()
            assert isinstance(on_another_thread(attempt), sv.SamovarRuntimeError)
        total()
    assert x.grad.to_numpy().tolist() == [4.0] * N
    open_forward_mode()


def test_no_grad_on_another_thread_leaves_the_tape_alone():
    x, y, loss = array(N, value=2), array(N), array()
    square, total = squares(x, y), summed(y, loss)
    inside, done = threading.Event(), threading.Event()

    @sv.ad.no_grad
    def wait():
        inside.set()
        assert done.wait(60)

    thread = threading.Thread(target=wait)
    with sv.ad.Tape(loss):
        thread.start()
        assert inside.wait(60)
        square()
        done.set()
        thread.join()
        total()
    assert x.grad.to_numpy().tolist() == [4.0] * N


def test_a_tape_is_used_once():
    x, y, loss = array(N, value=2), array(N), array()
    with sv.ad.Tape(loss) as tape:
        squares(x, y)()
        summed(y, loss)()
    for again in (tape.backward, tape.grad):
        with pytest.raises(sv.SamovarRuntimeError, match="already used"):
            again()
    assert x.grad.to_numpy().tolist() == [4.0] * N


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_tape_that_was_refused_goes_quietly():
    with pytest.raises(sv.SamovarTypeError, match="no gradient"):
        sv.ad.Tape(sv.ndarray(sv.f64, ()))
    gc.collect()


def test_a_seed_that_is_refused_leaves_launches_as_they_were():
    x, y, loss = array(N, value=2), array(N), array()
    with pytest.raises(sv.SamovarTypeError, match="the seed has"), sv.ad.FwdMode(loss=loss, param=x, seed=[1.0]):
        pass
    with sv.ad.Tape(loss):
        squares(x, y)()
        summed(y, loss)()
    assert x.grad.to_numpy().tolist() == [4.0] * N


def test_boxes_of_other_views_of_the_same_memory_are_kept():
    """A row that a reverse needs, and a column that is a row of the transposed array."""

    @sv.kernel
    def weigh(w: sv.types.NDArray[sv.f64, 2], row: sv.i32):
        for j in range(N):
            loss[None] += w[row, j] * x[j]

    @sv.kernel
    def clear(w: sv.types.NDArray[sv.f64, 2], row: sv.i32):
        for j in range(N):
            w[row, j] = 0

    @sv.kernel
    def clear_elements(w: sv.types.NDArray[sv.f64, 1]):
        for j in w:
            w[j] = 0

    memory = np.arange(1.0, N * N + 1).reshape(N, N)
    after = [(clear, (memory.T, 0)), (clear, (memory[1:], 0)), (clear_elements, (memory[1],))]
    for kernel, arguments in after:
        memory[:] = np.arange(1.0, N * N + 1).reshape(N, N)
        needed = memory[1].copy()
        x, loss = array(N, value=1), array()
        with sv.ad.Tape(loss):
            weigh(memory, 0)
            weigh(memory, 1)
            kernel(*arguments)
        assert x.grad.to_numpy().tolist() == (needed + np.arange(1.0, N + 1)).tolist()


def test_needs_that_begin_together_may_end_apart():
    @sv.kernel
    def weigh(w: sv.types.NDArray[sv.f64, 1]):
        for j in w:
            loss[None] += w[j] * x[j]

    @sv.kernel
    def clear(w: sv.types.NDArray[sv.f64, 1]):
        for j in w:
            w[j] = 0

    weights = np.arange(1.0, N + 1)
    x, loss = array(N, value=1), array()
    with sv.ad.Tape(loss):
        weigh(weights[:1])
        weigh(weights)
        clear(weights[2:])
    assert x.grad.to_numpy().tolist() == [2.0, 2.0, 3.0, 4.0]


def test_a_failed_launch_leaves_nothing_on_the_stack():
    sv.init(default_fp=sv.f64, debug=True)
    x, loss = array(N, value=0.5), array()

    @sv.kernel
    def run(count: sv.i32, place: sv.i32):
        for i in range(1):
            s = x[i]
            for _ in range(count):
                s = sv.sin(s)
            loss[None] += s * s * x[place] * x[place]

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    run.grad(1 << 20, 0)
    before = peak()
    for _ in range(16):  # 8 MB each
        with pytest.raises(sv.SamovarIndexError):
            run.grad(1 << 20, N)
    assert peak() - before < 64 << 10


def test_writes_through_views_are_noticed():
    x, loss = array(N, value=3), array()
    weights = sv.ndarray(sv.f64, N)
    weights.fill(2)

    @sv.kernel
    def run():
        for i in x:
            loss[None] += x[i] * weights[i]

    def changing(change):
        with sv.ad.Tape(loss):
            run()
            change()

    for change in (lambda: weights[1:3].fill(0), lambda: weights.reshape(2, 2).fill(0), lambda: x.reshape(2, 2).fill(1)):
        with pytest.raises(sv.SamovarRuntimeError, match="outside the kernels"):
            changing(change)


def test_a_returned_number_does_not_lose_its_gradient():
    x, y = array(N, value=3), array(N)

    @sv.kernel
    def total() -> sv.f64:
        s = 0.0
        for i in range(N):
            s += x[i]
        return s

    @sv.kernel
    def count() -> sv.i32:
        for i in x:
            y[i] = 2 * x[i]
        return N

    with pytest.raises(sv.SamovarCompilationError, match="what is returned here") as caught:
        total.grad()
    assert "return s" in str(caught.value)
    with pytest.raises(sv.SamovarRuntimeError, match="total returns, in line"), sv.ad.Tape():
        total()
    with pytest.raises(sv.SamovarCompilationError, match="what is returned here"):
        sv.ad.jvp(lambda x: (total(), y)[1], [x], [np.ones(N)])
    with sv.ad.Tape() as tape:
        assert sv.ad.no_grad(total)() == 3 * N
        assert count() == N
    y.grad.fill(1)
    tape.backward()
    np.testing.assert_array_equal(x.grad.to_numpy(), 2)


def weighted(x, loss):
    @sv.kernel
    def run(weights: sv.types.NDArray[sv.f64, 1]):
        for i in x:
            loss[None] += x[i] * weights[i]

    return run


def taped(loss, *launches):
    with sv.ad.Tape(loss):
        for launch in launches:
            launch()


def test_changes_of_other_libraries_are_noticed():
    x, loss, weights = array(N, value=3), array(), np.ones(N)
    run = weighted(x, loss)
    with pytest.raises(sv.SamovarRuntimeError, match=r"`weights`.*was written to outside"):
        taped(loss, lambda: run(weights), lambda: weights.fill(2))
    taped(loss, lambda: run(weights))
    np.testing.assert_array_equal(x.grad.to_numpy(), 2)


@pytest.mark.parametrize("exported", [np.asarray, memoryview, lambda x: x.to_numpy(copy=False), np.from_dlpack])
def test_memory_that_others_share_is_compared(exported):
    x, y, loss = array(N, value=3), array(N), array()
    shared = exported(y)
    double, total = squares(x, y), summed(y, loss)

    taped(loss, double, total)
    assert x.grad.to_numpy().tolist() == [6.0] * N
    with pytest.raises(sv.SamovarRuntimeError, match="was written to outside"):
        taped(loss, double, lambda: np.asarray(shared).fill(5), total)
    with pytest.raises(sv.SamovarRuntimeError, match="was given to another library"):
        taped(loss, double, lambda: exported(y), total)


def test_only_shared_memory_is_compared():
    placed = sv.field(sv.f64)
    sv.root.dense(sv.i, N).place(placed)
    x = array(N)
    assert not any(map(is_shared, (x, x.grad, placed, sv.field(sv.f64, N), sv.ndarray(sv.f64, N)[1:])))
    part = np.asarray(x.reshape(2, N // 2))
    assert is_shared(x)
    del part
    assert not is_shared(x)
    assert is_shared(np.zeros(N))
    assert is_shared(as_ndarray(np.zeros(N), False))


def test_what_a_recorded_launch_writes_to_shared_memory_is_no_change():
    x, loss, memory = array(N, value=3), array(), np.zeros((2, N))

    @sv.kernel
    def write(rows: sv.types.NDArray[sv.f64, 2], by: sv.f64):
        for j in range(N):
            rows[0, j] = by

    run = weighted(x, loss)
    with sv.ad.Tape(loss):
        for by in (2.0, 3.0):
            write(memory, by)
            run(memory[0])
    assert x.grad.to_numpy().tolist() == [5.0] * N


def test_gradients_are_no_data():
    x, y, loss = array(N, value=2), array(N), array()

    @sv.kernel
    def named():
        for i in x:
            y[i] = x[i] * x.grad[i]

    @sv.kernel
    def given(a: sv.types.NDArray[sv.f64, 1], b: sv.types.NDArray[sv.f64, 1]):
        for i in a:
            y[i] = a[i] * b[i]

    @sv.kernel
    def part(b: sv.BufferView):
        for i in b:
            y[i] = b[i]

    plain = sv.ndarray(sv.f64, N)
    square = squares(x, y)
    for launches in (
        [named], [lambda: given(x, x.grad)], [lambda: given(plain, x.grad), square], [square, lambda: part(x.grad[1:])],
    ):  # fmt: skip
        with pytest.raises(sv.SamovarRuntimeError, match="a gradient that the reverse"):
            taped(loss, *launches)
    for reverse in (named.grad, lambda: given.grad(x, x.grad)):
        with pytest.raises(sv.SamovarCompilationError, match="uses gradients that its reverse changes"):
            reverse()
    given.grad(x, plain)


def test_nothing_goes_through_arrays_without_gradients():
    x, loss = array(N, value=3), array()
    between = sv.ndarray(sv.f64, N)
    square, total = squares(x, between), summed(between, loss)

    def taped():
        with sv.ad.Tape(loss):
            square()
            total()

    with pytest.raises(sv.SamovarRuntimeError, match="needs_grad=True"):
        taped()

    @sv.kernel
    def both():
        for i in x:
            between[i] = x[i] * x[i]
        for i in x:
            loss[None] += between[i]

    with pytest.raises(sv.SamovarCompilationError, match=r"`between` has no gradient"), sv.ad.Tape(loss):
        both()


def test_what_has_no_derivative_is_an_error_at_its_line():
    x, loss = array(N, value=3), array()

    @sv.kernel
    def by_product():
        for i in x:
            loss[None] *= x[i]

    with pytest.raises(sv.SamovarCompilationError, match="mul") as caught:
        by_product.grad()
    assert "loss[None]" in str(caught.value)


def test_stop_grad():
    x, y = array(N, value=3), array(N)

    @sv.kernel
    def run():
        sv.stop_grad(x)
        for i in x:
            y[i] += x[i] * y[i]

    with sv.ad.Tape() as tape:
        run()
    y.grad.fill(1)
    tape.backward()
    np.testing.assert_array_equal(x.grad.to_numpy(), 0)
    np.testing.assert_array_equal(y.grad.to_numpy(), 4)


def test_gradients_replaced_and_left_out():
    x, y, loss = array(N, value=3), array(N), array()
    square, total = squares(x, y), summed(y, loss)

    @sv.ad.grad_replaced
    def f():
        square()

    @sv.ad.grad_for(f)
    def f_grad():
        x.grad.fill(7)

    with sv.ad.Tape(loss):
        f()
        total()
    np.testing.assert_array_equal(x.grad.to_numpy(), 7)

    left_out = sv.ad.no_grad(square)
    with sv.ad.Tape(loss):
        left_out()
        total()
    np.testing.assert_array_equal(x.grad.to_numpy(), 0)


def chain():
    """A program that overwrites its state in each step, and its loss."""
    x, loss = array(N), array()
    x.copy_from(np.linspace(0.3, 0.9, N))

    @sv.kernel
    def step(t: sv.i32):
        for i in x:
            x[i] = sv.sin(x[i]) * (1.5 + 0.1 * t) + 0.1 * x[i] * x[i]

    @sv.kernel
    def total():
        loss[None] = 0
        for i in x:
            loss[None] += x[i] ** 2

    return x, loss, step, total


def test_a_time_loop_with_checkpoints():
    x, loss, step, total = chain()
    start = x.to_numpy().copy()
    with sv.ad.Tape(loss):
        for t in range(9):
            step(t)
        total()
    expected, after = x.grad.to_numpy().copy(), x.to_numpy().copy()
    x.copy_from(start)
    with sv.ad.Tape(loss) as tape:
        sv.ad.checkpointed(step, 9)
        total()
    np.testing.assert_allclose(x.grad.to_numpy(), expected, rtol=1e-13)
    np.testing.assert_array_equal(x.to_numpy(), after)
    assert sum(size for _, _, size, _ in tape.report()) <= 2 * 8 * N


def test_products_with_the_hessian():
    x, loss, step, total = chain()
    start = x.to_numpy().copy()

    def f(x):
        for t in range(3):
            step(t)
        total()
        return loss

    def gradient(at):
        x.copy_from(at)
        return sv.ad.value_and_grad(f)(x)[1].to_numpy().copy()

    direction = np.array([1.0, -2.0, 0.5, 0.3])
    x.copy_from(start)
    (found,) = sv.ad.hvp(f, [x], [direction])
    expected = (gradient(start + 1e-6 * direction) - gradient(start - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-6)
    x.copy_from(start)
    assert sv.ad.check(f, x) < 1e-6


def test_products_with_the_hessian_of_a_kernel_that_overwrites_what_earlier_loops_read():
    """The reverse copies arrays in the launch."""
    x, loss = array(4), array()

    @sv.kernel
    def run():
        most = 0.0
        for i in x:
            sv.atomic_max(most, x[i] * x[i])
            loss[None] += x[i] ** 3
        for i in x:
            x[i] = x[i] * x[i] * most
        for i in x:
            loss[None] += x[i] * x[i]

    def f(x):
        run()
        return loss

    def value(v):
        return (v**3).sum() + (v**4).sum() * v[1] ** 4

    def gradient(v):
        return np.array([value(v + 1e-30j * each).imag / 1e-30 for each in np.eye(4)])

    start, direction = np.array([0.3, 0.9, 0.5, 0.4]), np.array([1.0, -2.0, 0.5, 0.3])
    x.from_numpy(start)
    (found,) = sv.ad.hvp(f, [x], [direction])
    expected = (gradient(start + 1e-6 * direction) - gradient(start - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-6)


PROGRAM = """
import samovar as sv
from samovar._native import as_ndarray, is_shared
x, loss = (sv.ndarray(sv.f64, 4, needs_grad=True), sv.ndarray(sv.f64, (), needs_grad=True))
@sv.kernel
def run():
    for i in x:
        x[i] = sv.sin(x[i]) * x[i]
    for i in x:
        loss[None] += x[i]
x.fill(0.5)
y = sv.ndarray(sv.f64, 4, needs_grad=True)
@sv.kernel
def part(v: sv.BufferView[sv.f64]):
    for i in range(v.size):
        v[i] *= v[i]
def whole(x):
    loss.fill(0)
    part(x[1:3])
    y.copy_from(x)
    x.copy_from(y)
    sv.ad.checkpointed(lambda t: run(), 3)
    return loss
with sv.ad.Tape(loss):
    run()
found = [x.grad[0]]
with sv.ad.FwdMode(loss=loss, param=x, seed=[1, 2, 3, 4]):
    whole(x)
found += [loss.dual[None], sv.ad.value_and_grad(whole)(x)[1][1], sv.ad.hvp(whole, [x], [sv.ones(4, sv.f64)])[0][1]]
print(*found, sv.compile_count())
"""


def test_a_second_process_compiles_no_derivative(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache")}
    lines = [
        subprocess.run(
            [sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, check=True, env=environment
        ).stdout.split()
        for _ in range(2)
    ]
    assert lines[0][:-1] == lines[1][:-1]
    assert [int(count) > 0 for *_, count in lines] == [True, False]


def test_gradients_compared_with_differences():
    """The launches are repeated, with their random numbers, from the state that each found; then all is as it was."""
    x, y, loss = array(N), array(N), array()
    start = np.linspace(0.5, 1.5, N)

    @sv.kernel
    def step(s: sv.f64):
        for i in x:
            y[i] += sv.sin(x[i]) * sv.random()
            x[i] *= s * x[i]

    @sv.kernel
    def total():
        for i in x:
            loss[None] += x[i] * y[i]

    def run():
        step(0.9)
        sv.ad.checkpointed(lambda t: step(0.5 + t), 3)
        total()

    x.copy_from(start)
    with sv.ad.Tape(loss, grad_check=[x]):
        run()
    after = x.to_numpy().copy()
    value = loss[None]
    x.copy_from(start)
    for each in (y, loss):
        each.fill(0)
    with sv.ad.Tape(loss):
        run()
    assert x.to_numpy() == pytest.approx(after)
    assert value != 0

    @sv.ad.grad_replaced
    def wrong():
        total()

    @sv.ad.grad_for(wrong)
    def wrong_gradient():
        x.grad.fill(7)

    found = r"the gradient by element \d of array 0 is 7.0, but finite"
    with pytest.raises(sv.SamovarRuntimeError, match=found), sv.ad.Tape(loss, grad_check=[x]):
        wrong()


def test_a_gradient_that_is_not_a_number_is_found():
    x, loss = array(N, value=4), array()

    @sv.kernel
    def roots(x: sv.types.NDArray[sv.f64, 1]):
        loss[None] = 0
        for i in x:
            loss[None] += sv.sqrt(x[i]) * (1 - sv.min(i, 1)) * 0.0 + sv.select(x[i] > 1.0, x[i], sv.sqrt(x[i]))

    def f(x):
        roots(x)
        return loss

    x[0] = -1.0
    with pytest.raises(sv.SamovarRuntimeError, match="by element 0 of array 0 is nan"):
        sv.ad.check(f, x)


@pytest.mark.parametrize("make", [sv.field, sv.ndarray])
@pytest.mark.parametrize("copied", ["copy_from", "copy"])
def test_copies_are_launches(make, copied):
    x, y = (make(sv.f64, 3, needs_grad=True) for _ in range(2))
    loss = sv.ndarray(sv.f64, (), needs_grad=True)
    x.from_numpy(np.array([1.0, 2.0, 3.0]))

    @sv.kernel
    def double():
        for i in x:
            x[i] *= 2

    @sv.kernel
    def squares(y: sv.Template):
        for i in y:
            loss[None] += y[i] * y[i]

    def run():
        double()
        copy_of_x = copy.copy(x) if copied == "copy" else y
        if copied != "copy":
            y.copy_from(x)
        squares(copy_of_x)

    with sv.ad.FwdMode(loss=loss, param=x, seed=[1, 0, 1]):
        run()
    assert loss.dual[None] == 8 * (1 + 3)
    x.from_numpy(np.array([1.0, 2.0, 3.0]))
    with sv.ad.Tape(loss):
        run()
    assert x.grad.to_numpy().tolist() == [8, 16, 24]


def test_cells_that_change_on_a_tape_are_an_error():
    s = sv.field(sv.f64, needs_grad=True)
    node = sv.root.pointer(sv.i, 8)
    node.dense(sv.i, 2).place(s)
    c, loss = sv.field(sv.f64, 16, needs_grad=True), array()
    c.fill(2)

    @sv.kernel
    def of_cells():
        for i in s:
            loss[None] += c[i] ** 2

    @sv.kernel
    def if_active():
        for i in c:
            if sv.is_active(node, [i]):
                loss[None] += c[i] ** 2

    @sv.kernel
    def activate():
        s[9] = 5.0

    def taped(*steps):
        node.deactivate_all()
        s[3] = 1.0
        with sv.ad.Tape(loss):
            for step in steps:
                step()
        return np.flatnonzero(c.grad.to_numpy()).tolist()

    assert taped(of_cells) == [2, 3]
    assert taped(activate, of_cells) == [2, 3, 8, 9]
    for step in (of_cells, if_active):
        with pytest.raises(sv.SamovarRuntimeError, match=r"depends, in line [1-9]\d*, on the active cells"):
            taped(step, activate)


@pytest.mark.parametrize("change", ["write", "deactivate", "none", "before"])
def test_cells_that_a_kernel_changes_without_a_tape(change):
    s = sv.field(sv.f64)
    node = sv.root.pointer(sv.i, 8)
    node.place(s)
    c, loss = sv.field(sv.f64, 8, needs_grad=True), array()
    c.fill(2)
    s[3] = 1.0

    @sv.kernel
    def run():
        if sv.static(change == "before"):
            s[5] = 1.0
        for i in s:
            loss[None] += c[i] ** 2
            if sv.static(change != "deactivate"):
                s[i] = 2.0
        if sv.static(change == "write"):
            for i in range(4):
                s[i] = 3.0
        if sv.static(change == "deactivate"):
            for i in range(4):
                sv.deactivate(node, [i])

    run()
    loss.grad.fill(1)
    if change in ("none", "before"):
        run.grad()
        assert np.flatnonzero(c.grad.to_numpy()).tolist() == ([3, 5] if change == "before" else [3])
    else:
        with pytest.raises(sv.SamovarCompilationError, match=r"(s\[i\] = 3.0|sv.deactivate\(node)[\s\S]*sv.ad.Tape"):
            run.grad()


@pytest.mark.parametrize("what", ["number", "array", "global"])
def test_objects_that_change_before_the_reverse_are_an_error(what):
    class Model:
        def __init__(self):
            self.x, self.loss, self.factor = array(4), array(), 2.0
            self.x.fill(0.5)

        @sv.kernel
        def step(self):
            for i in range(4):
                self.loss[None] += self.x[i] ** 2 * self.factor * FACTOR

    model = sv.data_oriented(Model)()
    first = model.x

    def changed():
        with sv.ad.Tape(model.loss):
            model.step()
            change(model, what)
            model.step()  # this one finds what it needs

    with pytest.raises(sv.SamovarRuntimeError, match=r"step, of line \d+, depends on a global, a member"):
        changed()
    change(model, what, first)
    with sv.ad.Tape(model.loss):
        model.step()
    assert first.grad.to_numpy().tolist() == [2.0] * 4


FACTOR = 1.0


def change(model, what, first=None):
    """Change an object that kernels depend on; with `first`, set all back."""
    global FACTOR
    if first is not None:
        model.x, model.factor, FACTOR = first, 2.0, 1.0
    elif what == "number":
        model.factor = 3.0
    elif what == "array":
        model.x = array(4)
    else:
        FACTOR = 2.0
