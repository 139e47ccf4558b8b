"""Sections of a graph that run side by side: what they compute, what is refused, and the check for races between them."""

import os
import re

import numpy as np
import pytest

import samovar as sv
from samovar._native import pool_statistics

Flag = sv.types.NDArray[sv.i32, 0]
Numbers = sv.types.NDArray[sv.i32, 1]
Floats = sv.types.NDArray[sv.f64, 1]


def flag(value=0):
    made = sv.ndarray(sv.i32, ())
    made.fill(value)
    return made


def zeros(n):
    return np.zeros(n, np.int32)


@sv.kernel(graph=True)
def three(x: Numbers, y: Numbers, z: Numbers, n: sv.i32):
    twice = n * 2
    with sv.graph.parallel_context():
        with sv.graph.parallel():
            for i in x:
                x[i] = i + twice
            last = x.shape[0] - 1
            x[last] = -1
        with sv.graph.parallel():
            sv.loop_config(serialize=True)
            for i in range(y.shape[0]):
                y[i] = i * n
        with sv.graph.parallel():
            total = 0
            for i in z:
                total += i
            z[0] = total
    for i in x:
        x[i] += y[i]


@pytest.mark.parametrize("size", [3, 100_000])
def test_sections_are_done_when_the_region_ends(size):
    x, y, z = zeros(size), zeros(size), zeros(100)
    for _ in range(3):
        three(x, y, z, 3)
    expected = np.arange(size) + 6
    expected[-1] = -1
    assert (x == expected + 3 * np.arange(size)).all()
    assert z[0] == 99 * 50


def test_they_run_on_several_threads():
    if pool_statistics()["threads"] < 2:
        pytest.skip("there is one processor")

    @sv.kernel(graph=True)
    def heavy(x: Floats, y: Floats, n: sv.i32):
        with sv.graph.parallel_context():
            with sv.graph.parallel():
                for _ in range(1):
                    for _ in range(n):
                        x[0] = sv.sin(x[0] + 1.0)
            with sv.graph.parallel():
                for _ in range(1):
                    for _ in range(n):
                        y[0] = sv.sin(y[0] + 1.0)

    x, y = np.zeros(1), np.zeros(1)
    heavy(x, y, 1000)
    before = pool_statistics()["shared"]
    for _ in range(5):
        heavy(x, y, 100_000)
    assert x[0] == y[0] != 0
    assert pool_statistics()["shared"] > before


def test_regions_back_to_back_keep_the_join():
    @sv.kernel(graph=True)
    def run(x: Numbers, y: Numbers):
        with sv.graph.parallel_context():
            with sv.graph.parallel():
                for i in x:
                    x[i] += 1
            with sv.graph.parallel():
                for i in y:
                    y[i] += 2
        with sv.graph.parallel_context(), sv.graph.parallel():
            for i in x:
                x[i] += y[i]
        with sv.graph_parallel_context(), sv.graph_parallel():
            for i in y:
                y[i] = x[i]

    x, y = zeros(50_000), zeros(50_000)
    run(x, y)
    assert (x == 3).all()
    assert (y == 3).all()


def test_static_if_and_for_make_sections():
    @sv.kernel(graph=True)
    def run(xs: sv.Template, count: sv.Template, extra: sv.Template):
        with sv.graph.parallel_context():
            """One for each array."""
            for k in sv.static(range(count)):
                with sv.graph.parallel():
                    for i in xs[k]:
                        xs[k][i] += k + 1
            if sv.static(extra):
                with sv.graph.parallel():
                    for i in xs[2]:
                        xs[2][i] = 50
            else:
                pass

    xs = (zeros(4), zeros(5), zeros(6))
    run(xs, 2, True)
    assert [x[-1] for x in xs] == [1, 2, 50]
    run(xs, 3, False)
    assert [x[-1] for x in xs] == [2, 4, 53]
    run(xs, 0, False)  # none is fine
    assert [x[-1] for x in xs] == [2, 4, 53]


def test_updates_of_one_element_by_two_sections_are_atomic():
    @sv.kernel(graph=True)
    def run(x: Numbers, total: Flag, n: sv.i32):
        with sv.graph.parallel_context():
            with sv.graph.parallel():
                for _ in range(n):
                    total[None] += 1
                for i in x:
                    x[i] += 1
                total[None] += 1
            with sv.graph.parallel():
                for _ in range(n):
                    total[None] += 2
                for i in x:
                    x[i] += 2
                total[None] += 1

    x, total = zeros(30_000), flag()
    for _ in range(20):
        run(x, total, 30_000)
    assert total[()] == 20 * (3 * 30_000 + 2)
    assert (x == 60).all()


