"""Vectors and matrices: what of them is in the key, in one process and between two."""

from __future__ import annotations

import pytest
from changes import Change, check_between_processes, check_in_one_process

CAPTURED = """
v = sv.Vector([1.0, 2.0, 3.0])
@sv.kernel
def k() -> float:
    return v.sum() * v.n
"""
TYPE = """
T = sv.types.vector(3, sv.i32)
@sv.kernel
def k() -> float:
    return T(7).sum() / 2
"""
ELEMENT = """
import numpy as np
a = np.ones((4, 3), np.float32)
def made(size):
    @sv.kernel
    def k(a: sv.types.NDArray[sv.types.vector(size, sv.f32), 1]) -> float:
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i].sum()
        return s
    return k
k = made(3)
"""
MEMBER = """
import dataclasses
@dataclasses.dataclass
class Box:
    v: sv.types.vector(2, sv.f32)
box = Box(sv.Vector([1.5, 2.0]))
@sv.kernel
def k(box: sv.Template) -> float:
    return box.v.sum() * 2
"""
CHANGES = {
    "an entry of a captured vector": Change(CAPTURED, "v[0] = 5.0", 18.0, 30.0),
    "another captured vector": Change(CAPTURED, "v = sv.Vector([1.0, 2.0])", 18.0, 6.0),
    "another dtype of a captured vector": Change(CAPTURED, "v = sv.Vector([100, 100], sv.i8)", 18.0, -112.0),
    "the shape of a type": Change(TYPE, "T = sv.types.vector(2, sv.i32)", 10.5, 7.0),
    "the dtype of a type": Change(TYPE, "T = sv.types.vector(3, sv.i64)", 10.5, 10.5),
    "an entry of a member": Change(MEMBER, "box.v[0] = 3.0", 7.0, 10.0, "k(box)"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen_by_the_next_launch(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_changes_are_seen_by_another_process(tmp_path):
    element = Change(ELEMENT, "a = np.ones((4, 4), np.float32); k = made(4)", 12.0, 16.0, "k(a)")
    check_between_processes(tmp_path, {**CHANGES, "the shape of elements": element})
