"""`shared_variables="serial"`: a loop whose iterations assign a variable of the kernel is serial."""

import subprocess
import sys

import numpy as np
import pytest

import samovar as sv


@pytest.fixture(autouse=True)
def as_before():
    sv.reset()
    yield
    sv.reset()


@sv.func
def least(x: sv.template()):
    value, place = 1e9, -1
    for i in range(x.shape[0]):
        if x[i] < value:
            value = x[i]
            place = i
    return place


@sv.kernel
def places(x: sv.types.NDArray[sv.f32, 1]) -> sv.i32:
    last = sv.Vector([0, 0])
    for i in x:
        if x[i] == 3:
            last = sv.Vector([i, 1])
    x[0] += 100
    for i in x:
        x[i] += 1  # nothing is shared: parallel
    return 10 * least(x) + last[0]


@pytest.mark.filterwarnings("ignore::samovar.errors.SamovarWarning")
def test_the_loop_is_serial():
    array = np.array([5, 3, 3, 1, 7], np.float32)
    with pytest.raises(sv.SamovarSyntaxError, match="data race on `last`"):
        places(array)
    sv.init(shared_variables="serial")
    assert places(array) == 32
    assert array.tolist() == [106, 4, 4, 2, 8]
    sv.init()
    with pytest.raises(sv.SamovarSyntaxError, match="data race on `last`"):
        places(array)


def test_there_is_a_warning():
    sv.init(shared_variables="serial")

    @sv.kernel
    def final(n: sv.i32) -> sv.i32:
        last = -1
        for i in range(n):
            last = i
        return last

    with pytest.warns(sv.SamovarWarning, match="this loop runs serially: its iterations assign the shared variable `last`"):
        assert final(5) == 4
    assert final(0) == -1


PROGRAM = """
import sys
import samovar as sv
sv.init(shared_variables=sys.argv[1])

@sv.kernel
def final(n: sv.i32) -> sv.i32:
    last = -1
    for i in range(n):
        last = i
    return last

print(final(5), sv.compile_count())
"""


def test_the_warning_is_kept_with_the_kernel_and_so_is_the_option(tmp_path, monkeypatch):
    monkeypatch.setenv("SAMOVAR_OFFLINE_CACHE_FILE_PATH", str(tmp_path / "cache"))
    (tmp_path / "program.py").write_text(PROGRAM)
    for compiled in (1, 0):
        done = subprocess.run([sys.executable, tmp_path / "program.py", "serial"], capture_output=True, text=True)
        assert done.stdout == f"4 {compiled}\n", done.stderr
        assert "this loop runs serially" in done.stderr
    done = subprocess.run([sys.executable, tmp_path / "program.py", "error"], capture_output=True, text=True)
    assert "data race on `last`" in done.stderr
    assert done.returncode == 1


def test_only_two_words_are_known():
    with pytest.raises(sv.SamovarError, match="'parallel' is not one of 'error', 'serial'"):
        sv.init(shared_variables="parallel")
