"""Functions that take many arrays find them in a table: pieces, local arrays, views, arrays that overlap."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import many_arrays
import numpy as np
import pytest

import samovar as sv

ARRAYS, ROWS, COLUMNS = 20, 37, 5


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    sv.reset()


def module(path: Path, source: str) -> ModuleType:
    file = path / "made_by_program.py"
    file.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("made_by_program", file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["made_by_program"] = made
    spec.loader.exec_module(made)
    return made


def contiguous(random: np.random.Generator) -> np.ndarray:
    return random.normal(size=(ROWS, COLUMNS))


def strided(random: np.random.Generator) -> np.ndarray:
    return random.normal(size=(2 * ROWS, 3 * COLUMNS))[::2, ::3]


def compare(path: Path, source: str, make: Callable[[np.random.Generator], np.ndarray], shared: bool = False) -> Any:
    made = module(path, source)
    random = np.random.default_rng(5)
    arrays = {f"a{number}": make(random) for number in range(ARRAYS)}
    if shared:
        arrays = {name: arrays[f"a{number % 3}"] for number, name in enumerate(arrays)}
    kinds = random.integers(0, 30, ROWS).astype(np.int32)
    out = make(random)
    copies: dict[int, np.ndarray] = {}
    given = {name: copies.setdefault(id(array), array.copy()) for name, array in arrays.items()}
    found, wanted = out.copy(), out
    if make is strided:  # with the strides of the original
        given = {name: _with_strides(array) for name, array in arrays.items()}
    made.run(made.State(**given), kinds, found)
    many_arrays.expected(source, ROWS, arrays, kinds, wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    for name, array in arrays.items():
        np.testing.assert_allclose(given[name], array, rtol=1e-9)
    return made, given, kinds, found


def _with_strides(array: np.ndarray) -> np.ndarray:
    wide = np.zeros((2 * array.shape[0], 3 * array.shape[1]))
    wide[::2, ::3] = array
    return wide[::2, ::3]


@pytest.mark.parametrize("local", [False, True], ids=["", "local"])
@pytest.mark.parametrize("make", [contiguous, strided])
def test_long_functions_of_many_arrays(tmp_path: Path, make: Any, local: bool) -> None:
    sv.init(num_threads=1, default_fp=sv.f64)  # elements of rows that other iterations read are written
    made, given, kinds, found = compare(tmp_path, many_arrays.program(ARRAYS, 30, local=local), make)
    text = made.run.inspect("llvm", made.State(**given), kinds, found)
    assert "%arrays" in text
    functions = [line for line in text.splitlines() if line.startswith("define") and "%arrays" in line]
    assert max(line.count(",") for line in functions) < ARRAYS


def test_arrays_that_are_given_several_times(tmp_path: Path) -> None:
    sv.init(num_threads=1)
    compare(tmp_path, many_arrays.program(ARRAYS, 30), contiguous, shared=True)


def test_debug_mode_names_the_element(tmp_path: Path) -> None:
    sv.init(num_threads=1, debug=True)
    made, given, kinds, found = compare(tmp_path, many_arrays.program(ARRAYS, 12), contiguous)
    with pytest.raises(sv.errors.SamovarIndexError, match="out of bounds"):
        made.run(made.State(**{**given, "a0": given["a0"][:3]}), np.zeros_like(kinds), found)


def test_branches_become_pieces(tmp_path: Path) -> None:
    """What is behind a condition is called there, so that what follows in a chain is not called on the way of all others."""
    made = module(tmp_path, many_arrays.program(ARRAYS, 40, statements=6))
    arrays = {f"a{number}": np.ones((ROWS, COLUMNS + 4)) for number in range(ARRAYS)}
    text = made.run.inspect("llvm", made.State(**arrays), np.zeros(ROWS, np.int32), np.ones((ROWS, COLUMNS + 4)))
    assert len(set(re.findall(r"^; --- \S*piece\d+", text, re.MULTILINE))) >= 40
