"""Local arrays live on the stack of a thread: too many of them are refused when a kernel is compiled, or launched."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import samovar as sv

Numbers = sv.types.NDArray[sv.f64, 1]


@sv.func
def filled(first: sv.f64, count: sv.template()) -> sv.f64:
    """The sum of many numbers, by way of memory."""
    numbers = sv.Vector.zero(sv.f64, 8192)
    for k in range(8192):
        numbers[k] = first + k
    total = sv.f64(0)
    for k in range(count):
        total += numbers[8191 - k]
    return total


def test_functions_that_are_called_often_share_their_memory():
    @sv.kernel
    def often(out: Numbers):
        for i in out:
            total = sv.f64(i)
            for _ in sv.static(range(60)):
                total = filled(total, 8192) / 8192 - 4095.5
            out[i] = total

    out = np.zeros(3)
    often(out)
    assert np.allclose(out, [0, 1, 2])


def test_more_than_fits_is_an_error_that_says_where(tmp_path, monkeypatch):
    names = [f"t{number}" for number in range(40)]
    lines = ["import samovar as sv", "@sv.kernel", "def deep(out: sv.types.NDArray[sv.f64, 1]):", "    for i in out:"]
    lines += [f"        {name} = sv.Vector.zero(sv.f64, 8192)" for name in names]
    lines += [f"        {name}[i] = 1" for name in names]
    lines += [f"        out[i] = {' + '.join(f'{name}[i]' for name in names)}"]
    (tmp_path / "many_tables.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    from many_tables import deep  # type: ignore[import-not-found]

    with pytest.raises(sv.SamovarCompilationError) as raised:
        deep(np.zeros(3))
    words = str(raised.value)
    assert "deep" in words
    assert "many_tables.py, the loop in line 4" in words
    assert "2,621,440 bytes" in words
    assert "40 of them, the largest is 8192 numbers of f64" in words
    assert "help" in words


PROGRAM = """
import threading, numpy as np, samovar as sv

@sv.func
def part(i, way: sv.template()) -> sv.f64:
    table = sv.Vector.zero(sv.f64, 8192)
    for k in range(8192):
        table[k] = k + way
    return table[i]

@sv.func
def level_1(i) -> sv.f64:
    table = sv.Vector.zero(sv.f64, 8192)
    for k in range(8192):
        table[k] = part(k, 1)
    return table[i] + level_2(i)

@sv.func
def level_2(i) -> sv.f64:
    table = sv.Vector.zero(sv.f64, 8192)
    for k in range(8):
        table[k] = part(k, 2)
    return table[i]

@sv.kernel
def nested(out: sv.types.NDArray[sv.f64, 1]):
    for i in out:
        own = sv.Vector.zero(sv.f64, 8192)
        for k in range(8192):
            own[k] = k
        out[i] = level_1(i) + own[i]

out, found = np.zeros(4), []
with sv.graph.record() as recorded:
    nested(out)
def launch():
    try:
        LAUNCH
        found.append(out.tolist())
    except MemoryError as error:
        found.append(str(error).splitlines()[0])

for size in (SIZES):
    threading.stack_size(size)
    thread = threading.Thread(target=launch)
    thread.start()
    thread.join()
print(found)
"""


@pytest.mark.parametrize("launch", ["nested(out)", "recorded()"])
def test_a_thread_with_a_short_stack_is_told(tmp_path, launch):
    text = PROGRAM.replace("SIZES", "256 << 10, 4 << 20").replace("LAUNCH", launch)
    (tmp_path / "program.py").write_text(text)
    for _ in range(2):  # the second one finds the kernel in the cache
        done = subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        refused, ran = eval(done.stdout)
        assert "local arrays of this kernel take" in refused
        assert "left" in refused
        assert ran == [3.0, 6.0, 9.0, 12.0]


@sv.kernel
def of_two_sizes(out: sv.types.NDArray[sv.f64, 1], large: sv.Template):
    for i in out:
        if sv.static(large):
            a, b, c, d = (sv.Vector.zero(sv.f64, 8192) for _ in sv.static(range(4)))
            for k in range(8192):
                a[k], b[k], c[k], d[k] = k, k, k, k
            out[i] = a[i] + b[i] + c[i] + d[i]
        else:
            out[i] = -1.0


def test_a_specialization_that_fits_runs_whatever_another_one_takes():
    out, found = sv.ndarray(sv.f64, 4), []

    def launch():
        of_two_sizes(out, False)
        found.append(out.tolist())

    of_two_sizes(out, False)
    of_two_sizes(out, True)  # the one that was used last
    assert out.tolist() == [0.0, 4.0, 8.0, 12.0]
    before = threading.stack_size(256 << 10)
    try:
        thread = threading.Thread(target=launch)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert found == [[-1.0] * 4]