def test_loops_in_sections_and_sections_in_loops():
    @sv.kernel(graph=True)
    def run(x: Numbers, y: Numbers, more: Flag, inner: Flag):
        while sv.graph.do_while(more):
            with sv.graph.parallel_context():
                with sv.graph.parallel():
                    while sv.graph.do_while(inner):
                        for _ in range(1):
                            x[0] += 1
                            inner[None] = sv.i32(x[0] % 3 != 0)
                with sv.graph.parallel():
                    for _ in range(1):
                        y[0] += 1
            for _ in range(1):
                more[None] = sv.i32(y[0] < 4)

    x, y = zeros(1), zeros(1)
    run(x, y, flag(), flag())
    assert (x[0], y[0]) == (12, 4)


def test_between_checkpoints():
    @sv.kernel(graph=True, checkpoints=True)
    def run(x: Numbers, y: Numbers, stop: Flag):
        with sv.graph.parallel_context():
            with sv.graph.parallel():
                for i in x:
                    x[i] += 1
            with sv.graph.parallel():
                for i in y:
                    y[i] += 1
        with sv.checkpoint(1, yield_on=stop):
            for i in x:
                x[i] += 10
        with sv.graph.parallel_context(), sv.graph.parallel():
            for i in y:
                y[i] += 100

    x, y = zeros(2), zeros(2)
    assert run(x, y, flag(1)).checkpoint == 1
    assert (x[0], y[0]) == (11, 1)
    run.resume(x, y, flag(), from_checkpoint=1)
    assert (x[0], y[0]) == (21, 101)


@sv.func
def sided(x, y):
    with sv.graph.parallel_context():
        with sv.graph.parallel():
            for i in x:
                x[i] += 1
        with sv.graph.parallel():
            shift(y, 5)


@sv.func
def shift(y, by):
    for i in y:
        y[i] += by


def test_in_a_func_with_funcs():
    @sv.kernel(graph=True)
    def run(x: Numbers, y: Numbers):
        sided(x, y)
        sided(x, y)

    x, y = zeros(3), zeros(3)
    run(x, y)
    assert (x[2], y[2]) == (2, 10)


def test_a_failure_in_a_section(debug):
    @sv.kernel(graph=True)
    def run(x: Numbers, y: Numbers):
        with sv.graph.parallel_context():
            with sv.graph.parallel():
                for i in range(x.shape[0] + 1):
                    x[i] = 1
            with sv.graph.parallel():
                for i in y:
                    y[i] = 1

    with pytest.raises(sv.SamovarRuntimeError, match="out of bounds"):
        run(zeros(3), zeros(3))
    x, y, z = zeros(4), zeros(4), zeros(4)
    three(x, y, z, 3)
    assert y[3] == 9


def test_prints_of_sections(capfd):
    @sv.kernel(graph=True)
    def run(x: Numbers):
        with sv.graph.parallel_context():
            with sv.graph.parallel():
                for _ in range(1):
                    print("one", x[0])
            with sv.graph.parallel():
                print("two")

    run(zeros(1))
    assert sorted(capfd.readouterr().out.splitlines()) == ["one 0", "two"]


def test_in_plain_python_sections_are_blocks():
    seen = []
    with sv.graph.parallel_context():
        with sv.graph.parallel():
            seen.append(1)
        with sv.graph.parallel():
            seen.append(2)
    assert seen == [1, 2]


def test_the_runtime_is_told_of_tasks_only():
    three(zeros(3), zeros(3), zeros(3), 3)
    names = [task.name for task in sv.graph.tasks(three)]
    assert names == ["three.task", "three.task_1", "three.task_2"]


# --- races, in debug mode


def test_two_sections_that_write_one_element(debug):
    @sv.kernel(graph=True)
    def run(x: Numbers):
        with sv.graph.parallel_context():
            with sv.graph.parallel():
                for i in range(4):
                    x[i] = i
            with sv.graph.parallel():
                for i in range(3, 6):
                    x[i] = i + 1

    first = run.__wrapped__.__code__.co_firstlineno
    with pytest.raises(sv.SamovarRaceError, match="data race between parallel sections") as caught:
        run(zeros(8))
    text = str(caught.value)
    assert f"the section of line {first + 3} writes it at {__file__}:{first + 5}" in text
    assert f"the section of line {first + 6} writes it at {__file__}:{first + 8}" in text
    (race,) = caught.value.races
    assert {race.first.line, race.second.line} == {first + 5, first + 8}
    assert race.first.element == "x[3]"


def test_a_section_that_reads_what_another_writes_in_serial_code(debug):
    @sv.kernel(graph=True)
    def run(x: Numbers, y: Numbers):
        with sv.graph.parallel_context():
            with sv.graph.parallel():
                y[0] = x[1]
            with sv.graph.parallel():
                shift(x, 1)

    with pytest.raises(sv.SamovarRaceError, match=re.escape("`x[1]`")) as caught:
        run(zeros(2), zeros(1))
    assert {each.what for each in (caught.value.races[0].first, caught.value.races[0].second)} == {"reads", "updates"}


