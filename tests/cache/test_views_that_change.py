"""Views: what of them is in the key, in one process and between two."""

from __future__ import annotations

import pytest
from changes import Change, check_between_processes, check_in_one_process

DATA = """
import numpy as np
data = sv.ndarray(sv.f32, 16)
data.from_numpy(np.arange(16, dtype=np.float32))
"""
GIVEN = DATA + """
v = data[2:6]
@sv.kernel
def k(v: sv.BufferView) -> float:
    return v[1] + 100 * v.size + 10000 * v.offset
"""
CAPTURED = DATA + """
v = data[2:6]
@sv.kernel
def k() -> float:
    return v[1] + 100 * v.size + 10000 * v.offset
"""
SEEN = DATA + """
v = data[2:6]
def seen(v):
    return v.offset * 100 + v.size * 10 + float(v.array.to_numpy()[15])
@sv.kernel
def k(v: sv.Template) -> float:
    return static(seen(v))
"""
ANNOTATED = DATA + """
T = sv.BufferView[sv.f32]
def made():
    @sv.kernel
    def k(v: T, i: sv.i32) -> float:
        return v[i]
    return k
k = made()
"""
MEMBER = DATA + """
import dataclasses
@dataclasses.dataclass(frozen=True)
class Row:
    v: sv.BufferView
row = Row(data[2:6])
@sv.kernel
def k(row: Row) -> float:
    return row.v[1] + 100 * row.v.size + 10000 * row.v.offset
"""
BUILT = DATA + """
first = 3
@sv.kernel
def k() -> float:
    v = data[first : first + 4]
    return v[0] + 10 * v.size + 100 * v.offset
"""
STRUCTS = """
S = sv.types.struct(x=sv.f32, n=sv.i32)
a = S.ndarray(16)
for i in range(16):
    a[i].x = i
v = a[2:6]
def seen(v):
    return v.offset * 100 + v.size
@sv.kernel
def k(v: sv.Template) -> float:
    return v[1].x + static(seen(v.x)) + 10000 * v.offset
"""
CHANGES = {
    "a part of structs, seen by plain code": Change(STRUCTS, "v = a[3:7]", 20207.0, 30308.0, "k(v)"),
    "the layout of structs": Change(
        STRUCTS, "a = S.ndarray(16, layout=sv.Layout.SOA); v = a[2:6]", 20207.0, 20204.0, "k(v)"
    ),
    "another part": Change(GIVEN, "v = data[3:5]", 20403.0, 30204.0, "k(v)"),
    "another dtype": Change(
        GIVEN, "v = sv.ndarray(sv.i32, 20)[9:]; v.fill(7)", 20403.0, 91107.0, "k(v)"
    ),
    "another captured part": Change(CAPTURED, "v = data[3:5]", 20403.0, 30204.0),
    "another array captured": Change(CAPTURED, "v = sv.ndarray(sv.f32, 400)[9:]", 20403.0, 129100.0),
    "a part of another offset, seen by plain code": Change(SEEN, "v = data[3:7]", 255.0, 355.0, "k(v)"),
    "a part of another size, seen by plain code": Change(SEEN, "v = data[2:7]", 255.0, 265.0, "k(v)"),
    "what is around a part, seen by plain code": Change(SEEN, "data[15] = 1", 255.0, 241.0, "k(v)"),
    "the boundary": Change(ANNOTATED, "T = sv.BufferView[sv.f32, 'clamp']; k = made()", 5.0, 3.0, "k(data[:4], 5)"),
    "the part of a member": Change(MEMBER, "row = Row(data[3:5])", 20403.0, 30204.0, "k(row)"),
    "a bound": Change(BUILT, "first = 5", 343.0, 545.0),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen_by_the_next_launch(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_changes_are_seen_by_another_process(tmp_path):
    check_between_processes(tmp_path, CHANGES)
