"""Reductions and scatters: which atomics are gathered, and where."""

from __future__ import annotations

import math

import numpy as np

from ir_builder import Builder
from ir_interpreter import Interpreter
from samovar._native import DType, f32, f64, i32, u32
from samovar.ir import Facts
from samovar.ir.structure import Kernel, ParallelFor
from samovar.ir.traversal import tasks, walk_kernel
from samovar.ir.values import Array, Constant, Operation, Parameter
from samovar.ir.verifier import verify
from samovar.passes.reductions import find_reductions
from samovar.passes.scatters import scatter


def array(name: str = "a", ndim: int = 1, alone: bool = True, dtype: DType = f64) -> Array:
    return Array(name, dtype, ndim, alone=alone)


def codes(kernel: Kernel) -> list[str]:
    return [op.code for op in walk_kernel(kernel) if op.code in ("atomic", "accumulate", "scatter")]


def task_of(kernel: Kernel) -> ParallelFor:
    (task,) = tasks(kernel)
    return task


def test_a_sum_into_one_element_is_gathered() -> None:
    build = Builder(array(ndim=0), array("x"), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], [], build.load(build["x"], i))
    kernel = build.kernel()
    find_reductions(kernel, Facts.of(kernel))
    (reduction,) = task_of(kernel).reductions
    assert (reduction.operation, reduction.type, reduction.target) == ("add", f64, build["a"])
    assert codes(kernel) == ["accumulate"]


def test_an_invariant_index_is_computed_in_front_of_the_task() -> None:
    build = Builder(array(), Parameter("n", i32))
    with build.parallel(build["n"]):
        build.atomic("max", build["a"], [build.op("sub", build.shape(build["a"]), 1)], 1.0)
    kernel = build.kernel()
    find_reductions(kernel, Facts.of(kernel))
    assert [operation.code for operation in kernel.body.operations] == ["shape", "sub", "parallel"]
    (reduction,) = task_of(kernel).reductions
    assert reduction.indices == (kernel.body.operations[1],)


def test_a_kernel_local_that_the_task_only_reads_is_invariant() -> None:
    build = Builder(array(), Parameter("n", i32))
    place = build.local("place", i32)
    build.set(place, 0)
    with build.when(build.op("gt", build["n"], 3)):
        build.set(place, 2)
    with build.parallel(build["n"]):
        build.atomic("add", build["a"], [build.get(place)], 1.0)
    kernel = build.kernel()
    find_reductions(kernel, Facts.of(kernel))
    elements = np.zeros(3)
    Interpreter(kernel, {"a": elements, "n": 5}).run()
    assert elements.tolist() == [0, 0, 5]
    assert codes(kernel) == ["accumulate"]


def test_an_invariant_that_is_computed_from_a_variable_stays_where_it_is() -> None:
    build = Builder(array(), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], [build.op("mod", build.op("sub", i, i), 4)], 1.0)
    kernel = build.kernel()
    find_reductions(kernel, Facts.of(kernel))
    verify(kernel)
    assert codes(kernel) == ["atomic"]


def test_a_subtraction_adds_the_negated_value_to_the_same_reduction() -> None:
    build = Builder(array(dtype=u32), Parameter("n", i32))
    with build.parallel(build["n"]):
        build.atomic("add", build["a"], [0], 5)
        build.atomic("sub", build["a"], [0], 7)
    kernel = build.kernel()
    find_reductions(kernel, Facts.of(kernel))
    assert len(task_of(kernel).reductions) == 1
    elements = np.zeros(1, np.uint32)
    Interpreter(kernel, {"a": elements, "n": 3}).run()
    assert elements.tolist() == [2**32 - 6]


def test_a_shared_local_is_gathered() -> None:
    build = Builder(Parameter("n", i32), returns=[i32])
    total = build.local("total", i32, shared=True)
    build.set(total, 10)
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", total, [], i)
    build.give(build.get(total))
    kernel = build.kernel()
    find_reductions(kernel, Facts.of(kernel))
    assert codes(kernel) == ["accumulate"]
    assert Interpreter(kernel, {"n": 5}).run() == (20,)


def test_what_else_touches_the_target_keeps_it_atomic() -> None:
    def kernel(disturb: str) -> Kernel:
        build = Builder(array(alone=disturb != "overlap"), Parameter("n", i32))
        with build.parallel(build["n"]) as (i,):
            old = build.atomic("add", build["a"], [0], 1.0)
            if disturb == "result":
                build.store(build["a"], [0], old)
            elif disturb == "load":
                build.load(build["a"], i)
            elif disturb == "exchange":
                build.atomic("exchange", build["a"], [0], 1.0)
            elif disturb == "other":
                build.atomic("max", build["a"], [0], 1.0)
            elif disturb == "unknown other":
                build.atomic("max", build["a"], [build["n"]], 1.0)
            elif disturb == "varying":
                build.atomic("add", build["a"], [i], 1.0)
        return build.kernel()

    for disturb in ("overlap", "result", "load", "exchange", "other", "unknown other", "varying"):
        each = kernel(disturb)
        find_reductions(each, Facts.of(each))
        assert "accumulate" not in codes(each), disturb


