"""Sparse fields: the tree is part of the key, which cells are active is not, in one process and between two."""

from __future__ import annotations

import pytest
from changes import Change, check_between_processes, check_in_one_process

SOURCE = """
def made(*levels):
    field = sv.field(sv.f32)
    node = sv.root
    for kind, axes, extents in levels:
        node = getattr(node, kind)(axes, extents)
    node.place(field)
    field[3, 4] = 2
    return field

f = {made}
block = f.parent({above})

@sv.kernel
def k() -> float:
    s = 0.0
    f[9, 8] = 5
    for i, j in f:
        s += f[i, j] * (i + 100 * j) + 1
    for i, j in block:
        s += 10000
    return s
"""
POINTER = "made(('pointer', sv.ij, 4), ('dense', sv.ij, 4))"
VALUES = 2 * 403 + 5 * 809
OTHERS = {
    "other blocks": ("made(('pointer', sv.ij, 2), ('dense', sv.ij, 8))", VALUES + 128 + 20000),
    "a bitmask": ("made(('bitmasked', sv.ij, 4), ('dense', sv.ij, 4))", VALUES + 32 + 20000),
    "small cells": ("made(('pointer', sv.ij, 4), ('bitmasked', sv.ij, 4))", VALUES + 2 + 20000),
    "oblong cells": ("made(('pointer', sv.ij, (16, 4)), ('dense', sv.j, 4))", VALUES + 8 + 20000),
}
CHANGES = {
    name: Change(
        SOURCE.format(made=POINTER, above=2), f"f = {made}; block = f.parent(2)", VALUES + 32 + 20000, after, "k()"
    )
    for name, (made, after) in OTHERS.items()
}


@pytest.mark.parametrize("name", CHANGES)
def test_another_tree_is_seen_by_the_next_launch(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_another_tree_is_seen_by_another_process(tmp_path):
    check_between_processes(tmp_path, CHANGES)


def test_active_cells_are_no_part_of_the_kernel(tmp_path):
    import samovar as sv

    before = sv.compile_count()
    source = SOURCE.format(made=POINTER, above=2)
    check_in_one_process(
        tmp_path, Change(source, "f[0, 0] = 1; f[15, 15] = 2", VALUES + 32 + 20000, VALUES + 2 * 1515 + 64 + 40000, "k()")
    )
    assert sv.compile_count() == before + 1
