"""Safepoints: long loops ask whether to stop, short ones do not pay for it, and both do what the loop did."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samovar as sv
from ir_builder import Builder
from ir_interpreter import Interpreter
from passes.loops.rewriting import assert_same, check, outcome, outlined
from samovar._native import DType, i8, i32, i64
from samovar.ir import Array, For, If, Kernel, Operation, Parameter, Region, Task, While, verify, walk
from samovar.ir.traversal import outlined as tasks_of
from samovar.passes import outline
from samovar.passes.loops import place_safepoints, safepoints

Matrix = sv.types.NDArray[sv.f32, 2]
Numbers = sv.types.NDArray[sv.f64, 1]
Integers = sv.types.NDArray[sv.i32, 1]


def polls(region: Region) -> int:
    return sum(each.code == "poll" for each in walk(region))


def placed(kernel: Any, arguments: dict[str, Any]) -> Task:
    """The task of a kernel whose loops ask."""
    made = outlined(kernel, arguments)
    place_safepoints(made)
    verify(made)
    (task,) = tasks_of(made)
    return task


def twins(task: Task) -> tuple[int, int]:
    """How often the polling body of a task asks, and the other one."""
    branch = task.body.operations[-1]
    assert isinstance(branch, If)
    assert branch.unlikely
    return polls(branch.then), polls(branch.orelse)


@sv.kernel
def product(a: Matrix, b: Matrix, c: Matrix):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@sv.kernel
def triangle(x: Numbers, n: sv.i32):
    for i in x:
        for j in range(i + 1, sv.min(2 * n - 1, x.shape[0] >> 1)):
            x[i] += j


@sv.kernel
def rows(starts: Integers, x: Numbers):
    for i in range(x.shape[0]):
        for k in range(starts[i], starts[i + 1]):
            x[i] += k


@sv.kernel
def nested(starts: Integers, x: Numbers):
    for i in range(x.shape[0]):
        for k in range(starts[i]):
            for j in range(starts[k]):
                x[i] += j


@sv.kernel
def halving(x: Numbers):
    for i in x:
        while x[i] > 1:
            x[i] = x[i] / 2


MATRICES = {name: np.arange(9.0, dtype=np.float32).reshape(3, 3) for name in "abc"}
ROWS = {"starts": np.array([0, 3, 4, 4, 9], np.int32), "x": np.zeros(4)}


def test_what_can_be_foreseen_asks_in_a_body_of_its_own() -> None:
    polling, unpolled = twins(placed(product, MATRICES))
    assert polling > 0
    assert unpolled == 0
    polling, unpolled = twins(placed(triangle, {"x": np.zeros(8), "n": 4}))
    assert polling > 0
    assert unpolled == 0


def test_what_nobody_knows_asks_where_it_is() -> None:
    for kernel in (rows, nested):
        task = placed(kernel, ROWS)
        assert polls(task.body) > 0
        assert not any(each.code == "poll" for each in task.body.operations)
    (loop,) = (each for each in walk(placed(halving, {"x": np.zeros(3)}).body) if isinstance(each, While))
    assert loop.head.operations[0].code == "poll"


@pytest.mark.parametrize(("length", "asks"), [(60, False), (300, False), (4000, True)])
def test_what_is_written_in_the_code_asks_if_it_is_long(length: int, asks: bool) -> None:
    @sv.kernel
    def counted(x: Numbers):
        for i in x:
            for j in range(length):
                for k in range(length):
                    x[i] += j * k

    assert (polls(placed(counted, {"x": np.zeros(2)}).body) > 0) == asks


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [
        (product, MATRICES), (triangle, {"x": np.zeros(9), "n": 4}), (rows, ROWS), (nested, ROWS),
        (halving, {"x": np.array([9.0, 0.5, 100.0])}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("unpolled", [0.0, 10.0, 1e6])
def test_both_bodies_do_what_the_task_does(
    kernel: Any, arguments: dict[str, Any], unpolled: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task counts as long at once, somewhere on the way, or never."""
    monkeypatch.setattr(safepoints, "BRIEF", unpolled)
    monkeypatch.setattr(safepoints, "PIECE", 2.0)
    monkeypatch.setattr(safepoints, "LEAST_PIECE", 2)
    check(lambda: outlined(kernel, arguments), arguments, place_safepoints)


# --- serial loops, in pieces


