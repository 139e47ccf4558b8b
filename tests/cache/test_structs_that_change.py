"""Structs: what of them is in the key, in one process and between two."""

from __future__ import annotations

import pytest
from changes import Change, check_between_processes, check_in_one_process

CAPTURED = """
S = sv.types.struct(a=sv.f64, v=sv.types.vector(2, sv.f32), inner=sv.types.struct(n=sv.i32))
s = S(1, [2, 3], {"n": 4})
@sv.kernel
def k() -> float:
    return s.a * 1000 + s.v.y * 10 + s.inner.n
"""
TYPE = """
S = sv.types.struct(a=sv.i32, b=sv.i32)
@sv.kernel
def k() -> float:
    s = S(7, 2)
    return s.a / 2 + s.b * 10
"""
METHOD = """
FACTOR = 2
def plain(x):
    return 3
@sv.dataclass
class S:
    a: sv.i32
    @sv.func
    def m(self):
        return self.a * FACTOR
first = S
@sv.dataclass
class Other:
    a: sv.i32
    @sv.func
    def m(self):
        return self.a + 100
Other = type(S)("S", S.members, Other.methods)
@sv.kernel
def k() -> int:
    return S(5).m()
"""
ARRAYS = METHOD + """
def made(struct, **options):
    a = struct.ndarray(3, **options)
    a.fill(struct(2))
    return a
def field(struct, **options):
    a = struct.field(3, **options)
    a.fill(struct(2))
    return a
T = sv.types.struct(pad=sv.f64, a=sv.i32)
Wide = sv.types.struct(a=sv.i64)
Pair = sv.types.struct(a=sv.i32, b=sv.f32)
Swapped = sv.types.struct(b=sv.f32, a=sv.i32)
def of(struct, make=made, **options):
    a = make(struct, **options)
    for i in range(3):
        a[i].a = i + 1
    return a
a = of(Pair)
@sv.kernel
def k(a: sv.template()) -> int:
    total = 0
    for i in a:
        a[i].a += 1
        total += a[i].a
    for i in a:
        a[i].a -= 1
    return total
"""
ELEMENT_METHOD = ARRAYS + """
b = of(S)
@sv.kernel
def k(b: sv.types.NDArray[S, 1]) -> int:
    total = 0
    for i in b:
        total += b[i].m()
    return total
"""
ARGUMENT = """
S = sv.types.struct(a=float, n=sv.i32)
s = S(1.5, 2)
@sv.kernel
def k(s: S) -> sv.f64:
    return s.a * 2 + s.n
"""
ARGUMENT_METHOD = METHOD + """
s = S(4)
@sv.kernel
def k(s: S) -> int:
    return s.m()
"""
MEMBER = """
import dataclasses
S = sv.types.struct(a=sv.f32)
@dataclasses.dataclass
class Box:
    s: S
box = Box(S(1.5))
@sv.kernel
def k(box: Box) -> float:
    return box.s.a * 2
"""
GIVEN = """
S = sv.types.struct(n=sv.i32, x=sv.f64)
L = [S(1), sv.Vector([2, 0]), S.ndarray(2)]
L[2][1].n = 3
def f(given):
    return given[0].n + 10 * given[1].x + 100 * given[2][1].n
@sv.kernel
def k() -> int:
    return static(f(L))
"""
CHANGES = {
    "a struct that plain code reads": Change(GIVEN, "L[0].n = 5", 321, 325),
    "a vector that plain code reads": Change(GIVEN, "L[1].x = 5", 321, 351),
    "an array of structs that plain code reads": Change(GIVEN, "L[2][1].n = 5", 321, 521),
    "a number of a captured struct": Change(CAPTURED, "s.a = 2", 1034.0, 2034.0),
    "an entry of a vector in it": Change(CAPTURED, "s.v.y = 5", 1034.0, 1054.0),
    "a struct in it": Change(CAPTURED, "s.inner = {'n': 6}", 1034.0, 1036.0),
    "another captured struct": Change(CAPTURED, "s = S()", 1034.0, 0.0),
    "the order of members": Change(TYPE, "S = sv.types.struct(b=sv.i32, a=sv.i32)", 23.5, 71.0),
    "the dtype of a member": Change(TYPE, "S = sv.types.struct(a=sv.f64, b=sv.u1)", 23.5, 13.5),
    "what a method reads": Change(METHOD, "FACTOR = 3", 10, 15),
    "another method": Change(METHOD, "S = Other", 10, 105),
    "a method that is put in its place": Change(METHOD, "S.methods['m'] = Other.methods['m']", 10, 105),
    "another layout": Change(ARRAYS, "a = of(Pair, layout='soa')", 9, 9, "k(a)"),
    "a field": Change(ARRAYS, "a = of(Pair, field)", 9, 9, "k(a)"),
    "a field with other members": Change(ARRAYS, "a = of(T, field, layout='soa')", 9, 9, "k(a)"),
    "members before it": Change(ARRAYS, "a = of(T)", 9, 9, "k(a)"),
    "the order of members of elements": Change(ARRAYS, "a = of(Swapped)", 9, 9, "k(a)"),
    "the dtype of a member of elements": Change(ARRAYS, "a = of(Wide)", 9, 9, "k(a)"),
    "the method of elements": Change(ELEMENT_METHOD, "b = of(Other)", 12, 306, "k(b)"),
    "a number of an argument": Change(ARGUMENT, "s.a = 2.5", 5.0, 7.0, "k(s)"),
    "a dict": Change(ARGUMENT, "s = {'n': 1, 'a': 0.5}", 5.0, 2.0, "k(s)"),
    "another type of an argument": Change(ARGUMENT, "s = sv.types.struct(a=sv.i8, n=sv.i64)(3, 4)", 5.0, 10.0, "k(s)"),
    "the method of an argument": Change(ARGUMENT_METHOD, "s = Other(4)", 8, 104, "k(s)"),
    "a declared member": Change(MEMBER, "box.s = S(4)", 3.0, 8.0, "k(box)"),
    "the default of a member": Change(
        "S = sv.types.struct(a=sv.f32)\n@sv.kernel\ndef k() -> float:\n    return S().a\n",
        "@sv.dataclass\nclass S:\n    a: sv.f32 = 3\n",
        0.0,
        3.0,
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen_by_the_next_launch(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_changes_are_seen_by_another_process(tmp_path):
    check_between_processes(tmp_path, CHANGES)
