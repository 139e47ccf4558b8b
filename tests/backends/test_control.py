"""Structured control flow, serial loops at the limits of their types, functions, results."""

from __future__ import annotations

import numpy as np
import pytest
from build import Builder, function, kernel
from hypothesis import given
from hypothesis import strategies as st
from machine import Machine, run

from hypothesis_profiles import examples
from samovar import _native
from samovar._native import DType, f32, f64, i8, i32, i64, u1, u8, u64
from samovar.ir.structure import If, Kernel, Region
from samovar.ir.values import Array, Constant, Local, LoopVariable, Operation, Parameter
from samovar.language.options import Options


def counting(dtype: DType, step: int | None = None) -> Kernel:
    """range(begin, end, step) → number of iterations, first and last value, and a sum that wraps."""
    begin, end = Parameter("begin", dtype), Parameter("end", dtype)
    given_step = Parameter("step", dtype)
    count, first, last = Local("count", i64), Local("first", dtype), Local("last", dtype)

    def build(b: Builder) -> None:
        for local in (count, first, last):
            b.set(local, Constant(0, local.type))

        def body(k: LoopVariable) -> None:
            b.when(b.op("eq", b.get(count), 0), lambda: discard(b.set(first, k)))
            b.set(last, k)
            b.set(count, b.op("add", b.get(count), 1))
            b.when(b.op("ge", b.get(count), 1000), lambda: discard(b.void("break")))

        b.loop(begin, end, given_step if step is None else Constant(step, dtype), body=body, type=dtype)
        b.give(b.get(count), b.get(first), b.get(last))

    parameters = [begin, end, *([given_step] if step is None else [])]
    return kernel(parameters, build, [i64, dtype, dtype], [count, first, last])


def discard(_: object) -> None:
    """Nothing."""


def expected(begin: int, end: int, step: int) -> tuple[int, int, int]:
    values = range(begin, end, step) if step else range(0)
    seen = values[:1000]
    return (len(seen), seen[0], seen[-1]) if seen else (0, 0, 0)


LIMITS = {name: Machine(counting(getattr(_native, name))) for name in ("i8", "i32", "i64", "u8", "u32", "u64")}


@examples("compiled")
@given(st.data(), st.sampled_from(sorted(LIMITS)))
def test_run_time_step(data: st.DataObject, name: str) -> None:
    bits, signed = int(name[1:]), name[0] == "i"
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    near = st.sampled_from([low, low + 1, low + 2, high, high - 1, high - 2, 0, 1, 2, 50])
    number = near | st.integers(low, high)
    begin, end, step = data.draw(number), data.draw(number), data.draw(number)
    assert LIMITS[name](begin, end, step) == expected(begin, end, step)


@pytest.mark.parametrize("name", ["i8", "i32", "i64"])
def test_run_time_steps_that_meet_the_end(name: str) -> None:
    for begin, end, step in [(0, 10, 5), (10, 0, -5), (0, 10, 1), (7, 10, 3), (3, 3, 1)]:
        assert LIMITS[name](begin, end, step) == expected(begin, end, step)


@pytest.mark.parametrize("name", ["i8", "i32", "i64", "u8", "u64"])
@pytest.mark.parametrize("step", [1, 3, 100, -1, -7, 0])
def test_constant_step(name: str, step: int) -> None:
    bits, signed = int(name[1:]), name[0] == "i"
    if step < 0 and not signed:
        return
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    machine = Machine(counting(getattr(_native, name), step))
    for begin, end in [(0, 10), (10, 0), (high - 5, high), (low, low + 5), (low + 5, low), (high, high - 9), (3, 3)]:
        assert machine(begin, end) == expected(begin, end, step)


def test_while_with_break_and_continue() -> None:
    n, total, i = Parameter("n", i32), Local("total", i32), Local("i", i32)

    def build(b: Builder) -> None:
        b.set(total, 0)
        b.set(i, 0)

        def body() -> None:
            b.set(i, b.op("add", b.get(i), 1))
            b.when(b.op("eq", b.op("mod", b.get(i), 2), 0), lambda: discard(b.void("continue")))
            b.when(b.op("gt", b.get(i), 9), lambda: discard(b.void("break")))
            b.set(total, b.op("add", b.get(total), b.get(i)))

        b.during(lambda: b.op("lt", b.get(i), n), body)
        b.give(b.get(total), b.get(i))

    machine = Machine(kernel([n], build, [i32, i32], [total, i]))
    assert machine(5) == (1 + 3 + 5, 5)
    assert machine(100) == (1 + 3 + 5 + 7 + 9, 11)
    assert machine(-1) == (0, 0)


