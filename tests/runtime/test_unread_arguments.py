"""An argument that nothing reads has to fit its annotation like all others, and its members are no part of the key."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import samovar as sv

Point = sv.types.struct(x=sv.f32, v=sv.math.vec3)
Other = sv.types.struct(z=sv.i32)


@dataclass
class State:
    a: sv.types.NDArray[sv.f32, 1]
    n: int


@dataclass
class Derived(State):
    m: int = 0


def state(dtype: Any = np.float32, n: Any = 1) -> State:
    return State(np.zeros(2, dtype), n)


#: The annotation, what fits, and what does not.
CASES: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "an integer": (sv.i32, [1, True, np.int64(3)], ["a", None, 2.5, [1]]),
    "a float": (sv.f32, [1.0, 2, np.float64(3)], ["a", None, [1.0]]),
    "an array": (
        sv.types.NDArray[sv.f32, 1],
        [np.zeros(2, np.float32), sv.ndarray(sv.f32, 3), np.zeros(4, np.float32)[::2], None],
        [3, "a", np.zeros(2), np.zeros((2, 2), np.float32), [1.0], sv.ndarray(sv.i32, 3)],
    ),
    "an array of vectors": (
        sv.types.NDArray[sv.math.vec3, 1],
        [np.zeros((2, 3), np.float32)],
        [np.zeros((2, 4), np.float32), np.zeros(3, np.float32)],
    ),
    "a view": (
        sv.BufferView[sv.f32],
        [sv.ndarray(sv.f32, 3)[1:], sv.ndarray(sv.f32, 9)[:4]],
        [3, np.zeros(3, np.float32), sv.ndarray(sv.i32, 3)[1:]],
    ),
    "a vector": (sv.math.vec3, [[1, 2, 3], sv.math.vec3(1), np.zeros(3, np.float32)], [3, "a", [1, 2], ["a", "b", "c"]]),
    "a struct": (
        Point,
        [Point(x=1), {"x": 1, "v": [1, 2, 3]}],
        [3, "a", np.zeros(2), {"x": 1}, {"y": 2}, Other(z=1)],
    ),
    "an array of structs": (
        sv.types.NDArray[Point, 1],
        [Point.ndarray(3)],
        [3, np.zeros(3), Other.ndarray(3), Point.ndarray((2, 2))],
    ),
    "a dataclass": (State, [state(), Derived(np.zeros(2, np.float32), 1)], [3, None, {"a": 1}]),
    "a tensor": (sv.Tensor, [np.zeros(2), sv.field(sv.f32, (2, 2)), None], [3, "a"]),
}  # fmt: skip


def unread(annotation: Any) -> Any:
    def k(p, q: sv.i32) -> sv.i32:
        return q

    k.__annotations__["p"] = annotation
    return sv.kernel(k)


@pytest.mark.parametrize("case", CASES)
def test_it_is_checked_at_the_first_launch_and_at_later_ones(case):
    annotation, good, bad = CASES[case]
    for value in bad:
        with pytest.raises((sv.SamovarTypeError, sv.SamovarRuntimeTypeError)):
            unread(annotation)(value, 1)
    kernel = unread(annotation)
    for launch in range(2):
        for value in good:
            assert kernel(value, launch) == launch
        for value in bad:
            with pytest.raises((sv.SamovarTypeError, sv.SamovarRuntimeTypeError)):
                kernel(value, 1)


def test_members_that_nothing_reads_are_no_part_of_the_key():
    kernels = [unread(State), unread(Point), unread(sv.Template)]
    kernels[0](state(), 1)
    kernels[1](Point(x=1), 1)
    kernels[2](3, 1)
    before = sv.compile_count()
    kernels[0](state(np.float64, 2.5), 1)
    kernels[0](state(np.int32, "n"), 1)
    kernels[1](Point(x=2, v=[1, 2, 3]), 1)
    for anything in (4, "a", object(), np.zeros(2)):
        kernels[2](anything, 1)
    assert sv.compile_count() == before


def test_a_number_that_is_read_in_a_branch_that_is_left_out_is_checked():
    @sv.kernel
    def k(n: sv.i32, flag: sv.Template) -> sv.i32:
        if sv.static(flag):
            return n
        return 0

    assert k(1, False) == 0
    with pytest.raises(sv.SamovarTypeError, match="argument `n`: expected a number"):
        k("a", False)


PROGRAM = """
import sys
import numpy as np
import samovar as sv

@sv.kernel
def k(p: sv.types.NDArray[sv.f32, 1], n: sv.i32, q: sv.i32) -> sv.i32:
    return q

bad = sys.argv[1] == "bad"
try:
    k(np.zeros(3, np.float64 if bad else np.float32), 1, 2)
    k(np.zeros(3, np.float32), "a" if bad else 1, 2)
except sv.SamovarError as error:
    print(error)
print(sv.compile_count())
"""


def test_it_is_checked_in_a_process_that_compiles_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("SAMOVAR_OFFLINE_CACHE_FILE_PATH", str(tmp_path / "cache"))
    (tmp_path / "program.py").write_text(PROGRAM)
    outputs = []
    for word in ("good", "good", "bad"):
        done = subprocess.run([sys.executable, tmp_path / "program.py", word], capture_output=True, text=True, check=True)
        outputs.append(done.stdout)
    assert outputs[:2] == ["1\n", "0\n"]
    assert "argument `p`: expected elements of type f32, got f64" in outputs[2]
