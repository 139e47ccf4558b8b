"""Locals: private atomics become plain, and loads see what was stored."""

from __future__ import annotations

import math

import pytest

from ir_builder import Builder
from ir_interpreter import Interpreter
from samovar._native import f32, f64, i32
from samovar.ir.opcodes import ATOMIC_OPERATIONS
from samovar.ir.structure import Kernel, Region
from samovar.ir.traversal import walk_kernel
from samovar.ir.values import Array, Parameter
from samovar.ir.verifier import verify
from samovar.passes.locals import demote_atomics, forward


def codes(kernel: Kernel) -> list[str]:
    verify(kernel)
    return [operation.code for operation in walk_kernel(kernel)]


@pytest.mark.parametrize("action", ATOMIC_OPERATIONS)
def test_an_atomic_on_a_private_local_does_the_same_in_plain(action: str) -> None:
    type = f64 if action == "div" else i32

    def kernel() -> Kernel:
        build = Builder(Parameter("x", type), Parameter("y", type), returns=[type, type])
        local = build.local("v", type)
        build.set(local, build["x"])
        values = (build["x"], build["y"]) if action == "cas" else (build["y"],)
        old = build.atomic(action, local, [], *values)
        build.give(old, build.get(local))
        return build.kernel()

    before, after = kernel(), kernel()
    demote_atomics(after)
    assert "atomic" not in codes(after)
    for y in (3, 0, -7):
        arguments = {"x": type(12), "y": type(y)}
        if not (action == "div" and y == 0):
            assert Interpreter(before, arguments).run() == Interpreter(after, arguments).run()


def test_a_compare_and_swap_compares_bits() -> None:
    build = Builder(Parameter("x", f32), returns=[f32])
    local = build.local("v", f32)
    build.set(local, build["x"])
    build.atomic("cas", local, [], build["x"], 1.0)
    build.give(build.get(local))
    kernel = build.kernel()
    demote_atomics(kernel)
    assert Interpreter(kernel, {"x": math.nan}).run() == (1.0,)


def test_a_shared_local_stays_atomic_in_a_task_and_is_plain_outside() -> None:
    build = Builder()
    local = build.local("v", i32, shared=True)
    build.set(local, 0)
    build.atomic("add", local, [], 1)
    with build.parallel(4):
        build.atomic("add", local, [], 1)
    kernel = build.kernel()
    demote_atomics(kernel)
    assert codes(kernel).count("atomic") == 1
    assert codes(kernel)[-1] == "atomic"


def test_a_load_after_a_store_is_the_stored_value() -> None:
    build = Builder(Array("a", i32, 1), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        local = build.local("j", i32)
        build.set(local, build.op("add", i, 1))
        store = build.store(build["a"], [build.get(local)], 1)
    kernel = build.kernel()
    forward(kernel)
    assert store.operands[0].code == "add"
    assert "load_local" not in codes(kernel)


def test_what_a_branch_or_a_loop_assigns_is_not_known_after_it() -> None:
    for control in ("if", "for", "while"):
        build = Builder(Parameter("n", i32), returns=[i32])
        local = build.local("v", i32)
        build.set(local, 1)
        if control == "if":
            with build.when(build.op("gt", build["n"], 0)):
                build.set(local, 2)
        elif control == "for":
            with build.loop(0, build["n"]):
                build.set(local, 2)
        else:
            counter = build.local("counter", i32)
            build.set(counter, 0)
            head, body = Region(), Region()
            with build.inside(head):
                condition = build.op("lt", build.get(counter), build["n"])
            with build.inside(body):
                build.set(counter, build.op("add", build.get(counter), 1))
                build.set(local, 2)
            build.loop_while(head, condition, body)
        build.give(build.get(local))
        kernel = build.kernel()
        forward(kernel)
        verify(kernel)
        assert [Interpreter(kernel, {"n": n}).run() for n in (0, 1)] == [(1,), (2,)], control


def test_a_loop_does_not_see_the_value_from_before_where_it_assigns_one() -> None:
    build = Builder(Parameter("n", i32), returns=[i32])
    local = build.local("v", i32)
    build.set(local, 1)
    with build.loop(0, build["n"]):
        build.set(local, build.op("mul", build.get(local), 2))
    build.give(build.get(local))
    kernel = build.kernel()
    forward(kernel)
    assert Interpreter(kernel, {"n": 5}).run() == (32,)


def test_a_local_of_the_kernel_is_known_in_a_task_that_leaves_it_alone() -> None:
    build = Builder(Array("a", i32, 1), Parameter("n", i32))
    local = build.local("v", i32)
    build.set(local, build["n"])
    with build.parallel(build["n"]):
        build.atomic("add", build["a"], [build.get(local)], 1)
    kernel = build.kernel()
    forward(kernel)
    assert "load_local" not in codes(kernel)


def test_a_shared_local_is_read_again_in_the_task_that_writes_it() -> None:
    build = Builder(Array("a", i32, 1))
    local = build.local("v", i32, shared=True)
    build.set(local, 0)
    with build.parallel(4) as (i,):
        build.set(local, i)
        build.store(build["a"], [0], build.get(local))
    kernel = build.kernel()
    forward(kernel)
    assert "load_local" in codes(kernel)
