"""`@sv.kernel(serial=True)`: every loop runs one iteration after the other, on the thread of the caller."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import samovar as sv

F1 = sv.types.NDArray[sv.f64, 1]
I1 = sv.types.NDArray[sv.i32, 1]
SIZES = [0, 1, 2, 7, 8, 9, 33, 1000, 70_000]


@pytest.fixture(params=[{}, {"debug": True}, {"fast_math": False}], ids=["release", "debug", "exact"], autouse=True)
def options(request):
    sv.init(**request.param)
    yield request.param
    sv.reset()


@sv.kernel(serial=True)
def running(a: F1, out: F1) -> sv.f64:
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
        out[i] = s
    return s


@pytest.mark.parametrize("size", SIZES)
def test_a_variable_goes_from_iteration_to_iteration(size):
    a, out = np.arange(size, dtype=np.float64), np.zeros(size)
    assert running(a, out) == a.sum()
    assert (out == np.cumsum(a)).all()


@sv.kernel(serial=True)
def search(a: I1, wanted: sv.i32) -> sv.i32:
    found = -1
    for i in a:
        if a[i] == wanted:
            found = i
            break
    else:
        found = -2
    return found


def test_a_loop_at_the_top_may_break_and_has_an_else():
    a = np.array([5, 3, 7, 3], np.int32)
    assert [search(a, wanted) for wanted in (3, 7, 9)] == [1, 2, -2]


@sv.kernel(serial=True)
def sieve(is_prime: I1) -> sv.i32:
    is_prime.fill(1)
    count = 0
    for i in range(2, is_prime.shape[0]):
        if is_prime[i]:
            count += 1
            for j in range(i * i, is_prime.shape[0], i):
                is_prime[j] = 0
    return count


def test_iterations_see_what_those_before_them_have_written():
    assert sieve(np.zeros(1000, np.int32)) == 168


@sv.func
def accumulate(s: sv.template(), out, i, x):
    s += x
    out[i] = s


@sv.func
def walk(a, out):
    s = 0.0
    for i in range(a.shape[0]):
        accumulate(s, out, i, a[i])
    return s


@sv.kernel(serial=True)
def through_funcs(a: F1, out: F1, order: I1) -> sv.f64:
    total = walk(a, out)
    k = 0
    for i, j in sv.ndrange(2, 3):
        order[k] = 10 * i + j
        k += 1  # noqa: SIM113
    for I in sv.grouped(out):
        total += out[I]
    return total


def test_loops_in_funcs_are_serial_too():
    a, out, order = np.ones(10), np.zeros(10), np.zeros(6, np.int32)
    assert through_funcs(a, out, order) == 10 + 55
    assert order.tolist() == [0, 1, 2, 10, 11, 12]


@sv.kernel(serial=True)
def histogram(x: I1, h: I1, c: I1):
    for i in x:
        h[x[i]] += 1
        c[0] += 1
        x[i] = c[0]


def test_nothing_is_atomic(options):
    x, h, c = np.array([1, 2, 1, 0], np.int32), np.zeros(3, np.int32), np.zeros(1, np.int32)
    histogram(x, h, c)
    assert (h.tolist(), x.tolist()) == ([1, 2, 1], [1, 2, 3, 4])
    text = histogram.inspect("ir")
    assert "parallel" not in text
    if not options:
        assert "atomic" not in text
        assert "atomicrmw" not in histogram.inspect("llvm")


def test_the_same_function_is_two_kernels():
    def total(a: sv.types.NDArray[sv.f32, 1]) -> sv.f32:
        s = 0.0
        for i in a:
            s += a[i]
        return s

    one, other = sv.kernel(total), sv.kernel(serial=True)(total)
    a = np.ones(100, np.float32)
    assert one(a) == other(a) == 100
    assert ("parallel" in one.inspect("ir"), "parallel" in other.inspect("ir")) == (True, False)
    assert "parallel" not in sv.pure(other).inspect("ir", a)


def test_it_excludes_graphs():
    with pytest.raises(sv.SamovarError, match="`serial=True` and `graph=True` are mutually exclusive"):

        @sv.kernel(serial=True, graph=True)
        def both(a: F1):
            for i in a:
                a[i] = 1


def test_it_pickles_by_name():
    assert pickle.loads(pickle.dumps(running)) is running


PROGRAM = """
import sys
import numpy as np
import samovar as sv

@sv.kernel(serial=DECLARED)
def k(a: sv.types.NDArray[sv.i32, 1]) -> sv.i32:
    last = 0
    for i in a:
        last += a[i]
    return last

print(k(np.ones(5, np.int32)), sv.compile_count(), "parallel" in k.inspect("ir"))
"""


def test_the_option_is_part_of_the_key(tmp_path, monkeypatch):
    monkeypatch.setenv("SAMOVAR_OFFLINE_CACHE_FILE_PATH", str(tmp_path / "cache"))
    outputs = []
    for declared in ("True", "True", "False", "True"):
        (tmp_path / "program.py").write_text(f"DECLARED = {declared}\n" + PROGRAM)
        done = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, check=True)
        outputs.append(done.stdout.split())
    assert outputs == [["5", "1", "False"], ["5", "0", "False"], ["5", "1", "True"], ["5", "0", "False"]]
