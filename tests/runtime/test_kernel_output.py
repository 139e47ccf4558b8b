"""What kernels print, and what their failures become."""

import struct
import subprocess
import sys

import numpy as np
import pytest

import samovar as sv
from samovar.artifact.sites import Frame, Hole, Site
from samovar.runtime.kernel_output import KernelOutput


@pytest.fixture
def debug():
    sv.init(debug=True)
    yield
    sv.reset()


def raw(format, value):
    return struct.pack(f"<{format}", value).ljust(8, b"\xff")


def said(parts, types, *values):
    return KernelOutput([Site("print", tuple(parts), tuple(types), ())]).text(0, values)


def test_values_are_read_from_the_lowest_bytes():
    types = (sv.i8, sv.u16, sv.i64, sv.u1, sv.f16, sv.f32, sv.f64)
    numbers = (-5, 60000, -(2**40), True, 0.5, 1.25, 0.1)
    values = [raw(dtype.format, number) for dtype, number in zip(types, numbers, strict=True)]
    parts = [part for index in range(7) for part in (Hole(index), " ")]
    assert said(parts, types, *values) == "-5 60000 -1099511627776 True 0.5 1.25 0.1 "


def test_formats_and_conversions_are_those_of_python():
    holes = [Hole(0, "", ".3f"), "|", Hole(0, "r"), "|", Hole(0, "s", ">6"), "|", Hole(1, "", "04x")]
    assert said(holes, (sv.f64, sv.i32), raw("d", 2.5), raw("i", 255)) == f"{2.5:.3f}|{2.5!r}|{2.5!s:>6}|00ff"


def test_a_failure_shows_the_line_and_the_calls():
    frames = (Frame("inner", __file__, 1), Frame("kernel", "other.py", 7))
    voice = KernelOutput([Site("bounds", ("index ", Hole(0), " is out"), (sv.i32,), frames)])
    error = voice.fail(0, (raw("i", 9),))
    assert isinstance(error, sv.SamovarRuntimeError)
    lines = str(error).splitlines()
    assert lines[0] == "kernel: index 9 is out"
    assert lines[1].endswith("test_kernel_output.py:1, in inner")
    assert "What kernels print" in lines[2]
    assert lines[3] == "  called from kernel at other.py:7"


@sv.kernel
def speaking(n: sv.i32, x: sv.f32):
    print("n is", n, sep=": ", end=";\n")
    print(f"{x:.2f} and {n:>4}|{n!r}")


def test_prints_appear_in_order(capsys):
    speaking(3, 1.5)
    assert capsys.readouterr().out == "n is: 3;\n1.50 and    3|3\n"


@sv.func
def checked(a, i):
    assert i != 2, f"i is {i}"
    return a[i]


@sv.kernel
def walking(a: sv.types.NDArray[sv.f64, 1], n: sv.i32) -> sv.f64:
    total = 0.0
    for i in range(n):
        total += checked(a, i + 3)
    return total


def test_an_index_out_of_bounds_names_everything(debug):
    with pytest.raises(sv.SamovarRuntimeError) as caught:
        walking(np.zeros(5), 4)
    text = str(caught.value)
    for part in ("walking", "'a'", "index 5", "shape (5,)", "test_kernel_output.py:", "return a[i]", "called from walking"):
        assert part in text


def test_an_assertion_is_an_assertion_error(debug):
    @sv.kernel
    def from_two(a: sv.types.NDArray[sv.f64, 1]) -> sv.f64:
        return checked(a, 2)

    with pytest.raises(sv.SamovarAssertionError, match="i is 2") as caught:
        from_two(np.zeros(5))
    assert isinstance(caught.value, AssertionError)


def test_an_overflow_is_reported(debug):
    @sv.kernel
    def added(x: sv.i32) -> sv.i32:
        return x + 1

    with pytest.raises(sv.SamovarRuntimeError, match=r"2147483647 \+ 1 does not fit in i32"):
        added(2**31 - 1)


FORKING = """
import os, sys, warnings
warnings.simplefilter("ignore")  # of forking a process with threads
import samovar as sv

N = {count}


class Writer:
    lines, child = 0, None

    def write(self, text):
        Writer.lines += text.count("\\n")
        if Writer.child is None:
            Writer.child = os.fork()

    def flush(self):
        pass


@sv.kernel
def speaking(a: sv.types.NDArray[sv.i32, 1]):
    for i in a:
        a[i] += 1
        print("element", i)


@sv.kernel
def total(a: sv.types.NDArray[sv.i32, 1]) -> sv.i32:
    s = 0
    for i in a:
        s += a[i]
    return s


sv.init(num_threads={threads})
a = sv.ndarray(sv.i32, N)
sys.stdout = Writer()
for _ in range(2):
    speaking(a)
sys.stdout = sys.__stdout__
assert Writer.lines == 2 * N and total(a) == 2 * N, (Writer.child, Writer.lines, total(a))
if Writer.child:
    assert os.waitpid(Writer.child, 0)[1] == 0
    print("both went on")
"""


@pytest.mark.parametrize("count", [8, 50_000])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_writer_that_forks(threads, count, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(FORKING.format(threads=threads, count=count))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (0, "both went on\n"), done.stderr
