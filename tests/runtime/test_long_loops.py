"""Loops that are run in pieces when they are long, as they are when they are short: the results are the same."""

import numpy as np
import pytest

import samovar as sv
from samovar.passes.loops import safepoints

Numbers = sv.types.NDArray[sv.i64, 1]
Rows = sv.types.NDArray[sv.i32, 2]


@sv.kernel
def counted(out: Numbers, n: sv.i32):
    for i in out:
        total = sv.i64(0)
        for k in range(n):
            total += (k ^ i) & 7
        out[i] = total


@sv.kernel
def backwards(out: Numbers, n: sv.i64):
    for i in out:
        total = sv.i64(0)
        for k in range(n, 0, -3):
            total = total * 3 + k * i
        out[i] = total


@sv.kernel
def two_loops(out: Numbers, rows: Rows, weights: Numbers):
    for i in range(out.shape[0]):
        total = sv.i64(0)
        for k in range(rows.shape[1]):
            total += rows[i, k]
        for k in range(weights.shape[0]):
            total += weights[k] * (i + 1)
        out[i] = total


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch):
    """Pieces of a few iterations, so that small numbers are many."""
    monkeypatch.setattr(safepoints, "BRIEF", 10.0)
    monkeypatch.setattr(safepoints, "LEAST_PIECE", 8)
    monkeypatch.setattr(safepoints, "PIECE", 0.0)


def test_long_loops_are_in_pieces_and_short_ones_are_not():
    loops = counted.inspect("loops", np.zeros(5, np.int64), 9)
    assert "# strip-mined" in loops
    assert "unlikely if" in loops


def test_a_loop_whose_length_may_not_fit_asks_in_each_iteration():
    loops = backwards.inspect("loops", np.zeros(3, np.int64), 9)
    assert "# strip-mined" not in loops
    assert "poll(" in loops


LENGTHS = [0, 1, 7, 8, 9, 15, 16, 17, 40]


def wrapped(number):
    return (number + 2**63) % 2**64 - 2**63


@pytest.mark.parametrize("n", [-5, *LENGTHS])
def test_a_bound_that_is_given(n):
    out = np.zeros(5, np.int64)
    counted(out, n)
    assert out.tolist() == [sum((k ^ i) & 7 for k in range(n)) for i in range(5)]


@pytest.mark.parametrize("n", [-5, *LENGTHS, 70])
def test_a_loop_that_goes_down(n):
    out = np.zeros(3, np.int64)
    backwards(out, n)
    expected = []
    for i in range(3):
        total = 0
        for k in range(n, 0, -3):
            total = wrapped(total * 3 + k * i)
        expected.append(total)
    assert out.tolist() == expected


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("m", [0, 8, 9])
def test_two_loops_of_which_one_is_long(n, m):
    out, rows, weights = np.zeros(4, np.int64), np.arange(4 * n, dtype=np.int32).reshape(4, n), np.arange(m)
    two_loops(out, rows, weights)
    assert out.tolist() == (rows.sum(1, dtype=np.int64) + weights.sum() * np.arange(1, 5)).tolist()


@sv.kernel
def computed(out: Numbers, n: sv.i32):
    for _ in range(1):
        end = n * 2
        for k in range(n, end):
            out[0] += k


@pytest.mark.parametrize("n", LENGTHS)
def test_a_task_of_one_iteration_whose_loop_has_a_bound_that_is_computed(n):
    out = np.zeros(1, np.int64)
    computed(out, n)
    assert out[0] == sum(range(n, 2 * n))
