"""Checkpoints of a graph: where a launch ends, what it returns, and what a launch that begins there skips."""

import dataclasses
import enum

import numpy as np
import pytest

import samovar as sv

Flag = sv.types.NDArray[sv.i32, 0]
Numbers = sv.types.NDArray[sv.i32, 1]
DONE = sv.GraphStatus(yielded=False, checkpoint=None)


def flag(value=0):
    made = sv.ndarray(sv.i32, ())
    made.fill(value)
    return made


def numbers(*values):
    made = sv.ndarray(sv.i32, len(values))
    for place, value in enumerate(values):
        made[place] = value
    return made


def contents(array):
    return array.to_numpy().tolist()


class Stage(enum.IntEnum):
    FIRST = 10
    SECOND = 20


@sv.kernel(graph=True, checkpoints=True)
def two_stages(x: Numbers, one: Flag, two: Flag):
    for i in x:
        x[i] += 1
    with sv.checkpoint(Stage.FIRST, yield_on=one):
        for i in x:
            x[i] += 10
    x[0] += 1000
    with sv.checkpoint(cp_id=Stage.SECOND, yield_on=two):
        for i in x:
            x[i] += 100
    for i in x:
        x[i] = -x[i]


def test_a_launch_to_the_end():
    x = numbers(0, 0)
    assert two_stages(x, flag(), flag()) == DONE
    assert contents(x) == [-1111, -111]


def test_a_launch_ends_where_the_flag_is_set():
    x = numbers(0, 0)
    status = two_stages(x, flag(1), flag(1))
    assert status == sv.GraphStatus(yielded=True, checkpoint=Stage.FIRST)
    assert status.checkpoint is Stage.FIRST
    assert contents(x) == [11, 11]
    status = two_stages(x, flag(), flag(5))
    assert status.checkpoint is Stage.SECOND
    assert contents(x) == [1122, 122]


def test_resume_skips_what_stands_before():
    x = numbers(0, 0)
    assert two_stages.resume(x, flag(), flag(), from_checkpoint=Stage.FIRST) == DONE
    assert contents(x) == [-1110, -110]
    x = numbers(0, 0)
    # The flag of a checkpoint that is skipped ends nothing.
    assert two_stages.resume(x, flag(1), flag(), from_checkpoint=20) == DONE
    assert contents(x) == [-100, -100]
    x = numbers(0, 0)
    status = two_stages.resume(x, one=flag(), two=flag(1), from_checkpoint=Stage.FIRST)
    assert status.checkpoint is Stage.SECOND
    assert contents(x) == [1110, 110]


def test_the_flag_is_never_written():
    one, two = flag(3), flag(4)
    two_stages(numbers(0), one, two)
    two_stages.resume(numbers(0), one, two, from_checkpoint=10)
    assert (one[()], two[()]) == (3, 4)


def test_resume_as_the_first_launch_of_a_kernel():
    @sv.kernel(graph=True, checkpoints=True)
    def run(x: Numbers, stop: Flag):
        for i in x:
            x[i] = 5
        with sv.checkpoint(1, yield_on=stop):
            for i in x:
                x[i] += 1

    x = numbers(0)
    assert run.resume(x, flag(), from_checkpoint=1) == DONE
    assert x[0] == 1


@sv.kernel(graph=True, checkpoints=True)
def grow(x: Numbers, used: Flag, full: Flag, more: Flag, rounds: sv.i32):
    n = x.shape[0]
    double = n * 2
    used[None] += 1
    while sv.graph.do_while(more):
        for _ in range(1):
            used[None] += 100
        with sv.checkpoint(1, yield_on=full):
            for _ in range(1):
                full[None] = sv.i32(used[None] > double * 100)
        for _ in range(1):
            more[None] = sv.i32(used[None] < rounds * 100)
    for i in range(n):
        x[i] = double


def test_in_a_loop_the_first_pass_is_skipped():
    used, full, more = flag(), flag(), flag()
    assert grow(numbers(0), used, full, more, 6).yielded
    assert used[()] == 201
    before = sv.compile_count()
    x = numbers(0, 0)
    full.fill(0)
    assert grow.resume(x, used, full, more, 6, from_checkpoint=1).yielded
    assert used[()] == 401
    assert contents(x) == [0, 0]
    full.fill(0)
    x = numbers(*[0] * 4)
    assert not grow.resume(x, used, full, more, 6, from_checkpoint=1).yielded
    assert used[()] == 601
    assert contents(x) == [8] * 4
    assert sv.compile_count() == before


