"""The schedule of tasks, counted: every iteration runs once, and groups depend on nothing but the iterations."""

from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from samovar.ir.plan import Plan
from samovar.ir.schedule import (
    COPY_ELEMENTS,
    FEW_ROWS,
    GROUPS_LOG2,
    blocks,
    group,
    group_for_copies,
    length,
    pitch,
    units,
    worth_copies,
)

from backends.python_backend import NUMBERS, points

PLAN = Plan(0, 1.0, 0, 1, 1, 4, None, (), (), None)

axes = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 90)), min_size=1, max_size=3)


@given(axes, st.integers(0, 12), st.integers(0, 2), st.sampled_from(["units", "groups", "blocks"]))
def test_every_iteration_runs_once(bounds: list[tuple[int, int]], grain: int, inner: int, way: str) -> None:
    inner_bounds = [(0, 2)] * inner
    plan = replace(PLAN, dealt=len(bounds), inner_iterations=2**inner, grain_log2=grain, block=7)
    work = units(NUMBERS, plan, [length(NUMBERS, *axis) for axis in bounds])
    if way == "groups":
        work = group(NUMBERS, work, grain)
        assert work.count <= 1 << GROUPS_LOG2
    elif way == "blocks" and plan.flat:
        work = blocks(NUMBERS, work, 7)
    whole = [*bounds, *inner_bounds]
    found = [point for number in range(work.count) for point in points(plan, whole, work, number)]
    assert sorted(found) == sorted(itertools.product(*(range(*axis) for axis in whole)))
    assert len(found) <= work.count * work.items


@given(st.integers(1, 10**12), st.integers(1, 10**6), st.integers(0, 14))
def test_groups_are_few_and_large(count: int, items: int, grain: int) -> None:
    whole = replace(units(NUMBERS, PLAN, [count]), items=items)
    groups = group(NUMBERS, whole, grain)
    assert groups.shift is not None
    assert 1 <= groups.count <= 1 << GROUPS_LOG2
    assert groups.items == items << groups.shift
    assert groups.count * groups.items >= count * items
    assert 2 * groups.items > 1 << grain
    # No larger than it has to be.
    assert groups.shift == 0 or (count - 1 >> groups.shift - 1) + 1 > 1 << GROUPS_LOG2 or groups.items >> 1 < 2 << grain


def test_few_long_rows_are_cut() -> None:
    nest = replace(PLAN, dealt=2)
    assert units(NUMBERS, nest, [FEW_ROWS, 1000]).length == 1000
    cut = units(NUMBERS, nest, [2, 10_000])
    assert cut.length is not None
    assert cut.length < 10_000
    assert cut.length % FEW_ROWS == 0
    assert cut.count >= FEW_ROWS // 2
    assert units(NUMBERS, nest, [2, 10]).count == 2
    assert units(NUMBERS, nest, [0, 10_000]).count == 0
    assert units(NUMBERS, nest, [3, 0]).count == 0


def test_an_axis_without_iterations_inside_of_a_unit_leaves_nothing_to_do() -> None:
    assert units(NUMBERS, replace(PLAN, inner_iterations=0), [10]).count == 0


def test_copies_are_worth_it_for_small_arrays_that_are_visited_often() -> None:
    assert worth_copies(NUMBERS, 400, [60, 40])
    assert not worth_copies(NUMBERS, 399, [60, 40])
    assert worth_copies(NUMBERS, 4 * COPY_ELEMENTS, [COPY_ELEMENTS])
    assert not worth_copies(NUMBERS, 10**9, [COPY_ELEMENTS + 1])


@given(st.integers(1, 10**7), st.lists(st.integers(0, 4000), min_size=1, max_size=3))
def test_a_group_with_a_copy_visits_its_elements_often(count: int, elements: list[int]) -> None:
    groups = group_for_copies(NUMBERS, PLAN, units(NUMBERS, PLAN, [count]), elements)
    assert groups.items >= 4 * sum(elements)


@given(st.integers(0, 10**6))
def test_copies_begin_on_cache_lines_of_their_own(elements: int) -> None:
    assert pitch(NUMBERS, elements) >= elements
    assert pitch(NUMBERS, elements) % 64 == 0
