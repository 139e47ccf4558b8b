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
LAYOUT = """
import numpy as np
vec3, SOA = sv.math.vec3, sv.Layout.SOA
def made(n, size=3, **options):
    a = sv.ndarray(sv.types.vector(size, sv.f32), n, **options)
    a.from_numpy(np.arange(n * size, dtype=np.float32).reshape(n, size))
    return a
@sv.data_oriented
class Box: pass
box = Box()
a = box.a = made(4)
@sv.func
def outer(given, i):
    return inner(given, i)
@sv.func
def inner(given, i):
    given.a[i][0] += 1
    return given.a[i][0] + 100 * given.a[i][1] + (1 if static(given.a.grad is not None) else 0)
@sv.kernel
def k(box: sv.template()) -> float:
    s = 0.0
    for i in range(box.a.shape[0]):
        s += outer(box, i)
    for i in range(box.a.shape[0]):
        box.a[i].x -= 1
    return s
"""
#: Of four vectors of 3 that count up from 0, and what follows if another array takes their place.
LAYOUTS = {
    "entries that lie apart": ("made(4, layout=SOA)", 2222.0),
    "a longer one whose entries lie apart": ("made(5, layout=SOA)", 3535.0),
    "a gradient of one whose entries lie apart": ("made(4, layout=SOA, needs_grad=True)", 2226.0),
    "longer elements that lie apart": ("made(4, 4, layout=SOA)", 2828.0),
    "a field whose entries lie apart": ("sv.field(vec3, 4, layout=SOA); box.a.from_numpy(made(4).to_numpy())", 2222.0),
}
CHANGES = {
    **{name: Change(LAYOUT, f"box.a = {made}", 2222.0, after, "k(box)") for name, (made, after) in LAYOUTS.items()},
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
