"""Outlining: what tasks capture, what is planned for them, and what the verifier and the printer make of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from samovar.ir.plan import Plan

from backends.build import Builder, function, kernel
from backends.machine import Machine
from ir_interpreter import Interpreter
from samovar._native import f16, f32, f64, i8, i32, u1, u32
from samovar.ir.printer import print_kernel, print_task
from samovar.ir.runtime_interface import COST_UNKNOWN, SERIAL
from samovar.ir.structure import Captured, Kernel, Reduction, Scatter, Task
from samovar.ir.traversal import outlined, use_counts, used
from samovar.ir.values import Array, Constant, Local, LoopVariable, Operation, Parameter
from samovar.ir.verifier import MalformedIR, verify
from samovar.passes import outline
from samovar.passes.outline import identity


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
    inside = [value for operation in task.body.operations for value in operation.operands]
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
    Machine(built)(native, unused, 6, 7)
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


def test_what_is_gathered_is_not_captured() -> None:
    x, total = Array("x", f32, 1, alone=True), Array("total", f32, 1, alone=True)
    task = only_task(summed(x, total))
    assert task.captures == (x,)


def summed(x: Array, total: Array) -> Kernel:
    def build(b: Builder) -> None:
        task = b.parallel((0, b.shape(x)), body=lambda i: None)
        reduction = Reduction("add", x.dtype, total, (Constant(0, i32),))
        task.reductions.append(reduction)
        loaded = Operation("load", x.dtype, (task.variables[0],), x)
        task.body.operations = [loaded, Operation("accumulate", None, (loaded,), reduction)]

    return kernel([x, total], build)


def test_partial_sums_of_f16_are_kept_in_f32() -> None:
    x, total = Array("x", f16, 1, alone=True), Array("total", f16, 1, alone=True)
    (partial,) = only_task(summed(x, total)).plan.partials
    assert partial.type is f32
    assert repr(partial.identity) == "-0.0"


def planned(*axes: tuple[object, object], block: int | None = None) -> Plan:
    y = Array("y", i32, len(axes))
    n = Parameter("n", i32)

    def build(b: Builder) -> None:
        bounds = [tuple(n if end == "n" else end for end in axis) for axis in axes]
        b.parallel(*bounds, body=lambda *i: b.store(y, i, i[0]) and None, block=block)  # type: ignore[arg-type]

    return only_task(kernel([y, n], build)).plan


def test_short_constant_axes_are_loops_inside_of_a_unit() -> None:
    assert (planned((0, "n"), (0, 3), (1, 3)).dealt, planned((0, "n"), (0, 3), (1, 3)).inner_iterations) == (1, 6)
    assert planned((0, "n"), (0, 300)).dealt == 2
    assert planned((0, "n"), (0, 20), (0, 20)).dealt == 2
    assert planned((0, 3), (0, 3)).dealt == 1
    assert planned((0, "n"), (5, 2)).inner_iterations == 0


def test_a_block_is_for_one_axis() -> None:
    assert planned((0, "n"), block=8).block == 8
    assert planned((0, "n"), (0, "n"), block=8).block is None


def test_loops_of_unknown_length_and_watched_tasks_are_flagged() -> None:
    y, n = Array("y", i32, 1), Parameter("n", i32)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.loop(0, n, 1, body=lambda k: b.store(y, [i], k) and None)

        b.parallel((0, n), body=body).watched = True

    assert only_task(kernel([y, n], build)).plan.flags == COST_UNKNOWN | SERIAL


def test_copies_are_for_contiguous_arrays() -> None:
    for contiguous in (True, False):
        x, bins = Array("x", i32, 1), Array("bins", u32, 1, alone=True, contiguous=contiguous)

        def build(b: Builder, x: Array = x, bins: Array = bins) -> None:
            task = b.parallel((0, b.shape(x)), body=lambda i: None)
            scatter = Scatter("add", bins)
            task.scatters.append(scatter)
            loaded = Operation("load", i32, (task.variables[0],), x)
            task.body.operations = [loaded, Operation("scatter", None, (loaded, Constant(1, u32)), scatter)]

        task = only_task(kernel([x, bins], build))
        assert task.captures == (x, bins)
        assert [copy.scatter for copy in task.plan.copies] == (task.scatters if contiguous else [])


@pytest.mark.parametrize("count", [1, 8, 9])
def test_a_plain_loop_of_few_arguments_is_described(count: int) -> None:
    arrays = [Array(f"a{number}", f32, 1, alone=True) for number in range(count)]

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            total = b.load(arrays[0], i)
            for array in arrays[1:]:
                total = b.op("add", total, b.load(array, i))
            b.store(arrays[0], [i], total)

        b.parallel((0, b.shape(arrays[0])), body=body)

    plain = only_task(kernel(arrays, build)).plan.plain
    assert plain is not None
    assert (plain.bits, plain.from_first_element, plain.described) == (32, True, count <= 8)


def test_a_plain_loop_that_takes_a_float_is_not_described() -> None:
    x, factor = Array("x", f32, 1, alone=True), Parameter("factor", f32)

    def build(b: Builder) -> None:
        b.parallel((0, b.shape(x)), body=lambda i: b.store(x, [i], b.op("mul", b.load(x, i), factor)) and None)

    plain = only_task(kernel([x, factor], build)).plan.plain
    assert plain is not None
    assert (plain.from_first_element, plain.described) == (True, False)


@pytest.mark.parametrize(
    ("operation", "type", "expected"),
    [
        ("add", i32, 0), ("add", f64, -0.0), ("mul", f32, 1), ("mul", u32, 1), ("min", i8, 127), ("max", i8, -128),
        ("min", u32, 2**32 - 1), ("max", u32, 0), ("and", i32, -1), ("and", u32, 2**32 - 1), ("and", u1, 1), ("or", u1, 0),
        ("xor", i32, 0),
    ],
)  # fmt: skip
def test_identities(operation: str, type: object, expected: float) -> None:
    assert identity(operation, type) == expected  # type: ignore[arg-type]


def test_a_minimum_of_floats_begins_with_nan() -> None:
    assert math.isnan(identity("min", f32))
    assert math.isnan(identity("max", f64))


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


def test_a_plan_without_the_partial_results_is_refused() -> None:
    from dataclasses import replace

    built = summed(Array("x", f32, 1, alone=True), Array("total", f32, 1, alone=True))
    task = only_task(built)
    task.plan = replace(task.plan, partials=())
    with pytest.raises(MalformedIR, match="partial results"):
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


def test_captures_and_plan_are_printed() -> None:
    built, _ = mixed()
    task = only_task(built)
    text = print_kernel(built)
    assert "takes m, $plain, %1, unused.shape[0], x, $shared" in text
    assert "runs by steps" in print_task(task)


def test_partial_results_are_printed() -> None:
    built = summed(Array("x", f16, 1, alone=True), Array("total", f16, 1, alone=True))
    outline(built)
    assert "gathers total[0:i32] in f32 from -0.0" in print_kernel(built)


def test_a_function_that_prints_makes_the_task_speak() -> None:
    from samovar.artifact.sites import Site

    n = Parameter("n", i32)
    shout = function("shout", [], lambda b: b.void("print", payload=Site("print", ("hello",), (), ())) and None)
    built = kernel([n], lambda b: b.parallel((0, n), body=lambda i: b.call(shout) and None) and None, functions=[shout])
    assert "prints" in print_task(only_task(built))
