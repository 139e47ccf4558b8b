"""Which loops may run in another order: those whose iterations neither read what others write nor write what others do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import samovar as sv
from ir_builder import Builder
from passes.loops.rewriting import AVX2, check, loops_in, outlined, refusal, vectorize
from samovar._native import f32, i16, i32
from samovar.ir import Array, Kernel, Local, LoopVariable, Parameter, Value, walk
from samovar.passes.loops.dependence import reductions_in

Floats = sv.types.NDArray[sv.f32, 1]
Integers = sv.types.NDArray[sv.i32, 1]

Body = Callable[[Builder, LoopVariable, Local], object]


def loop(body: Body, alone: bool = True, step: int = 1, after: str = "") -> Kernel:
    """A serial loop over arrays `a`, `b` and `k`, with a variable x; `after` reads or writes it behind the loop."""
    arrays = (Array(name, dtype, 1, alone=alone) for name, dtype in (("a", f32), ("b", f32), ("k", i32)))
    build = Builder(*arrays, Parameter("n", i32))
    x = build.local("x", f32)
    build.set(x, 0.0)
    with build.loop(0, build["n"], step) as i:
        body(build, i, x)
    if after == "written":
        build.set(x, 1.0)
    if after:
        build.store(build["b"], [0], build.get(x))
    return build.kernel()


def why(body: Body, fast_math: bool = True, **options: object) -> str:
    kernel = loop(body, **options)  # type: ignore[arg-type]
    return refusal(kernel, loops_in(kernel.body)[0], fast_math)


def shifted(distance: int, factor: int = 1) -> Body:
    """a[factor * i] = a[factor * i + distance]"""

    def body(b: Builder, i: LoopVariable, _: Local) -> None:
        place = b.op("mul", i, factor) if factor != 1 else i
        b.store(b["a"], [place], b.load(b["a"], b.op("add", place, distance)))

    return body


def test_elements_of_others_are_refused() -> None:
    assert "same elements of a" in why(shifted(-1))
    assert why(shifted(0)) == ""
    # What is read before it is written stays as it was.
    assert why(shifted(1)) == ""
    assert "same elements of a" in why(shifted(1), step=-1)
    assert why(shifted(-1), step=-1) == ""
    # Between the elements of two iterations there is room.
    assert why(shifted(1, 2)) == ""
    assert why(shifted(2, 3)) == ""
    assert "same elements of a" in why(shifted(-2, 2))
    assert why(shifted(-1, -2)) == ""


def test_a_step_of_the_loop_counts_as_room() -> None:
    assert why(shifted(1), step=2) == ""
    assert why(shifted(1), step=3) == ""
    assert "same elements" in why(shifted(-2), step=2)


def test_arrays_that_may_overlap_are_refused() -> None:
    assert "may share memory" in why(shifted(0), alone=False)
    assert why(lambda b, i, x: b.set(x, b.load(b["a"], i)), alone=False) == ""


def test_an_index_that_is_data_is_refused() -> None:
    def scattered(b: Builder, i: LoopVariable, _: Local) -> None:
        b.store(b["a"], [b.load(b["k"], i)], 1.0)

    def constant(b: Builder, i: LoopVariable, _: Local) -> None:
        b.store(b["a"], [0], 1.0)

    assert "same elements" in why(scattered)
    assert "same elements" in why(constant)


def test_an_index_that_wraps_is_refused() -> None:
    def narrow(b: Builder, i: LoopVariable, _: Local) -> None:
        b.store(b["a"], [b.cast(b.cast(i, i16), i32)], 1.0)

    assert "same elements" in why(narrow)


def test_an_index_with_a_loop_inside_is_refused() -> None:
    def overlapping(b: Builder, i: LoopVariable, _: Local) -> None:
        with b.loop(0, b["n"]) as j:
            b.store(b["a"], [b.op("add", i, j)], 1.0)

    assert "same elements" in why(overlapping)


# --- distances that are known when a loop begins


@sv.kernel
def read_first(a: Floats, d: sv.i32, n: sv.i32):
    for _ in range(1):
        for i in range(100, n):
            a[i] = a[i + d] * 0.5 + a[i]


@sv.kernel
def read_first_down(a: Floats, d: sv.i32, n: sv.i32):
    for _ in range(1):
        for i in range(n - 1, 99, -1):
            if a[i + d] > 4.0:
                a[i] = a[i + d] * 0.5


@sv.kernel
def written_first(a: Floats, d: sv.i32, n: sv.i32):
    for _ in range(1):
        for i in range(100, n):
            a[i] += 1.0
            a[i - d] *= 0.5


@sv.kernel
def read_between(a: Floats, d: sv.i32, n: sv.i32):
    for _ in range(1):
        for i in range(100, n):
            x = a[i] * 0.5
            a[i] = x
            a[i] = a[i + d] + x


@sv.kernel
def reflected(a: Floats, d: sv.i32, n: sv.i32):
    for _ in range(1):
        for i in range(100, n):
            a[i] = a[300 - i + d]


@sv.kernel
def changing(a: Floats, d: sv.i32, n: sv.i32):
    for _ in range(1):
        e = d
        for i in range(100, n):
            a[i] = a[i + e]
            e = d - i


@pytest.mark.parametrize("kernel", [read_first, read_first_down, read_between, written_first])
def test_iterations_run_side_by_side_where_elements_are_far_apart(kernel: Any) -> None:
    for d in (-100, -9, -8, -7, -1, 0, 1, 7, 8, 9, 100):
        for n in (100, 101, 107, 108, 117, 150):
            arguments = {"a": np.arange(300, dtype="f4") % 17, "d": d, "n": n}
            made = check(lambda: outlined(kernel, arguments), arguments, vectorize(AVX2, 8))  # noqa: B023
            assert any(each.width == 8 for each in walk(made.body))


@pytest.mark.parametrize("kernel", [reflected, changing])
def test_distances_that_change_are_refused(kernel: Any) -> None:
    arguments = {"a": np.zeros(300, "f4"), "d": 1, "n": 150}
    assert vectorize(AVX2, 8)(outlined(kernel, arguments)) == 0


@sv.kernel
def moving_alike(a: Floats, k: Integers, d: sv.i32, n: sv.i32):
    for _ in range(1):
        for i in range(100, n):
            e = k[i]
            a[i + e] = a[i + e + d] + 1.0


@sv.kernel
def read_again(a: Floats, k: Integers, d: sv.i32, n: sv.i32):
    for _ in range(1):
        for i in range(100, n):
            for _j in range(k[0]):
                a[i] = a[i + d] + 1.0


def test_distances_between_what_moves_otherwise_are_refused() -> None:
    arguments = {"a": np.zeros(300, "f4"), "k": np.ones(300, "i4"), "d": 1, "n": 150}
    assert vectorize(AVX2, 8)(outlined(moving_alike, arguments)) == 0


def test_what_is_read_in_a_loop_inside_is_not_read_first() -> None:
    for d in (-9, -8, -1, 0, 1, 7, 8, 9):
        arguments = {"a": np.arange(300, dtype="f4") % 17, "k": np.full(1, 3, "i4"), "d": d, "n": 150}
        check(lambda: outlined(read_again, arguments), arguments, vectorize(AVX2, 8))  # noqa: B023


# --- variables


def test_a_variable_that_is_carried_is_refused() -> None:
    def carried(b: Builder, i: LoopVariable, x: Local) -> None:
        b.store(b["a"], [i], b.get(x))
        b.set(x, b.load(b["b"], i))

    assert "carried" in why(carried)


def test_a_variable_that_is_read_after_the_loop_is_refused() -> None:
    def last(b: Builder, i: LoopVariable, x: Local) -> None:
        b.set(x, b.load(b["b"], i))
        b.store(b["a"], [i], b.get(x))

    assert why(last) == ""
    assert "read after" in why(last, after="read")
    assert why(last, after="written") == ""


def test_a_value_on_some_ways_only_is_none() -> None:
    def sometimes(b: Builder, i: LoopVariable, x: Local) -> None:
        with b.when(b.op("gt", b.load(b["b"], i), 0.0)):
            b.set(x, 1.0)
        b.store(b["a"], [i], b.get(x))

    def always(b: Builder, i: LoopVariable, x: Local) -> None:
        with b.when(b.op("gt", b.load(b["b"], i), 0.0)) as orelse:
            b.set(x, 1.0)
        with b.inside(orelse):
            b.set(x, 2.0)
        b.store(b["a"], [i], b.get(x))

    def in_a_loop(b: Builder, i: LoopVariable, x: Local) -> None:
        with b.loop(0, b["n"]):
            b.set(x, 1.0)
        b.store(b["a"], [i], b.get(x))

    def behind_a_jump(b: Builder, i: LoopVariable, x: Local) -> None:
        with b.when(b.op("gt", b.load(b["b"], i), 0.0)):
            b.void("continue")
        b.set(x, 1.0)
        b.store(b["a"], [i], b.get(x))

    assert "carried" in why(sometimes)
    assert why(always) == ""
    assert "carried" in why(in_a_loop)
    assert why(behind_a_jump) == ""


@sv.kernel
def after_a_jump(a: Floats, b: Floats, q: Floats, n: sv.i32):
    """The inner loop leaves a value to the next iteration of the outer one, by way of a jump."""
    for _ in range(1):
        x = 0.0
        y = 0.0
        for i in range(n):
            y += x
            if i % 2 == 0:
                for j in range(a.shape[0]):
                    x = a[j] * 2.0
                    b[j] = x
                continue
            x = 1.0
        q[0] = y


@sv.kernel
def after_an_end(a: Floats, b: Floats, q: Floats, n: sv.i32):
    for _ in range(1):
        x = 0.0
        for i in range(n):
            if i == 3:
                for j in range(a.shape[0]):
                    x = a[j] * 2.0
                    b[j] = x
                break
            x = 0.0
        q[0] = x


@sv.kernel
def before_a_task(a: Floats, b: Floats, q: Floats, n: sv.i32):
    x = 0.0
    sv.loop_config(serialize=True)
    for j in range(a.shape[0]):
        x = a[j] * 2.0
        b[j] = x
    for i in range(q.shape[0]):
        q[i] = x + n


@pytest.mark.parametrize("kernel", [after_a_jump, after_an_end, before_a_task])
def test_a_variable_that_is_read_elsewhere_later_keeps_its_last_value(kernel: object) -> None:
    arguments = {"a": np.arange(1, 20, dtype="f4"), "b": np.zeros(19, "f4"), "q": np.zeros(1, "f4"), "n": 5}
    check(lambda: outlined(kernel, arguments), arguments, vectorize(AVX2, 8))


# --- reductions


def reductions(body: Body, fast_math: bool = True) -> list[str]:
    kernel = loop(body)
    return [each.operation for each in reductions_in(loops_in(kernel.body)[0], fast_math).values()]


def updated(code: str, swapped: bool = False, twice: bool = False, payload: object = None) -> Body:
    def body(b: Builder, i: LoopVariable, x: Local) -> None:
        for _ in range(2 if twice else 1):
            operands: list[Value] = [b.get(x), b.load(b["a"], i)]
            b.set(x, b.op(code, *(operands[::-1] if swapped else operands), payload=payload))

    return body


def test_what_is_added_to_is_gathered() -> None:
    assert reductions(updated("add")) == ["add"]
    assert reductions(updated("sub")) == ["add"]
    assert reductions(updated("add", swapped=True)) == ["add"]
    assert reductions(updated("max", twice=True)) == ["max"]
    assert reductions(updated("add"), fast_math=False) == []
    assert reductions(updated("add", payload="reorder"), fast_math=False) == ["add"]
    assert reductions(updated("add", payload="exact")) == []
    assert reductions(updated("min"), fast_math=False) == ["min"]
    assert reductions(updated("div")) == []


def chosen(code: str = "lt", swapped: bool = False, more: int = 0, late: bool = False) -> Body:
    """if a[i] < x: x = a[i], or almost that."""

    def body(b: Builder, i: LoopVariable, x: Local) -> None:
        old, new = b.get(x), b.load(b["a"], i)
        if late:
            b.set(x, new)
        with b.when(b.op(code, *((old, new) if swapped else (new, old)))):
            b.set(x, b.op("add", new, float(more)) if more else new)

    return body


def test_what_is_compared_and_assigned_is_an_extreme() -> None:
    assert reductions(chosen("lt")) == reductions(chosen("le")) == reductions(chosen("gt", swapped=True)) == ["min"]
    assert reductions(chosen("gt")) == reductions(chosen("ge")) == reductions(chosen("lt", swapped=True)) == ["max"]
    assert reductions(chosen("lt"), fast_math=False) == []  # which of two zeros it is depends on the order
    assert reductions(chosen("eq")) == reductions(chosen(more=1)) == reductions(chosen(late=True)) == []


def test_a_difference_from_a_variable_is_no_sum() -> None:
    assert reductions(updated("sub", swapped=True)) == []


def test_a_variable_that_is_used_otherwise_is_not_gathered() -> None:
    def seen(b: Builder, i: LoopVariable, x: Local) -> None:
        updated("add")(b, i, x)
        b.store(b["b"], [i], b.get(x))

    def doubled(b: Builder, i: LoopVariable, x: Local) -> None:
        old = b.get(x)
        b.set(x, b.op("add", old, old))

    def result_stored(b: Builder, i: LoopVariable, x: Local) -> None:
        new = b.op("add", b.get(x), b.load(b["a"], i))
        b.set(x, new)
        b.store(b["b"], [i], new)

    def mixed(b: Builder, i: LoopVariable, x: Local) -> None:
        updated("add")(b, i, x)
        updated("mul")(b, i, x)

    for body in (seen, doubled, result_stored, mixed):
        assert reductions(body) == []
        assert "carried" in why(body)


@sv.kernel
def counted(k: Integers, c: Integers, q: Integers):
    for _ in range(1):
        for i in range(k.shape[0]):
            q[i] = sv.atomic_add(c[k[i]], 1)
            sv.atomic_add(c[k[i]], 10)


@sv.kernel
def only_counted(k: Integers, c: Integers, q: Integers):
    for _ in range(1):
        for i in range(k.shape[0]):
            c[k[i]] += 1
            c[(k[i] + 1) % 3] -= k[i]


def test_updates_in_any_order_are_gathered_if_nobody_asks_for_their_results() -> None:
    arguments = {"k": np.arange(40, dtype="i4") % 3, "c": np.zeros(3, "i4"), "q": np.zeros(40, "i4")}
    made = check(lambda: outlined(counted, arguments), arguments, vectorize(AVX2, 8))
    assert not any(each.width for each in made.locals)
    made = outlined(counted, arguments)
    assert vectorize(AVX2, 8)(made) == 0
    check(lambda: outlined(only_counted, arguments), arguments, vectorize(AVX2, 8))
    assert vectorize(AVX2, 8)(outlined(only_counted, arguments)) == 1


def test_iterations_of_a_parallel_loop_are_independent_by_definition() -> None:
    arguments = {"k": np.arange(9, dtype="i4") % 3, "c": np.zeros(3, "i4"), "q": np.zeros(9, "i4")}

    @sv.kernel
    def scattered(k: Integers, c: Integers, q: Integers):
        for i in range(k.shape[0]):
            q[k[i]] = 1

    made = outlined(scattered, arguments)
    (loop_over_i,) = (each for each in loops_in(made.body) if each.hints.parallel)
    assert refusal(made, loop_over_i) == ""
