"""Programs made at random: what plain functions in `static` read changes between launches, and a launch gives what the
function would give now, in the same process and in another one."""

import json
import os
import subprocess
import sys

import plain_functions
import pytest

import samovar as sv

CHANGES = 12


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where programs are; what they import is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = {*sys.modules}
    sv.init(offline_cache_file_path=tmp_path / "cache", log_level="error")
    yield tmp_path
    for name in {*sys.modules} - before:
        if name.startswith(("lib_", "main_", "x")):
            del sys.modules[name]


def check(folder, seed):
    """Run a program. Gives the last results, the number of launches, that of plain calls in `static`, and the nanoseconds
    that those take which are made again."""
    program = plain_functions.make(seed)
    found, expected, main = plain_functions.run(program, folder, CHANGES)
    assert found == expected, (program, plain_functions.steps(program, CHANGES))
    made = [each for name in program.kernels for each in getattr(main, name).specializations]
    programs = [each.keep.guards.instructions for each in made]
    calls = sum(word == "call" for each in programs if isinstance(each, tuple) for word, *_ in each)
    return found[-1], sum(map(len, found)), calls, [taken for each in made for _, taken in each.calls]


ELSEWHERE = """
import json, pathlib, sys
sys.path.insert(0, {tests!r})
import plain_functions
import samovar as sv
sv.init(log_level="error")
results = {{}}
for seed in {seeds}:
    program = plain_functions.make(seed)
    found, expected, _ = plain_functions.run(program, pathlib.Path({folder!r}), {changes}, launch_all=False)
    assert found[-1] == expected[-1], (seed, found, expected)
    results[seed] = found[-1]
print(json.dumps(results))
"""


def check_elsewhere(folder, results):
    """The same changes in another process, with the same cache: functions are called after each, kernels after the last."""
    text = ELSEWHERE.format(
        tests=os.path.dirname(plain_functions.__file__), seeds=list(results), folder=str(folder), changes=CHANGES
    )
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {str(seed): result for seed, result in results.items()}


def test_launches_give_what_the_functions_give_now(folder):
    results, calls, again = {}, 0, 0
    for seed in range(36):
        results[seed], _, made, taken = check(folder, seed)
        calls, again = calls + made, again + len(taken)
    assert 0 < again < calls
    check_elsewhere(folder, results)


@pytest.mark.parametrize("number", range(len(plain_functions.SOURCES)))
def test_each_source_alone(folder, number, monkeypatch):
    monkeypatch.setattr(plain_functions, "SOURCES", [plain_functions.SOURCES[number]])
    check(folder, 100_000 + number)


@pytest.mark.stress
def test_thousands_of_programs(folder):
    programs = launches = calls = 0
    fastest = []
    for first in range(1000, 4000, 100):
        results = {}
        for seed in range(first, first + 100):
            results[seed], launched, made, taken = check(folder, seed)
            programs, launches, calls = programs + 1, launches + launched, calls + made
            fastest += taken
        check_elsewhere(folder, dict(list(results.items())[:10]))
    timed = sorted(each for each in fastest if each)
    print(f"{programs} programs, {programs * CHANGES} changes, {launches} launches, {calls} calls in specializations,")
    print(f"of which {len(fastest)} are made again, in {timed[len(timed) // 2]} ns (median), {timed[-1]} at most")
