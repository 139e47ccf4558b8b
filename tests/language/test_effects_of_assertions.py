"""What stands in an `assert` is computed with and without debug mode; its message only where it fails."""

from __future__ import annotations

import numpy as np
import pytest

import samovar as sv

I1 = sv.types.NDArray[sv.i32, 1]


@pytest.fixture(params=[False, True], ids=["release", "debug"], autouse=True)
def debug(request):
    sv.init(debug=request.param)
    yield request.param
    sv.reset()


@sv.func
def step(count: sv.template()) -> sv.i32:
    count[0] += 1
    return 1


@sv.kernel
def calls(count: I1):
    for _ in range(5):
        assert step(count) == 1


@sv.kernel
def in_any_place(count: I1) -> sv.f32:
    total = 0
    assert sv.atomic_add(count[0], 1) == 0
    assert 1 < 2 and step(count) == 1  # noqa: PT018
    assert (bound := count[0] + 5) > 0  # noqa: RUF018
    assert -1 < sv.random() < 2
    for i in range(3):
        assert sv.atomic_add(total, i) >= 0
    return bound + total + sv.random()


def test_a_func_that_is_called_has_its_effect():
    count = np.zeros(1, np.int32)
    calls(count)
    assert count[0] == 5


def test_atomics_names_and_random_numbers_do_what_they_do_elsewhere():
    results = []
    for is_debug in (False, True):
        sv.init(debug=is_debug, random_seed=7)
        count = np.zeros(1, np.int32)
        results.append(in_any_place(count))
        assert count[0] == 2
    assert results[0] == results[1]
    assert 10 <= results[0] < 11


@sv.kernel
def with_message(x: sv.i32, count: I1):
    assert x > 0, f"step {step(count)} of {x}"


def test_a_message_is_put_together_where_the_assertion_fails(debug):
    count = np.zeros(1, np.int32)
    with_message(1, count)
    assert count[0] == 0
    if debug:
        with pytest.raises(sv.SamovarAssertionError, match="step 1 of -3"):
            with_message(-3, count)
        assert count[0] == 1


@sv.kernel
def pure(x: sv.types.NDArray[sv.f32, 1]):
    for i in x:
        assert sv.sqrt(abs(x[i])) >= 0
        x[i] = 1


def test_what_has_no_effect_costs_nothing(debug):
    x = np.zeros(3, np.float32)
    pure(x)
    assert ("sqrt" in pure.inspect("ir")) == debug


class Settings:
    limit = 3


@sv.kernel
def reads_a_member(x: sv.types.NDArray[sv.f32, 1]):
    for i in x:
        assert x[i] < Settings.limit
        x[i] = 1


def test_a_condition_without_calls_is_no_part_of_the_key_without_debug_mode(debug, monkeypatch):
    x = np.zeros(3, np.float32)
    reads_a_member(x)
    before = sv.compile_count()
    monkeypatch.setattr(Settings, "limit", 4)
    reads_a_member(x)
    assert sv.compile_count() - before == debug
