"""The plan of loops: which of them become loops of vectors, by price, within limits, and with the same results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samovar as sv
from passes.loops.rewriting import AVX2, AVX512, SIZES, check, outlined
from samovar.ir import SCALAR, For, Kernel, Machine, Region, VectorOperation, regions, verify, walk
from samovar.passes.loops import plan, plan_loops, split_index_sets

Floats = sv.types.NDArray[sv.f32, 1]
Doubles = sv.types.NDArray[sv.f64, 1]
Rows = sv.types.NDArray[sv.f32, 2]
Integers = sv.types.NDArray[sv.i32, 1]


def planned(kernel: Any, arguments: dict[str, Any], machine: Machine = AVX2, fast_math: bool = True) -> Kernel:
    made = outlined(kernel, arguments, fast_math=fast_math)
    plan_loops(made, machine, fast_math)
    verify(made)
    return made


def widths(kernel: Kernel) -> list[int]:
    """The widths of the loops of vectors, in the order of the text: that of the widest operation directly in them."""
    found = []
    for loop in walk(kernel.body):
        if isinstance(loop, For):
            found.append(max((each.width for each in loop.body.operations if isinstance(each, VectorOperation)), default=0))
    return found


@sv.kernel
def plain(a: Floats, q: Floats):
    for i in range(q.shape[0]):
        q[i] = a[i] * 2.0 + a[i + 1]


@sv.kernel
def iterated(a: Floats, q: Floats):
    for i in range(q.shape[0]):
        x = a[i]
        n = 0
        while x * x < 50.0 and n < 30:
            x = x * 1.5 + 0.25
            n += 1
        q[i] = n


@sv.kernel
def totals(a: Floats, q: Floats):
    for i in range(q.shape[0]):
        t = 0.0
        for k in range(a.shape[0]):
            t += a[k] * a[k]
        q[i] = t


@sv.kernel
def searched(a: Floats, q: Integers, m: sv.i32):
    for i in range(q.shape[0]):
        found = -1
        for k in range(m):
            if a[k] > 3.0:
                found = k + i
                break
        q[i] = found


@sv.kernel
def clamped(a: Floats, q: Floats):
    n = q.shape[0]
    for i in range(n):
        t = 0.0
        for d in range(-2, 3):
            t += a[max(min(i + d, n - 1), 0)]
        q[i] = t


@sv.kernel
def halved(a: Doubles, q: Doubles):
    for i in range(q.shape[0]):
        x = a[i]
        while x > 1.0:
            x *= 0.5
        q[i] = x


@sv.kernel
def counted(k: Integers, q: Integers):
    for i in range(q.shape[0]):
        n = 0
        for j in range(k.shape[0]):
            if k[j] == i:
                n += 1
        q[i] = n


def floats(n: int) -> np.ndarray:
    return np.random.default_rng(n).integers(-9, 9, n).astype(np.float32)


CASES: dict[str, tuple[Any, Any]] = {
    "plain": (plain, lambda n: {"a": floats(n + 1), "q": np.zeros(n, "f4")}),
    "iterated": (iterated, lambda n: {"a": floats(n), "q": np.zeros(n, "f4")}),
    "totals": (totals, lambda n: {"a": floats(n), "q": np.zeros(3, "f4")}),
    "searched": (searched, lambda n: {"a": floats(20), "q": np.zeros(n, "i4"), "m": 20}),
    "clamped": (clamped, lambda n: {"a": floats(n), "q": np.zeros(n, "f4")}),
    "halved": (halved, lambda n: {"a": floats(n).astype("f8"), "q": np.zeros(n)}),
    "counted": (counted, lambda n: {"k": floats(n).astype("i4"), "q": np.zeros(4, "i4")}),
}


@pytest.mark.parametrize("machine", [AVX2, AVX512, SCALAR], ids=["avx2", "avx512", "scalar"])
@pytest.mark.parametrize("case", CASES)
def test_planned_loops_do_the_same(case: str, machine: Machine) -> None:
    kernel, make = CASES[case]
    for n in SIZES if machine is AVX2 else (0, 1, 17, 70):
        arguments = make(n)
        check(lambda: outlined(kernel, arguments), arguments, lambda made: plan_loops(made, machine, True))  # noqa: B023


def test_loops_become_vectors_where_that_is_cheaper() -> None:
    arguments = {name: make(20) for name, (_, make) in CASES.items()}
    assert max(widths(planned(iterated, arguments["iterated"]))) == 32  # few variables: four registers of each
    assert max(widths(planned(iterated, arguments["iterated"], AVX512))) == 64
    assert max(widths(planned(halved, arguments["halved"]))) == 16
    assert max(widths(planned(totals, arguments["totals"]))) == 64  # eight, where no lane leaves the loop inside
    assert max(widths(planned(totals, arguments["totals"], AVX512))) == 128


def test_element_wise_loops_are_left_to_the_backend() -> None:
    made = planned(plain, CASES["plain"][1](20))
    assert max(widths(made)) == 0
    (loop,) = (each for each in walk(made.body) if isinstance(each, For))
    assert loop.hints.vectors == 8  # what the backend would find out, after some time


def test_a_machine_without_vectors_gets_none() -> None:
    for kernel, make in CASES.values():
        made = planned(kernel, make(9), SCALAR)
        assert not any(isinstance(each, VectorOperation) for each in walk(made.body))


def test_sums_of_floats_wait_for_fast_math() -> None:
    arguments = CASES["totals"][1](9)

    @sv.kernel
    def total(a: Floats, q: Floats):
        for _ in range(1):
            t = 0.0
            for k in range(a.shape[0]):
                t += a[k] * a[k]
            q[0] = t

    for fast_math in (True, False):
        made = planned(total, arguments, fast_math=fast_math)
        assert any(each.code == "reduce" for each in walk(made.body)) == fast_math


def test_what_is_over_the_budget_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = CASES["iterated"][1](9)
    for name in ("LARGEST", "LARGEST_TOTAL"):
        with monkeypatch.context() as limited:
            limited.setattr(plan, name, 0)
            assert max(widths(planned(iterated, arguments))) == 0
    assert max(widths(planned(iterated, arguments))) > 0


@pytest.mark.parametrize(("size", "expected"), [(40, True), (4096, False)])
def test_large_tables_are_not_there_for_each_lane(size: int, expected: bool) -> None:
    @sv.kernel
    def tables(a: Floats, q: Floats):
        for i in range(q.shape[0]):
            table = sv.Vector.zero(sv.f32, size)
            x = a[i]
            n = 0
            while x * x < 50.0 and n < 30:
                x = x * 1.5 + x * x * 0.125 + 0.25
                n += 1
            table[n % 4] = x
            q[i] = table[0] + table[3]

    arguments = {"a": floats(20), "q": np.zeros(20, "f4")}
    made = planned(tables, arguments)
    expanded = [each.payload for each in walk(made.body) if each.code == "reserve" and len(each.payload.shape) == 2]
    assert bool(expanded) == expected
    if expected:
        check(lambda: outlined(tables, arguments), arguments, lambda each: plan_loops(each, AVX2, True))


def test_loops_that_are_peeled_are_plain_between_the_ends() -> None:
    made = outlined(clamped, CASES["clamped"][1](20))
    split_index_sets(made, AVX2)
    plan_loops(made, AVX2, True)
    verify(made)
    loops = [each for each in walk(made.body) if isinstance(each, For) and each.hints.parallel]
    clamps = [any(each.code in ("min", "max") for each in walk(loop.body)) for loop in loops]
    assert not all(clamps)
    assert any(clamps)


def test_short_loops_of_constant_length_are_left_to_be_unrolled() -> None:
    @sv.kernel
    def unrolled(a: Floats, q: Floats):
        for i in range(q.shape[0]):
            t = 0.0
            for k in range(4):
                t += a[k] * a[k]
            q[i] = t

    made = planned(unrolled, {"a": floats(4), "q": np.zeros(9, "f4")})
    assert max(widths(made)) == 0


def test_loops_with_steps_become_vectors_too_also_if_they_run_backwards() -> None:
    @sv.kernel
    def stepping(a: Floats, q: Floats):
        for _ in range(1):
            for i in range(0, q.shape[0], 2):
                x = a[i]
                n = 0
                while x * x < 50.0 and n < 30:
                    x = x * 1.5 + 0.25
                    n += 1
                q[i] = n

    @sv.kernel
    def backwards(a: Floats, q: Floats):
        for _ in range(1):
            for i in range(q.shape[0] - 1, -1, -2):
                x = a[i]
                n = 0
                while x * x < 50.0 and n < 30:
                    x = x * 1.5 + 0.25
                    n += 1
                q[i] = n

    for n in SIZES:
        arguments = CASES["iterated"][1](n)
        for kernel in (stepping, backwards):
            made = check(
                lambda: outlined(kernel, arguments),  # noqa: B023
                arguments,
                lambda each: plan_loops(each, AVX2, True),
            )
            assert max(widths(made)) == 8


def test_what_is_refused_is_left_as_it_is() -> None:
    @sv.kernel
    def recurring(q: Floats):
        for _ in range(1):
            for i in range(1, q.shape[0]):
                if q[i] > 0.0:
                    q[i] = q[i - 1] * 0.5

    made = planned(recurring, {"q": floats(9)})
    assert max(widths(made)) == 0


def test_what_a_task_needs_is_the_task_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two elements that both sides of a branch store: the code around the task leaves its stores alone."""
    monkeypatch.setattr(plan, "GAIN", 0.0)  # the branch stays

    @sv.kernel
    def chosen(a: Floats, q: Rows):
        for i in range(a.shape[0]):
            if a[i] > 0.0:
                q[i, 0] = 1.0
                q[i, 1] = a[i]
            else:
                q[i, 0] = a[i]
                q[i, 1] = 2.0

    for n in (0, 1, 17, 40):
        arguments = {"a": floats(n), "q": np.zeros((n, 2), "f4")}
        made = check(
            lambda: outlined(chosen, arguments),  # noqa: B023
            arguments,
            lambda each: plan_loops(each, AVX2, True),
        )
        assert made.locals == []


