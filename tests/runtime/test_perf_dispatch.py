"""`sv.perf_dispatch`: the fastest of several is used, for each geometry, and is known to later processes."""

import os
import subprocess
import sys
from time import sleep

import pytest

import samovar as sv


def dispatcher(calls, **options):
    @sv.perf_dispatch(**options)
    def work(a, n): ...

    @work.register
    def slow(a, n):
        calls.append("slow")
        sleep(0.002)
        return n

    @work.register
    def fast(a, n):
        calls.append("fast")
        return n

    return work


@pytest.fixture
def cache(tmp_path):
    sv.init(offline_cache_file_path=tmp_path)
    yield tmp_path
    sv.reset()


def test_each_is_tried_and_the_fastest_stays(cache):
    calls = []
    work = dispatcher(calls, active=2)
    assert [work(sv.ndarray(sv.f32, 4), n) for n in range(10)] == list(range(10))
    assert sorted(calls[:6]) == ["fast"] * 3 + ["slow"] * 3
    assert calls[6:] == ["fast"] * 4


def test_each_shape_is_measured_and_known_to_the_next_process(cache):
    calls = []
    work = dispatcher(calls)
    for size in (4, 8):
        for _ in range(5):
            work(sv.ndarray(sv.f32, size), 1)
    assert calls.count("slow") == 4
    again = []
    other = dispatcher(again)  # what another process would make: nothing is known of it here
    for size in (4, 8):
        other(sv.ndarray(sv.f32, size), 1)
    assert again == ["fast", "fast"]
    other(sv.ndarray(sv.f64, 8), 1)
    assert again[2:] == ["slow"]


def test_all_are_measured_again_after_so_many_calls(cache):
    calls = []
    work = dispatcher(calls, repeat_after_count=5)
    for _ in range(4):
        work(None, 1)
    calls.clear()
    for _ in range(5):
        work(None, 1)
    assert calls == ["fast"] * 4 + ["slow"]


def test_only_what_fits_is_asked(cache):
    @sv.perf_dispatch(get_geometry_hash=lambda n: n > 10)
    def size(n): ...

    @size.register(is_compatible=lambda n: n <= 10)
    def small(n):
        return "small"

    with pytest.raises(sv.SamovarRuntimeError, match=r"no implementation registered with .*size is compatible with"):
        size(11)

    @size.register(is_compatible=lambda n: n > 10)
    def large(n):
        return "large"

    assert [size(n) for n in (1, 2, 11, 12)] == ["small", "small", "large", "large"]


def test_other_parameters_are_refused():
    @sv.perf_dispatch
    def size(n): ...

    with pytest.raises(sv.SamovarSyntaxError, match=r"takes \(n, m\), but .*size, with which it is registered, takes \(n\)"):

        @size.register
        def other(n, m):
            return 0

    with pytest.raises(sv.SamovarTypeError, match="not a int"):
        size.register(3)


PROGRAM = """
import sys
import samovar as sv
import {module}
from time import sleep

@sv.perf_dispatch(get_geometry_hash=lambda a: (object, a.shape[0]))
def total(a: sv.types.NDArray[sv.i32, 1]) -> sv.i32: ...

@total.register
def in_python(a):
    sleep(0.01)
    return sum(a[i] for i in range(a.shape[0]))

@total.register
@sv.kernel
def in_a_kernel(a: sv.types.NDArray[sv.i32, 1]) -> sv.i32:
    found = 0
    for i in a:
        found += a[i]
    return found

a = sv.ndarray(sv.i32, 100)
a.fill(3)
results = [total(a) for _ in range(int(sys.argv[1]))]
assert set(results) == {{300}}
print(sum(trial.runs.get(each, 0) for trial in total._trials.values() for each in total.candidates))
print([trial.fastest.name for trial in total._trials.values() if trial.fastest])
"""


def test_the_next_process_begins_with_it(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM.format(module="math"))
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache")}

    def run(count):
        command = [sys.executable, "program.py", str(count)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    assert run(6) == ["4", "['in_a_kernel']"]
    assert run(1) == ["0", "['in_a_kernel']"]
    (tmp_path / "program.py").write_text(PROGRAM.format(module="math").replace("0.01", "0.02"))
    assert run(1) == ["1", "[]"]  # a candidate is written in another way: what was found does not count


def compatible_dispatcher(ran):
    @sv.perf_dispatch(repeat_after_count=0)
    def work(a, n): ...

    @work.register(is_compatible=lambda a, n: n <= 4)
    def small(a, n):
        ran.append("small")

    @work.register
    def general(a, n):
        ran.append("general")
        sleep(0.002)

    @work.register(is_compatible=lambda a, n: n > 100)
    def large(a, n):
        ran.append("large")

    return work


def test_what_does_not_take_the_arguments_of_a_call_does_not_run(cache):
    """The value of a number is no part of the geometry."""
    ran, a = [], sv.ndarray(sv.f32, 4)
    work = compatible_dispatcher(ran)
    for n, fitting in ((4, "small"), (8, "general"), (200, "large"), (8, "general"), (4, "small"), (200, "large")):
        for _ in range(6):
            work(a, n)
        assert ran[-1] == fitting
    assert all(each != "small" for each in ran[6:18])


def test_what_an_earlier_process_chose_runs_where_it_fits(cache):
    a = sv.ndarray(sv.f32, 4)
    for _ in range(2):
        ran = []
        work = compatible_dispatcher(ran)
        for n in (4, 4, 4, 4, 4, 8):
            work(a, n)
        assert ran[-1] == "general"
    assert ran[:5] == ["small"] * 5
