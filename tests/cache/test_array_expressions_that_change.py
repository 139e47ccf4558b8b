"""Kernels without annotations that compute with rows and whole arrays: what of them is in the key."""

from __future__ import annotations

import pytest
from changes import Change, check_between_processes, check_in_one_process

ROWS = """
import numpy as np
power, weights = 2, np.array([1.0, 2.0, 3.0])
a, b = np.arange(6.0).reshape(2, 3), np.ones(3)
@sv.func
def distance(row, other):
    d = row - other
    return (d ** power * weights).sum()
@sv.kernel(serial=True)
def k(a, b) -> sv.f64:
    total = 0.0
    for i, w in enumerate(weights[:2]):
        total += w * distance(a[i], b)
    return total
"""
CALL = "k(a, b)"
CHANGES = {
    "a captured number": Change(ROWS, "power = 3", 144.0, 510.0, CALL),
    "an element of a captured array": Change(ROWS, "weights[2] = 0.0", 144.0, 45.0, CALL),
    "the dtype of an argument": Change(ROWS, "a = a.astype(np.int32)", 144.0, 144.0, CALL),
    "the strides of an argument": Change(ROWS, "a = np.asfortranarray(a)", 144.0, 144.0, CALL),
    "a function that takes a row": Change(ROWS, "distance = lambda row, other: row[0]", 144.0, 6.0, CALL),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen_by_the_next_launch(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_changes_are_seen_by_another_process(tmp_path):
    check_between_processes(tmp_path, CHANGES)
