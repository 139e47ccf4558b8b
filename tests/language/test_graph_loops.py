"""Loops of a graph: `while do_while(flag)`, in all forms of flags, nested, limited, and what is refused."""

import dataclasses
import re

import numpy as np
import pytest

import samovar as sv

Flag = sv.types.NDArray[sv.i32, 0]
Numbers = sv.types.NDArray[sv.i32, 1]


def flag(value=0):
    made = sv.ndarray(sv.i32, ())
    made.fill(value)
    return made


def numbers(*values):
    made = sv.ndarray(sv.i32, len(values))
    for place, value in enumerate(values):
        made[place] = value
    return made


@sv.kernel(graph=True)
def count_down(x: Numbers, more: Flag):
    while sv.graph.do_while(more):
        for i in x:
            x[i] -= 1
        for _ in range(1):
            more[None] = sv.i32(x[0] > 0)


def test_a_loop_repeats_while_its_flag_is_not_zero():
    x = numbers(5, 7)
    count_down(x, flag())
    assert x.to_numpy().tolist() == [0, 2]


def test_it_runs_at_least_once():
    x = numbers(-3, 0)
    count_down(x, flag(0))
    assert x.to_numpy().tolist() == [-4, -1]


def test_other_arrays_need_no_other_code():
    count_down(numbers(1), flag())
    before = sv.compile_count()
    longer, other = numbers(*range(3, 103)), flag()
    count_down(longer, other)
    assert longer[99] == 99
    assert other[()] == 0
    assert sv.compile_count() == before


def test_the_other_spelling():
    @sv.kernel(graph=True)
    def run(x: Numbers, more: Flag):
        while sv.graph_do_while(more):
            for _ in range(1):
                x[0] += 1
                more[None] = sv.i32(x[0] < 3)

    x = numbers(0)
    run(x, flag())
    assert x[0] == 3


@dataclasses.dataclass
class Inner:
    more: Flag
    x: Numbers


@dataclasses.dataclass
class Middle:
    inner: Inner


@dataclasses.dataclass
class Outer:
    middle: Middle


def test_a_member_of_a_dataclass():
    @sv.kernel(graph=True)
    def run(state: Inner):
        while sv.graph.do_while(state.more):
            for _ in range(1):
                state.x[0] += 1
                state.more[None] = sv.i32(state.x[0] < 4)

    state = Inner(flag(), numbers(0))
    run(state)
    assert state.x[0] == 4


def test_a_member_three_dataclasses_deep():
    @sv.kernel(graph=True)
    def run(state: Outer):
        while sv.graph.do_while(state.middle.inner.more):
            for _ in range(1):
                state.middle.inner.x[0] += 1
                state.middle.inner.more[None] = sv.i32(state.middle.inner.x[0] < 4)

    state = Outer(Middle(Inner(flag(), numbers(0))))
    run(state)
    assert state.middle.inner.x[0] == 4


@sv.data_oriented
class Part:
    def __init__(self, x):
        self.flag = flag()
        self.x = x


@sv.data_oriented
class Solver:
    def __init__(self):
        self.x = numbers(0)
        self.flag = flag()
        self.flags = [flag(), flag()]
        self.p = Part(self.x)

    @sv.kernel(graph=True)
    def by_member(self):
        while sv.graph.do_while(self.flag):
            for _ in range(1):
                self.x[0] += 1
                self.flag[None] = sv.i32(self.x[0] < 3)

    @sv.kernel(graph=True)
    def by_item(self):
        while sv.graph.do_while(self.flags[0]):
            for _ in range(1):
                self.x[0] += 1
                self.flags[0][None] = sv.i32(self.x[0] < 4)

    @sv.kernel(graph=True)
    def by_part(self):
        while sv.graph.do_while(self.p.flag):
            for _ in range(1):
                self.p.x[0] += 1
                self.p.flag[None] = sv.i32(self.p.x[0] < 5)

    @sv.kernel(graph=True)
    def only_named(self, limit: sv.i32):
        while sv.graph.do_while(self.flag, max_iterations=1):
            for _ in range(1):
                self.x[0] += limit


def test_members_of_an_object():
    solver = Solver()
    solver.by_member()
    assert solver.x[0] == 3
    solver.x[0] = 0
    solver.by_item()
    assert solver.x[0] == 4
    solver.x[0] = 0
    solver.by_part()
    assert solver.x[0] == 5


def test_a_member_may_be_another_array_in_each_launch():
    solver = Solver()
    solver.only_named(2)
    before = sv.compile_count()
    solver.flag = flag(1)
    with pytest.raises(sv.SamovarRuntimeError, match="after 1 iterations"):
        solver.only_named(2)
    assert sv.compile_count() == before
    assert solver.x[0] == 4


