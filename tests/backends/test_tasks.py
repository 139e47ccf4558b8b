"""Tasks: ranges, nests, strides, and what they capture."""

from __future__ import annotations

import numpy as np
import pytest
from build import Builder, kernel
from hypothesis import given
from hypothesis import strategies as st
from machine import Machine, run

from hypothesis_profiles import examples
from samovar._native import DType, f32, i32, i64, u1
from samovar.ir.structure import Kernel
from samovar.ir.traversal import outlined
from samovar.ir.values import Array, Constant, Local, LoopVariable, Parameter


def axpy() -> Kernel:
    x, y, a = Array("x", f32, 1, alone=True), Array("y", f32, 1, alone=True), Parameter("a", f32)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.store(y, [i], b.op("add", b.op("mul", a, b.load(x, i)), b.load(y, i)))

        b.parallel((0, b.shape(x)), body=body)

    return kernel([x, y, a], build, name="axpy")


@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_one_axis(size: int) -> None:
    x, y = np.arange(size, dtype=np.float32), np.ones(size, np.float32)
    run(axpy(), x, y, 2.0)
    np.testing.assert_array_equal(y, 2 * np.arange(size) + 1)


@pytest.mark.parametrize("block", [None, 1, 3, 64])
@pytest.mark.parametrize("bounds", [(0, 5), (3, 9), (-4, 4), (5, 5), (7, 2)])
def test_bounds_of_an_axis_may_be_anything(bounds: tuple[int, int], block: int | None) -> None:
    y, begin, end = Array("y", i32, 1), Parameter("begin", i32), Parameter("end", i32)

    def build(b: Builder) -> None:
        b.parallel((begin, end), body=lambda i: discard(b.store(y, [b.op("add", i, 10)], i)), block=block)

    values = np.full(20, -1, np.int32)
    run(kernel([y, begin, end], build), values, *bounds)
    expected = np.full(20, -1, np.int32)
    for i in range(*bounds):
        expected[i + 10] = i
    np.testing.assert_array_equal(values, expected)


def discard(_: object) -> None:
    """Nothing."""


def visiting(axes: int, constant_tail: tuple[int, ...] = (), contiguous: bool = True) -> Machine:
    """Counts the visits of every element of a nest over an array's shape (the last axes by constants)."""
    y = Array("y", i64, axes, contiguous=contiguous)

    def build(b: Builder) -> None:
        def body(*variables: LoopVariable) -> None:
            b.change("update", "add", y, variables, b.cast(b.op("add", variables[-1], 1), i64))

        bounds = [(0, b.shape(y, axis)) for axis in range(axes - len(constant_tail))]
        b.parallel(*bounds, *((0, extent) for extent in constant_tail), body=body)

    return Machine(kernel([y], build))


NESTS = {axes: visiting(axes) for axes in (2, 3, 4)}


@examples("compiled")
@given(st.data(), st.sampled_from(sorted(NESTS)), st.integers(1, 9))
def test_a_nest_visits_every_element_once(data: st.DataObject, axes: int, pieces: int) -> None:
    shape = data.draw(st.tuples(*[st.sampled_from([0, 1, 2, 3, 7, 40, 130])] * axes).filter(lambda s: np.prod(s) < 3e5))
    machine = NESTS[axes]
    machine.pieces = pieces
    values = np.zeros(shape, np.int64)
    machine(values)
    np.testing.assert_array_equal(values, np.broadcast_to(np.arange(shape[-1]) + 1, shape))


@pytest.mark.parametrize(
    ("shape", "tail"), [((50, 3), (3,)), ((7, 3, 3), (3, 3)), ((5, 300), (300,)), ((9, 2, 0), (2, 0)), ((2, 3), (2, 3))]
)
def test_constant_axes(shape: tuple[int, ...], tail: tuple[int, ...]) -> None:
    values = np.zeros(shape, np.int64)
    visiting(len(shape), tail)(values)
    np.testing.assert_array_equal(values, np.broadcast_to(np.arange(shape[-1]) + 1, shape))


