"""Loops that almost fit a rewrite are compiled otherwise, and right; and everything that refuses a rewrite is needed by one.

Whether a rewrite is worth it is a matter of price, which changes; so the programs run once more where all that is possible
is done, at whatever price.
"""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import samovar as sv
from samovar.language import SWITCHES
from samovar.passes.loops import plan, price

from .almost_fitting import PROGRAMS, arguments, of_python, text
from .source import define

LOOPS = Path(plan.__file__).parent
#: What a refusal returns.
NOTHING = ("None", "{}", "[]")
#: The modules whose refusals are looked at: what decides on rewrites, and not on costs.
REFUSING = (
    "carry", "congruence", "dependence", "divergence", "emit", "forward_elements", "index_sets", "inline_calls",
    "interleave", "peel", "promote", "sink", "speculate", "unroll",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _defaults() -> Iterator[None]:
    yield
    sv.reset()


def run(name: str, **options: Any) -> None:
    sv.init(**options)
    kernel = define(text(name), N=sv.types.NDArray)
    for seed, n in ((0, 300), (1, 17)):
        given = arguments(seed, n)
        expected = of_python(name, given)
        kernel(**given)
        for each, right in expected.items():
            np.testing.assert_allclose(given[each], right, rtol=2e-5, atol=1e-4, err_msg=f"{each}, n = {n}\n{text(name)}")


@pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")
@pytest.mark.parametrize("without", ["", " ".join(SWITCHES)], ids=["all", "none"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_computes_what_python_computes(name: str, without: str) -> None:
    run(name, without=without)


@pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_whatever_it_costs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "GAIN", float("inf"))
    monkeypatch.setattr(price, "UNROLLED", 0)
    run(name, offline_cache=False, num_threads=2)


@pytest.mark.parametrize("size", [0, 1, 15, 63, 64, 65, 127, 257])
@pytest.mark.parametrize("first", [np.nan, np.inf, -np.inf, 1.0], ids=str)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_extremes_of_what_is_no_number(dtype: str, first: float, size: int) -> None:
    """The first numbers fill whole vectors and the others do not, so that they meet at the very end."""
    kernel = define(
        f"""
@sv.kernel
def k(x: sv.types.NDArray[sv.{dtype}, 1], o: sv.types.NDArray[sv.{dtype}, 1], n: sv.i32):
    for a in range(2):
        low = x[n]
        high = x[n]
        for i in range(n):
            low = min(low, x[i])
        for i in range(n):
            high = max(high, x[i])
        o[2 * a] = low
        o[2 * a + 1] = high
"""
    )
    for whole in (np.inf, -np.inf, np.nan, 2.0):
        for rest in (np.nan, 3.0):
            x = np.full(size + 1, whole, getattr(np, {"f32": "float32", "f64": "float64"}[dtype]))
            x[size // 64 * 64 :] = rest
            x[size] = first
            out = np.zeros(4, x.dtype)
            kernel(x, out, size)
            expected = [np.fmin.reduce(x), np.fmax.reduce(x)] * 2
            np.testing.assert_array_equal(out, np.array(expected, x.dtype), err_msg=f"{whole}, {rest}")


SLOTS = """
@sv.kernel
def k(x: sv.types.NDArray[sv.i32, 1], o: sv.types.NDArray[sv.i32, 1], count: sv.types.NDArray[sv.i32, 1]):
    for i in range(x.shape[0]):
        for j in range(2):
            if x[i] > j:
                o[sv.atomic_add(count[0], 1)] = x[i]
"""
SHARED = """
@sv.kernel
def k(x: sv.types.NDArray[sv.i32, 1], o: sv.types.NDArray[sv.i32, 1]) -> sv.i32:
    t = 0
    for i in range(x.shape[0]):
        for j in range(2):
            if x[i] > j:
                o[sv.atomic_add(t, 1)] = x[i]
    return t
"""
DIAGONAL = """
@sv.kernel
def k(o: sv.types.NDArray[sv.f32, 1], n: sv.i32):
    for i in range(20):
        t = sv.f32(0)
        for j in range(o.shape[0]):
            if i == n:
                t = t * 0.5 + f[i, 380 - 20 * i]
        o[i] = t
"""
COLUMNS = """
@sv.kernel
def k(x: sv.types.NDArray[sv.f32, 1]):
    for i in range(x.shape[0]):
        t = x[i]
        for j in range(9):
            if t > j:
                t = t * 0.5 - 1
        f[0, i] = t
        f[1, i] = t + 1
"""
OVERLAPPING = """
@sv.kernel
def k(x: sv.types.NDArray[sv.f32, 1], o: sv.types.NDArray[sv.f32, 1]):
    sv.loop_config(serialize=True)
    for i in range(x.shape[0]):
        if x[i] > 0:
            o[i] = x[i] * 0.5 + 1
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_an_update_that_is_asked_for(threads: int) -> None:
    sv.init(num_threads=threads)
    x = np.random.default_rng(0).integers(-9, 10, 300, dtype=np.int32)
    out, count = np.zeros(600, np.int32), np.zeros(1, np.int32)
    define(SLOTS)(x, out, count)
    expected = [number for number in x for j in range(2) if number > j]
    assert count[0] == len(expected)
    assert sorted(out[: count[0]]) == sorted(expected)
    out[:] = 0
    assert define(SHARED)(x, out) == len(expected)
    assert sorted(out[: count[0]]) == sorted(expected)


def test_indices_that_move_against_each_other() -> None:
    """All iterations would touch one place in memory, if all of them touched one."""
    field = sv.field(sv.f32, (20, 20))
    field.from_numpy(np.arange(400, dtype=np.float32).reshape(20, 20))
    out = np.zeros(20, np.float32)
    define(DIAGONAL, f=field)(out, 19)
    expected = 0.0
    for _ in range(20):
        expected = expected * 0.5 + 380
    np.testing.assert_allclose(out, [0.0] * 19 + [expected], rtol=1e-5)


def test_records_of_an_array_in_another_order() -> None:
    """Adjacent iterations are two elements apart, and all elements are written; but no record is contiguous in an index."""
    field = sv.field(sv.f32, (2, 40), order="ji")
    x = np.arange(40, dtype=np.float32) - 20
    define(COLUMNS, f=field)(x)
    expected = x.copy()
    for j in range(9):
        expected = np.where(expected > j, expected * np.float32(0.5) - 1, expected)
    np.testing.assert_array_equal(field.to_numpy(), [expected, expected + 1])


@pytest.mark.parametrize("distance", [-64, -9, -4, -3, -2, -1, 0, 1, 2, 3, 4, 9, 64])
def test_arrays_that_overlap(distance: int) -> None:
    kernel = define(OVERLAPPING)
    for size in (1, 15, 33, 300):
        base = (np.random.default_rng(size).integers(-30, 30, 500) / 4).astype(np.float32)
        expected = base.copy()
        for i in range(size):
            if expected[100 + i] > 0:
                expected[100 + distance + i] = expected[100 + i] * np.float32(0.5) + 1
        kernel(base[100 : 100 + size], base[100 + distance : 100 + distance + size])
        np.testing.assert_array_equal(base, expected)


#: An array that becomes variables.
SMALL = """
@sv.kernel
def k(a: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        v = sv.Matrix.zero(sv.f32, 3, 3)
        for j in range(3):
            for l in range(j + 1):
                v[j, l] = a[i] * j + l
        for j in range(3):
            a[i] += v[2, j] * v[j, 0]
"""


# --- refusals


def refusals() -> set[tuple[str, int]]:
    """The lines that refuse something: what is raised as a refusal, and where nothing is returned under a condition."""
    found: set[tuple[str, int]] = set()
    for module in REFUSING:
        tree = ast.parse((LOOPS / f"{module}.py").read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and "Refused" in ast.unparse(node) + "Refused" * (
                "_TooLong" in ast.unparse(node)
            ):
                found.add((module, node.lineno))
            if isinstance(node, ast.If):
                for each in node.body:
                    if isinstance(each, ast.Return) and each.value is not None and ast.unparse(each.value) in NOTHING:
                        found.add((module, each.lineno))
    return found


@contextmanager
def executed(lines: set[tuple[str, int]]) -> Iterator[set[tuple[str, int]]]:
    """Which of some lines are executed meanwhile."""
    files = {str(LOOPS / f"{module}.py"): module for module, _ in lines}
    seen: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        module = files.get(frame.f_code.co_filename)
        if module is None:
            return None
        if event == "line" and (module, frame.f_lineno) in lines:
            seen.add((module, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    threading.settrace(trace)
    try:
        yield seen
    finally:
        sys.settrace(before)
        threading.settrace(before)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")
def test_every_refusal_is_needed_by_a_program() -> None:
    wanted = refusals()
    with executed(wanted) as seen:
        sv.init(offline_cache=False)
        for name in PROGRAMS:
            define(text(name), N=sv.types.NDArray).inspect("ir", **arguments(0))
        define(SLOTS).inspect("ir", *np.zeros((3, 9), np.int32))
        define(SHARED).inspect("ir", *np.zeros((2, 9), np.int32))
        shared = np.zeros(20, np.float32)
        define(DIAGONAL, f=sv.field(sv.f32, (20, 20))).inspect("ir", shared, 19)
        define(COLUMNS, f=sv.field(sv.f32, (2, 20), order="ji")).inspect("ir", shared)
        define(SMALL).inspect("ir", shared)
        define(OVERLAPPING).inspect("ir", shared[1:], shared[:-1])
    missing = sorted(wanted - seen)
    lines = {module: (LOOPS / f"{module}.py").read_text().splitlines() for module, _ in missing}
    assert not missing, "\n".join(f"{module}.py:{line}: {lines[module][line - 1].strip()}" for module, line in missing)
