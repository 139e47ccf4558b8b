"""Looking at the stages of a compile: inspect, dumps, the log."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import samovar as sv


@sv.func
def double(x):
    return x * 2


@sv.kernel
def shown(a: sv.types.NDArray[sv.f32, 1], n: sv.i32):
    for i in range(n):
        a[i] = double(a[i]) + 1


def test_the_ir_reads_like_code():
    text = shown.inspect("ir", np.zeros(4, np.float32), 4)
    assert "kernel shown(" in text
    assert "func double(" in text
    assert "units of 1:i64" in text
    assert "for i: i32 in first .. last by 1:i64  (parallel)" in text


def test_llvm_and_assembly_are_shown():
    shown(np.zeros(4, np.float32), 4)
    assert "samovar_entry" in shown.inspect("llvm")
    assert "samovar_entry:" in shown.inspect("asm")


def test_inspecting_compiles_nothing_into_the_kernel():
    before = len(shown.specializations)
    shown.inspect("asm", np.zeros(4, np.float32)[::2], 2)
    assert len(shown.specializations) == before


def test_an_unknown_stage_lists_the_known_ones():
    with pytest.raises(TypeError, match="'ir', 'llvm', 'asm'"):
        shown.inspect("bytecode")


PROGRAM = """
import numpy as np
import samovar as sv

@sv.kernel
def two(a: sv.types.NDArray[sv.f32, 1]):
    for i in range(a.shape[0]):
        a[i] = i
    sv.loop_config(name="second")
    for i in range(a.shape[0]):
        a[i] += 1

two(np.zeros(4, np.float32))
"""


def run(path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    program = path / "program.py"
    program.write_text(PROGRAM)
    # A cache of its own each time: what is cached is not compiled, and there is nothing to see.
    environment |= {"PATH": "", "SAMOVAR_OFFLINE_CACHE_FILE_PATH": tempfile.mkdtemp(dir=path)}
    return subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, check=True)


def test_dumps_have_a_file_for_the_kernel_and_for_each_task(tmp_path):
    run(tmp_path, SAMOVAR_DUMP_IR=str(tmp_path / "dump"))
    names = sorted(file.name.partition("-")[0] + "".join(file.suffixes) for file in (tmp_path / "dump").iterdir())
    assert names == ["two.ir", "two.ll", "two.task.ir", "two.task.ir"]
    assert any("second" in file.name for file in (tmp_path / "dump").iterdir())


def test_print_ir_prints_each_kernel(tmp_path):
    assert "kernel two(" in run(tmp_path, SAMOVAR_PRINT_IR="1").stderr


def test_the_log_shows_the_time_of_each_stage(tmp_path):
    text = run(tmp_path, SAMOVAR_LOG="compile").stderr
    assert "compiled two" in text
    for stage in ("frontend", "passes", "render", "llvm", "link"):
        assert stage in text


def test_the_log_level_says_what_is_compiled(tmp_path):
    assert "compiled two in" in run(tmp_path, SAMOVAR_LOG_LEVEL="info").stderr
    assert "frontend" not in run(tmp_path, SAMOVAR_LOG_LEVEL="info").stderr
    assert "frontend" in run(tmp_path, SAMOVAR_LOG_LEVEL="debug").stderr
    assert run(tmp_path).stderr == ""
