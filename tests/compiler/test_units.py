"""Large functions and tasks are units: compiled once for all kernels that have them, and after an edit only those that
changed. Nothing here is vectorized: funcs would be copied into the loops that call them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import samovar as sv
from samovar.compiler import units

#: Funcs with loops, each large enough to be a unit, one of which calls another; three kernels share them.
PROGRAM = """
import samovar as sv

A = sv.types.NDArray[sv.f32, 1]
SCALE = 2.0

@sv.func
def leaf(a: A, i: sv.i32, x: sv.f32):
    s = x
    for k in range(4):
{leaf}
    return s

@sv.func
def middle(a: A, i: sv.i32, x: sv.f32):
    s = leaf(a, i, x) - leaf(a, i, x * 0.5)
    for k in range(3):
{middle}
    return s

@sv.kernel
def first(a: A, b: A) -> None:
    for i in range(a.shape[0]):
        b[i] = middle(a, i, 1.0)

@sv.kernel
def second(a: A, b: A) -> None:
    for i in range(a.shape[0]):
        b[i] = middle(a, i, 2.0) + leaf(a, i, b[i])

@sv.kernel
def third(a: A, b: A) -> None:
    for i in range(a.shape[0]):
        b[i] = leaf(a, i, SCALE)
"""


def lines(variable: str, seed: int) -> str:
    steps = [f"        s += a[(i + k + {number % 5}) % 16] * {(number + seed) % 9}.25 * {variable}" for number in range(40)]
    return "\n".join(steps)


def program(tmp_path: Path, name: str, **changes: str) -> Any:
    text = PROGRAM
    for marker, content in {"leaf": lines("x", 1), "middle": lines("SCALE", 2), **changes}.items():
        text = text.replace("{" + marker + "}", content)
    path = tmp_path / f"{name}.py"
    path.write_text(text)
    return loaded(path)


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def launched(kernel: Any, seed: int = 0) -> tuple[np.ndarray, int]:
    """What a kernel writes, and how often LLVM ran for it."""
    a = np.random.default_rng(seed).random(16, dtype=np.float32)
    b = np.ones(16, np.float32)
    before = sv.compile_count("llvm")
    kernel(a, b)
    return b, sv.compile_count("llvm") - before


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "remembered", units.Remembered())


def test_kernels_share_units(tmp_path: Path) -> None:
    sv.init(offline_cache=False, without="vectors")
    module = program(tmp_path, "shared")
    first, runs = launched(module.first)
    assert runs == 3  # two funcs and the entry
    second, runs = launched(module.second)
    assert runs == 1
    third, runs = launched(module.third)
    assert runs == 1
    assert np.isfinite(first).all()
    assert not np.array_equal(first, second)
    assert not np.array_equal(second, third)


def test_only_what_changed_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sv.init(offline_cache=False, without="vectors")
    before = program(tmp_path, "before")
    result, _ = launched(before.second)
    # A comment and another name of a local.
    same = program(tmp_path, "same", leaf=lines("x", 1) + "\n        # nothing")
    again, runs = launched(same.second)
    assert runs == 0
    assert np.array_equal(result, again)
    edited = program(tmp_path, "edited", leaf=lines("x", 3))
    other, runs = launched(edited.second)
    assert runs == 1
    assert not np.array_equal(result, other)
    monkeypatch.setattr(units, "remembered", units.Remembered())
    cold, runs = launched(program(tmp_path, "cold", leaf=lines("x", 3)).second)
    assert runs == 3
    assert np.array_equal(other, cold)


def test_units_are_kept_in_the_code_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sv.init(offline_cache_file_path=str(tmp_path / "cache"), without="vectors")
    _, runs = launched(program(tmp_path, "kept").first)
    assert runs == 3
    monkeypatch.setattr(units, "remembered", units.Remembered())
    _, runs = launched(program(tmp_path, "other", middle=lines("SCALE", 5)).first)
    assert runs == 1


def test_an_explanation_names_the_units_that_changed(tmp_path: Path) -> None:
    from samovar.cache import comparisons, kernels
    from samovar.runtime import process_cache
    from samovar.runtime.configuration import current_options

    sv.init(offline_cache_file_path=str(tmp_path / "cache"), without="vectors")
    for seed in (1, 3):
        launched(program(tmp_path, "explained", leaf=lines("x", seed)).first)
    library = process_cache.library_for(current_options())
    assert library is not None
    before, after = comparisons(library, kernels(library, ["first"]))
    assert before.relative is None
    assert after.differences[-1] == "recompiled by LLVM: first.leaf"


def test_a_kernel_in_units_is_what_it_is_in_one_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from samovar.backends import CannotLink
    from samovar.backends.llvm import LLVM

    sv.init(offline_cache=False, fast_math=False, without="vectors")
    apart, runs = launched(program(tmp_path, "apart").second)
    assert runs == 3

    def refuse(*arguments: object) -> bytes:
        raise CannotLink("not today")

    monkeypatch.setattr(LLVM, "link_units", refuse)
    whole, _ = launched(program(tmp_path, "whole").second)
    assert np.array_equal(apart, whole)


SPEAKING = """
import samovar as sv