def test_a_flag_that_only_the_construct_names_is_passed():
    solver = Solver()
    solver.only_named(1)
    assert "self.flag" in Solver.only_named.inspect("arguments", solver, 1)


CAPTURED = flag()


def test_a_captured_flag():
    @sv.kernel(graph=True)
    def run(x: Numbers):
        while sv.graph.do_while(CAPTURED):
            for _ in range(1):
                x[0] += 1
                CAPTURED[None] = sv.i32(x[0] < 3)

    x = numbers(0)
    run(x)
    assert x[0] == 3


def test_flags_of_numpy():
    x, more = np.array([5, 7], np.int32), np.zeros((), np.int32)
    count_down(x, more)
    assert x.tolist() == [0, 2]


def test_flags_of_torch():
    torch = pytest.importorskip("torch")
    y = torch.tensor([3], dtype=torch.int32)
    count_down(y, torch.zeros((), dtype=torch.int32))
    assert y.tolist() == [0]


@sv.kernel(graph=True)
def grid(x: sv.types.NDArray[sv.i32, 2], rows: Flag, columns: Flag, at: Numbers, n: sv.i32, m: sv.i32):
    while sv.graph.do_while(rows):
        for _ in range(1):
            at[1] = 0
        while sv.graph.do_while(columns):
            for _ in range(1):
                x[at[0], at[1]] += 1 + at[0] * 10 + at[1]
                at[1] += 1
                columns[None] = sv.i32(at[1] < m)
        for _ in range(1):
            at[0] += 1
            rows[None] = sv.i32(at[0] < n)


def test_loops_nest():
    x = np.zeros((3, 4), np.int32)
    grid(x, flag(), flag(), numbers(0, 0), 3, 4)
    assert (x == [[1 + 10 * i + j for j in range(4)] for i in range(3)]).all()


def test_one_flag_serves_two_loops_nested_three_deep():
    @sv.kernel(graph=True)
    def run(x: Numbers, a: Flag, b: Flag):
        while sv.graph.do_while(a):
            while sv.graph.do_while(b):
                while sv.graph.do_while(a):
                    for _ in range(1):
                        x[0] += 1
                        a[None] = sv.i32(x[0] % 2 != 0)
                for _ in range(1):
                    x[1] += 1
                    b[None] = sv.i32(x[1] % 2 != 0)
            for _ in range(1):
                x[2] += 1
                a[None] = sv.i32(x[2] < 3)

    x = numbers(0, 0, 0)
    run(x, flag(), flag())
    assert x.to_numpy().tolist() == [12, 6, 3]


def test_side_by_side_with_loops_and_bare_statements_around():
    @sv.kernel(graph=True)
    def run(x: Numbers, more: Flag):
        n = x.shape[0]
        x[0] = 10
        while sv.graph.do_while(more):
            half = n // 2
            for i in range(half):
                x[i] -= 1
            last = half
            more[None] = sv.i32(x[0] > 0)
        for i in range(last, n):
            x[i] = last + half
        while sv.graph.do_while(more):
            x[1] += 100

    x = numbers(0, 0, 0, 0)
    run(x, flag())
    assert x.to_numpy().tolist() == [0, 90, 4, 4]


def test_variables_go_on_from_one_iteration_to_the_next():
    @sv.kernel(graph=True)
    def run(x: Numbers, more: Flag):
        total = 0
        step = 1
        while sv.graph.do_while(more):
            total += step
            step = step * 2
            for _ in range(1):
                more[None] = sv.i32(total < 100)
        x[0] = total
        x[1] = step

    x = numbers(0, 0)
    run(x, flag())
    assert x.to_numpy().tolist() == [127, 128]


@sv.func
def relax(x, more, low):
    while sv.graph.do_while(more):
        for i in x:
            x[i] -= 1
        for _ in range(1):
            more[None] = sv.i32(x[0] > low)


def test_a_func_at_the_top_level_may_contain_loops():
    @sv.kernel(graph=True)
    def run(x: Numbers, more: Flag):
        relax(x, more, 5)
        for i in x:
            x[i] += 100
        relax(x, more, 50)

    x = numbers(9)
    run(x, flag())
    assert x[0] == 50