def test_a_loop_before_the_checkpoint_is_left_after_a_pass():
    @sv.kernel(graph=True, checkpoints=True)
    def run(x: Numbers, more: Flag, stop: Flag):
        while sv.graph.do_while(more, max_iterations=5):
            for _ in range(1):
                x[0] += 1
        with sv.checkpoint(1, yield_on=stop):
            for _ in range(1):
                x[0] += 10

    x = numbers(0)
    assert run.resume(x, flag(1), flag(), from_checkpoint=1) == DONE
    assert x[0] == 10


def test_serial_code_before_the_checkpoint_writes_nothing(capfd):
    @sv.func
    def bump(x, by):
        x[0] += by
        return x[0] + 1, by

    @sv.kernel(graph=True, checkpoints=True)
    def run(x: Numbers, stop: Flag):
        n = x.shape[0]
        old = sv.atomic_add(x[1], 5)
        first, second = bump(x, 3)
        print("before")
        while x[2] < 4:
            x[2] += 1
        for i in sv.static(range(2)):
            x[i] += 1
        if x[0] > 100:
            x[0] = 0
            return
        with sv.checkpoint(1, yield_on=stop):
            for _ in range(1):
                x[3] = n + old + first + second
        print("after")

    x = numbers(0, 0, 0, 0)
    assert run(x, flag()) == DONE
    assert contents(x) == [4, 6, 4, 4 + 0 + 4 + 3]
    x = numbers(200, 0, 0, 0)
    assert run.resume(x, flag(), from_checkpoint=1) == DONE
    assert contents(x) == [200, 0, 0, 4]
    assert capfd.readouterr().out == "before\nafter\nafter\n"


def test_a_return_is_the_end_without_a_checkpoint():
    @sv.kernel(graph=True, checkpoints=True)
    def run(x: Numbers, stop: Flag):
        with sv.checkpoint(1, yield_on=stop):
            for _ in range(1):
                x[0] += 1
        if x[0] > 1:
            return
        x[0] = 50

    x = numbers(0)
    assert run(x, flag()) == DONE
    assert x[0] == 50
    assert run(x, flag()) == DONE
    assert x[0] == 51


@dataclasses.dataclass
class Inner:
    stop: Flag
    x: Numbers


@dataclasses.dataclass
class State:
    inner: Inner


def test_flags_that_are_members():
    @sv.kernel(graph=True, checkpoints=True)
    def run(state: State):
        for i in state.inner.x:
            state.inner.x[i] += 1
        with sv.checkpoint(3, yield_on=state.inner.stop):
            for i in state.inner.x:
                state.inner.x[i] += 10

    state = State(Inner(flag(1), numbers(0)))
    assert run(state).checkpoint == 3
    state.inner.stop.fill(0)
    state.inner.x = numbers(0, 0)
    assert run.resume(state, from_checkpoint=3) == DONE
    assert contents(state.inner.x) == [10, 10]


class Solver:
    def __init__(self):
        self.x = numbers(0)
        self.stops = [flag(1), flag()]
        self.seen = numbers(0)

    @sv.kernel(graph=True, checkpoints=True)
    def step(self, by: sv.i32):
        for i in self.x:
            self.x[i] += 1
        with sv.checkpoint(Stage.FIRST, yield_on=self.stops[0]):
            for i in self.x:
                self.x[i] += by

    @sv.kernel
    def look(self):
        for _ in range(1):
            self.seen[0] = self.x.shape[0]


@pytest.mark.parametrize("stable", [False, True])
def test_a_bound_kernel_and_members_that_are_bound_to_larger_arrays(stable):
    class Mine(Solver):
        pass

    solver = (sv.data_oriented(stable_members=True) if stable else sv.data_oriented)(Mine)()
    solver.look()
    solver.step(10)
    assert solver.step(10).checkpoint is Stage.FIRST
    before = sv.compile_count()
    solver.x = numbers(0, 0, 0)
    solver.stops[0].fill(0)
    assert solver.step.resume(20, from_checkpoint=Stage.FIRST) == DONE
    assert contents(solver.x) == [20, 20, 20]
    solver.look()
    assert solver.seen[0] == 3
    assert sv.compile_count() == before


