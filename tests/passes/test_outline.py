"""Outlining: what tasks capture, the loops that they become, and what the verifier and the printer make of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import samovar as sv
from backends.build import Builder, function, kernel
from backends.machine import Machine
from ir_interpreter import Interpreter
from samovar._native import f16, f32, f64, i8, i32, u1, u32
from samovar.ir import identity
from samovar.ir.printer import print_kernel, print_task
from samovar.ir.runtime_interface import COST_UNKNOWN, SERIAL
from samovar.ir.structure import Captured, For, Kernel, Reduction, Scatter, Task
from samovar.ir.traversal import outlined, use_counts, used, walk
from samovar.ir.values import Array, Constant, Local, LocalArray, LoopVariable, Operation, Parameter
from samovar.ir.verifier import MalformedIR, verify
from samovar.passes import outline


def only_task(kernel: Kernel) -> Task:
    outline(kernel)
    verify(kernel)
    (task,) = outlined(kernel)
    return task


def mixed() -> tuple[Kernel, list[object]]:
    """A kernel whose task captures one of everything: array, parameter, extent, computed value, local of each kind."""
    x, unused = Array("x", i32, 1, alone=True), Array("unused", i32, 1)
    n, m = Parameter("n", i32), Parameter("m", i32)
    plain, shared = Local("plain", i32), Local("shared", i32)
    shared.shared = True
    parts: list[object] = []

    def build(b: Builder) -> None:
        extent = b.shape(unused)
        computed = b.op("mul", n, 3)
        b.set(plain, 5)
        b.set(shared, 0)
        own = Local("own", i32)

        def body(i: LoopVariable) -> None:
            b.set(own, b.op("add", b.op("mul", i, m), b.get(plain)))
            b.store(x, [i], b.op("add", b.op("add", b.get(own), computed), extent))
            b.change("atomic", "add", shared, [], i)

        b.parallel((0, n), body=body, locals=[own])
        parts.extend([m, plain, computed, extent, x, shared])

    return kernel([x, unused, n, m], build, locals=[plain, shared]), parts


def test_captures_are_all_that_the_body_takes_each_once() -> None:
    built, parts = mixed()
    task = only_task(built)
    sources = [each.source if isinstance(each, Captured) else each for each in task.captures]
    assert sources == parts
    assert [each for each in task.captures if isinstance(each, Captured)] == [task.captures[2]]


def test_the_body_knows_a_computed_value_as_a_number() -> None:
    built, parts = mixed()
    task = only_task(built)
    inside = [value for operation in walk(task.body) for value in operation.operands]
    assert parts[2] not in inside
    assert task.captures[2] in inside
    # Whoever looks for uses finds that the task is one.
    assert parts[2] in used(task)
    assert use_counts([built.body])[parts[2]] == 1  # type: ignore[index]


def test_an_outlined_kernel_does_the_same() -> None:
    expected, found, native = (np.zeros(6, np.int32) for _ in range(3))
    unused = np.zeros(4, np.int32)
    Interpreter(mixed()[0], {"x": expected, "unused": unused, "n": 6, "m": 7}).run()
    built = mixed()[0]
    outline(built)
    Interpreter(built, {"x": found, "unused": unused, "n": 6, "m": 7}).run()
    Machine(mixed()[0])(native, unused, 6, 7)
    assert expected.tolist() == found.tolist() == native.tolist() == [7 * i + 5 + 18 + 4 for i in range(6)]


def test_outlining_twice_changes_nothing() -> None:
    built, _ = mixed()
    task = only_task(built)
    assert only_task(built) is task


def test_a_loop_variable_around_a_task_is_captured() -> None:
    y, n = Array("y", i32, 1), Parameter("n", i32)

    def build(b: Builder) -> None:
        def turn(k: LoopVariable) -> None:
            b.parallel((0, b.shape(y)), body=lambda i: b.store(y, [i], k) and None)

        b.loop(0, n, 1, body=turn)

    task = only_task(kernel([y, n], build))
    assert [type(each) for each in task.captures] == [Captured, Array]


def test_a_condition_that_is_computed_in_its_loop_is_not_captured() -> None:
    y = Array("y", i32, 1)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            one = Constant(1, i32)
            b.during(lambda: b.op("lt", b.load(y, i), 3), lambda: b.change("update", "add", y, [i], one) and None)

        b.parallel((0, b.shape(y)), body=body)

    assert only_task(kernel([y], build)).captures == (y,)


def test_what_is_gathered_goes_to_partial_results_and_not_to_the_target() -> None:
    x, total = Array("x", f32, 1, alone=True), Array("total", f32, 1, alone=True)
    task = only_task(summed(x, total))
    assert total not in task.captures
    assert [each.name for each in task.captures if isinstance(each, LocalArray)] == ["partials"]


def summed(x: Array, total: Array, operation: str = "add") -> Kernel:
    def build(b: Builder) -> None:
        task = b.parallel((0, b.shape(x)), body=lambda i: None)
        reduction = Reduction(operation, x.dtype, total, (Constant(0, i32),))
        task.reductions.append(reduction)
        loaded = Operation("load", x.dtype, (task.variables[0],), x)
        task.body.operations = [loaded, Operation("accumulate", None, (loaded,), reduction)]

    return kernel([x, total], build)


def test_partial_sums_of_f16_are_kept_in_f32() -> None:
    x, total = Array("x", f16, 1, alone=True), Array("total", f16, 1, alone=True)
    task = only_task(summed(x, total))
    (local,) = task.locals
    assert local.type is f32
    first = next(each for each in walk(task.body) if each.code == "store_local")
    assert repr(first.operands[0].value) == "-0.0"  # type: ignore[attr-defined]
    numbers, found = np.full(5000, 0.5, np.float16), np.zeros(1, np.float16)
    built = summed(x, total)
    outline(built)
    Interpreter(built, {"x": numbers, "total": found}).run()
    assert found[0] == 2500  # a sum in f16 ends at 1024


@pytest.mark.parametrize("operation", ["add", "mul", "min", "max"])
@pytest.mark.parametrize("size", [0, 1, 16, 17, 300])
def test_what_is_gathered_is_applied_to_its_target(operation: str, size: int) -> None:
    """Negative zero stays one, NaN counts only where there is nothing else, and nothing is done for no iteration."""
    for fill in (-0.0, math.nan, 0.5, -2.0):
        x, total = Array("x", f64, 1, alone=True), Array("total", f64, 1, alone=True)
        for start in (-0.0, math.nan, 2.0):
            expected, found = np.array([start]), np.array([start])
            numbers = np.full(size, fill)
            Interpreter(summed(x, total, operation), {"x": numbers, "total": expected}).run()
            built = summed(x, total, operation)
            outline(built)
            Interpreter(built, {"x": numbers, "total": found}).run()
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(np.signbit(found) & ~np.isnan(found), np.signbit(expected) & ~np.isnan(found))


def test_a_target_out_of_bounds_is_left_alone() -> None:
    x, total = Array("x", f64, 1, alone=True), Array("total", f64, 1, alone=True)
    built = summed(x, total)
    outline(built)
    for size in (0, 3):
        found = np.zeros(0)
        Interpreter(built, {"x": np.zeros(size), "total": found}).run()
        assert found.size == 0


def over_axes(*axes: tuple[object, object], block: int | None = None) -> Kernel:
    """Each iteration adds one to an element of its own; axes may begin below zero."""
    y, n = Array("y", i32, len(axes), alone=True), Parameter("n", i32)

    def build(b: Builder) -> None:
        bounds = [tuple(n if end == "n" else end for end in axis) for axis in axes]

        def body(*i: LoopVariable) -> None:
            at = [b.op("add", each, 3) for each in i]
            b.change("update", "add", y, at, b.value(1))

        b.parallel(*bounds, body=body, block=block)  # type: ignore[arg-type]

    return kernel([y, n], build)


@pytest.mark.parametrize("n", [-2, 0, 1, 5, 17, 70])
@pytest.mark.parametrize(
    "axes",
    [
        [(0, "n")], [(-3, "n")], [(0, "n"), (0, 3)], [(0, "n"), (1, 3), (-2, 2)], [(0, "n"), (5, 2)], [(0, 3), (0, "n")],
        [(-1, "n"), (-3, "n")], [(0, 2), (0, 3), (-3, "n")], [(0, "n"), (0, 2), (0, 300)], [(1, 1), (0, "n")],
    ],
    ids=str,
)  # fmt: skip
def test_every_iteration_runs_once(axes: list[tuple[object, object]], n: int) -> None:
    shape = [76 if end == "n" else 304 for _, end in axes]
    expected = np.zeros(shape, np.int32)
    Interpreter(over_axes(*axes), {"y": expected, "n": n}).run()
    for seed in range(2):
        found = np.zeros(shape, np.int32)
        built = over_axes(*axes)
        outline(built)
        verify(built)
        Interpreter(built, {"y": found, "n": n}, seed).run()
        np.testing.assert_array_equal(found, expected)
    counted = [max(0, (n if end == "n" else end) - begin) for begin, end in axes]  # type: ignore[operator]
    assert expected.sum() == math.prod(counted)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 41])
def test_blocks_are_of_as_many_iterations_as_asked(n: int) -> None:
    built = over_axes((0, "n"), block=8)
    task = only_task(built)
    found = np.zeros(50, np.int32)
    launch = Interpreter(built, {"y": found, "n": n})
    launch.run()
    assert found[3 : 3 + n].tolist() == [1] * n
    assert found.sum() == n
    assert launch._frame.value(task.operands[0]) == -(-n // 8)


def loops_of(*axes: tuple[object, object]) -> tuple[bool, list[str]]:
    """Whether rows are dealt out, and the loops over axes in a task."""
    body = only_task(over_axes(*axes)).body
    names = [each.variable.name for each in walk(body) if isinstance(each, For)]
    return any(each.code == "while" for each in walk(body)), names


def test_short_constant_axes_are_loops_inside_of_a_unit() -> None:
    assert loops_of((0, "n"), (0, 3), (1, 3)) == (False, ["i", "j", "k"])
    assert loops_of((0, "n"), (0, 300)) == (True, ["i", "j"])
    assert loops_of((0, "n"), (0, 20), (0, 20)) == (True, ["i", "j", "k"])
    assert loops_of((0, 3), (0, 3)) == (False, ["i", "j"])


def test_loops_of_unknown_length_and_watched_tasks_are_flagged() -> None:
    y, n = Array("y", i32, 1), Parameter("n", i32)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.loop(0, n, 1, body=lambda k: b.store(y, [i], k) and None)

        b.parallel((0, n), body=body).race_checked = True

    assert only_task(kernel([y, n], build)).flags == COST_UNKNOWN | SERIAL


def counted(contiguous: bool = True, operation: str = "add") -> Kernel:
    x, bins = Array("x", i32, 1), Array("bins", u32, 2, alone=True, contiguous=contiguous)

    def build(b: Builder) -> None:
        task = b.parallel((0, b.shape(x)), body=lambda i: None)
        scatter = Scatter(operation, bins)
        task.scatters.append(scatter)
        loaded = Operation("load", i32, (task.variables[0],), x)
        row = Operation("and", i32, (loaded, Constant(1, i32)))
        task.body.operations = [loaded, row, Operation("scatter", None, (row, loaded, Constant(3, u32)), scatter)]

    return kernel([x, bins], build)


def test_copies_are_for_contiguous_arrays() -> None:
    for contiguous in (True, False):
        built = counted(contiguous)
        outline(built)
        assert any(each.code == "scratch" for each in walk(built.body)) == contiguous


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("operation", ["add", "mul", "min", "max", "and", "or", "xor"])
@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 700])
def test_scatters_leave_the_same_with_copies_and_without(size: int, operation: str, threads: int) -> None:
    x = np.random.default_rng(size).integers(0, 4, size).astype(np.int32)
    start = np.arange(8, dtype=np.uint32).reshape(2, 4)
    expected, found = start.copy(), start.copy()
    Interpreter(counted(operation=operation), {"x": x, "bins": expected}).run()
    built = counted(operation=operation)
    outline(built)
    verify(built)
    Interpreter(built, {"x": x, "bins": found}, threads=threads).run()
    np.testing.assert_array_equal(found, expected)


def in_place(alone: bool, other: bool, watched: bool = False) -> Kernel:
    """a[i] = a[i] + a[0], or + a[i]."""
    a = Array("a", f32, 1, alone=alone)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            read = b.load(a, Constant(0, i32) if other else i)
            b.store(a, [i], b.op("add", b.load(a, i), read))

        b.parallel((1, b.shape(a)), body=body).race_checked = watched

    return kernel([a], build)


@pytest.mark.parametrize(
    ("built", "expected"),
    [
        (in_place(True, True), True), (in_place(True, False), False), (in_place(False, True), False),
        (in_place(True, True, watched=True), False),
    ],
    ids=["elsewhere", "own elements", "may overlap", "watched"],
)  # fmt: skip
def test_iterations_are_independent_of_what_others_write(built: Kernel, expected: bool) -> None:
    (loop,) = (each for each in walk(only_task(built).body) if isinstance(each, For))
    assert loop.hints.independent == expected
    assert loop.hints.parallel


@pytest.mark.parametrize(
    ("operation", "type", "expected"),
    [
        ("add", i32, 0), ("add", f64, -0.0), ("mul", f32, 1), ("mul", u32, 1), ("min", i8, 127), ("max", i8, -128),
        ("min", u32, 2**32 - 1), ("max", u32, 0), ("and", i32, -1), ("and", u32, 2**32 - 1), ("and", u1, 1), ("or", u1, 0),
        ("xor", i32, 0),
    ],
)  # fmt: skip
def test_identities(operation: str, type: object, expected: float) -> None:
    assert identity(operation, type).value == expected  # type: ignore[arg-type]


def test_a_minimum_of_floats_begins_with_nan() -> None:
    assert math.isnan(identity("min", f32).value)
    assert math.isnan(identity("max", f64).value)


def test_slow_serial_code_is_noticed() -> None:
    n = Parameter("n", i32)
    x = Local("x", i32)

    def build(b: Builder) -> None:
        b.loop(0, n, 1, body=lambda k: b.set(x, k) and None)

    slow, quick = kernel([n], build, locals=[x]), kernel([n], lambda b: None)
    outline(slow)
    outline(quick)
    assert (slow.slow_serial, quick.slow_serial) == (True, False)


# The verifier.


@pytest.mark.parametrize("position", range(6))
def test_a_task_that_uses_what_it_does_not_capture_is_refused(position: int) -> None:
    built, _ = mixed()
    task = only_task(built)
    task.captures = task.captures[:position] + task.captures[position + 1 :]
    with pytest.raises(MalformedIR):
        verify(built)


def test_a_capture_that_is_not_there_is_refused() -> None:
    built, _ = mixed()
    task = only_task(built)
    task.captures = (*task.captures, Parameter("elsewhere", i32))
    with pytest.raises(MalformedIR, match="a capture is not defined here"):
        verify(built)


def test_a_computed_value_that_is_captured_as_it_is_is_refused() -> None:
    built, parts = mixed()
    task = only_task(built)
    task.captures = (*task.captures, parts[2])  # type: ignore[arg-type]
    with pytest.raises(MalformedIR, match="captured as a number"):
        verify(built)


def test_the_backend_refuses_what_is_not_captured() -> None:
    built, _ = mixed()
    task = only_task(built)
    task.captures = task.captures[1:]
    from samovar.backends import backend
    from samovar.language.options import Options

    with pytest.raises(LookupError, match="does not capture"):
        backend("llvm").render(built, Options())


# The printer.


def test_captures_are_printed() -> None:
    built, _ = mixed()
    task = only_task(built)
    text = print_kernel(built)
    assert "takes m, $plain, %1, unused.shape[0], x, $shared" in text
    assert "for i: i32 in first .. last by 1:i64  (parallel)" in print_task(task)


def test_partial_results_of_all_reductions_are_combined_in_one_loop() -> None:
    sv.init()

    @sv.kernel
    def sums(a: sv.types.NDArray[sv.f32, 1]) -> sv.f32:
        low, high, total = 1e9, -1e9, 0.0
        for i in a:
            low = min(low, a[i])
            high = max(high, a[i])
            total += a[i]
        return low + high + total

    a = np.random.default_rng(1).random(5000).astype(np.float32)
    assert sums.inspect("loops", a).count("partial results are combined in order") == 1
    assert sums(a) == pytest.approx(a.min() + a.max() + a.sum(), rel=1e-4)


def test_partial_results_are_printed() -> None:
    built = summed(Array("x", f16, 1, alone=True), Array("total", f16, 1, alone=True))
    outline(built)
    assert "reserve partials: f32[128]" in print_kernel(built)


def test_a_function_that_prints_makes_the_task_speak() -> None:
    from samovar.artifact.sites import Site

    n = Parameter("n", i32)
    shout = function("shout", [], lambda b: b.void("print", payload=Site("print", ("hello",), (), ())) and None)
    built = kernel([n], lambda b: b.parallel((0, n), body=lambda i: b.call(shout) and None) and None, functions=[shout])
    assert "prints" in print_task(only_task(built))
