"""Code that is made for the length of a short axis: another length is another kernel, in one process and between two."""

from __future__ import annotations

import pytest
from changes import Change, check_between_processes, check_in_one_process

POINTS = """
import numpy as np

def made(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)

a = made(5, 3)

@sv.kernel
def k(a: sv.types.NDArray[sv.f32, {rank}]) -> float:
    s = 0.0
    for i in range(a.shape[0]):
        s += {element}
    return s
"""
ROWS = POINTS.format(rank=2, element="a[i, 1]")
IN_A_FUNC = ROWS.replace("a[i, 1]", "second(a, i)").replace(
    "@sv.kernel", "@sv.func\ndef second(x, i):\n    return x[i, 1]\n\n@sv.kernel"
)
MEMBER = ROWS.replace("@sv.kernel", "class Box: pass\nbox = Box()\nbox.a = a\n\n@sv.kernel").replace(
    "def k(a: sv.types.NDArray[sv.f32, 2])", "def k(box: sv.Template)"
).replace("a.shape", "box.a.shape").replace("a[i, 1]", "box.a[i, 1]")
MATRICES = POINTS.format(rank=3, element="a[i, 1, 2] + a[i, 0, 1]").replace("made(5, 3)", "made(5, 2, 3)")


def rows(*shape: int) -> float:
    return float(sum(row * shape[1] + 1 for row in range(shape[0])))


def matrices(*shape: int) -> float:
    size = shape[1] * shape[2]
    return float(sum(2 * (box * size) + shape[2] + 3 for box in range(shape[0])))


CHANGES = {
    "a length that is another one": Change(ROWS, "a = made(5, 4)", rows(5, 3), rows(5, 4), "k(a)"),
    "a length that is large": Change(ROWS, "a = made(5, 40)", rows(5, 3), rows(5, 40), "k(a)"),
    "a length that was large": Change(
        ROWS.replace("made(5, 3)", "made(5, 40)"), "a = made(5, 8)", rows(5, 40), rows(5, 8), "k(a)"
    ),
    "an array of ours": Change(
        ROWS, "a = sv.from_numpy(made(5, 4), copy=True)", rows(5, 3), rows(5, 4), "k(a)"
    ),
    "in a func": Change(IN_A_FUNC, "a = made(5, 4)", rows(5, 3), rows(5, 4), "k(a)"),
    "of a member": Change(MEMBER, "box.a = made(5, 4)", rows(5, 3), rows(5, 4), "k(box)"),
    "the last axis": Change(MATRICES, "a = made(5, 2, 4)", matrices(5, 2, 3), matrices(5, 2, 4), "k(a)"),
    "the axis before": Change(MATRICES, "a = made(5, 3, 3)", matrices(5, 2, 3), matrices(5, 3, 3), "k(a)"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_another_length_is_seen_by_the_next_launch(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_another_length_is_seen_by_another_process(tmp_path):
    check_between_processes(tmp_path, CHANGES)


#: Of these, one kernel serves both.
NO_MATTER = {
    "the number of rows": Change(ROWS, "a = made(7, 3)", rows(5, 3), rows(7, 3), "k(a)"),
    "large lengths": Change(ROWS.replace("made(5, 3)", "made(5, 9)"), "a = made(5, 100)", rows(5, 9), rows(5, 100), "k(a)"),
    "an index that is no constant": Change(
        ROWS.replace("a[i, 1]", "a[i, (i + 1) - i]"), "a = made(5, 4)", rows(5, 3), rows(5, 4), "k(a)"
    ),
}


@pytest.mark.parametrize("name", NO_MATTER)
def test_what_does_not_matter_is_no_other_kernel(tmp_path, name):
    import samovar as sv

    before = sv.compile_count()
    check_in_one_process(tmp_path, NO_MATTER[name])
    assert sv.compile_count() == before + 1