def test_a_specialization_without_checkpoints_shows_none():
    @sv.kernel(graph=True, checkpoints=True)
    def run(x: Numbers, stop: Flag, guarded: sv.Template):
        if sv.static(guarded):
            with sv.checkpoint(1, yield_on=stop):
                for i in x:
                    x[i] += 1
        for i in x:
            x[i] += 10

    x = numbers(0)
    assert run(x, flag(1), True).checkpoint == 1
    assert run(x, flag(1), False) == DONE
    assert x[0] == 11
    with pytest.raises(sv.SamovarError, match="no checkpoints for these arguments"):
        run.resume(x, flag(1), False, from_checkpoint=1)
    assert run.resume(x, flag(), True, from_checkpoint=1) == DONE


@sv.func
def guarded(x, stop):
    with sv.checkpoint(4, yield_on=stop):
        """What may end the launch."""
        for i in x:
            x[i] += 1


def test_a_checkpoint_in_a_func():
    @sv.kernel(graph=True, checkpoints=True)
    def run(x: Numbers, stop: Flag):
        for i in x:
            x[i] += 100
        guarded(x, stop)
        for i in x:
            x[i] += 10

    x = numbers(0)
    assert run(x, flag(1)) == sv.GraphStatus(True, 4)
    assert x[0] == 101
    assert run.resume(x, flag(0), from_checkpoint=4) == DONE
    assert x[0] == 112


def test_what_may_stand_in_a_checkpoint():
    @sv.kernel(graph=True, checkpoints=True)
    def run(x: Numbers, more: Flag, stop: Flag):
        with sv.checkpoint(1, yield_on=stop):
            sv.loop_config(serialize=True)
            for i in x:
                x[i] += 1
            if sv.static(True):
                for i in x:
                    x[i] += 10
            while sv.graph.do_while(more):
                for _ in range(1):
                    x[0] += 100
                    more[None] = sv.i32(x[0] < 300)

    x = numbers(0)
    assert run(x, flag(), flag()) == DONE
    assert x[0] == 311


def test_debug_mode_runs_the_same(debug):
    x = numbers(0, 0)
    assert two_stages(x, flag(1), flag()).checkpoint is Stage.FIRST
    assert two_stages.resume(x, flag(), flag(), from_checkpoint=Stage.FIRST) == DONE
    assert contents(x) == [-1121, -121]


def test_threads_and_large_arrays():
    n = 300_000
    x = np.zeros(n, np.int32)
    assert two_stages(x, flag(), flag(1)).checkpoint is Stage.SECOND
    assert (x[1:] == 111).all()
    assert two_stages.resume(x, flag(), flag(), from_checkpoint=Stage.SECOND) == DONE
    assert (x[1:] == -211).all()


def test_a_status():
    status = sv.GraphStatus(True, Stage.FIRST)
    assert repr(sv.GraphStatus(False)) == "GraphStatus(yielded=False, checkpoint=None)"
    assert status == sv.GraphStatus(yielded=True, checkpoint=10)
    assert hash(status) == hash(sv.GraphStatus(True, 10))
    assert status != sv.GraphStatus(True, 11)
    assert status != (True, 10)
    with pytest.raises(AttributeError):
        status.yielded = False


def test_in_plain_python_a_checkpoint_is_a_block():
    seen = []
    with sv.checkpoint(1, yield_on=flag(1)):
        seen.append(1)
    with sv.checkpoint(cp_id=Stage.FIRST, yield_on=flag(1)):
        seen.append(2)
    assert seen == [1, 2]


# --- what is refused


def refused(kernel, *arguments):
    with pytest.raises(sv.SamovarSyntaxError) as caught:
        kernel(*arguments)
    text = str(caught.value)
    assert "test_graph_checkpoints.py:" in text
    assert "^" in text
    return text


def test_checkpoints_need_a_graph():
    with pytest.raises(sv.SamovarSyntaxError, match="`checkpoints` requires `graph=True`") as caught:

        @sv.kernel(checkpoints=True)
        def run(x: Numbers):
            x[0] = 1

    assert "test_graph_checkpoints.py:" in str(caught.value)


def test_a_checkpoint_needs_checkpoints():
    @sv.kernel(graph=True)
    def run(x: Numbers, stop: Flag):
        with sv.checkpoint(1, yield_on=stop):
            for i in x:
                x[i] = 1

    @sv.kernel
    def plain(x: Numbers, stop: Flag):
        with sv.checkpoint(1, yield_on=stop):
            for i in x:
                x[i] = 1

    assert "requires a kernel with `checkpoints=True`" in refused(run, numbers(0), flag())
    assert "requires a kernel with `graph=True`" in refused(plain, numbers(0), flag())


