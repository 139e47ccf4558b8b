"""Warnings about the text of a kernel: once in each process, whether it is compiled there or comes from the cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings

import pytest
from changes import loaded

import samovar as sv

LOSSY = """
@sv.func
def halved(x: sv.f32):
    n = sv.i32(0)
    n = x / 2
    return n

@sv.kernel
def k(x: sv.types.NDArray[sv.f32, 1]) -> sv.f32:
    s = sv.i32(0)
    for i in range(x.shape[0]):
        s += x[i] * 0.5
    return s + halved(3.0)
"""
MAIN = """
import json, sys, warnings
sys.path.insert(0, sys.argv[1])
import samovar as sv
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import program
    a = sv.ndarray(sv.f32, 4)
    for _ in range(3):
        program.k(a)
print(json.dumps([[str(each.message), each.filename, each.lineno] for each in caught] + [sv.compile_count()]))
"""


def run(folder, text, **environment):
    (folder / "program.py").write_text("import samovar as sv\n" + text)
    done = subprocess.run(
        [sys.executable, "-c", MAIN, str(folder)],
        env={**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(folder / "cache"), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    *found, compiled = json.loads(done.stdout)
    return [(message, os.path.basename(file), line) for message, file, line in found], compiled


def lines_of(text, *parts):
    lines = ("import samovar as sv\n" + text).splitlines()
    return [next(number for number, line in enumerate(lines, 1) if part in line) for part in parts]


def test_a_warning_is_given_once_in_each_process(tmp_path):
    cold, compiled = run(tmp_path, LOSSY)
    assert compiled == 1
    assert len(cold) == 2
    assert sorted(line for _, _, line in cold) == sorted(lines_of(LOSSY, "n = x / 2", "s += x"))
    for _ in range(2):
        warm, compiled = run(tmp_path, LOSSY)
        assert compiled == 0
        assert warm == cold


def test_the_line_is_where_the_text_is_now(tmp_path):
    run(tmp_path, LOSSY)
    moved = "\n# moved\n\n" + LOSSY.replace("    s = 0\n", "    # a comment\n    s = 0\n\n    # and another\n")
    found, compiled = run(tmp_path, moved)
    assert compiled == 0
    assert sorted(line for _, _, line in found) == sorted(lines_of(moved, "n = x / 2", "s += x"))


def test_warnings_can_be_switched_off(tmp_path):
    for expected in (1, 0):
        assert run(tmp_path, LOSSY, SAMOVAR_LOG_LEVEL="error") == ([], expected)
    found, compiled = run(tmp_path, LOSSY)
    assert len(found) == 2
    assert compiled == 0


def test_a_kernel_without_warnings_gives_none(tmp_path):
    quiet = LOSSY.replace("s = sv.i32(0)\n", "s = 0.0\n").replace("n = sv.i32(0)\n", "n = 0.0\n")
    for _ in range(2):
        assert run(tmp_path, quiet)[0] == []


PURE = """
LIMIT = 3

@sv.kernel(fastcache=True)
def k(x: sv.types.NDArray[sv.f32, 1]) -> sv.f32:
    return x[0] + LIMIT
"""


def test_a_constant_that_is_captured_by_a_pure_kernel_is_named_in_each_process(tmp_path):
    cold, _ = run(tmp_path, PURE)
    warm, compiled = run(tmp_path, PURE)
    assert compiled == 0
    assert len(cold) == len(warm) == 1
    assert "captures global LIMIT" in cold[0][0]
    assert warm[0][0] == cold[0][0]


def test_specializations_of_a_kernel_warn_once_of_one_place(tmp_path):
    text = LOSSY.replace("x: sv.types.NDArray[sv.f32, 1]", "x: sv.types.NDArray[sv.f32, 1], t: sv.Template")
    module = loaded(tmp_path, text)
    a = sv.ndarray(sv.f32, 4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for t in (1, 2, 1):
            module.k(a, t)
        sv.init(offline_cache_file_path=tmp_path / "cache")
        module.k(a, 1)
    assert len(caught) == 2


def test_a_warning_that_is_an_error_is_one_each_time(tmp_path):
    sv.init(offline_cache_file_path=tmp_path / "cache")
    module = loaded(tmp_path, LOSSY)
    for _ in range(2):
        with pytest.raises(sv.SamovarWarning):
            module.k(sv.ndarray(sv.f32, 4))
    sv.init(offline_cache_file_path=tmp_path / "cache", log_level="error")
    module.k(sv.ndarray(sv.f32, 4))
    sv.init(offline_cache_file_path=tmp_path / "cache")
    for _ in range(2):
        with pytest.raises(sv.SamovarWarning):
            module.k(sv.ndarray(sv.f32, 4))
    assert module.k.cache_observations.compiles == 1
