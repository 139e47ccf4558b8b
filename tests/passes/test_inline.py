"""Inlining: functions that write arrays disappear into the tasks that call them, whatever way they return."""

from __future__ import annotations

import numpy as np
import pytest

from ir_builder import Builder
from ir_interpreter import Interpreter
from samovar._native import i32
from samovar.ir.machine import Machine
from samovar.ir.structure import Function, Kernel
from samovar.ir.traversal import walk_kernel
from samovar.ir.values import Array, Parameter, Value
from samovar.ir.verifier import verify
from samovar.language.options import Options
from samovar.passes import run
from samovar.passes.inline import LARGEST_COPY, MOST_RETURNS, inline
from samovar.passes.loops.inline_calls import inline_calls


def calls(kernel: Kernel) -> int:
    verify(kernel)
    return sum(operation.code == "call" for operation in walk_kernel(kernel))


def bump() -> Builder:
    return Builder(Array("p", i32, 1), Parameter("at", i32), Parameter("x", i32), returns=[i32], name="bump")


def calling(function: Function, times: int = 1) -> Kernel:
    build = Builder(Array("a", i32, 1, alone=True), Array("out", i32, 1, alone=True), Parameter("n", i32))
    build.functions.append(function)
    with build.parallel(build["n"]) as (i,):
        for _ in range(times):
            result = build.call(function, build["a"], i, build.op("sub", i, 2))
            build.atomic("add", build["out"], [i], result)
    return build.kernel()


def outcome(kernel: Kernel) -> list[list[int]]:
    a, out = np.arange(6, dtype=np.int32), np.zeros(6, np.int32)
    Interpreter(kernel, {"a": a, "out": out, "n": 6}).run()
    return [a.tolist(), out.tolist()]


def test_an_index_through_a_parameter_is_owned_after_inlining() -> None:
    build = bump()
    build.give(build.atomic("add", build["p"], [build["at"]], build["x"]))
    kernel = calling(build.function())
    expected = outcome(kernel)
    run(kernel, Options())
    assert [op.code for op in walk_kernel(kernel) if op.code in ("atomic", "update", "call")] == ["update", "update"]
    assert kernel.functions == []
    assert outcome(kernel) == expected


def test_early_returns_in_branches_and_loops_keep_their_meaning() -> None:
    build = bump()
    with build.when(build.op("lt", build["x"], 0)):
        build.give(-1)
    with build.loop(0, 5) as k:
        build.atomic("add", build["p"], [build["at"]], 10)
        with build.loop(0, 3), build.when(build.op("eq", k, build["x"])):
            build.give(k)
        with build.when(build.op("eq", k, 2)), build.when(build.op("eq", build["x"], 3)):
            build.give(33)
        build.atomic("add", build["p"], [build["at"]], 100)
    with build.when(build.op("gt", build["x"], 100)) as orelse:
        build.give(5)
    with build.inside(orelse):
        build.atomic("add", build["p"], [build["at"]], 1000)
    build.give(7)
    kernel = calling(build.function(), times=2)
    expected = outcome(kernel)
    inline(kernel)
    assert calls(kernel) == 0
    assert outcome(kernel) == expected


def test_several_results_are_inlined() -> None:
    inner = Builder(Array("p", i32, 1), Parameter("x", i32), returns=[i32, i32], name="f")
    inner.store(inner["p"], [inner["x"]], 1)
    inner.give(inner.op("add", inner["x"], 1), inner.op("mul", inner["x"], 2))
    build = Builder(Array("a", i32, 1, alone=True), Array("out", i32, 1, alone=True), Parameter("n", i32))
    build.functions.append(inner.function())
    with build.parallel(build["n"]) as (i,):
        call = build.call(build.functions[0], build["a"], i)
        build.store(build["out"], [i], build.op("sub", build.extract(call, 1), build.extract(call, 0)))
    kernel = build.kernel()
    expected = outcome(kernel)
    inline(kernel)
    assert calls(kernel) == 0
    assert outcome(kernel) == expected


def test_a_function_inside_a_function_is_inlined_into_both() -> None:
    inner = bump()
    inner.give(inner.atomic("add", inner["p"], [inner["at"]], inner["x"]))
    deep = inner.function()
    outer = bump()
    outer.name = "outer"
    outer.give(outer.call(deep, outer["p"], outer["at"], outer.op("add", outer["x"], 1)))
    kernel = calling(outer.function(), times=3)
    kernel.functions.insert(0, deep)
    expected = outcome(kernel)
    inline(kernel)
    assert calls(kernel) == 0
    assert outcome(kernel) == expected


def test_a_function_that_only_reads_is_left_alone() -> None:
    build = bump()
    build.give(build.load(build["p"], build["at"]))
    kernel = calling(build.function())
    inline(kernel)
    assert calls(kernel) == 1


def test_a_large_function_called_twice_and_one_with_many_returns_are_left_alone() -> None:
    large = bump()
    for _ in range(LARGEST_COPY):
        large.atomic("add", large["p"], [large["at"]], 1)
    large.give(0)
    many = bump()
    many.atomic("add", many["p"], [many["at"]], 1)
    for value in range(MOST_RETURNS):
        with many.when(many.op("eq", many["x"], value)):
            many.give(value)
    many.give(0)
    for function, times, left in ((large.function(), 1, 0), (large.function(), 2, 2), (many.function(), 1, 1)):
        kernel = calling(function, times)
        inline(kernel)
        assert calls(kernel) == left


def test_locals_of_an_inlined_function_belong_to_the_task() -> None:
    build = bump()
    local = build.local("sum", i32)
    build.set(local, 0)
    with build.loop(0, 4) as k:
        build.set(local, build.op("add", build.get(local), k))
    build.atomic("add", build["p"], [build["at"]], build.get(local))
    build.give(build.get(local))
    kernel = calling(build.function(), times=2)
    expected = outcome(kernel)
    inline(kernel)
    assert kernel.locals == []
    assert outcome(kernel) == expected


@pytest.mark.parametrize(("length", "times", "left"), [(120, 1, 0), (120, 2, 2), (20, 1, 1)])
def test_a_straight_function_is_copied_into_a_loop_if_it_would_be_compiled_apart(length: int, times: int, left: int) -> None:
    build = bump()
    value: Value = build["x"]
    for _ in range(length):
        value = build.op("mul", value, 3)
    build.give(value)
    kernel = calling(build.function(), times)
    expected = outcome(kernel)
    inline_calls(kernel, Machine(256, 16))
    assert calls(kernel) == left
    assert outcome(kernel) == expected
