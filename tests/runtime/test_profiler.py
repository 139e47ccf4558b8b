"""`sv.profiler`: what it counts, what it is silent about, and the forms in which it says so."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import samovar as sv
from samovar.runtime.profile_report import KernelProfile


@sv.kernel
def scale(a: sv.types.NDArray[sv.f32, 1], by: sv.f32):
    for i in a:
        a[i] *= by


@sv.kernel
def two_tasks(a: sv.types.NDArray[sv.f32, 1], b: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        a[i] += 1
    for i in range(b.shape[0]):
        b[i] = a[i % 4]


@sv.kernel
def answer() -> sv.i32:
    return 42


def profile_of(p, kernel):
    name = f"{kernel.__module__}.{kernel.__qualname__}"
    return next(each for each in p.kernels if each.name == name)


def test_launches_and_tasks_are_counted_while_it_watches():
    a, b = np.ones(1000, np.float32), np.ones(500, np.float32)
    scale(a, 1.0)
    with sv.profiler() as p:
        for _ in range(7):
            scale(a, 2.0)
        two_tasks(a, b)
        assert answer() == 42
    scale(a, 1.0)
    scaled, both = profile_of(p, scale), profile_of(p, two_tasks)
    assert (scaled.launches, profile_of(p, answer).launches) == (7, 1)
    assert [(task.runs, task.items, task.bytes) for task in scaled.tasks] == [(7, 7000, 56000)]
    assert [(task.runs, task.items) for task in both.tasks] == [(1, 1000), (1, 500)]
    assert both.tasks[1].bytes is None
    assert both.bytes is None
    assert scaled.file == __file__
    assert 0 < scaled.tasks[0].seconds <= scaled.seconds <= p.seconds
    assert scaled.longest <= scaled.seconds
    assert sum(kernel.share for kernel in p.kernels) == pytest.approx(1)
    # Off again: nothing was added.
    assert profile_of(p, scale).launches == 7


def test_a_sum_in_few_groups_does_not_say_how_many_iterations_it_has():
    @sv.kernel
    def total(a: sv.types.NDArray[sv.f32, 1]) -> sv.f32:
        s = 0.0
        for i in a:
            s += a[i]
        return s

    with sv.profiler() as p:
        total(np.ones(100, np.float32))
    assert profile_of(p, total).tasks[0].bytes is None
    with sv.profiler() as p:
        total(np.ones(1 << 20, np.float32))
    assert profile_of(p, total).tasks[0].bytes == 4 << 20


def test_compiling_is_no_part_of_a_launch():
    @sv.kernel
    def fresh(a: sv.types.NDArray[sv.f32, 1]):
        for i in a:
            a[i] = 5

    with sv.profiler() as p:
        fresh(np.ones(4, np.float32))
        sv.precompile([(fresh, sv.types.NDArray[sv.f32, 1])])
    found = profile_of(p, fresh)
    assert found.compiles + found.loads == 1
    assert 0 < found.seconds < found.compile_seconds + found.load_seconds


def test_a_launch_that_fails_counts_and_the_exception_is_the_usual_one():
    sv.init(debug=True)
    try:

        @sv.kernel
        def fails(a: sv.types.NDArray[sv.f32, 1]):
            for i in a:
                assert a[i] > 0, "not positive"

        with sv.profiler() as p, pytest.raises(sv.SamovarAssertionError, match="not positive"):
            fails(np.zeros(10, np.float32))
        assert profile_of(p, fails).launches == 1
    finally:
        sv.reset()


def test_one_profiler_in_another_each_sees_its_own_time():
    a = np.ones(10, np.float32)
    with sv.profiler() as outer:
        scale(a, 1.0)
        with sv.profiler() as inner:
            scale(a, 1.0)
        scale(a, 1.0)
    assert (profile_of(outer, scale).launches, profile_of(inner, scale).launches) == (3, 1)
    inner.start()
    scale(a, 1.0)
    inner.stop()
    assert profile_of(inner, scale).launches == 2


def test_recorded_launches_count_too():
    a, b = np.ones(8, np.float32), np.ones(8, np.float32)
    with sv.graph.record() as step:
        scale(a, 2.0)
        two_tasks(a, b)
    with sv.profiler() as p:
        for _ in range(5):
            step()
    assert (profile_of(p, scale).launches, profile_of(p, two_tasks).launches) == (5, 5)
    assert [task.runs for task in profile_of(p, two_tasks).tasks] == [5, 5]


def test_launches_from_many_threads_are_all_there_and_each_thread_has_its_row_in_the_trace():
    arrays = [np.ones(200, np.float32) for _ in range(4)]
    scale(arrays[0], 1.0)
    gate = threading.Barrier(4)  # so that no thread gets the number of one that has ended

    def work(a):
        gate.wait()
        for _ in range(50):
            scale(a, 1.0)
        gate.wait()

    with sv.profiler() as p:
        threads = [threading.Thread(target=work, args=(a,), name=f"worker {k}") for k, a in enumerate(arrays)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = profile_of(p, scale)
    assert (found.launches, found.tasks[0].runs, found.tasks[0].items) == (200, 200, 40_000)
    events = [each for each in json.loads(p.to_trace())["traceEvents"] if each["ph"] == "X"]
    launches = [each for each in events if each["cat"] == "launch"]
    assert len(launches) == 200
    assert len({each["tid"] for each in launches}) == 4


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_tasks_are_shown_on_the_threads_that_have_run_them():
    sv.init(num_threads=2)
    try:
        a = np.ones(4_000_000, np.float32)
        with sv.profiler() as p:
            for _ in range(20):
                scale(a, 1.0)
        task = profile_of(p, scale).tasks[0]
        assert 1 <= task.threads <= task.most_threads <= 2
        trace = json.loads(p.to_trace())["traceEvents"]
        names = {each["tid"]: each["args"]["name"] for each in trace if each["name"] == "thread_name"}
        chunks = [each for each in trace if each["ph"] == "X" and each["cat"] == "task"]
        assert sum(each["args"]["items"] for each in chunks) == task.items == 80_000_000
        assert len(chunks) == task.chunks
        used = {names[each["tid"]] for each in chunks}
        assert len(used) >= task.most_threads
        assert all(name == "MainThread" or name.startswith("samovar-") for name in used)
    finally:
        sv.reset()


def test_a_trace_has_room_for_so_many_events_and_totals_have_all():
    a = np.ones(10, np.float32)
    scale(a, 1.0)
    with sv.profiler(events=5) as p:
        for _ in range(10):
            scale(a, 1.0)
    trace = json.loads(p.to_trace())
    assert len([each for each in trace["traceEvents"] if each["ph"] == "X"]) == 5
    assert trace["otherData"]["events left out"] == 15
    assert profile_of(p, scale).launches == 10


def test_the_table_and_the_files(tmp_path: Path):
    a = np.ones(100_000, np.float32)
    with sv.profiler() as p:
        for _ in range(3):
            scale(a, 1.0)
    table = str(p)
    first = next(line for line in table.splitlines() if "scale" in line).split()
    assert first[1] == "3"
    assert max(map(len, table.splitlines())) <= 100
    for word in ("launches", "total", "mean", "share", "threads", "GB/s", "compile", "load"):
        assert word in table
    data = json.loads(p.to_json(tmp_path / "profile.json"))
    assert data == json.loads((tmp_path / "profile.json").read_text())
    (kernel,) = data["kernels"]
    assert kernel["launches"] == 3
    assert kernel["bytes"] == 3 * 800_000
    assert kernel["bytes_per_second"] > 0
    p.to_trace(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert "no kernel was launched" in str(sv.profiler())


PROGRAM = """
import cProfile, os, pstats, sys
import numpy as np
import samovar as sv

