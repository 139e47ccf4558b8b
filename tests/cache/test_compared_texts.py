"""What one compile has found out, that a text is that of the loaded code, others need not find out again."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
import worlds

import samovar as sv
from samovar.lens import source

# Annotations of locals leave no bytecode behind, so the text is part of the key.
PROGRAM = """
@sv.func
def half(x):
    y: sv.f32 = x * 0.5
    return y

@sv.func
def edited(x):
    y: sv.f32 = x + {}
    return y

@sv.func
def outer(x):
    y: sv.f32 = half(x) + edited(x)
    return y

@sv.kernel
def k(x: sv.f32) -> sv.f32:
    y: sv.f32 = outer(x)
    return y
"""
COUNTING = """
from samovar.lens import source
compared = []
original = source.codes_in
def counted(tree, loaded):
    compared.append(loaded.co_name)
    return original(tree, loaded)
source.codes_in = counted

def main():
    import kernels
    return [float(kernels.k(2.0)), sorted(compared)]
"""


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def run(folder: Path, cache: Path, value: float) -> list[object]:
    worlds.write(folder, {"kernels.py": worlds.HEADER + PROGRAM.format(value), "main.py": COUNTING})
    result: list[object] = worlds.run_elsewhere({"it": (folder, cache)})["it"]["result"]
    return result


def test_only_the_text_that_was_edited_is_compared_again(tmp_path: Path, cache: Path) -> None:
    assert run(tmp_path / "program", cache, 1) == [4.0, ["edited", "half", "k", "outer"]]
    assert run(tmp_path / "program", cache, 1) == [4.0, []]
    assert run(tmp_path / "program", cache, 2) == [5.0, ["edited"]]
    assert run(tmp_path / "program", cache, 1) == [4.0, []]


ARRAYS = """\
import samovar as sv
@sv.kernel
def k(a: sv.types.NDArray):
    for i in a:
        y: sv.f64 = {}
        a[i] = y
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    sv.init(offline_cache_file_path=str(tmp_path / "cache"), log_level="error")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "compared_texts", raising=False)
    path = tmp_path / "compared_texts.py"
    path.write_text(ARRAYS.format("1.5"))
    return path


def test_a_file_that_changed_since_is_noticed_at_the_next_compile(program: Path) -> None:
    module = importlib.import_module("compared_texts")
    first, second = np.zeros(3, np.float32), np.zeros(3, np.float64)
    module.k(first)
    program.write_text(ARRAYS.format("2.5"))
    with pytest.raises(sv.SamovarSyntaxError, match="does not match the loaded code"):
        module.k(second)
    program.write_text("\n" + ARRAYS.format("1.5"))
    with pytest.raises(sv.SamovarSyntaxError, match="does not match the loaded code"):
        module.k(second)
    program.write_text(ARRAYS.format("1.5"))
    module.k(second)
    assert first.tolist() == second.tolist() == [1.5] * 3


def test_lines_that_are_the_same_do_not_stand_for_other_code(program: Path) -> None:
    """The file is back to a text that was compiled before, and what is loaded is the one between."""
    module = importlib.import_module("compared_texts")
    module.k(np.zeros(3, np.float32))
    program.write_text(ARRAYS.format("2.5"))
    importlib.reload(module)
    program.write_text(ARRAYS.format("1.5"))
    with pytest.raises(sv.SamovarSyntaxError, match="does not match the loaded code"):
        module.k(np.zeros(3, np.float32))


def test_texts_of_one_bytecode_are_told_apart(program: Path) -> None:
    """Both have been compared, and the one that is there is taken."""
    module = importlib.import_module("compared_texts")
    for type_, expected in (("sv.f64", 1.1), ("sv.i32", 1.0), ("sv.f64", 1.1), ("sv.i32", 1.0)):
        program.write_text(ARRAYS.format("1.1").replace("sv.f64", type_))
        importlib.reload(module)
        for dtype in (np.float64, np.float32):
            a = np.zeros(2, dtype)
            module.k(a)
            assert a.tolist() == [dtype(expected)] * 2


def test_a_tree_of_many_texts_is_looked_at_in_part(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from samovar.lens import decision_tree

    module = importlib.import_module("compared_texts")
    module.k(np.zeros(3, np.float32))
    known = module.k.state.known.tree.texts()
    assert [len(texts) for texts in known.values()] == [1]
    monkeypatch.setattr(decision_tree, "MOST_STEPS_LOOKED_AT", 0)
    assert module.k.state.known.tree.texts() == {}
    source._NOT_ALONE.clear()
    a = np.zeros(3, np.float64)
    module.k(a)
    assert a.tolist() == [1.5] * 3