def counting(begin: int, step: int, leave: int | None, dtype: DType = i32) -> Builder:
    """Stores how often a loop up to `n` has come to each element but the first; it is left after `leave`."""
    build = Builder(Array("seen", i32, 1, alone=True), Parameter("n", dtype))
    with build.loop(begin, build["n"], step, type=dtype) as k:
        with build.when(build.op("eq", k, 0)):
            build.void("continue")
        build.change("update", "add", build["seen"], [build.op("add", build.cast(k, i32), 40)], 1)
        if leave is not None:
            with build.when(build.op("eq", k, leave)):
                build.void("break")
    build.change("update", "add", build["seen"], [0], 7)
    return build


@pytest.mark.parametrize("dtype", [i8, i32, i64], ids=str)
@pytest.mark.parametrize("leave", [None, 3, 14])
@pytest.mark.parametrize(
    ("begin", "end", "step"),
    [
        *((0, n, 1) for n in (0, 1, 2, 15, 16, 17, 33)),
        *((30, -5, -3), (30, 29, -1), (-9, 30, 2), (-9, 30, 7), (5, 5, 1), (9, 3, 1)),
    ],
)
def test_pieces_are_the_whole_loop(
    begin: int, end: int, step: int, leave: int | None, dtype: DType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safepoints, "PIECE", 0.0)
    for least in (1, 4, 16):
        monkeypatch.setattr(safepoints, "LEAST_PIECE", least)
        made = counting(begin, step, leave, dtype)
        arguments = {"seen": np.zeros(80, np.int32), "n": end}
        wanted = outcome(made.kernel(), arguments)
        place_safepoints(made.kernel())
        verify(made.kernel())
        assert polls(made.body) > 0
        assert_same(outcome(made.kernel(), arguments), wanted)


def test_a_loop_that_is_left_early_is_left_in_all_pieces() -> None:
    made = counting(0, 1, 20)
    place_safepoints(made.kernel())
    seen = np.zeros(80, np.int32)
    Interpreter(made.kernel(), {"seen": seen, "n": 10**6}).run()
    assert seen[41:61].tolist() == [1] * 20
    assert seen[61:].sum() == 0


def test_a_loop_that_runs_again_and_again_is_there_whole_and_in_pieces() -> None:
    build = Builder(Array("seen", i32, 1, alone=True), Parameter("n", i32))
    with build.loop(0, build["n"]) as i, build.loop(0, build.load(build["seen"], i)) as k:
        build.change("update", "add", build["seen"], [k], 1)
    place_safepoints(build.kernel())
    verify(build.kernel())
    (branch,) = (each for each in walk(build.body) if isinstance(each, If))
    assert polls(branch.then) == 1
    whole = next(each for each in branch.orelse.operations if isinstance(each, For))
    assert polls(whole.body) == 0
    assert branch.orelse.operations[-1].code == "spend"  # what it has taken counts


def test_bounds_whose_distance_may_not_fit_ask_in_each_iteration() -> None:
    for begin, asks in ((Parameter("b", i64), True), (0, False)):
        build = Builder(Array("seen", i32, 1, alone=True), Parameter("n", i64), *([begin] if asks else []))
        with build.loop(begin, build["n"], type=i64) as k:
            build.change("update", "add", build["seen"], [build.cast(k, i32)], 1)
        place_safepoints(build.kernel())
        loop = next(each for each in walk(build.body) if isinstance(each, For))
        assert (loop.body.operations[0].code == "poll") == asks


def test_a_while_loop_around_a_task_does_the_same() -> None:
    @sv.kernel
    def steps(x: Numbers, n: sv.i32, m: sv.i32):
        count = 0
        while count < n:
            count += 1
            for i in range(x.shape[0]):
                for j in range(m):
                    x[i] += count * j

    arguments = {"x": np.zeros(5), "n": 3, "m": 4}
    check(lambda: outlined(steps, arguments), arguments, place_safepoints)


