"""Random parallel loops over boxes that update arrays of two axes in every layout, against NumPy's unbuffered updates.

As `test_scatters`, with two loop variables in either order, inner serial loops, and updates that are done in a func.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from hypothesis_profiles import examples

from .source import define

ROWS, COLUMNS, DEPTH = 60, 90, 3
#: Large enough for every place below.
SIDE = 200

UPDATES = {
    "add": ("{0} += {1}", np.add),
    "xor": ("{0} ^= {1}", np.bitwise_xor),
    "max": ("sv.atomic_max({0}, {1})", np.maximum),
}
PLACES = (
    *("i, j", "j, i", "i, 0", "0, j", "j, 0", "i + j, j", "i, i", "i + 1, j", "i, j + k", "i + j, 5", "2 * i, j"),
    *("i, 2 * j", "i // 2, j", "i % 8, j % 8", "(i + j) % 16, k", "i * 3 + k, j", "k, j", "i ^ 1, j", "j % 5, i", "7, 9"),
    "i - j + 99, j",
)
VALUES = ("i", "1", "j * 3 + i", "k + i", "j ^ i", "i * j - k")
HEADERS = (
    ("for i, j in sv.ndrange(ROWS, COLUMNS):", False),
    ("for i, j in sv.ndrange(ROWS, COLUMNS, axes=(1, 0)):", False),
    ("for i, j in sv.ndrange((2, ROWS), (5, COLUMNS)):", True),
    ("for I in sv.grouped(sv.ndrange(ROWS, COLUMNS)):\n        i, j = I[0], I[1]", False),
    ("for i in range(ROWS):\n      for j in range(COLUMNS):", False),
)


@dataclass(frozen=True)
class Update:
    target: str
    place: str
    value: str
    deep: bool  # inside of a serial loop over k
    func: bool


@dataclass(frozen=True)
class Loop:
    kind: str
    header: tuple[str, bool]
    updates: tuple[Update, ...]


updates = st.builds(
    Update, st.sampled_from("xyz"), st.sampled_from(PLACES), st.sampled_from(VALUES), st.booleans(), st.booleans()
)
loops = st.builds(
    Loop, st.sampled_from(tuple(UPDATES)), st.sampled_from(HEADERS), st.lists(updates, min_size=1, max_size=3).map(tuple)
)


def kernel_text(program: list[Loop]) -> str:
    annotation = "sv.types.NDArray[sv.i64, 2]"
    lines = []
    for kind, (form, _) in UPDATES.items():
        lines += [
            "@sv.func",
            f"def {kind}_at(a: {annotation}, r: sv.i32, c: sv.i32, v: sv.i64):",
            f"    {form.format('a[r, c]', 'v')}",
        ]
    lines += ["@sv.kernel", f"def k(x: {annotation}, y: {annotation}, z: {annotation}):"]
    for loop in program:
        lines.append(f"    {loop.header[0]}")
        for update in loop.updates:
            form = UPDATES[loop.kind][0].format(f"{update.target}[{update.place}]", update.value)
            if update.func:
                form = f"{loop.kind}_at({update.target}, {update.place}, {update.value})"
            opening = f"for k in range({DEPTH}):" if update.deep else "k = 1"
            lines += [f"        {opening}", f"{'            ' if update.deep else '        '}{form}"]
    return "\n".join(lines) + "\n"


def run_numpy(program: list[Loop], arrays: dict[str, np.ndarray]) -> None:
    for loop in program:
        begin = (2, 5) if loop.header[1] else (0, 0)
        for update in loop.updates:
            depth = np.arange(DEPTH) if update.deep else np.array([1])
            axes = np.meshgrid(np.arange(begin[0], ROWS), np.arange(begin[1], COLUMNS), depth, indexing="ij")
            names = dict(zip("ijk", (axis.reshape(-1) for axis in axes), strict=True))
            row, column, value = (
                np.broadcast_to(part, names["i"].shape) for part in (*eval(update.place, names), eval(update.value, names))
            )
            UPDATES[loop.kind][1].at(arrays[update.target], (row, column), value)


LAYOUTS = {
    "apart": lambda m: (m[0], m[1], m[2]),
    "transposed": lambda m: (m[0].T, m[1], m[2][::-1, ::-1]),
    "every other": lambda m: (m[0], np.repeat(m[1], 2, axis=1)[:, ::2], m[2][:, ::-1]),
    "one transposed": lambda m: (m[0], m[0].T, m[2]),
    "same": lambda m: (m[0], m[0], m[0]),
    "shifted": lambda m: (m[0], m.reshape(-1)[3 : SIDE * SIDE + 3].reshape(SIDE, SIDE), m[2]),
    "one row": lambda m: (np.lib.stride_tricks.as_strided(m[0], (SIDE, SIDE), (0, 8)), m[1], m[2]),
}


def make_arrays(layout: str) -> dict[str, np.ndarray]:
    memory = (np.arange(3 * SIDE * SIDE) % 1000).reshape(3, SIDE, SIDE)
    return dict(zip("xyz", LAYOUTS[layout](memory), strict=True))


def check(program: list[Loop], layout: str) -> None:
    text = kernel_text(program)
    note(text)
    kernel = define(text, ROWS=ROWS, COLUMNS=COLUMNS)
    expected = make_arrays(layout)
    run_numpy(program, expected)
    for _ in range(2):  # once before the cost is known, once after
        actual = make_arrays(layout)
        kernel(*actual.values())
        for name, wanted in expected.items():
            wrong = np.argwhere(actual[name] != wanted)
            assert not len(wrong), f"{name}: {len(wrong)} elements differ, the first at {wrong[0]}"


@examples("compiled", report_multiple_bugs=False)
@given(st.lists(loops, min_size=1, max_size=2), st.sampled_from(tuple(LAYOUTS)))
def test_updates_of_loops_over_boxes_are_not_lost(program, layout):
    check(program, layout)


@pytest.mark.stress
@pytest.mark.timeout(3600)
@examples("compiled", report_multiple_bugs=False)
@given(st.lists(loops, min_size=1, max_size=3), st.sampled_from(tuple(LAYOUTS)))
def test_updates_of_many_loops_over_boxes_are_not_lost(program, layout):
    check(program, layout)