def test_different_operations_on_different_constants_are_gathered() -> None:
    build = Builder(array(), Parameter("n", i32))
    with build.parallel(build["n"]):
        build.atomic("add", build["a"], [0], 1.0)
        build.atomic("max", build["a"], [1], 1.0)
        build.atomic("add", build["a"], [0], 2.0)
    kernel = build.kernel()
    find_reductions(kernel, Facts.of(kernel))
    assert [(each.operation, each.indices[0].value) for each in task_of(kernel).reductions] == [("add", 0), ("max", 1)]


def test_a_function_that_reads_the_array_keeps_it_atomic() -> None:
    inner = Builder(array("p"), returns=[f64], name="f")
    inner.give(inner.load(inner["p"], 0))
    build = Builder(array(), array("b"), Parameter("n", i32))
    build.functions.append(inner.function())
    with build.parallel(build["n"]):
        build.atomic("add", build["a"], [0], 1.0)
        build.atomic("add", build["b"], [0], build.call(build.functions[0], build["a"]))
    kernel = build.kernel()
    find_reductions(kernel, Facts.of(kernel))
    assert codes(kernel) == ["atomic", "accumulate"]


def test_a_task_that_never_comes_to_the_accumulation_leaves_the_target_alone() -> None:
    build = Builder(array(), Parameter("n", i32), Parameter("at", i32))
    with build.parallel(build["n"]), build.when(build.op("ge", build["at"], 0)):
        build.atomic("min", build["a"], [build["at"]], 1.0)
    kernel = build.kernel()
    find_reductions(kernel, Facts.of(kernel))
    elements = np.array([math.nan])
    Interpreter(kernel, {"a": elements, "n": 5, "at": -1}).run()
    assert math.isnan(elements[0])


def test_a_minimum_of_nothing_keeps_a_nan() -> None:
    build = Builder(array(), Parameter("n", i32))
    with build.parallel(build["n"]), build.when(build.op("lt", build["n"], 0)):
        build.atomic("min", build["a"], [0], 1.0)
    kernel = build.kernel()
    find_reductions(kernel, Facts.of(kernel))
    elements = np.array([math.nan])
    Interpreter(kernel, {"a": elements, "n": 5}).run()
    assert math.isnan(elements[0])


# Scatters.


def histogram(action: str = "add", alone: bool = True, dtype: DType = i32) -> Builder:
    build = Builder(array(alone=alone, dtype=dtype), array("x", dtype=i32), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic(action, build["a"], [build.load(build["x"], i)], Constant(1, dtype))
    return build


def test_a_histogram_is_scattered() -> None:
    kernel = histogram().kernel()
    scatter(kernel, Facts.of(kernel))
    (found,) = task_of(kernel).scatters
    assert (found.operation, found.array) == ("add", kernel.parameters[0])
    elements, data = np.zeros(4, np.int32), np.array([1, 3, 3, 0, 3], np.int32)
    Interpreter(kernel, {"a": elements, "x": data, "n": 5}).run()
    assert elements.tolist() == [1, 1, 0, 3]


def test_what_is_gathered_is_not_scattered_too() -> None:
    build = Builder(array(), array("x"), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], [Constant(0, i32)], build.load(build["x"], i))
    kernel = build.kernel()
    facts = Facts.of(kernel)
    find_reductions(kernel, facts)
    scatter(kernel, facts)
    assert codes(kernel) == ["accumulate"]
    assert len(task_of(kernel).reductions) == 1
    assert task_of(kernel).scatters == []


def test_what_does_not_commute_or_may_overlap_is_not_scattered() -> None:
    for build in (histogram("exchange"), histogram(alone=False), histogram("div", dtype=f32)):
        kernel = build.kernel()
        scatter(kernel, Facts.of(kernel))
        assert codes(kernel) == ["atomic"]


def test_a_subtraction_is_scattered_negated() -> None:
    kernel = histogram("sub").kernel()
    scatter(kernel, Facts.of(kernel))
    elements = np.zeros(2, np.int32)
    Interpreter(kernel, {"a": elements, "x": np.array([1, 1], np.int32), "n": 2}).run()
    assert elements.tolist() == [0, -2]


def test_an_element_near_the_iteration_is_not_scattered() -> None:
    build = Builder(array(), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], [build.op("add", i, 1)], 1.0)
        build.atomic("add", build["a"], [i], 1.0)
    kernel = build.kernel()
    scatter(kernel, Facts.of(kernel))
    assert codes(kernel) == ["atomic", "atomic"]


def test_a_product_over_one_of_three_axes_is_scattered() -> None:
    build = Builder(array(ndim=2), Parameter("n", i32))
    with build.parallel(build["n"], build["n"], build["n"]) as (i, j, _):
        build.atomic("add", build["a"], [i, j], 1.0)
    kernel = build.kernel()
    scatter(kernel, Facts.of(kernel))
    assert codes(kernel) == ["scatter"]


def test_an_array_that_is_read_in_the_task_is_not_scattered() -> None:
    build = histogram()
    task = build.body.operations[-1]
    assert isinstance(task, ParallelFor)
    task.body.operations.append(Operation("load", i32, (Constant(0, i32),), build["a"]))
    kernel = build.kernel()
    scatter(kernel, Facts.of(kernel))
    assert codes(kernel) == ["atomic"]