@pytest.mark.parametrize("long", [True, False])
def test_serial_loops_around_a_task_ask_and_the_task_stays_one(long: bool) -> None:
    build = Builder(Array("x", i32, 1, alone=True), Parameter("n", i32), Parameter("m", i32))
    x, m = build["x"], build["m"]
    with build.loop(0, build["n"]) as k, build.loop(0, m) as l, build.parallel(build.shape(x)) as (i,):
        build.change("update", "add", x, [i], build.op("add", k, l))
        if long:
            build.loop(0, m, body=lambda j: build.change("update", "add", x, [i], build.op("mul", k, j)))
    kernel = build.kernel()
    outline(kernel)
    wanted = outcome(kernel, {"x": np.zeros(5, np.int32), "n": 3, "m": 4})
    place_safepoints(kernel)
    verify(kernel)
    assert len([each for each in walk(kernel.body) if isinstance(each, Task)]) == 1
    outer = next(each for each in kernel.body.operations if isinstance(each, For))
    assert outer.body.operations[0].code == "poll"
    assert_same(outcome(kernel, {"x": np.zeros(5, np.int32), "n": 3, "m": 4}), wanted)


@pytest.mark.parametrize(("size", "expected"), [(8, 2), (8192, 1)])
def test_code_with_large_local_arrays_does_not_stand_twice(size: int, expected: int) -> None:
    @sv.kernel
    def tables(x: Numbers):
        for i in x:
            table = sv.Vector.zero(sv.f64, size)
            for j in range(x.shape[0]):
                table[(i + j) % size] += j
            x[i] = table[i]

    task = placed(tables, {"x": np.zeros(3)})
    assert sum(each.code == "reserve" for each in walk(task.body)) == expected


def test_a_function_with_a_long_loop_asks() -> None:
    function = Builder(Parameter("n", i32), returns=[i32], name="count")
    total = function.local("total", i32)
    function.set(total, 0)
    with function.loop(0, function["n"]) as k:
        function.set(total, function.op("add", function.get(total), k))
    function.give(function.get(total))
    build = Builder(Parameter("n", i32), returns=[i32])
    made = function.function()
    build.functions.append(made)
    build.give(build.call(made, build["n"]))
    kernel: Kernel = build.kernel()
    place_safepoints(kernel)
    verify(kernel)
    (branch,) = (each for each in walk(made.body) if isinstance(each, If))
    assert polls(branch.then) == 1
    assert Interpreter(kernel, {"n": 10}).run() == (45,)


def searching(target: int) -> Builder:
    """Find where an ordered array reaches a number."""
    build = Builder(Array("x", i32, 1, alone=True), Array("found", i32, 1, alone=True), Parameter("n", i32))
    place = build.local("k", i32)
    build.set(place, 0)

    def more() -> Any:
        return build.op("lt", build.load(build["x"], build.get(place)), target)

    build.during(more, lambda: build.set(place, build.op("add", build.get(place), 1)))
    build.store(build["found"], [0], build.get(place))
    return build


def test_a_short_loop_of_unknown_length_asks_once_in_several_iterations() -> None:
    for wanted in range(11):
        build = searching(wanted)
        place_safepoints(build.kernel())
        verify(build.kernel())
        loop = next(each for each in walk(build.body) if isinstance(each, While))
        assert polls(Region([loop])) == 1
        assert sum(each.code == "load" for each in walk(Region([loop]))) == safepoints.UNROLLED
        found = np.zeros(1, np.int32)
        Interpreter(build.kernel(), {"x": np.arange(20, dtype=np.int32), "found": found, "n": 20}).run()
        assert found[0] == wanted


def test_a_loop_whose_body_ends_with_a_jump_is_not_unrolled() -> None:
    build = Builder(Array("x", i32, 1, alone=True))
    place = build.local("k", i32)
    build.set(place, 0)

    def body() -> None:
        build.set(place, 1)
        build.append(Operation("break", None))

    build.during(lambda: build.op("lt", build.load(build["x"], build.get(place)), 5), body)
    place_safepoints(build.kernel())
    verify(build.kernel())
    assert sum(each.code == "load" for each in walk(build.body)) == 1


def test_a_loop_inside_of_many_loops_has_one_version() -> None:
    for depth, versions in ((2, 2), (safepoints.DEEP + 2, 1)):
        build = Builder(Array("seen", i32, 1, alone=True), Parameter("n", i32))

        def nest(left: int, build: Builder = build) -> None:
            with build.loop(0, build["n"]) as k:
                if left:
                    nest(left - 1)
                else:
                    build.change("update", "add", build["seen"], [k], 1)

        nest(depth)
        place_safepoints(build.kernel())
        verify(build.kernel())
        assert sum(each.code == "update" for each in walk(build.body)) >= versions
        strips = sum(isinstance(each, While) for each in walk(build.body))
        whole = sum(each.code == "spend" for each in walk(build.body))
        assert (strips > 0, whole > 0) == (True, versions == 2)
