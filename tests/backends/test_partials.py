"""Reductions and scatters: partial results in groups that depend on the work only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from build import Builder, kernel
from machine import Machine
from test_operations import FLOATS, INTEGERS, NUMPY, dtype_of, wrap

from samovar._native import DType, f32, f64, i32, i64
from samovar.ir.structure import Kernel, Reduction, Scatter
from samovar.ir.values import Array, Local, LoopVariable, Operation, Parameter
from samovar.language.options import Options

Numbers = np.ndarray[Any, Any]


def reducing(dtype: DType, operation: str, axes: int = 1) -> Kernel:
    """x.reduce(operation) into t[index]."""
    x, t, index = Array("x", dtype, axes, alone=True), Array("t", dtype, 1, alone=True), Parameter("index", i32)
    t.read = t.written = True
    reduction = Reduction(operation, dtype, t, (index,))

    def build(b: Builder) -> None:
        def body(*variables: LoopVariable) -> None:
            b.append(Operation("accumulate", None, (b.load(x, *variables),), reduction))

        task = b.parallel(*((0, b.shape(x, axis)) for axis in range(axes)), body=body)
        task.reductions.append(reduction)

    return kernel([x, t, index], build)


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_sums(name: str) -> None:
    machine = Machine(reducing(dtype_of(name), "add"))
    for size in (0, 1, 5, 3000, 50_000):
        x = np.random.default_rng(1).integers(0, 3, size).astype(NUMPY[name])
        if name == "f16":
            x[200:] = 0
        target = np.array([9, 7, 9], NUMPY[name])
        machine(x, target, 1)
        exact = 7 + int(x.astype(np.float64).sum())
        expected = exact if name in FLOATS else wrap(exact, name)
        assert target.tolist() == [9, expected, 9]


@pytest.mark.parametrize("operation", ["mul", "min", "max", "and", "or", "xor"])
@pytest.mark.parametrize("name", ["i32", "u64", "u1", "f32", "f64"])
def test_other_operations(operation: str, name: str) -> None:
    if name in FLOATS and operation in ("and", "or", "xor"):
        return
    rules = {
        "mul": np.multiply, "min": np.fmin, "max": np.fmax,
        "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    }  # fmt: skip
    random = np.random.default_rng(3)
    machine = Machine(reducing(dtype_of(name), operation))
    for size in (0, 1, 10_000):
        x = random.integers(0, 2 if name == "u1" else 1000, size).astype(NUMPY[name])
        if operation == "mul":
            x[:] = 1
            x[::1000] = 3 if name != "u1" else 1
        target = np.array([1], NUMPY[name])
        expected = rules[operation].reduce(np.concatenate([target, x]))
        machine(x, target, 0)
        assert target[0] == expected


def test_nan_in_a_minimum_gives_way_to_numbers() -> None:
    machine = Machine(reducing(f32, "min"))
    for x, start, expected in [
        ([math.nan, 2.0, math.nan], 5.0, 2.0), ([math.nan] * 4, 5.0, 5.0), ([math.nan], math.nan, math.nan),
        ([], math.nan, math.nan), ([math.inf], math.nan, math.inf),
    ]:  # fmt: skip
        target = np.array([start], np.float32)
        machine(np.array(x, np.float32), target, 0)
        np.testing.assert_array_equal(target, [expected])


@pytest.mark.parametrize("fast_math", [True, False])
@pytest.mark.parametrize("shape", [(0, 4), (1, 1), (3, 10_000), (5000, 2), (90, 90)])
def test_sums_over_nests_do_not_depend_on_the_pieces(shape: tuple[int, int], fast_math: bool) -> None:
    machine = Machine(reducing(f32, "add", 2), Options(fast_math=fast_math))
    x = np.random.default_rng(5).random(shape, np.float32)
    found = set()
    for pieces in (1, 2, 7, 100):
        machine.pieces = pieces
        target = np.zeros(1, np.float32)
        machine(x, target, 0)
        found.add(float(target[0]))
    assert len(found) == 1
    np.testing.assert_allclose(found.pop(), x.astype(np.float64).sum(), rtol=1e-5)


def test_groups_are_few_and_full() -> None:
    machine = Machine(reducing(f32, "add"))
    x = np.zeros(10_000_000, np.float32)
    for size in (1, 1000, 100_000, 10_000_000):
        machine(x[:size], np.zeros(1, np.float32), 0)
        _, units, items = machine.runs[-1]
        assert units <= 128
        assert (units - 1) * items < size <= units * items
    assert machine.runs[0][1] == 1
    assert machine.runs[-1][1] > 60


@pytest.mark.parametrize("index", [-1, 3, 2**31 - 1])
def test_a_target_that_does_not_exist_is_left_alone(index: int) -> None:
    target = np.array([1, 2, 3], np.float32)
    Machine(reducing(f32, "add"))(np.ones(4, np.float32), target, index)
    assert target.tolist() == [1, 2, 3]


def test_reductions_into_locals_several_at_once() -> None:
    x, total, most = Array("x", i32, 1), Local("total", i64), Local("most", i32)
    sums, maxima = Reduction("add", i64, total, ()), Reduction("max", i32, most, ())

    def build(b: Builder) -> None:
        b.set(total, 1000)
        b.set(most, -50)

        def body(i: LoopVariable) -> None:
            value = b.load(x, i)
            b.append(Operation("accumulate", None, (b.cast(value, i64),), sums))
            b.when(b.op("lt", value, 90), lambda: discard(b.append(Operation("accumulate", None, (value,), maxima))))

        b.parallel((0, b.shape(x)), body=body).reductions += [sums, maxima]
        b.give(b.get(total), b.get(most))

    machine = Machine(kernel([x], build, [i64, i32], [total, most]))
    x_values = np.arange(100_000, dtype=np.int32)
    assert machine(x_values) == (1000 + int(x_values.astype(np.int64).sum()), 89)
    assert machine(x_values[:0]) == (1000, -50)
    assert machine(x_values[95:99]) == (1000 + 95 + 96 + 97 + 98, -50)


def discard(_: object) -> None:
    """Nothing."""


def scattering(dtype: DType, operation: str, axes: int = 1, contiguous: bool = True, reduce: bool = False) -> Kernel:
    """t[k[i]] operation= x[i], and the sum of x into s."""
    x, k = Array("x", dtype, axes), Array("k", i32, axes)
    t, s = Array("t", dtype, 1, contiguous=contiguous), Array("s", dtype, 0)
    t.read = t.written = True
    scatter, total = Scatter(operation, t), Reduction("add", dtype, s, ())

    def build(b: Builder) -> None:
        def body(*variables: LoopVariable) -> None:
            value = b.load(x, *variables)
            b.append(Operation("scatter", None, (b.load(k, *variables), value), scatter))
            if reduce:
                b.append(Operation("accumulate", None, (value,), total))

        task = b.parallel(*((0, b.shape(x, axis)) for axis in range(axes)), body=body)
        task.scatters.append(scatter)
        task.reductions += [total] if reduce else []

    return kernel([x, k, t, s], build)


@pytest.mark.parametrize("name", ["i32", "u8", "f32", "f64"])
@pytest.mark.parametrize("operation", ["add", "min", "max", "mul"])
@pytest.mark.parametrize("contiguous", [True, False])
def test_scatters(name: str, operation: str, contiguous: bool) -> None:
    machine = Machine(scattering(dtype_of(name), operation, contiguous=contiguous, reduce=True))
    random = np.random.default_rng(11)
    function = {"add": np.add, "min": np.minimum, "max": np.maximum, "mul": np.multiply}[operation]
    for size, elements in [(0, 3), (10, 5), (10, 1000), (5000, 7), (40_000, 300)]:
        x = random.integers(1, 3, size).astype(NUMPY[name])
        k = random.integers(0, elements, size).astype(np.int32)
        t = random.integers(0, 5, 2 * elements).astype(NUMPY[name])[:: 1 if contiguous else 2][:elements]
        expected, s = t.copy(), np.array(0, NUMPY[name])
        with np.errstate(all="ignore"):
            function.at(expected, k, x)
            machine(x, k, t, s)
            np.testing.assert_allclose(t, expected, rtol=1e-5)
            assert s == x.sum(dtype=NUMPY[name])


def test_scatters_choose_private_copies_for_small_targets_only() -> None:
    machine = Machine(scattering(f64, "add"))
    for size, elements, private in [(10_000, 16, True), (100, 16, True), (20, 16, False), (10_000, 100_000, False)]:
        machine.scratch.clear()
        machine(np.ones(size), np.zeros(size, np.int32), np.zeros(elements), np.zeros(()))
        assert bool(machine.scratch) == private


def test_private_copies_do_not_depend_on_the_pieces() -> None:
    machine = Machine(scattering(f32, "add", axes=2))
    random = np.random.default_rng(2)
    x, k = random.random((300, 200), np.float32), random.integers(0, 10, (300, 200)).astype(np.int32)
    found = set()
    for pieces in (1, 3, 50):
        machine.pieces = pieces
        t = np.zeros(10, np.float32)
        machine(x, k, t, np.zeros((), np.float32))
        found.add(tuple(t.tolist()))
    assert len(found) == 1


def test_a_scatter_inside_a_loop_allocates_once() -> None:
    x, k, t, n = Array("x", f32, 1), Array("k", i32, 1), Array("t", f32, 1), Parameter("n", i32)
    scatter = Scatter("add", t)

    def build(b: Builder) -> None:
        def turn(_: LoopVariable) -> None:
            def body(i: LoopVariable) -> None:
                b.append(Operation("scatter", None, (b.load(k, i), b.load(x, i)), scatter))

            b.parallel((0, b.shape(x)), body=body).scatters.append(scatter)

        b.loop(0, n, 1, body=turn)

    machine = Machine(kernel([x, k, t, n], build))
    target = np.zeros(4, np.float32)
    machine(np.ones(1000, np.float32), (np.arange(1000) % 4).astype(np.int32), target, 10)
    assert target.tolist() == [2500.0] * 4
    assert len(machine.scratch) == 1
