"""`kernel_coverage`: which lines of kernels and funcs run, as coverage.py reads it."""

import json
import os
import subprocess
import sys

import pytest

import samovar as sv

coverage = pytest.importorskip("coverage")

PROGRAM = """\
import sys
import samovar as sv

@sv.func
def scaled(v):
    if v > 100:
        return v * 3
    return v * 2

@sv.kernel
def work(x: sv.types.NDArray[sv.f32, 1], factor: sv.Template) -> sv.f32:
    '''Text.'''
    total = 0.0
    for i in x:
        if x[i] > 2:
            x[i] = scaled(x[i])
        elif x[i] < -5:
            x[i] = 0
        else:
            x[i] += 1
        total += x[i]
    if sv.static(factor > 2):
        total = 1
    while total > 1000:
        total -= 1
    return (
        total
    )

x = sv.ndarray(sv.f32, 4)
for i in range(4):
    x[i] = i + 1
result = work(x, 1)
print(sv.compile_count(), result)
"""
#: Those of the program above that kernels run, and the statements in them that do not run.
RUN, MISSED = {6, 8, 13, 14, 15, 16, 17, 20, 21, 22, 24, 26}, {7, 18, 23, 25}


@pytest.fixture
def run(tmp_path):
    """Run the program with a cache of its own. Gives what it prints."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    def launched(*command, **variables):
        environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache"), **variables}
        environment.pop("COVERAGE_FILE", None)
        command = [sys.executable, *(command or ["program.py"])]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return launched


def measured(tmp_path, name):
    data = coverage.CoverageData(str(tmp_path / name))
    data.read()
    return set(data.lines(str(tmp_path / "program.py")) or ())


def test_lines_are_added_to_what_coverage_measures(run, tmp_path):
    run("-m", "coverage", "run", "program.py", SAMOVAR_KERNEL_COVERAGE="1")
    lines = measured(tmp_path, ".coverage")
    assert lines & (RUN | MISSED) == RUN
    assert {1, 30} <= lines
    report = json.loads(run("-m", "coverage", "json", "-o", "-", "--quiet").partition("\n{")[0] or "{}")
    files = {os.path.basename(name): each for name, each in report["files"].items()}
    assert set(files["program.py"]["missing_lines"]) == MISSED


def test_with_branches_too(run, tmp_path):
    run("-m", "coverage", "run", "--branch", "program.py", SAMOVAR_KERNEL_COVERAGE="1")
    assert measured(tmp_path, ".coverage") & (RUN | MISSED) == RUN


def test_without_coverage_a_file_is_written_that_it_combines(run, tmp_path):
    for _ in range(2):  # compiled, and from the cache
        run(SAMOVAR_KERNEL_COVERAGE="1")
    files = [name for name in os.listdir(tmp_path) if name.startswith(".coverage.kernels.")]
    assert len(files) == 2
    assert all(measured(tmp_path, name) == RUN for name in files)
    run("-m", "coverage", "combine")
    assert measured(tmp_path, ".coverage") == RUN


def test_kernels_that_note_lines_and_kernels_that_do_not_are_kept_apart(run, tmp_path):
    assert run() == "1 19.0\n"
    assert run() == "0 19.0\n"
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".coverage")]
    assert run(SAMOVAR_KERNEL_COVERAGE="1") == "1 19.0\n"
    assert run(SAMOVAR_KERNEL_COVERAGE="1") == "0 19.0\n"
    assert run() == "0 19.0\n"


def test_lines_that_have_moved_are_others(run, tmp_path):
    run(SAMOVAR_KERNEL_COVERAGE="1")
    (tmp_path / "program.py").write_text("\n\n" + PROGRAM)
    for name in os.listdir(tmp_path):
        if name.startswith(".coverage"):
            os.remove(tmp_path / name)
    run(SAMOVAR_KERNEL_COVERAGE="1")
    (file,) = [name for name in os.listdir(tmp_path) if name.startswith(".coverage")]
    assert measured(tmp_path, file) == {line + 2 for line in RUN}


def test_under_the_name_of_quadrants(run, tmp_path):
    text = PROGRAM.replace("import samovar as sv", "import samovar.compat.quadrants as sv\nsv.init(arch=sv.cpu)")
    (tmp_path / "program.py").write_text(text.replace("sv.compile_count()", "0"))
    run(QD_KERNEL_COVERAGE="1")
    (file,) = [name for name in os.listdir(tmp_path) if name.startswith(".coverage")]
    assert measured(tmp_path, file) == {line + 1 for line in RUN}


def test_pytest_measures_kernels_where_it_is_measured(run, tmp_path):
    launch, test = "result = work(x, 1)\nprint(sv.compile_count(), result)", "def test():\n    assert work(x, 1) == 19"
    assert launch in PROGRAM
    text = PROGRAM.replace(launch, test)
    (tmp_path / "program.py").write_text(text)
    pytest_run = ("-m", "coverage", "run", "-m", "pytest", "-q", "-p", "no:cacheprovider", "program.py")
    plugin = () if "samovar_pytest" in sys.modules else ("-p", "samovar_pytest")
    run(*pytest_run, *plugin)
    assert measured(tmp_path, ".coverage") & (RUN | MISSED) == RUN
    os.remove(tmp_path / ".coverage")
    run(*pytest_run, *plugin, SAMOVAR_KERNEL_COVERAGE="0")
    assert not measured(tmp_path, ".coverage") & RUN


def test_nothing_of_it_is_loaded_without_the_option(run):
    program = "import runpy, sys; runpy.run_path('program.py'); print([name for name in sys.modules if 'coverage' in name])"
    assert run("-c", program).splitlines()[-1] == "['samovar.frontend.coverage']"
    assert run("-c", program).splitlines()[-1] == "[]"  # warm


@pytest.mark.parametrize("debug", [False, True])
def test_results_are_the_same_with_it(debug):
    @sv.func
    def step(n):
        if n % 2 == 0:
            return n // 2
        return 3 * n + 1

    @sv.kernel
    def lengths(x: sv.types.NDArray[sv.i32, 1]) -> sv.i32:
        longest = 0
        for i in x:
            n = i + 1
            count = 0
            while n != 1:
                n = step(n)
                count += 1
            x[i] = count
            sv.atomic_max(longest, count)
        return longest

    found = []
    for on in (False, True):
        sv.init(kernel_coverage=on, debug=debug)
        x = sv.ndarray(sv.i32, 97)
        found.append((lengths(x), x.tolist()))
    assert found[0] == found[1]
    assert found[0][0] == max(found[0][1])


def test_graphs_note_lines_too():
    from samovar.runtime.kernel_coverage import lines_run

    sv.init(kernel_coverage=True)

    @sv.kernel(graph=True, checkpoints=True)
    def solve(x: sv.types.NDArray[sv.i32, 1], more: sv.types.NDArray[sv.i32, 0], stop: sv.types.NDArray[sv.i32, 0]):
        while sv.graph.do_while(more):
            for i in x:
                x[i] += 1
            with sv.checkpoint(1, yield_on=stop):
                for _ in range(1):
                    more[None] = sv.i32(x[0] < 3)
        for i in x:
            if x[i] > 100:
                x[i] = 0

    x, more, stop = sv.ndarray(sv.i32, 4), sv.ndarray(sv.i32, ()), sv.ndarray(sv.i32, ())
    assert not solve(x, more, stop).yielded
    assert x.tolist() == [3, 3, 3, 3]
    first = solve.__wrapped__.__code__.co_firstlineno
    ran = {line - first for line in lines_run()[os.path.abspath(__file__)] if line >= first}
    assert {2, 3, 4, 5, 6, 7, 8, 9} <= ran
    assert 10 not in ran