@pytest.mark.parametrize("axes", [(-3, 4, 2, 9), (5, 2, 0, 9), (0, 9, 8, 3), (-1, 1, -200, 300)])
def test_axes_with_any_bounds(axes: tuple[int, int, int, int]) -> None:
    y = Array("y", i32, 2)
    bounds = [Parameter(name, i32) for name in ("a", "b", "c", "d")]

    def build(b: Builder) -> None:
        def body(i: LoopVariable, j: LoopVariable) -> None:
            b.change("update", "add", y, [b.op("add", i, 5), b.op("add", j, 250)], Constant(1, i32))

        b.parallel((bounds[0], bounds[1]), (bounds[2], bounds[3]), body=body)

    values, expected = np.zeros((20, 600), np.int32), np.zeros((20, 600), np.int32)
    run(kernel([y, *bounds], build), values, *axes)
    for i in range(axes[0], axes[1]):
        for j in range(axes[2], axes[3]):
            expected[i + 5, j + 250] += 1
    np.testing.assert_array_equal(values, expected)


def test_strided_arrays_are_followed_in_every_direction() -> None:
    machine = visiting(2, contiguous=False)
    base = np.zeros((40, 60), np.int64)
    machine(base[::-2, 5:50:3])
    expected = np.zeros((40, 60), np.int64)
    expected[::-2, 5:50:3] += np.arange(15) + 1
    np.testing.assert_array_equal(base, expected)


def test_ranges_beyond_32_bits() -> None:
    y, begin, end = Array("y", i64, 1), Parameter("begin", i64), Parameter("end", i64)
    start = 2**40

    def build(b: Builder) -> None:
        b.parallel((begin, end), body=lambda i: discard(b.store(y, [b.op("sub", i, start)], i)), type=i64)

    values = np.zeros(100, np.int64)
    machine = Machine(kernel([y, begin, end], build))
    machine(values, start, start + 100)
    np.testing.assert_array_equal(values, start + np.arange(100))
    machine(values, 0, 2**62 - 2**62)
    machine(values, 2**63 - 1, -(2**63))
    assert machine.runs[-1][1] == 0


def test_a_counted_range_of_more_than_2_to_31_iterations() -> None:
    n = Parameter("n", i64)
    machine = Machine(kernel([n], lambda b: discard(b.parallel((0, n), body=lambda i: None, type=i64))), pieces=1)
    machine(2**31 + 5)
    assert machine.runs == [(0, 2**31 + 5, 1)]


def test_a_wide_array_is_indexed_in_64_bits() -> None:
    y = Array("y", i32, 2, wide=True)

    def build(b: Builder) -> None:
        def body(i: LoopVariable, j: LoopVariable) -> None:
            b.store(y, [i, j], b.cast(b.op("add", b.op("mul", i, 3), j), i32))

        b.parallel((0, b.shape(y, 0)), (0, b.shape(y, 1)), body=body, type=i64)

    values = np.zeros((4, 5), np.int32)
    run(kernel([y], build), values)
    np.testing.assert_array_equal(values, np.add.outer(3 * np.arange(4), np.arange(5)))


def test_captured_values_locals_and_flags() -> None:
    y, n, flag = Array("y", f32, 1), Parameter("n", i32), Parameter("flag", u1)
    scale, kept = Local("scale", f32), Local("kept", u1)

    def build(b: Builder) -> None:
        twice = b.cast(b.op("mul", n, 2), f32)
        b.set(scale, Constant(0.5, f32))
        b.set(kept, b.op("not", flag))
        b.set(scale, b.op("add", b.get(scale), twice))

        def body(i: LoopVariable) -> None:
            chosen = b.op("select", flag, b.get(scale), twice, type=f32)
            b.store(y, [i], b.op("select", b.get(kept), Constant(-1.0, f32), chosen, type=f32))

        b.parallel((0, b.shape(y)), body=body)
        b.set(scale, Constant(9.0, f32))
        b.parallel((0, 1), body=lambda i: discard(b.store(y, [i], b.get(scale))))

    machine = Machine(kernel([y, n, flag], build, locals=[scale, kept]))
    values = np.zeros(3, np.float32)
    machine(values, 4, True)
    assert values.tolist() == [9.0, 8.5, 8.5]
    machine(values, 4, False)
    assert values.tolist() == [9.0, -1.0, -1.0]