def test_static_control_keeps_the_top_level():
    @sv.kernel(graph=True)
    def run(x: Numbers, flags: sv.Template, twice: sv.Template):
        for k in sv.static(range(2)):
            if sv.static(twice or k == 0):
                while sv.graph.do_while(flags[k]):
                    for _ in range(1):
                        x[k] += 1
                        flags[k][None] = sv.i32(x[k] < 3 + k)

    x = numbers(0, 0)
    run(x, (flag(), flag()), True)
    assert x.to_numpy().tolist() == [3, 4]
    x = numbers(0, 0)
    run(x, (flag(), flag()), False)
    assert x.to_numpy().tolist() == [3, 0]


def test_parallel_tasks_inside_of_a_loop_see_each_other():
    @sv.kernel(graph=True)
    def run(x: sv.types.NDArray[sv.f64, 1], y: sv.types.NDArray[sv.f64, 1], total: sv.types.NDArray[sv.f64, 0], more: Flag):
        while sv.graph.do_while(more):
            for i in x:
                y[i] = x[i] * 0.5
            for _ in range(1):
                total[None] = 0
            for i in x:
                x[i] = y[i]
                total[None] += y[i]
            for _ in range(1):
                more[None] = sv.i32(total[None] > 1.0)

    n = 200_000
    x, y, total = np.ones(n), np.zeros(n), np.zeros(())
    run(x, y, total, flag())
    steps = int(np.ceil(np.log2(n)))
    assert (x == 0.5**steps).all()
    assert total[()] <= 1


def test_most_iterations():
    @sv.kernel(graph=True)
    def run(x: Numbers, more: Flag):
        while sv.graph.do_while(more, max_iterations=4):
            for _ in range(1):
                x[0] += 1
                more[None] = sv.i32(x[0] < x[1])

    x = numbers(0, 4)
    run(x, flag())
    assert x[0] == 4
    x = numbers(0, 5)
    with pytest.raises(
        sv.SamovarRuntimeError,
        match=re.escape("`sv.graph.do_while(more, max_iterations=4)`: the loop is not finished after 4 iterations"),
    ):
        run(x, flag())
    assert x[0] == 4


def test_most_iterations_in_debug_mode_say_where(debug):
    @sv.kernel(graph=True)
    def run(x: Numbers, more: Flag):
        while sv.graph.do_while(more, 2):
            for _ in range(1):
                x[0] += 1

    with pytest.raises(sv.SamovarRuntimeError, match="not finished after 2 iterations") as caught:
        run(numbers(0), flag(1))
    line = run.__wrapped__.__code__.co_firstlineno + 2
    assert f"test_graph_loops.py:{line}, in run" in str(caught.value)


def test_debug_mode_runs_the_same(debug):
    x = numbers(5, 7)
    count_down(x, flag())
    assert x.to_numpy().tolist() == [0, 2]


def test_in_plain_python_a_loop_runs_at_least_once():
    x, more = numbers(5, 7), flag()
    for start, expected in ((3, 0), (-5, -6)):
        x[0] = start
        plain_count_down(x, more)
        assert x[0] == expected
    nested = []
    a, b = flag(1), flag(1)
    while sv.graph.do_while(a):
        for _ in range(2):
            b.fill(1)
            while sv.graph.do_while(b):
                nested.append(1)
                b.fill(int(len(nested) % 3 != 0))
        a.fill(0)
    assert len(nested) == 6
    with pytest.raises(sv.SamovarRuntimeError, match="after 3 iterations"):
        plain_loop(nested)
    assert nested.count(2) == 3


def plain_loop(seen):
    while sv.graph.do_while(flag(1), max_iterations=3):
        seen.append(2)


def plain_count_down(x, more):
    while sv.graph.do_while(more):
        x[0] -= 1
        more.fill(int(x[0] > 0))


# --- what is refused


def refused(kernel, *arguments):
    with pytest.raises(sv.SamovarSyntaxError) as caught:
        kernel(*arguments)
    text = str(caught.value)
    assert "test_graph_loops.py:" in text
    assert "^" in text
    return text


def test_outside_of_a_graph():
    @sv.kernel
    def run(x: Numbers, more: Flag):
        while sv.graph.do_while(more):
            for i in x:
                x[i] += 1

    text = refused(run, numbers(0), flag())
    assert "`do_while` requires a kernel with `graph=True`" in text
    assert "@sv.kernel(graph=True)" in text


def test_not_at_the_top_level():
    @sv.kernel(graph=True)
    def in_a_task(x: Numbers, more: Flag):
        for i in x:
            while sv.graph.do_while(more):
                x[i] += 1

    @sv.kernel(graph=True)
    def under_a_condition(x: Numbers, more: Flag):
        if x[0] > 0:
            while sv.graph.do_while(more):
                x[0] += 1

    @sv.kernel(graph=True)
    def in_a_func_in_a_task(x: Numbers, more: Flag):
        for i in x:
            relax(x, more, i)

    for kernel in (in_a_task, under_a_condition, in_a_func_in_a_task):
        assert "`do_while` must be at the top level" in refused(kernel, numbers(1), flag())


