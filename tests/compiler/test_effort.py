"""What LLVM is asked to do for a unit: as much as the unit is worth, unless an option says otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_units import loaded

import samovar as sv
from samovar.backends.llvm.effort import LEVELS, effort_for
from samovar.compiler import driver

#: Funcs that are units: one is executed once in a launch, one is called in a loop, one has a loop, one is called twice.
PROGRAM = """
import samovar as sv

A = sv.types.NDArray[sv.f32, 1]

@sv.func
def once(a: A, x: sv.f32):
    s = x
{straight}
    return s

@sv.func
def repeated(a: A, x: sv.f32):
    s = x - 1.0
{straight}
    return s

@sv.func
def looping(a: A, x: sv.f32):
    s = x + 1.0
    for k in range(a.shape[0]):
        s += a[k]
{straight}
    return s

@sv.func
def twice(a: A, x: sv.f32):
    s = x * 0.5
{straight}
    return s

@sv.func
def below(a: A, x: sv.f32):
    s = x * 0.25
{straight}
    return s

@sv.func
def above(a: A, x: sv.f32):
    s = below(a, x) + looping(a, x)
{straight}
    return s

@sv.kernel
def k(a: A, n: sv.i32) -> sv.f32:
    s = once(a, 1.0) + twice(a, 3.0) + above(a, 5.0)
    s += twice(a, s)
    sv.loop_config(serialize=True)
    for i in range(n):
        s = repeated(a, repeated(a, s))
    return s
"""

ELEMENTS = 8


@pytest.fixture(autouse=True)
def options_as_they_were() -> Iterator[None]:
    yield
    sv.reset()


def program(tmp_path: Path) -> Any:
    steps = "\n".join(f"    s = s * 0.5 + a[{number % ELEMENTS}] * {number % 7}.0" for number in range(100))
    path = tmp_path / "worth.py"
    path.write_text(PROGRAM.replace("{straight}", steps))
    return loaded(path)


def levels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> tuple[dict[str, int], float]:
    """The level of each unit, and what the kernel computes."""
    sv.init(offline_cache=False, **options)
    rendered: list[Any] = []
    prepare = driver.prepare

    def watched(lens: Any) -> Any:
        rendered.append(prepare(lens))
        return rendered[-1]

    monkeypatch.setattr(driver, "prepare", watched)
    found = program(tmp_path).k(np.arange(ELEMENTS, dtype=np.float32), 3)
    asked = {done: level for level, done in LEVELS.items()}
    units = rendered[0].rendered.units
    return {unit.name.rpartition(".")[2]: asked[effort_for(unit.text, "in full")] for unit in units}, found


def test_a_unit_is_optimized_as_it_is_worth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, result = levels(tmp_path, monkeypatch)
    assert found == {"k": 3, "once": 1, "above": 1, "below": 1, "repeated": 2, "looping": 2, "twice": 2}
    for opt_level in (0, 1, 3):
        found, other = levels(tmp_path, monkeypatch, opt_level=opt_level)
        assert set(found.values()) == {opt_level}
        assert np.isclose(result, other)


#: Helpers that go into several units: one that is the same text in all, and ones that refer to something of their module.
HELPERS = """
import samovar as sv

A = sv.types.NDArray[sv.i32, 1]

@sv.func
def plain(x: sv.i32):
    return x * 3 - 1

@sv.func
def calling(x: sv.i32):
    return plain(x) + 2 * plain(x + 1)

@sv.func
def dividing(x: sv.i32, y: sv.i32):
    return x // (y * y + 1) + x % 7

@sv.func
def looping(a: A, n: sv.i32):
    s = 0
    for k in range(n):
        s += a[k]
    return s

@sv.func
def speaking(x: sv.i32):
    assert x < 1000000, f"{x} is too much"
    return x + 1

@sv.func
def first(a: A, i: sv.i32):
    s = speaking(i) + dividing(a[i], i)
{steps}
    return s + plain(s) + calling(i) + looping(a, i)

@sv.func
def second(a: A, i: sv.i32):
    s = looping(a, 3) - plain(i)
{steps}
    return s + dividing(s, i) + calling(i) + speaking(s)

@sv.func
def third(a: A, i: sv.i32):
    s = calling(i) + first(a, i)
{steps}
    return s + speaking(s) - second(a, i)

@sv.kernel
def k(a: A, b: A) -> None:
    for i in range(a.shape[0]):
        b[i] = third(a, i) - first(a, i) + plain(i)
"""


@pytest.mark.parametrize("debug", [False, True])
def test_helpers_that_several_units_have_are_the_same_in_all(tmp_path: Path, debug: bool) -> None:
    steps = "\n".join(f"    s = (s + a[(i + {number}) % {ELEMENTS}] * {number}) % 1013" for number in range(70))
    path = tmp_path / "helping.py"
    path.write_text(HELPERS.replace("{steps}", steps))
    module = loaded(path)
    a = np.arange(ELEMENTS, dtype=np.int32) * 5
    results = []
    for arch in (sv.cpu, sv.python):
        sv.init(arch, offline_cache=False, debug=debug)
        b = np.zeros(ELEMENTS, np.int32)
        module.k(a, b)
        results.append(b.tolist())
    assert results[0] == results[1]
