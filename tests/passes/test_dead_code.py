"""Prune: what never runs or cannot be seen is gone, and nothing else."""

from __future__ import annotations

import sys

import pytest

from ir_builder import Builder
from ir_interpreter import Interpreter
from samovar._native import i32, u1
from samovar.artifact.sites import Site
from samovar.ir import Facts
from samovar.ir.structure import If, Kernel, ParallelFor, Region
from samovar.ir.traversal import walk_kernel
from samovar.ir.values import Array, Constant, Operation, Parameter
from samovar.ir.verifier import verify
from samovar.language.options import Options
from samovar.passes import run
from samovar.passes.dead_code import eliminate_dead_code
from samovar.passes.reductions import find_reductions


def codes(kernel: Kernel) -> list[str]:
    verify(kernel)
    return [operation.code for operation in walk_kernel(kernel)]


def pruned(build: Builder) -> list[str]:
    kernel = build.kernel()
    eliminate_dead_code(kernel)
    return codes(kernel)


def test_values_and_loads_without_users_are_removed() -> None:
    build = Builder(Array("a", i32, 1), Parameter("x", i32))
    build.op("add", build.load(build["a"], 0), build["x"])
    assert pruned(build) == []


def test_stores_calls_and_checks_stay() -> None:
    inner = Builder(name="f")
    inner.give()
    build = Builder(Array("a", i32, 1), Parameter("x", i32))
    build.functions.append(inner.function())
    build.store(build["a"], [0], 1)
    build.atomic("add", build["a"], [0], 1)
    build.call(build.functions[0])
    build.check(build.op("gt", build["x"], 0), Site("assertion", (), (), ()))
    assert pruned(build) == ["return", "store", "atomic", "call", "gt", "check"]


def test_a_local_that_is_only_written_is_removed_with_its_loop() -> None:
    build = Builder(Parameter("n", i32))
    local = build.local("v", i32)
    build.set(local, 0)
    with build.loop(0, build["n"]) as k:
        build.set(local, build.op("add", build.get(local), k))
        with build.when(build.op("gt", k, 3)):
            build.void("break")
    kernel = build.kernel()
    eliminate_dead_code(kernel)
    assert codes(kernel) == []
    assert kernel.locals == []


def test_jumps_of_a_loop_that_matters_stay() -> None:
    build = Builder(Parameter("n", i32), returns=[i32])
    local = build.local("v", i32)
    build.set(local, 0)
    with build.loop(0, build["n"]) as k:
        with build.when(build.op("gt", k, 3)):
            build.void("break")
        build.set(local, k)
    build.give(build.get(local))
    kernel = build.kernel()
    eliminate_dead_code(kernel)
    assert Interpreter(kernel, {"n": 10}).run() == (3,)


def test_a_while_stays_since_it_may_never_end() -> None:
    build = Builder()
    build.loop_while(Region(), Constant(True, u1), Region())
    assert pruned(build) == ["while"]


def test_a_known_condition_leaves_one_branch() -> None:
    for condition, expected in ((True, 1), (False, 2)):
        build = Builder(Array("a", i32, 1))
        with build.when(condition) as orelse:
            build.store(build["a"], [0], 1)
        with build.inside(orelse):
            build.store(build["a"], [0], 2)
        kernel = build.kernel()
        eliminate_dead_code(kernel)
        (store,) = kernel.body.operations
        assert store.operands[-1].value == expected


def test_what_follows_a_jump_is_removed() -> None:
    build = Builder(Array("a", i32, 1), Parameter("n", i32), returns=[i32])
    with build.when(build.op("gt", build["n"], 0)) as orelse:
        build.give(1)
    with build.inside(orelse), build.when(True):
        build.give(2)
    build.store(build["a"], [0], 1)
    build.give(3)
    assert pruned(build) == ["gt", "if", "return", "return"]


def test_loops_over_nothing_are_removed() -> None:
    build = Builder(Array("a", i32, 1))
    for begin, end, step in ((3, 3, 1), (0, 5, -1), (5, 0, 1), (0, 5, 0)):
        with build.loop(begin, end, step):
            build.store(build["a"], [0], 1)
    with build.parallel(4, (2, 2)):
        build.store(build["a"], [0], 1)
    build.loop_while(Region(), Constant(False, u1), Region([Operation("break", None)]))
    assert pruned(build) == []
    build = Builder(Array("a", i32, 1))
    with build.loop(5, 0, -2):
        build.store(build["a"], [0], 1)
    assert pruned(build) == ["for", "store"]


def test_a_reduction_that_nobody_reads_is_removed() -> None:
    build = Builder(Array("a", i32, 1, alone=True), Parameter("n", i32))
    total = build.local("total", i32, shared=True)
    build.set(total, 0)
    with build.parallel(build["n"]):
        build.atomic("add", total, [], 1)
        build.atomic("add", build["a"], [0], 1)
    kernel = build.kernel()
    find_reductions(kernel, Facts.of(kernel))
    eliminate_dead_code(kernel)
    (task,) = (operation for operation in kernel.body.operations if isinstance(operation, ParallelFor))
    assert [reduction.target for reduction in task.reductions] == [build["a"]]
    assert codes(kernel) == ["parallel", "accumulate"]


def test_functions_that_nobody_calls_are_removed() -> None:
    functions = []
    for number in range(3):
        inner = Builder(name=f"f{number}")
        if number == 2:
            inner.call(functions[1])
        inner.give()
        functions.append(inner.function())
    build = Builder()
    build.functions += functions
    build.call(functions[2])
    kernel = build.kernel()
    eliminate_dead_code(kernel)
    assert kernel.functions == functions[1:]


def test_a_long_chain_of_branches_needs_no_deep_stack_of_ours() -> None:
    # As deep as a program of Python may nest its `elif`s.
    depth = sys.getrecursionlimit() // 4
    build = Builder(Array("a", i32, 1), Parameter("n", i32))
    region = Region()
    for _ in range(depth):
        condition = Operation("gt", u1, (build["n"], Constant(0, i32)))
        region = Region([condition, If(condition, Region(), region)])
    build.body.operations += region.operations
    kernel = build.kernel()
    run(kernel, Options())
    assert codes(kernel) == []


@pytest.mark.parametrize(
    ("begin", "end", "step", "runs"), [(3, 0, -1, True), (0, 3, -1, False), (3, 0, 1, False), (0, 3, 2, True)]
)
def test_a_loop_that_goes_backwards_runs_if_its_end_is_below(begin: int, end: int, step: int, runs: bool) -> None:
    build = Builder(Array("a", i32, 1))
    with build.loop(begin, end, step) as k:
        build.store(build["a"], [k], 1)
    assert ("store" in pruned(build)) == runs