@dataclasses.dataclass
class Wrong:
    x: Numbers
    number: int = 3


def test_what_is_no_flag():
    @sv.kernel(graph=True)
    def missing(s: Wrong):
        while sv.graph.do_while(s.flag):
            for i in s.x:
                s.x[i] += 1

    @sv.kernel(graph=True)
    def number(s: Wrong):
        while sv.graph.do_while(s.number):
            for i in s.x:
                s.x[i] += 1

    @sv.kernel(graph=True)
    def ranked(s: Wrong):
        while sv.graph.do_while(s.x):
            for i in s.x:
                s.x[i] += 1

    @sv.kernel(graph=True)
    def expression(s: Wrong):
        while sv.graph.do_while(s.x[0] + 1):
            for i in s.x:
                s.x[i] += 1

    @sv.kernel(graph=True)
    def element(s: Wrong):
        while sv.graph.do_while(s.x[0]):
            for i in s.x:
                s.x[i] += 1

    @sv.kernel(graph=True)
    def typed(x: Numbers, more: sv.types.NDArray[sv.f32, 0]):
        while sv.graph.do_while(more):
            for i in x:
                x[i] += 1

    s = Wrong(numbers(0))
    assert "has no attribute `flag`" in refused(missing, s)
    assert "must be an array" in refused(number, s)
    assert "is a 1-D array of i32" in refused(ranked, s)
    assert "not an expression" in refused(expression, s)
    assert "must be an array" in refused(element, s)
    assert "`more` is a 0-D array of f32" in refused(typed, numbers(0), sv.ndarray(sv.f32, ()))


def test_arguments_that_it_does_not_take():
    @sv.kernel(graph=True)
    def none(x: Numbers):
        while sv.graph.do_while():
            for i in x:
                x[i] += 1

    @sv.kernel(graph=True)
    def other(x: Numbers, more: Flag):
        while sv.graph.do_while(more, times=3):
            for i in x:
                x[i] += 1

    @sv.kernel(graph=True)
    def run_time(x: Numbers, more: Flag, n: sv.i32):
        while sv.graph.do_while(more, max_iterations=n):
            for i in x:
                x[i] += 1

    assert "takes a flag" in refused(none, numbers(0))
    assert "unexpected `times`" in refused(other, numbers(0), flag())
    assert "known at compile time" in refused(run_time, numbers(0), flag(), 3)


def test_it_is_a_condition_and_nothing_else():
    @sv.kernel(graph=True)
    def called(x: Numbers, more: Flag):
        sv.graph.do_while(more)
        for i in x:
            x[i] += 1

    @sv.kernel(graph=True)
    def combined(x: Numbers, more: Flag):
        while sv.graph.do_while(more) and x[0] > 0:
            for i in x:
                x[i] += 1

    @sv.kernel(graph=True)
    def left(x: Numbers, more: Flag):
        while sv.graph.do_while(more):
            if x[0] > 2:
                break
            for i in x:
                x[i] += 1

    @sv.kernel(graph=True)
    def otherwise(x: Numbers, more: Flag):
        while sv.graph.do_while(more):
            for i in x:
                x[i] += 1
        else:
            x[0] = 0

    assert "can only be used in `while sv.graph.do_while(flag):`" in refused(called, numbers(0), flag())
    assert "can only be used in `while sv.graph.do_while(flag):`" in refused(combined, numbers(0), flag())
    assert "`break` is not supported in a graph loop" in refused(left, numbers(0), flag())
    assert "`while … else`" in refused(otherwise, numbers(0), flag())


def test_a_graph_returns_nothing():
    @sv.kernel(graph=True)
    def value(x: Numbers):
        for i in x:
            x[i] += 1
        return x[0]

    @sv.kernel(graph=True)
    def declared(x: Numbers) -> sv.i32:
        for i in x:
            x[i] += 1

    @sv.kernel(graph=True)
    def early(x: Numbers):
        if x[0] > 0:
            return
        for i in x:
            x[i] += 1

    assert "cannot return a value" in refused(value, numbers(0))
    assert "cannot return a value" in refused(declared, numbers(0))
    x = numbers(1)
    assert early(x) is None
    assert x[0] == 1


def test_any_other_with_is_refused():
    @sv.kernel(graph=True)
    def run(x: Numbers):
        with open("file"):
            x[0] = 1

    assert "`with` is not supported in kernels" in refused(run, numbers(0))