@sv.func
def check_{name}(a: sv.types.NDArray[sv.i32, 1], i: sv.i32, limit: sv.i32):
    s = 0
    for k in range(3):
{lines}
        assert a[i] < limit, f"{name}: {{a[i]}} at {{i}}"
    return s

@sv.kernel
def {name}(a: sv.types.NDArray[sv.i32, 1], b: sv.types.NDArray[sv.i32, 1], limit: sv.i32) -> None:
    print("begin {name}")
    for i in range(a.shape[0]):
        b[i] = check_{name}(a, i, limit)
"""


@pytest.mark.parametrize("debug", [False, True])
def test_sites_of_units_are_those_of_the_kernel(tmp_path: Path, capfd: pytest.CaptureFixture[str], debug: bool) -> None:
    """Two kernels share a unit that speaks, and each says its own."""
    sv.init(offline_cache=False, debug=debug)
    steps = "\n".join(f"        s += a[(i + {number}) % 4] * {number}" for number in range(60))
    path = tmp_path / "speaking.py"
    path.write_text("".join(SPEAKING.format(name=name, lines=steps) for name in ("one", "two")))
    module = loaded(path)
    runs = []
    for name in ("one", "two"):
        before = sv.compile_count("llvm")
        getattr(module, name)(np.arange(4, dtype=np.int32), np.zeros(4, np.int32), 100)
        runs.append(sv.compile_count("llvm") - before)
        assert f"begin {name}" in capfd.readouterr().out
        if debug:
            with pytest.raises(AssertionError, match=f"{name}: 3 at 3"):
                getattr(module, name)(np.arange(4, dtype=np.int32), np.zeros(4, np.int32), 3)
    assert runs[1] < runs[0]


def test_the_functions_of_an_image_have_names(tmp_path: Path) -> None:
    from backends.optimize import optimize
    from samovar.backends import backend
    from samovar.backends.images.linker import link_units
    from samovar.backends.llvm.target import host_target
    from samovar.compiler import driver

    sv.init(offline_cache=False, without="vectors")
    seen: list[Any] = []
    prepare = driver.prepare

    def watched(lens: Any) -> Any:
        seen.append(prepare(lens))
        return seen[-1]

    driver.prepare = watched
    try:
        launched(program(tmp_path, "named").first)
    finally:
        driver.prepare = prepare
    found = seen[0].rendered.units
    assert backend().link_units([optimize(unit.text, host_target()) for unit in found], found)
    parts = link_units([optimize(unit.text, host_target()) for unit in found], found)
    assert {"samovar_entry", "first.leaf", "first.middle"} <= {name for name, _, _ in parts.functions}
