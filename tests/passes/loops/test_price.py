"""Prices: what is dearer costs more, by lanes and registers, and lengths that are written are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samovar as sv
from ir_builder import Builder
from passes.loops.rewriting import outlined
from samovar._native import f32, f64, i8, i32
from samovar.ir import (
    Affine,
    Array,
    Constant,
    For,
    Local,
    LoopVariable,
    Machine,
    Operation,
    Parameter,
    Region,
    Value,
    While,
    walk,
)
from samovar.passes.loops.divergence import Divergence
from samovar.passes.loops.price import (
    GUESSED,
    LIBRARY,
    UNROLLED,
    VECTOR_LIBRARY,
    Price,
    carried_latency,
    is_unrolled,
    local_bytes,
    packed,
)

AVX2 = Machine(256, 16, functions=frozenset({("sin", 32)}))
AVX512 = Machine(512, 32, masks=True)


def over(begin: Value | int, end: Value | int, step: Value | int) -> For:
    values = (each if isinstance(each, Value) else Constant(each, i32) for each in (begin, end, step))
    return For(LoopVariable("i", i32), *values, Region())


def guessed_trip_count(loop: For) -> int:
    return Price(AVX2, Affine(Region([loop]))).trip_count(loop)


@pytest.mark.parametrize(
    ("bounds", "count"),
    [((0, 10, 1), 10), ((0, 10, 3), 4), ((10, 0, -3), 4), ((5, 5, 1), 0), ((9, 3, 1), 0), ((0, 5, 0), 0)],
)
def test_lengths_that_are_written_are_known(bounds: tuple[int, int, int], count: int) -> None:
    assert over(*bounds).trip_count() == guessed_trip_count(over(*bounds)) == count


def test_other_lengths_are_guessed() -> None:
    n = Parameter("n", i32)
    for bounds, guess in (((0, n, 1), GUESSED), ((n, 9, 1), GUESSED), ((0, 99, n), GUESSED), ((0, 9, n), 9)):
        assert over(*bounds).trip_count() is None
        assert guessed_trip_count(over(*bounds)) == guess


def test_short_loops_of_known_length_are_left_to_the_backend_to_unroll() -> None:
    body = [Operation("neg", i32, (Constant(1, i32),)) for _ in range(4)]
    for count, expected in ((UNROLLED // 4, True), (UNROLLED // 4 + 1, False), (Parameter("n", i32), False)):
        loop = over(0, count, 1)
        loop.body.operations += body
        assert is_unrolled(loop) == expected


def cost(write, width: int = 8, machine: Machine = AVX2, dtype=f32) -> float:
    """The price of a body in lanes."""
    build = Builder(
        Array("a", dtype, 1, alone=True), Array("k", i32, 1, alone=True), Array("b", i8, 1, alone=True), Parameter("n", i32)
    )
    with build.loop(0, build["n"]) as i:
        write(build, i)
    loop = next(each for each in walk(build.body) if isinstance(each, For))
    stored: set[Local] = {each.payload for each in walk(loop.body) if each.code == "store_local"}
    affine = Affine(build.body)
    plan = Divergence(loop, affine, stored, set())
    return Price(machine, affine).vector(loop.body, plan, width)


def test_lanes_cost_as_many_instructions_as_they_fill_registers() -> None:
    def add(b, i):
        b.op("mul", b.load(b["a"], i), 2.0)

    assert cost(add, 16) == 2 * cost(add, 8) == 4 * cost(add, 4) * 0.5
    assert cost(add, 16, AVX512) == cost(add, 8)
    assert cost(add, 8, dtype=f64) == 2 * cost(add, 4, dtype=f64)


def test_elements_side_by_side_are_cheaper_than_those_apart_and_these_than_any() -> None:
    steps = [
        cost(lambda b, i: b.load(b["a"], b["n"])),
        cost(lambda b, i: b.load(b["a"], i), 16),
        cost(lambda b, i: b.load(b["a"], b.op("mul", i, 2)), 16),
        cost(lambda b, i: b.load(b["a"], b.op("mul", i, 3)), 16),
        cost(lambda b, i: b.load(b["a"], b.load(b["k"], i)), 16),
    ]
    assert steps == sorted(steps)
    assert len(set(steps)) == len(steps)


def test_functions_are_cheap_where_the_machine_has_them_in_vectors() -> None:
    def sine(b, i):
        b.op("sin", b.load(b["a"], i))

    def cosine(b, i):
        b.op("cos", b.load(b["a"], i))

    load = cost(lambda b, i: b.load(b["a"], i))
    assert cost(sine) - load == VECTOR_LIBRARY
    assert cost(cosine) - load >= 8 * LIBRARY
    assert cost(sine, dtype=f64) - cost(lambda b, i: b.load(b["a"], i), dtype=f64) >= 8 * LIBRARY


def test_integers_are_divided_one_by_one_unless_the_divisor_is_known() -> None:
    def by(divisor):
        return lambda b, i: b.op("floordiv", b.load(b["k"], i), divisor or b.op("add", i, 1))

    assert cost(by(None)) > 8 * 8.0
    assert cost(by(7)) < 8.0


def test_conditions_of_lanes_cost_both_sides() -> None:
    def chosen(varying: bool):
        def body(b, i):
            loaded = b.load(b["a"], i)
            with b.when(b.op("gt", i if varying else b["n"], 3)) as orelse:
                for _ in range(40):
                    b.op("mul", loaded, 2.0)
            with b.inside(orelse):
                for _ in range(40):
                    b.op("mul", loaded, 2.0)

        return body

    assert cost(chosen(True)) > 1.8 * cost(chosen(False))


def test_stores_that_masks_guard_are_dear_without_masks() -> None:
    def guarded(array: str):
        def body(b, i):
            with b.when(b.op("gt", i, 3)):
                b.store(b[array], [i], 1)

        return body

    def plain(b, i):
        b.store(b["a"], [i], 1.0)

    assert cost(guarded("a")) > cost(plain)
    assert cost(guarded("b")) > cost(guarded("a"))
    assert cost(guarded("b"), 16, AVX512) < cost(guarded("b"), 16)


def test_loops_inside_count_as_often_as_they_run() -> None:
    def repeated(count):
        return lambda b, i: b.loop(0, count or b["n"], body=lambda j: b.op("mul", b.load(b["a"], i), 2.0))

    once, twice = cost(repeated(1)), cost(repeated(2))
    assert twice == 2 * once
    assert cost(repeated(None)) == GUESSED * once


def test_lanes_that_leave_a_loop_wait_for_the_last_one():
    def search(b, i):
        with b.loop(0, b["n"]) as j, b.when(b.op("lt", b.load(b["k"], i), j)):
            b.void("break")

    def skip(b, i):
        with b.loop(0, b["n"]) as j, b.when(b.op("lt", b.load(b["k"], i), j)):
            b.void("continue")

    assert cost(search) / cost(skip) == pytest.approx(1.25)


def test_atomics_are_dear_and_constants_divide_cheaply() -> None:
    build = Builder(Array("a", i32, 1), Parameter("n", i32))
    price = Price(AVX2, Affine(build.body))
    atomic, update = (build.change(code, "add", build["a"], [0], 1) for code in ("atomic", "update"))
    assert price.scalar(atomic) > price.scalar(update)
    assert price.scalar(build.op("floordiv", build["n"], 3)) < price.scalar(build.op("floordiv", 3, build["n"]))
    assert price.scalar(build.op("sin", Constant(1.0, f32))) == LIBRARY
    assert price.scalar(build.op("pow", build["n"], 3)) < LIBRARY


def test_local_arrays_are_counted_wherever_they_are_reserved() -> None:
    from samovar.ir import LocalArray

    build = Builder(Parameter("n", i32))
    for size in (4, 6):
        with build.loop(0, build["n"]):
            build.append(Operation("reserve", None, (), LocalArray("t", f32, (size,), private=True)))
    assert local_bytes(build.body) == 40


def waits(kernel: Any) -> float:
    """How long the `while` loop of a kernel waits."""
    made = outlined(kernel, {"a": np.zeros(9, "f4"), "x": 0.5})
    return next(carried_latency(each) for each in walk(made.body) if isinstance(each, While))


def test_what_a_condition_chooses_waits_for_it_and_what_ends_a_loop_does_not() -> None:
    @sv.kernel
    def scan(a: sv.types.NDArray[sv.f32, 1], x: sv.f32):
        for _ in range(1):
            k = 0
            while k < a.shape[0] and a[k] < x:
                k += 1
            a[0] = k

    @sv.kernel
    def bisect(a: sv.types.NDArray[sv.f32, 1], x: sv.f32):
        for _ in range(1):
            k, n = 0, a.shape[0]
            while k < n:
                if a[(k + n) >> 1] < x:
                    k = ((k + n) >> 1) + 1
                else:
                    n = (k + n) >> 1
            a[0] = k

    assert waits(scan) < 2.0 < 5.0 < waits(bisect)


def test_what_is_packed_is_cheaper_but_not_what_is_extracted_and_broadcast() -> None:
    def price(factor: bool, stored: int = 4) -> float:
        build = Builder(Array("a", f32, 1, alone=True), Array("o", f32, 1, alone=True))
        a, o = build["a"], build["o"]
        scale: Any = build.op("div", 1.0, build.op("add", build.load(a, 9), 2.0)) if factor else 2.0
        for k in range(stored):
            build.store(o, [k], build.op("mul", build.load(a, k), scale))
        region = build.kernel().body
        return packed(100.0, region, Affine(region))

    assert price(False) < price(True) < price(False, 3) == 100.0


def test_a_masked_remainder_takes_as_long_as_a_full_vector() -> None:
    def vectors(end: Value | int, masked: bool = True) -> float:
        loop = over(0, end, 1)
        return Price(AVX512, Affine(Region([loop]))).vector_trip_count(loop, 64, 16, masked)

    assert [vectors(count) for count in (0, 10, 17, 64, 70)] == [0, 0.25, 0.5, 1, 1.25]
    assert [vectors(count, masked=False) for count in (0, 10, 64, 70)] == [0, 1, 1, 2]
    unknown = Parameter("n", i32)
    assert vectors(unknown) == vectors(unknown, masked=False) + 0.125 == (GUESSED + 8) / 64
