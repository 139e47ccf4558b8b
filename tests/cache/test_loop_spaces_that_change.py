"""Loops over nodes of fields and over spaces that Python created, which change between launches and processes."""

import pytest
from changes import Change, check_between_processes, check_in_one_process

COUNT = "@sv.kernel\ndef k() -> sv.i32:\n    n = 0\n    for I in {}:\n        n += 1\n    return n\n"
NODES = """
x, y = sv.field(sv.i32), sv.field(sv.i32)
sv.root.dense(sv.i, 4).dense(sv.i, 2).place(x)
sv.root.dense(sv.i, 2).dense(sv.i, 4).place(y)
"""

CHANGES = {
    "another field": Change(NODES + COUNT.format("sv.grouped(x.parent(2))"), "x = y", 4, 2),
    "another node": Change(NODES + "p = x.parent()\n" + COUNT.format("sv.grouped(p)"), "p = y.parent(2)", 8, 2),
    "another space": Change("s = sv.ndrange(2, 3)\n" + COUNT.format("sv.grouped(s)"), "s = sv.ndrange(2, (1, 5))", 6, 8),
    "a space that is changed": Change("s = sv.ndrange(6)\n" + COUNT.format("s"), "s.bounds = ((1, 4),)", 6, 3),
    "what a function returns": Change(
        "N = 3\ndef stencil(): return sv.ndrange(N, 2)\n" + COUNT.format("static(sv.grouped(stencil()))"), "N = 4", 6, 8
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_next_launch_sees_a_change(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_other_processes_see_a_change(tmp_path):
    check_between_processes(tmp_path, CHANGES)
