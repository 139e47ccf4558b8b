"""What fails at run time is marked in its line, as what cannot be compiled is."""

import subprocess
import sys
from pathlib import Path

import pytest

import samovar as sv

A = sv.types.NDArray[sv.i32, 1]
LAST = 2147483647


@sv.func
def beyond(a: A, j: sv.i32) -> sv.i32:
    return a[0] + a[j + 7]


@sv.kernel
def reads(a: A, n: sv.i32) -> sv.i32:
    return a[n] + a[n + 9] + a[0]


@sv.kernel
def writes(a: A, n: sv.i32):
    a[n], a[n + 9] = a[0], a[1]


@sv.kernel
def updates(a: A, n: sv.i32):
    for i in range(1):
        a[n + 9] += a[i]


@sv.kernel
def calls(a: A, n: sv.i32) -> sv.i32:
    return n + beyond(a, n)


@sv.kernel
def on_two_lines(a: A, n: sv.i32) -> sv.i32:
    return (n
            + a[n + 9])  # fmt: skip


@sv.kernel
def ends_below(a: A, n: sv.i32) -> sv.i32:
    return a[
        n + 9
    ]  # fmt: skip


@sv.kernel
def grows(a: A, n: sv.i32) -> sv.i32:
    return n + (n + LAST) * 1


@sv.kernel
def accumulates(a: A, n: sv.i32) -> sv.i32:
    total = LAST
    total += n
    return total


@sv.kernel
def repeats(a: A, n: sv.i32) -> sv.i32:
    total = 0
    for _ in range(n * LAST, n * LAST + n * n):
        total += 1
    return total


@sv.kernel
def divides(a: A, n: sv.i32) -> sv.i32:
    return n // n + n // (n - n)


@sv.kernel
def asserts(a: A, n: sv.i32):
    assert a[n] > n, "größer"


@sv.kernel
def says_ö(a: A, n: sv.i32) -> sv.i32:
    ö = n
    return ö + ö + a[ö + 9]


MARKED = [
    (reads, "a[n + 9]"),
    (writes, "a[n + 9]"),
    (updates, "a[n + 9] += a[i]"),
    (calls, "a[j + 7]"),
    (on_two_lines, "a[n + 9]"),
    (ends_below, "a["),
    (grows, "n + LAST"),
    (accumulates, "total += n"),
    (repeats, "n * LAST + n * n"),
    (divides, "n // (n - n)"),
    (asserts, "a[n] > n"),
    (says_ö, "a[ö + 9]"),
]


@pytest.fixture(autouse=True)
def debug():
    sv.init(debug=True)
    yield
    sv.reset()


@pytest.mark.parametrize(("kernel", "marked"), MARKED, ids=[row[0].__name__ for row in MARKED])
def test_what_has_failed_is_marked(kernel, marked):
    with pytest.raises(sv.SamovarRuntimeError) as caught:
        kernel(sv.zeros(8, sv.i32), 1)
    _, place, line, carets, *_ = str(caught.value).splitlines()
    number = int(place.removeprefix(f"  --> {__file__}:").partition(",")[0])
    assert line == f"{number:>5} | {Path(__file__).read_text().splitlines()[number - 1]}"
    begin = carets.index("^")
    assert line[begin : begin + carets.count("^")].partition("  #")[0] == marked


PROGRAM = """\
import sys
import samovar as sv
sv.init(debug=True, offline_cache_file_path=sys.argv[1])

@sv.kernel
def k(a: sv.types.NDArray[sv.i32, 1], n: sv.i32) -> sv.i32:
    return a[n] + a[n+9]

try:
    k(sv.zeros(8, sv.i32), 1)
except sv.SamovarIndexError as error:
    print(str(error).partition("\\n      | ")[2], k.cache_observations.compiles, sep="#")
"""


def test_marks_are_where_the_text_is_now_in_another_process(tmp_path):
    program = tmp_path / "program.py"

    def run(text):
        program.write_text(text)
        done = subprocess.run([sys.executable, program, tmp_path / "store"], capture_output=True, text=True, check=True)
        return done.stdout.strip("\n")

    assert run(PROGRAM) == f"{'':18}{'^' * 6}#1"
    assert run(PROGRAM) == f"{'':18}{'^' * 6}#0"
    # The same code for Python, and elsewhere in the line: the code of CPython 3.10 knows no columns.
    marked = run(PROGRAM.replace("a[n] + a[n+9]", "a[n]  +  a[n + 9]")).partition("#")[0]
    assert marked == (f"{'':20}{'^' * 8}" if sys.version_info >= (3, 11) else "")