@sv.kernel(serial=True)
def of_rows(a: Rows, q: Floats, n: sv.i32):
    t = 1.0
    for i in range(n):
        for j in range(1, a.shape[1]):
            t += a[i, j] * a[i, j]
    q[0] = t


@sv.kernel(serial=True)
def of_some_rows(a: Rows, q: Floats, n: sv.i32):
    s, t = 0, 1.0
    for k in range(2):
        for i in range(n):
            if i == 5:
                break
            if i % 2 == k:
                for j in range(a.shape[1]):
                    t += a[i, j]
                    s += i
        q[k] = t + s


@sv.kernel(serial=True)
def of_rows_so_far(a: Rows, q: Floats, n: sv.i32):
    t = 0.0
    for i in range(n):
        for j in range(a.shape[1]):
            t += a[i, j]
        q[i % 2] = t


def _reduces_in_loops(region: Region, depth: int = 0) -> list[int]:
    """How many loops are around each sum of lanes."""
    found = []
    for each in region.operations:
        found += [depth] if each.code == "reduce" else []
        for inner in regions(each):
            found += _reduces_in_loops(inner, depth + isinstance(each, For))
    return found


@pytest.mark.parametrize(("kernel", "depths"), [(of_rows, [0]), (of_some_rows, [1, 1]), (of_rows_so_far, [1])])
@pytest.mark.parametrize("columns", [3, 8, 33, 129, 150])
@pytest.mark.parametrize("machine", [AVX2, AVX512])
def test_sums_are_put_together_after_all_loops_that_add_to_them(
    kernel: Any, depths: list[int], columns: int, machine: Machine
) -> None:
    a = np.random.default_rng(columns).integers(-9, 9, (7, columns)).astype("f4")
    for rows in (0, 1, 7):
        arguments = {"a": a, "q": np.zeros(2, "f4"), "n": rows}
        assert _reduces_in_loops(planned(kernel, arguments, machine).body) == depths
        check(lambda: outlined(kernel, arguments), arguments, lambda each: plan_loops(each, machine, True))  # noqa: B023


@sv.kernel
def rows_of_units(a: Rows, q: Rows):
    for i in range(q.shape[0]):
        for k in range(3):
            for j in range(q.shape[1]):
                q[i, j] += a[k, j] * 2.0


@pytest.mark.parametrize("columns", [5, 16, 70, 127, 128, 131, 300])
def test_long_rows_of_tasks_take_two_registers_by_turns(columns: int) -> None:
    a = np.random.default_rng(1).integers(-9, 9, (3, columns)).astype("f4")
    arguments = {"a": a, "q": np.ones((4, columns), "f4")}
    made = planned(rows_of_units, arguments, AVX512)
    assert {16, 32} <= set(widths(made))
    check(lambda: outlined(rows_of_units, arguments), arguments, lambda each: plan_loops(each, AVX512, True))
