"""Ufuncs against NumPy: functions, broadcasting, dtypes, methods; signatures; the cache."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import samovar as sv

RNG = np.random.default_rng(11)

FUNCTIONS = {
    "add": (lambda x, y: x + y, np.add),
    "subtract": (lambda x, y: x - y, np.subtract),
    "multiply": (lambda x, y: x * y, np.multiply),
    "divide": (lambda x, y: x / y, np.divide),
    "floor_divide": (lambda x, y: x // y, np.floor_divide),
    "remainder": (lambda x, y: x % y, np.remainder),
    "power": (lambda x, y: x**y, np.power),
    "maximum": (lambda x, y: x if x > y else y, np.maximum),
    "hypot": (lambda x, y: math.hypot(x, y), np.hypot),
    "arctan2": (lambda x, y: math.atan2(x, y), np.arctan2),
    "less": (lambda x, y: x < y, np.less),
    "logaddexp": (lambda x, y: np.logaddexp(x, y), np.logaddexp),
    "copysign": (lambda x, y: np.copysign(x, y), np.copysign),
    "sqrt": (lambda x: math.sqrt(x), np.sqrt),
    "exp": (lambda x: math.exp(x), np.exp),
    "log": (lambda x: math.log(x), np.log),
    "sin": (lambda x: math.sin(x), np.sin),
    "tanh": (lambda x: math.tanh(x), np.tanh),
    "square": (lambda x: x * x, np.square),
    "negative": (lambda x: -x, np.negative),
    "floor": (lambda x: np.floor(x), np.floor),
}


def made(name):
    """A ufunc whose source is that of the function above; a lambda has no name of its own, so `def` wraps it."""
    given = FUNCTIONS[name][0]
    function = sv.func(given)
    if given.__code__.co_argcount == 1:

        def one(x):
            return function(x)

        return sv.vectorize(one)

    def two(x, y):
        return function(x, y)

    return sv.vectorize(two)


def shapes():
    """Operands: contiguous, broadcast, strided, transposed, with zero elements, 0-D."""
    a, b = RNG.uniform(1, 4, (4, 6)), RNG.uniform(1, 4, (4, 6))
    return [
        (a, b), (a, b[0]), (a[:, :1], b[:1]), (a[::-1, ::2], b[:, ::2]), (a.T, b.T), (a.T, b[:, 0]), (a[0], 2.5),
        (a[:0], b[:0]), (np.array(2.0), np.array(3.0)), (a.reshape(2, 2, 6), b[:2]), (1.5, b), (np.asfortranarray(a), b),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_arrays_are_those_of_numpy(name, dtype):
    mine, theirs = made(name), FUNCTIONS[name][1]
    cases = shapes() if dtype is np.float64 else shapes()[:3]
    for operands in cases:
        given = [each.astype(dtype) if isinstance(each, np.ndarray) else each for each in operands][: mine.nin]
        found, expected = mine(*given), theirs(*given)
        assert np.shape(found) == np.shape(expected)
        assert_allclose(found, expected, rtol=2e-6 if dtype is np.float32 else 1e-12)
        if dtype is not np.int32 or np.result_type(expected).kind in "ib":
            assert found.dtype == expected.dtype


@sv.vectorize
def add(x, y):
    return x + y


@pytest.mark.parametrize("one", ["?", "b", "H", "i", "q", "Q", "f", "d", "F"])
@pytest.mark.parametrize("two", ["B", "i", "q", "f", "D"])
def test_operands_are_promoted_as_by_numpy(one, two):
    a, b = np.array([0, 1, 1]).astype(one), np.array([3, 2, 1]).astype(two)
    assert add(a, b).dtype == np.add(a, b).dtype
    assert_array_equal(add(a, b), np.add(a, b))
    assert add(a, 2).dtype == (np.add(a, 2).dtype)


def test_results_are_stored_where_asked_for():
    a, b = RNG.random((3, 4)), RNG.random(4)
    out = np.zeros((3, 4), np.float32)
    assert add(a, b, out=out) is out
    assert_allclose(out, a + b, rtol=1e-6)
    big = np.zeros((2, 3, 4))
    assert_array_equal(add(a, b, big), np.broadcast_to(a + b, big.shape))
    chosen, expected = np.full((3, 4), -1.0), np.full((3, 4), -1.0)
    add(a, 1, out=chosen, where=a > 0.5)
    np.add(a, 1, out=expected, where=a > 0.5)
    assert_array_equal(chosen, expected)
    moved = np.arange(6.0)
    add(moved[:-1], 1, out=moved[1:])
    assert moved.tolist() == [0, 1, 2, 3, 4, 5]
    assert add(a, b, dtype=np.float32).dtype == np.float32
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' output"):
        add(a, b, out=np.zeros((3, 4), np.int32))
    with pytest.raises(ValueError, match="could not be broadcast together"):
        add(a, np.zeros(5))
    with pytest.raises(ValueError, match="non-broadcastable output"):
        add(a, b, out=np.zeros(4))


def test_lines_of_one_length_have_no_other_rules():
    add, line = sv.vectorize(lambda x, y: x + y), np.arange(4.0)
    for _ in range(2):  # the second call takes the short way of the first
        assert add(line, line).tolist() == [0, 2, 4, 6]
        assert add(line, line.astype(np.float32)).dtype == np.float64
        assert add(line, line.astype(">f8")).tolist() == [0, 2, 4, 6]
        assert add(line[::-1], line).tolist() == [3, 3, 3, 3]
        out = np.zeros(4, np.float32)
        assert add(line, line, out=out) is out
        assert out.tolist() == [0, 2, 4, 6]
        own = line.copy()
        assert add(own, own, out=own) is own
        assert own.tolist() == [0, 2, 4, 6]
        shifted = np.arange(5.0)
        add(shifted[:-1], shifted[:-1], out=shifted[1:])
        assert shifted.tolist() == [0, 0, 2, 4, 6]
        with pytest.raises(ValueError, match="broadcast"):
            add(line, line[:3])
        with pytest.raises(TypeError, match="cast"):
            add(line, line, out=np.zeros(4, np.int64))


@pytest.mark.parametrize("kind", [np.float64, np.int64])
def test_methods_are_those_of_numpy(kind):
    a = RNG.integers(0, 9, (3, 4, 5)).astype(kind)
    for options in ({}, {"axis": 2}, {"axis": None}, {"axis": (0, -1)}, {"axis": 1, "keepdims": True}, {"initial": 3}):
        assert_allclose(add.reduce(a, **options), np.add.reduce(a, **options))
        assert_allclose(add.reduce(a.T, **options), np.add.reduce(a.T, **options))
    for axis in (0, 1, -1):
        assert_allclose(add.accumulate(a, axis=axis), np.add.accumulate(a, axis=axis))
    assert_allclose(add.accumulate(a[0, 0]), np.add.accumulate(a[0, 0]))
    assert_allclose(add.reduce(a, where=a > 4, initial=0), np.add.reduce(a, where=a > 4, initial=0))
    assert_array_equal(add.outer(a[0], a[1, 0]), np.add.outer(a[0], a[1, 0]))
    one, two = np.zeros((3, 4), kind), np.zeros((3, 4), kind)
    for each, target in ((add, one), (np.add, two)):
        each.at(target, ([0, 0, 2], [1, 1, 3]), 2)
        each.at(target.T, 1, np.array([1, 2, 3], kind))
    assert_array_equal(one, two)
    with pytest.raises(ValueError, match="no identity"):
        add.reduce(np.zeros(0))
    with pytest.raises(np.exceptions.AxisError):
        add.reduce(a, axis=3)


def test_ours_in_ours_out():
    found = add(sv.array(np.ones(3, np.float32)), 2)
    assert isinstance(found, type(sv.array(np.ones(3))))
    assert found.to_numpy().tolist() == [3, 3, 3]


@sv.vectorize(["int32(int32, int32)", "f8(f8, f8)"], identity=1, target="cpu")
def product(x, y):
    return x * y


def test_signatures_decide_the_types():
    assert product(np.int16(3), np.int16(4)).dtype == np.int32
    assert product(np.arange(3, dtype=np.int64), 2).dtype == np.float64
    assert product.reduce(np.zeros(0)) == 1
    with pytest.raises(sv.SamovarTypeError, match="no signature for complex128"):
        product(np.ones(2, complex), np.ones(2, complex))
    with pytest.raises(sv.SamovarTypeError, match="takes 2 arguments, but a signature has 1"):
        sv.vectorize(["f8(f8)"])(product.__wrapped__)
    with pytest.raises(sv.SamovarTypeError, match="not a signature"):
        sv.vectorize(["float64"])
    with pytest.raises(sv.SamovarTypeError, match="no target 'cuda'"):
        sv.vectorize(target="cuda")


@sv.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)", nopython=True)
def moved_by(x, by, result):
    for i in range(x.shape[0]):
        result[i] = x[i] + by


@sv.guvectorize("(m,n),(n,p)->(m,p)")
def times(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = np.sum(a[i] * b[:, j])


@sv.guvectorize("(n)->(),()")
def ends(x, low, high):
    low[0] = x.min()
    high[0] = x.max()


def test_functions_of_parts_are_looped_over_the_other_dimensions():
    a = RNG.random((4, 3))
    assert_allclose(moved_by(a, [1, 2, 3, 4]), a + np.array([[1], [2], [3], [4]]))
    assert_allclose(moved_by(a[0], 2), a[0] + 2)
    stack, right = RNG.random((2, 1, 4, 3)), RNG.random((5, 3, 2))
    assert_allclose(times(stack, right), stack @ right)
    assert_allclose(times(stack.astype(np.float32), right.astype(np.float32)), stack @ right, rtol=1e-5)
    low, high = ends(a.T)
    assert_allclose(low, a.min(axis=0))
    assert_allclose(high, a.max(axis=0))
    out = np.zeros((4, 3), np.float32)
    assert moved_by(a, 1, out=out) is out
    assert_allclose(out, a + 1, rtol=1e-6)
    assert moved_by(a[:0], 1).shape == (0, 3)
    with pytest.raises(ValueError, match="dimension 'n' has 3 elements in one operand and 2 in another"):
        times(a, np.zeros((2, 2)))
    with pytest.raises(sv.SamovarTypeError, match="is not a layout"):
        sv.guvectorize("(n)->n")


@sv.kernel
def uses_a_ufunc(a: sv.Array[sv.f64, 1]):
    for i in a:
        a[i] = add(a[i], 1.0)


def test_kernels_call_a_ufunc_with_numbers():
    a = np.zeros(3)
    uses_a_ufunc(a)
    assert a.tolist() == [1, 1, 1]


PROGRAM = """
import sys
import numpy as np
import samovar as sv
from helper import scaled

@sv.vectorize
def f(x, y):
    return scaled(x) + y

@sv.guvectorize("(n)->()")
def total(x, out):
    out[0] = scaled(x.sum())

print(f(np.ones(3), 1).tolist(), f.reduce(np.ones(4)), total(np.ones((2, 2))).tolist(), sv.compile_count())
"""
HELPER = "import samovar as sv\n@sv.func\ndef scaled(x):\n    return {} * x\n"


def test_another_process_compiles_nothing_and_sees_changes(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(factor):
        (tmp_path / "helper.py").write_text(HELPER.format(factor))
        cache = {"SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        environment = {**os.environ, **cache}
        done = subprocess.run(
            [sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.rsplit(None, 1)

    first, count = run(2)
    assert first == "[3.0, 3.0, 3.0] 15.0 [4.0, 4.0]"
    assert int(count) > 0
    assert run(2) == [first, "0"]
    changed, count = run(3)
    assert changed == "[4.0, 4.0, 4.0] 40.0 [6.0, 6.0]"
    assert int(count) > 0
