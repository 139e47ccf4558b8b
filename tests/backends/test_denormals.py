"""`flush_denormals`: denormals are zero in kernels, on all threads, and in plain Python they are what they were."""

import os
import subprocess
import sys

import numpy as np
import pytest

import samovar as sv

TINY = 1e-40  # a denormal of f32
LEAST = 1.1754943508222875e-38  # the least normal f32


@pytest.fixture
def flushed():
    sv.init(flush_denormals=True)
    yield
    sv.reset()


@sv.func
def half(x: sv.f32) -> sv.f32:
    return x * sv.f32(0.5)


@sv.kernel
def halve(a: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        a[i] = half(a[i])


@sv.kernel
def serially(x: sv.f32) -> sv.f32:
    return x * 0.5


@sv.kernel
def squares(a: sv.types.NDArray[sv.f64, 1], scale: sv.f64):
    for i in range(a.shape[0]):
        for j in range(3):
            a[i] = a[i] * (scale + j - j)


@sv.kernel(graph=True)
def sections(a: sv.types.NDArray[sv.f32, 1], b: sv.types.NDArray[sv.f32, 1]):
    with sv.graph.parallel_context():
        with sv.graph.parallel():
            for i in a:
                a[i] *= 0.5
        with sv.graph.parallel():
            for i in b:
                b[i] *= 0.5


def results(count):
    a = np.full(count, LEAST, np.float32)
    halve(a)
    b = np.full(count, 1e-300)
    squares(b, 1e-5)
    c, d = np.full(count, LEAST, np.float32), np.full(count, LEAST, np.float32)
    sections(c, d)
    return [a, b, c, d, np.float32(serially(LEAST))]


@pytest.mark.parametrize("count", [1, 8, 200_000])
def test_without_it_they_keep_their_values(count):
    a, b, c, d, serial = results(count)
    for each in (a, c, d, serial):
        assert (each == np.float32(LEAST / 2)).all()
    assert (b == 1e-300 * 1e-5 * 1e-5 * 1e-5).all()


@pytest.mark.usefixtures("flushed")
@pytest.mark.parametrize("count", [1, 8, 200_000])
def test_with_it_they_are_zero_on_all_threads(count):
    for each in results(count):
        assert (each == 0).all()
    assert LEAST / 2**20 != 0
    assert np.float32(LEAST) * np.float32(0.5) != 0  # in this thread, outside of kernels


@pytest.mark.usefixtures("flushed")
def test_an_operand_counts_as_zero():
    @sv.kernel
    def scaled(x: sv.f32) -> sv.f32:
        return x * sv.f32(1e10)

    assert scaled(TINY) == 0
    sv.init(flush_denormals=False)
    assert scaled(TINY) == pytest.approx(1e-30, rel=1e-4)


@pytest.mark.usefixtures("flushed")
def test_a_failed_launch_puts_the_state_back():
    sv.init(flush_denormals=True, debug=True)

    @sv.kernel
    def fails(a: sv.types.NDArray[sv.f32, 1], i: sv.i32):
        a[i] = 1

    with pytest.raises(sv.SamovarIndexError):
        fails(np.zeros(2, np.float32), 5)
    assert np.float32(LEAST) * np.float32(0.5) != 0


PROGRAM = """
import samovar as sv

@sv.kernel
def scaled(x: sv.f32) -> sv.f32:
    return x * sv.f32(1e10)

print(scaled(1e-40) == 0, sv.compile_count())
"""


def test_it_is_part_of_the_key(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(flush):
        environment = {
            **os.environ, "SAMOVAR_FLUSH_DENORMALS": flush, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache"),
        }  # fmt: skip
        command = [sys.executable, str(tmp_path / "program.py")]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    assert run("0") == ["False", "1"]
    assert run("1") == ["True", "1"]
    assert run("1") == ["True", "0"]
    assert run("0") == ["False", "0"]