def test_both_branches_may_return() -> None:
    x = Parameter("x", i32)

    def build(b: Builder) -> None:
        b.when(
            b.op("lt", x, 0),
            lambda: discard(b.give(Constant(-1, i32))),
            lambda: discard(
                b.when(b.op("eq", x, 0), lambda: discard(b.give(x)), lambda: discard(b.give(Constant(1, i32))))
            ),
        )

    machine = Machine(kernel([x], build, [i32]))
    assert [machine(value) for value in (-5, 0, 7)] == [(-1,), (0,), (1,)]


def test_a_long_chain_of_elif_is_no_deep_recursion() -> None:
    x, out = Parameter("x", i32), Local("out", i32)
    chain: list[Operation] = []
    for number in range(3000, 0, -1):
        b = Builder()
        branch = If(b.op("eq", x, number), Region(), Region(chain))
        b.append(branch)
        with b.inside(branch.then):
            b.set(out, number * 2)
        chain = b.body.operations
    b = Builder()
    b.set(out, 0)
    b.body.operations += chain
    b.give(b.get(out))
    from samovar.backends.llvm.kernel import render

    text = render(Kernel("chain", [x], (i32,), b.body, [], [out]), Options()).text
    assert text.count("icmp eq i32") == 3000


def test_functions_with_scalars_arrays_and_several_results() -> None:
    a, p = Array("a", f32, 1), Parameter("p", i32)

    def double(b: Builder) -> None:
        old = b.load(a, p)
        b.store(a, [p], b.op("add", old, old))
        b.give(old, b.op("mul", p, 10), b.op("gt", p, 0))

    doubled = function("double", [a, p], double, [f32, i32, u1])
    nothing = function("nothing", [p], lambda b: None)
    x, n = Array("x", f32, 1), Parameter("n", i32)

    def build(b: Builder) -> None:
        result = b.call(doubled, x, n)
        b.call(nothing, n)
        parts = [b.op("extract", result, type=dtype, payload=index) for index, dtype in enumerate((f32, i32, u1))]
        b.give(*parts)

    import numpy as np

    values = np.array([1, 2, 3], np.float32)
    assert run(kernel([x, n], build, [f32, i32, u1], functions=[doubled, nothing]), values, 2) == (3.0, 20, True)
    assert values.tolist() == [1, 2, 6]


def test_functions_of_the_same_name_stay_apart() -> None:
    p, q = Parameter("p", i32), Parameter("q", f64)
    one = function("twice", [p], lambda b: discard(b.give(b.op("add", p, p))), [i32])
    two = function("twice", [q], lambda b: discard(b.give(b.op("add", q, q))), [f64])
    x, y = Parameter("x", i32), Parameter("y", f64)
    built = kernel([x, y], lambda b: discard(b.give(b.call(one, x), b.call(two, y))), [i32, f64], functions=[one, two])
    assert run(built, 4, 0.5) == (8, 1.0)


def test_locals_hold_every_type() -> None:
    flag, small, byte, big = Local("flag", u1), Local("small", i8), Local("byte", u8), Local("big", u64)

    def build(b: Builder) -> None:
        b.set(flag, Constant(True, u1))
        b.set(small, Constant(-5, i8))
        b.set(byte, Constant(200, u8))
        b.set(big, Constant(2**64 - 1, u64))
        b.give(*(b.get(local) for local in (flag, small, byte, big)))

    assert run(kernel([], build, [u1, i8, u8, u64], [flag, small, byte, big])) == (True, -5, 200, 2**64 - 1)


def test_the_same_kernel_gives_the_same_text_and_object() -> None:
    from backends.optimize import optimize
    from samovar.backends.llvm.target import host_target

    first, second = Machine(counting(i32)), Machine(counting(i32))
    assert first.rendered.text == second.rendered.text
    assert optimize(first.rendered.text, host_target()) == optimize(second.rendered.text, host_target())


def generating(multiplier: int, dtype: DType) -> Kernel:
    """`rounds` steps of a linear congruential generator."""
    out, rounds, state = Array("out", dtype, 1, alone=True), Parameter("rounds", i32), Local("state", dtype)

    def build(b: Builder) -> None:
        def step(_: LoopVariable) -> None:
            b.set(state, b.op("add", b.op("mul", b.get(state), multiplier), 1013904223))

        b.set(state, b.load(out, 0))
        b.loop(0, rounds, 1, body=step)
        b.store(out, [0], b.get(state))

    return kernel([out, rounds], build, locals=[state])


@pytest.mark.parametrize("rounds", [0, 1, 15, 16, 17, 100, 1000])
@pytest.mark.parametrize(("dtype", "kind"), [(i32, np.int32), (i64, np.int64)], ids=str)
def test_steps_that_are_put_together_come_out_as_one_by_one(rounds: int, dtype: DType, kind: type[np.generic]) -> None:
    machine = Machine(generating(1664525, dtype))
    out = np.array([12345], kind)
    machine(out, rounds)
    state, modulus = 12345, 1 << dtype.bits
    for _ in range(rounds):
        state = (state * 1664525 + 1013904223) % modulus
    assert int(out[0]) % modulus == state
