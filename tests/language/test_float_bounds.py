"""`float_bounds="truncate"`: a float as a bound of `range` loses its fraction, with a warning."""

import subprocess
import sys

import pytest

import samovar as sv


@pytest.fixture(autouse=True)
def as_before():
    sv.reset()
    yield
    sv.reset()


@sv.kernel
def count(x: sv.f32) -> sv.i32:
    total = 0
    for _ in range(x):
        total += 1
    return total


@sv.kernel
def between(x: sv.f64) -> sv.i32:
    total = 0
    for _ in range(1):
        for i in range(1.5, x):
            total += i
    for _ in range(4.0):
        total += 100
    return total


def test_the_option_decides():
    with pytest.raises(sv.SamovarTypeError, match="the bounds of a loop must be integers, got f32"):
        count(3.7)
    sv.init(float_bounds="truncate")
    with pytest.warns(sv.SamovarWarning, match="a bound of this `range` is a float"):
        assert count(3.7) == 3
    assert count(-2.0) == 0
    sv.init()
    with pytest.raises(sv.SamovarTypeError, match="must be integers"):
        count(3.7)


@pytest.mark.filterwarnings("ignore::samovar.errors.SamovarWarning")
def test_both_bounds_and_constants():
    sv.init(float_bounds="truncate")
    assert between(4.7) == 1 + 2 + 3 + 400


def test_a_step_and_an_ndrange_want_integers():
    sv.init(float_bounds="truncate")

    @sv.kernel
    def stepped(x: sv.f32) -> sv.i32:
        total = 0
        for _ in range(0, x, 2):
            total += 1
        return total

    @sv.kernel
    def boxed(x: sv.f32) -> sv.i32:
        total = 0
        for _, _ in sv.ndrange(x, 2):
            total += 1
        return total

    for kernel in (stepped, boxed):
        with pytest.raises(sv.SamovarTypeError, match="must be integers"):
            kernel(3.7)


PROGRAM = """
import sys
import samovar as sv
sv.init(float_bounds=sys.argv[1])

@sv.kernel
def count(x: sv.f32) -> sv.i32:
    total = 0
    for i in range(x):
        total += 1
    return total

print(count(3.5), sv.compile_count())
"""


def test_the_warning_is_kept_with_the_kernel_and_so_is_the_option(tmp_path, monkeypatch):
    monkeypatch.setenv("SAMOVAR_OFFLINE_CACHE_FILE_PATH", str(tmp_path / "cache"))
    (tmp_path / "program.py").write_text(PROGRAM)
    for compiled in (1, 0):
        done = subprocess.run([sys.executable, tmp_path / "program.py", "truncate"], capture_output=True, text=True)
        assert done.stdout == f"3 {compiled}\n", done.stderr
        assert "a bound of this `range` is a float" in done.stderr
    done = subprocess.run([sys.executable, tmp_path / "program.py", "error"], capture_output=True, text=True)
    assert "the bounds of a loop must be integers" in done.stderr
    assert done.returncode == 1