def test_locals_of_a_task_are_its_own() -> None:
    y, local = Array("y", i32, 1), Local("t", i32)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.set(local, i)
            b.loop(0, 3, 1, body=lambda k: discard(b.set(local, b.op("add", b.get(local), k))))
            b.when(b.op("eq", b.op("mod", i, 3), 0), lambda: discard(b.void("continue")))
            b.store(y, [i], b.get(local))

        b.parallel((0, b.shape(y)), body=body, locals=[local])

    values = np.full(8, -1, np.int32)
    run(kernel([y], build), values)
    assert values.tolist() == [-1, 4, 5, -1, 7, 8, -1, 10]


def test_a_task_inside_a_serial_loop_sees_its_variable() -> None:
    y, n = Array("y", i32, 1), Parameter("n", i32)

    def build(b: Builder) -> None:
        def turn(k: LoopVariable) -> None:
            b.parallel((0, b.shape(y)), body=lambda i: discard(b.change("update", "add", y, [i], b.op("mul", k, i))))

        b.loop(0, n, 1, body=turn)

    values = np.zeros(5, np.int32)
    machine = Machine(kernel([y, n], build))
    machine(values, 4)
    assert values.tolist() == [0, 6, 12, 18, 24]
    assert len(list(outlined(machine.kernel))) == 1
    assert len(machine.runs) == 4


def test_indices_that_wrap_in_32_bits_are_computed_as_written() -> None:
    y, big = Array("y", i32, 1), Parameter("big", i32)

    def build(b: Builder) -> None:
        # Three terms: the exact sum leaves 33 bits, the wrapped one is in bounds.
        def body(i: LoopVariable) -> None:
            b.store(y, [b.op("add", b.op("add", b.op("add", i, big), big), 2)], i)

        b.parallel((0, 4), body=body)

    values = np.full(4, -1, np.int32)
    run(kernel([y, big], build), values, 2**31 - 1)
    assert values.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("wide", [False, True])
def test_indices_in_64_bits_may_wrap_on_the_way(wide: bool) -> None:
    y = Array("y", i32, 1, wide=wide)
    far = 2**63 - 5

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            value = b.cast(i, i32)
            b.store(y, [b.op("sub", b.op("add", b.op("mul", i, 2), far), far)], value)
            b.store(y, [b.op("add", b.op("add", b.op("add", b.op("mul", i, 2), far), far), 11)], value)

        b.parallel((0, 4), body=body, type=i64)

    values = np.full(8, -1, np.int32)
    run(kernel([y], build), values)
    assert values.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("type", [i32, i64])
def test_neighbors_of_an_element(type: DType) -> None:
    x, y = Array("x", i32, 2, alone=True), Array("y", i32, 2, alone=True)

    def build(b: Builder) -> None:
        def body(i: LoopVariable, j: LoopVariable) -> None:
            left, right = b.load(x, i, b.op("sub", j, 1)), b.load(x, i, b.op("add", 1, j))
            above, below = b.load(x, b.op("sub", i, 1), j), b.load(x, b.op("add", i, 1), j)
            total = b.op("add", b.op("add", left, right), b.op("add", above, below))
            b.store(y, [i, j], b.op("sub", total, b.load(x, i, j)))

        b.parallel((1, 49), (1, 69), body=body, type=type)

    values = np.random.default_rng(1).integers(-99, 99, (50, 70)).astype(np.int32)
    found = np.zeros_like(values)
    run(kernel([x, y], build), values, found)
    expected = values[1:-1, :-2] + values[1:-1, 2:] + values[:-2, 1:-1] + values[2:, 1:-1] - values[1:-1, 1:-1]
    np.testing.assert_array_equal(found[1:-1, 1:-1], expected)


def test_arrays_of_a_baked_shape() -> None:
    y = Array("y", i32, 2, extents=(3, 5))

    def build(b: Builder) -> None:
        b.parallel(
            (0, b.shape(y, 0)), (0, b.shape(y, 1)), body=lambda i, j: discard(b.store(y, [i, j], b.op("sub", i, j)))
        )

    values = np.zeros((3, 5), np.int32)
    run(kernel([y], build), values)
    np.testing.assert_array_equal(values, np.subtract.outer(np.arange(3), np.arange(5)))


def test_an_array_without_axes() -> None:
    y = Array("y", f32, 0)
    values = np.array(3.0, np.float32)
    run(kernel([y], lambda b: discard(b.store(y, [], b.op("mul", b.load(y), 2.0)))), values)
    assert values == 6.0