def test_arguments_of_a_checkpoint():
    @sv.kernel(graph=True, checkpoints=True)
    def no_label(x: Numbers, stop: Flag):
        with sv.checkpoint(yield_on=stop):
            for i in x:
                x[i] = 1

    @sv.kernel(graph=True, checkpoints=True)
    def no_flag(x: Numbers, stop: Flag):
        with sv.checkpoint(1):
            for i in x:
                x[i] = 1

    @sv.kernel(graph=True, checkpoints=True)
    def unknown(x: Numbers, stop: Flag):
        with sv.checkpoint(1, yield_on=stop, when=stop):
            for i in x:
                x[i] = 1

    @sv.kernel(graph=True, checkpoints=True)
    def run_time(x: Numbers, stop: Flag, n: sv.i32):
        with sv.checkpoint(n, yield_on=stop):
            for i in x:
                x[i] = 1

    @sv.kernel(graph=True, checkpoints=True)
    def text(x: Numbers, stop: Flag):
        with sv.checkpoint("start", yield_on=stop):
            for i in x:
                x[i] = 1

    @sv.kernel(graph=True, checkpoints=True)
    def twice(x: Numbers, stop: Flag):
        with sv.checkpoint(10, yield_on=stop):
            for i in x:
                x[i] = 1
        with sv.checkpoint(Stage.FIRST, yield_on=stop):
            for i in x:
                x[i] = 1

    @sv.kernel(graph=True, checkpoints=True)
    def expression(x: Numbers, stop: Flag):
        with sv.checkpoint(1, yield_on=stop[None] > 2):
            for i in x:
                x[i] = 1

    @sv.kernel(graph=True, checkpoints=True)
    def wrong_flag(x: Numbers, stop: Flag):
        with sv.checkpoint(1, yield_on=x):
            for i in x:
                x[i] = 1

    x, stop = numbers(0), flag()
    assert "requires a label" in refused(no_label, x, stop)
    assert "requires `yield_on`" in refused(no_flag, x, stop)
    assert "no parameter `when`" in refused(unknown, x, stop)
    assert "known at compile time" in refused(run_time, x, stop, 3)
    assert "int or a member of an IntEnum" in refused(text, x, stop)
    assert "the label 10 is already used by another checkpoint" in refused(twice, x, stop)
    assert "not an expression" in refused(expression, x, stop)
    assert "is a 1-D array of i32" in refused(wrong_flag, x, stop)


def test_where_a_checkpoint_may_not_stand():
    @sv.kernel(graph=True, checkpoints=True)
    def nested(x: Numbers, stop: Flag):
        with sv.checkpoint(1, yield_on=stop), sv.checkpoint(2, yield_on=stop):
            for i in x:
                x[i] = 1

    @sv.kernel(graph=True, checkpoints=True)
    def in_a_task(x: Numbers, stop: Flag):
        for i in x:
            with sv.checkpoint(2, yield_on=stop):
                x[i] = 1

    @sv.kernel(graph=True, checkpoints=True)
    def bare(x: Numbers, stop: Flag):
        with sv.checkpoint(2, yield_on=stop):
            x[0] = 1

    @sv.kernel(graph=True, checkpoints=True)
    def bare_among_loops(x: Numbers, stop: Flag):
        with sv.checkpoint(2, yield_on=stop):
            for i in x:
                x[i] = 1
            n = x.shape[0]
            for i in range(n):
                x[i] = 1

    x, stop = numbers(0), flag()
    assert "`checkpoint` is not allowed inside a checkpoint" in refused(nested, x, stop)
    assert "must be at the top level" in refused(in_a_task, x, stop)
    for kernel in (bare, bare_among_loops):
        assert "`for _ in range(1):`" in refused(kernel, x, stop)


def test_labels_that_are_not_there():
    @sv.kernel(graph=True)
    def without(x: Numbers):
        for i in x:
            x[i] = 1

    x = numbers(0)
    with pytest.raises(sv.SamovarError, match=r"no checkpoint 3\n  help: its checkpoints are Stage.FIRST, Stage.SECOND"):
        two_stages.resume(x, flag(), flag(), from_checkpoint=3)
    with pytest.raises(sv.SamovarError, match="has no checkpoints to resume from"):
        without.resume(x, from_checkpoint=1)
    with pytest.raises(sv.SamovarError, match="is an int, not 'FIRST'"):
        two_stages.resume(x, flag(), flag(), from_checkpoint="FIRST")
    with pytest.raises(TypeError, match="from_checkpoint"):
        two_stages.resume(x, flag(), flag())
    assert x[0] == 0
