"""Checks, overflow, prints: what reaches the runtime."""

from __future__ import annotations

import numpy as np
import pytest
from build import Builder, function, kernel
from machine import LaunchFailed, Machine

from samovar._native import DType, f32, f64, i8, i32, i64, u1, u8, u64
from samovar.artifact.sites import Site
from samovar.ir.traversal import outlined
from samovar.ir.values import Array, Constant, LoopVariable, Parameter


def site(kind: str, *types: DType) -> Site:
    return Site(kind, (), types, ())


def test_a_failed_check_carries_its_values_and_touches_nothing() -> None:
    y, n = Array("y", i32, 1), Parameter("n", i32)
    bounds = site("bounds", i32, f32, u1)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.void("check", b.op("lt", i, b.shape(y)), i, Constant(2.5, f32), Constant(True, u1), payload=bounds)
            b.store(y, [i], i)

        b.parallel((0, n), body=body)

    machine = Machine(kernel([y, n], build), pieces=1)
    values = np.full(10, -1, np.int32)
    machine(values, 10)
    assert values.tolist() == list(range(10))
    with pytest.raises(LaunchFailed) as caught:
        machine(values, 12)
    assert caught.value.args[0] == (bounds, (10, 2.5, True))


def test_failures_in_functions_reach_the_task() -> None:
    p = Parameter("p", i32)
    bad = site("assertion", i32)

    def check(b: Builder) -> None:
        b.void("check", b.op("ne", p, 7), p, payload=bad)
        b.give(b.op("mul", p, 2))

    def silent(b: Builder) -> None:
        b.call(checked, p)

    checked = function("checked", [p], check, [i32])
    outer = function("outer", [p], silent)
    y, n = Array("y", i32, 1), Parameter("n", i32)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.call(outer, i)
            b.store(y, [i], b.call(checked, i))

        b.parallel((0, n), body=body)

    machine = Machine(kernel([y, n], build, functions=[checked, outer]), pieces=1)
    values = np.full(10, -1, np.int32)
    machine(values, 7)
    assert values.tolist() == [0, 2, 4, 6, 8, 10, 12, -1, -1, -1]
    with pytest.raises(LaunchFailed):
        machine(values, 10)
    assert values.tolist() == [0, 2, 4, 6, 8, 10, 12, -1, -1, -1]


def test_a_failure_in_serial_code_ends_the_kernel() -> None:
    x, y = Parameter("x", i64), Array("y", i64, 1)

    def build(b: Builder) -> None:
        b.void("check", b.op("gt", x, 0), x, payload=site("assertion", i64))
        b.store(y, [0], x)

    machine = Machine(kernel([x, y], build))
    values = np.zeros(1, np.int64)
    with pytest.raises(LaunchFailed) as caught:
        machine(-3, values)
    assert caught.value.args[0][1] == (-3,)
    assert values[0] == 0
    machine(3, values)
    assert values[0] == 3


@pytest.mark.parametrize(
    ("code", "operands", "fails"),
    [
        ("add", (100, 27), False), ("add", (100, 28), True), ("sub", (-128, 1), True), ("sub", (-127, 1), False),
        ("mul", (16, 8), True), ("mul", (-16, 8), False), ("neg", (-128,), True), ("neg", (127,), False),
    ],
)  # fmt: skip
def test_overflow_checks(code: str, operands: tuple[int, ...], fails: bool) -> None:
    parameters = [Parameter(name, i8) for name, _ in zip("ab", operands, strict=False)]
    overflow = site("overflow", *[i8] * len(operands))
    machine = Machine(kernel(parameters, lambda b: discard(b.give(b.op(code, *parameters, payload=overflow))), [i8]))
    if not fails:
        expected = {"add": int.__add__, "sub": int.__sub__, "mul": int.__mul__, "neg": int.__neg__}[code](*operands)
        assert machine(*operands) == (expected,)
        return
    with pytest.raises(LaunchFailed) as caught:
        machine(*operands)
    assert caught.value.args[0] == (overflow, operands)


def discard(_: object) -> None:
    """Nothing."""


def test_prints_arrive_in_order_with_their_values() -> None:
    words = site("print", u8, f64, u1)
    bare = site("print")
    n = Parameter("n", i32)

    def build(b: Builder) -> None:
        b.void("print", payload=bare)

        def body(i: LoopVariable) -> None:
            b.void("print", b.cast(i, u8), b.cast(i, f64), b.op("gt", i, 0), payload=words)

        b.parallel((0, n), body=body)

    machine = Machine(kernel([n], build), pieces=1)
    machine(2)
    assert machine.rendered.sites == (bare, words)
    assert machine.printed == [(0, ()), (1, (0, 0.0, False)), (1, (1, 1.0, True))]
    assert next(outlined(machine.kernel)).flags & 1


def test_prints_in_functions_make_the_task_speak() -> None:
    p = Parameter("p", i32)
    shout = function("shout", [p], lambda b: discard(b.void("print", p, payload=site("print", i32))))
    n = Parameter("n", i32)
    build = lambda b: discard(b.parallel((0, n), body=lambda i: discard(b.call(shout, i))))  # noqa: E731
    machine = Machine(kernel([n], build, functions=[shout]))
    machine(1)
    assert machine.printed == [(0, (0,))]
    assert next(outlined(machine.kernel)).flags & 1


def test_the_key_of_random_numbers_comes_from_the_runtime() -> None:
    machine = Machine(kernel([], lambda b: discard(b.give(b.op("key", type=u64))), [u64]))
    machine.random = lambda: 2**64 - 1
    assert machine() == (2**64 - 1,)