@sv.kernel
def scale(a: sv.types.NDArray[sv.f32, 1], by: sv.f32 = 2.0):
    for i in a:
        a[i] *= by

@sv.data_oriented
class Body:
    def __init__(self):
        self.x = sv.ndarray(sv.f32, 10)

    @sv.kernel
    def step(self, /, *, by: sv.f32) -> sv.i32:
        for i in self.x:
            self.x[i] += by
        return 7

a, body = np.ones(10, np.float32), Body()
scale(a)
body.step(by=1)
for _ in range(2):
    with cProfile.Profile() as profile:
        for _ in range(10):
            scale(a)
        for _ in range(3):
            assert body.step(by=1.0) == 7
    found = {(name, line): row[:2] for (_, line, name), row in pstats.Stats(profile).stats.items()}
    assert found["scale", 6] == (10, 10), found
    assert found["step", 16] == (3, 3), found
    assert not [name for name, _ in found if "samovar" in name or name == "_call"], found
scale(a)
assert body.x[0] == 7.0

if os.fork() == 0:
    scale(a)  # nobody watches here, and nothing is shown at the end
    sys.exit()
os.wait()
try:
    with cProfile.Profile():
        scale(3)
except sv.SamovarTypeError as error:
    print("refused", file=sys.stderr)
"""


def test_a_process_is_watched_by_its_environment_and_cprofile_lists_kernels_by_name(tmp_path: Path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "SAMOVAR_PROFILE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.split() for line in done.stderr.splitlines()]
    assert [line[1] for line in lines if line and line[0] == "__main__.scale"] == ["22"]
    assert [line[1] for line in lines if line and line[0] == "__main__.Body.step"] == ["7"]
    assert done.stderr.count("refused") == 1


def test_a_report_that_cannot_be_written_is_a_sentence(tmp_path: Path):
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "SAMOVAR_PROFILE": str(tmp_path / "no such directory" / "p.json")}
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0
    assert "samovar: SAMOVAR_PROFILE: [Errno 2] No such file or directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_longest_and_what_threads_worked_are_of_all_runs():
    """The last run is the shortest one. All of the relations hold however long each takes."""
    long, short = np.ones(1 << 21, np.float32), np.ones(1, np.float32)
    scale(long, 1.0)
    with sv.profiler() as outer:
        with sv.profiler() as inner:
            scale(long, 1.0)
        scale(short, 1.0)
    whole, first = profile_of(outer, scale), profile_of(inner, scale)
    assert whole.longest >= first.longest > 0
    assert whole.longest >= whole.seconds / whole.launches
    task, before = whole.tasks[0], first.tasks[0]
    assert task.longest >= before.longest > 0
    assert task.busy > before.busy > 0
    assert task.seconds > before.seconds


def test_the_same_of_several_specializations():
    """Two types of arrays are two specializations of a kernel, and one row of the report."""
    profile = KernelProfile(("k", "k.py", 1))
    long = (3, 900, 500, 800, 30, 30, 3, 6, 2)
    short = (2, 20, 15, 10, 2, 2, 2, 2, 1)
    profile.add(long, [long], [("task", 8)])
    profile.add(short, [short], [("task", 8)])
    (task,) = profile.tasks
    assert (profile.launches, task.runs, task.units, task.items, task.chunks) == (5, 5, 32, 32, 5)
    assert profile.longest == task.longest == pytest.approx(500e-9)
    assert profile.seconds == task.seconds == pytest.approx(920e-9)
    assert task.busy == pytest.approx(810e-9)
    assert (task.most_threads, task.threads, task.bytes) == (2, 8 / 5, 256)
