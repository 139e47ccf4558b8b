"""The schedule of parallel loops, as IR that is interpreted: groups depend on nothing but the iterations."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_interpreter import Interpreter
from samovar._native import i32, i64
from samovar.ir import Builder, Constant, Kernel, Local, Operation, Parameter, Region, Value, verify
from samovar.passes.schedule import (
    COPY_ELEMENTS,
    FEW_ROWS,
    GROUPS_LOG2,
    Units,
    blocks,
    copy_stride,
    groups,
    groups_for_copies,
    length,
    number,
    rows,
    steps,
    worth_copies,
)


def computed(write: Callable[..., list[Value]], *given: int, known: bool = False) -> list[int]:
    """What a function writes of some numbers, which are parameters, or known at compile time."""
    build, locals = Builder(), list[Local]()
    parameters = [Parameter(f"n{place}", i64) for place in range(len(given))]
    values = [Constant(each, i64) for each in given] if known else parameters
    results = write(build, locals, *values)
    types = tuple(each.type for each in results if each.type is not None)
    body = Region([*build.operations, Operation("return", None, tuple(results))])
    kernel = Kernel("k", [*parameters], types, body, [], locals)
    verify(kernel)
    arguments = {each.name: number for each, number in zip(parameters, given, strict=True)}
    return [int(each) for each in Interpreter(kernel, arguments).run()]


def units_of(work: Units) -> list[Value]:
    return [each for each in (work.count, work.items, work.length, work.total, work.shift) if each is not None]


def grouped(count: int, items: int, grain: int, known: bool = False) -> dict[str, int]:
    names = ("count", "items", "total", "shift")
    found = computed(lambda b, _, n, m, g: units_of(groups(b, Units(n, m), g)), count, items, grain, known=known)
    return dict(zip(names, found, strict=True))


@given(st.integers(1, 10**12), st.integers(1, 10**6), st.integers(0, 14), st.booleans())
def test_groups_are_few_and_large(count: int, items: int, grain: int, known: bool) -> None:
    found = grouped(count, items, grain, known)
    shift = found["shift"]
    assert found["total"] == count
    assert found["count"] == -(-count >> shift) if count % (1 << shift) == 0 else (count >> shift) + 1
    assert 1 <= found["count"] <= 1 << GROUPS_LOG2
    assert found["items"] == items << shift
    assert 2 * found["items"] > 1 << grain
    # No larger than it has to be.
    assert shift == 0 or (count - 1 >> shift - 1) + 1 > 1 << GROUPS_LOG2 or found["items"] >> 1 < 2 << grain


def test_there_are_no_groups_of_nothing() -> None:
    assert grouped(0, 1, 4)["count"] == 0


def in_rows(*lengths: int, inner: int = 1) -> tuple[int, int, int]:
    found = computed(lambda b, locals, *axes: units_of(rows(b, axes, inner, locals)), *lengths)
    return found[0], found[1], found[2]


def test_few_long_rows_are_cut() -> None:
    assert in_rows(FEW_ROWS, 1000) == (FEW_ROWS, 1000, 1000)
    count, items, part = in_rows(2, 10_000)
    assert part < 10_000
    assert part % FEW_ROWS == 0
    assert count >= FEW_ROWS // 2
    assert count == 2 * -(-10_000 // part)
    assert items == part
    assert in_rows(2, FEW_ROWS) == (2, FEW_ROWS, FEW_ROWS)
    assert in_rows(0, 10_000)[0] == 0
    assert in_rows(3, 0)[0] == 0
    assert in_rows(3, 0, 5)[0] == 0
    assert in_rows(2, 3, 10, inner=4) == (6, 40, 10)


@given(st.integers(0, 90), st.integers(0, 5000))
def test_parts_make_up_their_rows(count: int, last: int) -> None:
    found, _, part = in_rows(count, last)
    if count and last:
        parts = found // count
        assert (parts - 1) * part < last <= parts * part


def test_an_axis_without_iterations_inside_of_a_unit_leaves_nothing_to_do() -> None:
    assert computed(lambda b, _, n: units_of(steps(b, n, 0)), 10) == [0, 0]
    assert computed(lambda b, _, n: units_of(steps(b, n, 3)), 10) == [10, 3]


@pytest.mark.parametrize("known", [True, False])
def test_the_length_of_an_axis_is_never_negative_and_does_not_wrap(known: bool) -> None:
    def of(begin: int, end: int) -> list[int]:
        return computed(lambda b, _, low, high: [length(b, low, high)], begin, end, known=known)

    assert of(3, 10) == [7]
    assert of(10, 3) == [0]
    assert of(5, 5) == [0]
    low, high = Parameter("low", i32), Parameter("high", i32)
    build = Builder()
    found = length(build, low, high)
    body = Region([*build.operations, Operation("return", None, (found,))])
    kernel = Kernel("k", [low, high], (i64,), body)
    verify(kernel)
    assert Interpreter(kernel, {"low": -(2**31), "high": 2**31 - 1}).run() == (2**32 - 1,)


@given(st.integers(0, 1000), st.integers(1, 70))
def test_blocks_hold_all_units(count: int, block: int) -> None:
    found, items, total = computed(lambda b, _, n: units_of(blocks(b, Units(n, number(1)), block)), count)
    assert (found, items, total) == (-(-count // block), block, count)


def is_worth(iterations: int, elements: int, visits: int = 1) -> bool:
    (found,) = computed(lambda b, _, n, m: [worth_copies(b, Units(n, number(1)), m, visits)], iterations, elements)
    return bool(found)


def test_copies_are_worth_it_for_small_arrays_that_are_visited_often() -> None:
    assert is_worth(400, 100)
    assert not is_worth(399, 100)
    assert is_worth(4 * COPY_ELEMENTS, COPY_ELEMENTS)
    assert not is_worth(10**9, COPY_ELEMENTS + 1)
    assert is_worth(50, 100, visits=8)
    assert not is_worth(49, 100, visits=8)


@given(st.integers(1, 10**7), st.integers(0, 4000), st.integers(1, 100), st.integers(4, 14))
def test_a_group_with_a_copy_visits_its_elements_often(count: int, elements: int, visits: int, grain: int) -> None:
    _, items, _, _ = computed(
        lambda b, _, n, m: units_of(groups_for_copies(b, Units(n, number(1)), m, visits, grain)), count, elements
    )
    assert items >= 1 << grain
    assert items * visits >= 4 * elements


@given(st.integers(0, 10**6))
def test_copies_begin_on_cache_lines_of_their_own(elements: int) -> None:
    (found,) = computed(lambda b, _, n: [copy_stride(b, n)], elements)
    assert elements <= found < elements + 64
    assert found % 64 == 0