def test_what_is_no_race(debug):
    @sv.kernel(graph=True)
    def run(x: Numbers, y: Numbers, total: Flag):
        with sv.graph.parallel_context():
            with sv.graph.parallel():
                for i in range(4):
                    x[i] = y[i]
                    total[None] += 1
            with sv.graph.parallel():
                for i in range(4, 8):
                    x[i] = y[i]
                    total[None] += 1
        with sv.graph.parallel_context(), sv.graph.parallel():
            for i in x:
                y[i] = x[i]

    x, y, total = zeros(8), np.arange(8, dtype=np.int32), flag()
    run(x, y, total)
    assert (x == np.arange(8)).all()
    assert total[()] == 8


def test_iterations_of_a_task_in_a_section_are_watched_too(debug):
    @sv.kernel(graph=True)
    def run(x: Numbers):
        with sv.graph.parallel_context(), sv.graph.parallel():
            for i in range(1, 8):
                x[i] = x[i - 1]

    with pytest.raises(sv.SamovarRaceError, match="iterations of a parallel loop"):
        run(zeros(8))


# --- what is refused


def refused(kernel, *arguments):
    with pytest.raises(sv.SamovarCompilationError) as caught:
        kernel(*arguments)
    text = str(caught.value)
    assert os.path.basename(__file__) + ":" in text
    assert "^" in text
    return text


def test_what_stands_in_a_context():
    @sv.kernel(graph=True)
    def loop(x: Numbers):
        with sv.graph.parallel_context():
            for i in x:
                x[i] = 1

    @sv.kernel(graph=True)
    def statement(x: Numbers):
        with sv.graph.parallel_context():
            n = x.shape[0]
            with sv.graph.parallel():
                for i in range(n):
                    x[i] = 1

    @sv.kernel(graph=True)
    def condition(x: Numbers):
        with sv.graph.parallel_context():
            if x[0] > 0:
                with sv.graph.parallel():
                    for i in x:
                        x[i] = 1

    @sv.kernel(graph=True)
    def repeated(x: Numbers, more: Flag):
        with sv.graph.parallel_context():
            while sv.graph.do_while(more):
                with sv.graph.parallel():
                    for i in x:
                        x[i] = 1

    for kernel, arguments in ((loop, 1), (statement, 1), (condition, 1), (repeated, 2)):
        assert "directly inside `parallel_context`" in refused(kernel, *[zeros(1), flag()][:arguments])


def test_where_sections_stand():
    @sv.kernel(graph=True)
    def alone(x: Numbers):
        with sv.graph.parallel():
            for i in x:
                x[i] = 1

    @sv.kernel
    def no_graph(x: Numbers):
        with sv.graph.parallel_context(), sv.graph.parallel():
            for i in x:
                x[i] = 1

    @sv.kernel(graph=True)
    def nested(x: Numbers):
        with sv.graph.parallel_context(), sv.graph.parallel(), sv.graph.parallel_context(), sv.graph.parallel():
            for i in x:
                x[i] = 1

    @sv.kernel(graph=True)
    def in_a_task(x: Numbers):
        for i in x:
            with sv.graph.parallel_context(), sv.graph.parallel():
                x[i] = 1

    @sv.kernel(graph=True, checkpoints=True)
    def holds_checkpoint(x: Numbers, stop: Flag):
        with sv.graph.parallel_context(), sv.graph.parallel(), sv.checkpoint(1, yield_on=stop):
            for i in x:
                x[i] = 1

    @sv.kernel(graph=True)
    def returning(x: Numbers):
        with sv.graph.parallel_context(), sv.graph.parallel():
            for i in x:
                x[i] = 1
            return

    @sv.kernel(graph=True)
    def arguments(x: Numbers):
        with sv.graph.parallel_context(2), sv.graph.parallel():
            for i in x:
                x[i] = 1

    assert "must be inside `parallel_context`" in refused(alone, zeros(1))
    assert "requires a kernel with `graph=True`" in refused(no_graph, zeros(1))
    assert "inside a parallel section" in refused(nested, zeros(1))
    assert "must be at the top level" in refused(in_a_task, zeros(1))
    assert "`checkpoint` is not allowed inside a parallel section" in refused(holds_checkpoint, zeros(1), flag())
    assert "`return` inside a parallel section" in refused(returning, zeros(1))
    assert "takes no arguments" in refused(arguments, zeros(1))


def test_variables_of_sections():
    @sv.kernel(graph=True)
    def outer(x: Numbers):
        n = 0
        with sv.graph.parallel_context():
            with sv.graph.parallel():
                n = 3
            with sv.graph.parallel():
                for i in x:
                    x[i] = n

    @sv.kernel(graph=True)
    def gathered(x: Numbers):
        n = 0
        with sv.graph.parallel_context(), sv.graph.parallel():
            for i in x:
                n += x[i]
        x[0] = n

    @sv.kernel(graph=True)
    def after(x: Numbers):
        with sv.graph.parallel_context(), sv.graph.parallel():
            n = x.shape[0]
            x[0] = n
        x[0] = n

    assert "assigns `n`" in refused(outer, zeros(1))
    assert "assigns `n`" in refused(gathered, zeros(1))
    assert "only assigned inside a parallel section" in refused(after, zeros(1))
