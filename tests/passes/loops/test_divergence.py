"""Divergence: what varies between lanes, which loops they leave one by one, and how they touch memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ir_builder import Builder
from samovar._native import f32, i8, i32, i64
from samovar.ir import Affine, Array, For, Local, LocalArray, LoopVariable, Operation, Parameter, Value, While, walk
from samovar.passes.loops.divergence import Divergence, Refused, element_strides

Found = dict[str, Any]
Body = Callable[[Builder, LoopVariable, Local], Found | None]


def looked_at(body: Body, private: bool = True) -> tuple[Divergence, Found]:
    """A loop over i with arrays and a variable x, and what its body names."""
    build = Builder(
        Array("a", f32, 1, alone=True), Array("k", i32, 1, alone=True), Array("m", f32, 2, alone=True, extents=(None, 5)),
        Array("far", f32, 1, alone=True, contiguous=False), Array("wide", f32, 1, alone=True, wide=True),
        Parameter("n", i32),
    )  # fmt: skip
    x = build.local("x", i32)
    build.set(x, 0)
    with build.loop(0, build["n"]) as i:
        found = body(build, i, x) or {}
    loop = next(each for each in walk(build.body) if isinstance(each, For))
    return Divergence(loop, Affine(build.body), {x} if private else set(), set()), found


def step(index: Callable[[Builder, LoopVariable], Value], array: str = "a", *more: int) -> int | None:
    """How far apart lanes are that load an element."""
    plan, found = looked_at(lambda b, i, x: {"load": b.load(b[array], index(b, i), *more)})
    return plan.accesses[found["load"]].step


def test_lanes_are_as_far_apart_as_the_index_moves() -> None:
    assert step(lambda b, i: i) == 1
    assert step(lambda b, i: b.op("add", i, 7)) == 1
    assert step(lambda b, i: b.op("mul", i, 3)) == 3
    assert step(lambda b, i: b.op("sub", b["n"], i)) == -1
    assert step(lambda b, i: b.op("neg", b.op("mul", i, 2))) == -2
    assert step(lambda b, i: b["n"]) == 0
    assert step(lambda b, i: b.op("sub", i, i)) == 0 or step(lambda b, i: b.op("sub", i, i)) is None
    assert step(lambda b, i: b.op("floordiv", i, 2)) is None
    assert step(lambda b, i: b.load(b["k"], i)) is None
    assert step(lambda b, i: b.op("mul", i, i)) is None


def test_what_wraps_on_the_way_lies_anywhere() -> None:
    assert step(lambda b, i: b.cast(b.cast(i, i8), i32)) is None
    assert step(lambda b, i: b.cast(b.op("mul", i, 3), i64), "wide") is None
    assert step(lambda b, i: b.cast(i, i64), "wide") == 1


def test_axes_have_their_strides() -> None:
    assert step(lambda b, i: i, "m", 2) == 5
    plan, found = looked_at(lambda b, i, x: {"load": b.load(b["m"], i, b.op("mul", i, 3))})
    assert plan.accesses[found["load"]].step == 8
    # Farther apart, they lie anywhere.
    plan, found = looked_at(lambda b, i, x: {"load": b.load(b["m"], i, b.op("mul", i, 4))})
    assert plan.accesses[found["load"]].step is None
    # Elements may be the same although all indices move.
    plan, found = looked_at(lambda b, i, x: {"load": b.load(b["m"], i, b.op("mul", i, -5))})
    assert plan.accesses[found["load"]].step is None
    assert step(lambda b, i: i, "far") is None
    assert step(lambda b, i: b["n"], "far") == 0


def test_strides_of_elements() -> None:
    assert element_strides(Array("a", f32, 3, extents=(None, 4, 5))) == [20, 5, 1]
    assert element_strides(Array("a", f32, 3, extents=(None, None, 5))) == [None, 5, 1]
    assert element_strides(Array("a", f32, 2, extents=(4, 5), order=(1, 0))) == [1, 4]
    assert element_strides(Array("a", f32, 2, contiguous=False)) == [None, None]


def test_what_is_computed_from_what_varies_varies() -> None:
    def body(b: Builder, i: LoopVariable, x: Local) -> Found:
        return {
            "moving": b.op("add", i, 1),
            "fixed": b.op("add", b["n"], 1),
            "loaded": b.load(b["a"], i),
            "same": b.load(b["a"], b["n"]),
            "compared": b.op("gt", b.load(b["a"], i), 0.0),
        }

    plan, found = looked_at(body)
    assert [name for name, value in found.items() if plan.varies(value)] == ["moving", "loaded", "compared"]


def varying_local(write: Body) -> bool:
    plan, found = looked_at(lambda b, i, x: {**(write(b, i, x) or {}), "x": x})
    return found["x"] in plan.varying


def test_a_variable_varies_by_its_values_and_by_who_stores_them() -> None:
    def uniform(b: Builder, i: LoopVariable, x: Local) -> None:
        b.set(x, b["n"])

    def conditional(b: Builder, i: LoopVariable, x: Local) -> None:
        with b.when(b.op("gt", i, 3)):
            b.set(x, 1)

    def decided_by_all(b: Builder, i: LoopVariable, x: Local) -> None:
        with b.when(b.op("gt", b["n"], 3)):
            b.set(x, 1)

    def after_a_jump(b: Builder, i: LoopVariable, x: Local) -> None:
        with b.when(b.op("gt", i, 3)):
            b.void("continue")
        b.set(x, 1)

    def by_a_later_store(b: Builder, i: LoopVariable, x: Local) -> None:
        with b.loop(0, b["n"]):
            with b.when(b.op("gt", b.get(x), 5)):
                b.set(x, 2)
            b.set(x, i)

    def in_a_ragged_loop(b: Builder, i: LoopVariable, x: Local) -> None:
        with b.loop(0, b["n"]) as j:
            b.set(x, 1)
            with b.when(b.op("gt", i, j)):
                b.void("break")

    assert not varying_local(lambda b, i, x: uniform(b, i, x))
    assert varying_local(lambda b, i, x: conditional(b, i, x))
    assert not varying_local(lambda b, i, x: decided_by_all(b, i, x))
    assert varying_local(lambda b, i, x: after_a_jump(b, i, x))
    assert varying_local(lambda b, i, x: by_a_later_store(b, i, x))
    assert varying_local(lambda b, i, x: in_a_ragged_loop(b, i, x))


def divergent(body: Body) -> set[str]:
    plan, _ = looked_at(body)
    return {"outer" if each is plan.loop else "inner" for each in plan.divergent_loops}


def test_loops_that_lanes_leave_one_by_one() -> None:
    def counted(b: Builder, i: LoopVariable, x: Local) -> None:
        b.loop(0, i, body=lambda j: b.load(b["a"], j))

    def jump(code: str, condition: str) -> Body:
        def body(b: Builder, i: LoopVariable, x: Local) -> None:
            with b.loop(0, b["n"]) as j, b.when(b.op("gt", i if condition == "varying" else b["n"], j)):
                b.void(code)

        return body

    def while_loop(b: Builder, i: LoopVariable, x: Local) -> None:
        b.set(x, 0)
        b.during(lambda: b.op("lt", b.get(x), i), lambda: b.set(x, b.op("add", b.get(x), 1)))

    def skipping(b: Builder, i: LoopVariable, x: Local) -> None:
        with b.when(b.op("gt", i, 3)):
            b.void("continue")

    assert divergent(counted) == set()
    assert divergent(jump("break", "varying")) == {"inner"}
    assert divergent(jump("continue", "varying")) == {"inner"}
    assert divergent(jump("break", "uniform")) == set()
    assert divergent(while_loop) == {"inner"}
    assert divergent(skipping) == {"outer"}


def test_bounds_that_vary() -> None:
    def loops(b: Builder, i: LoopVariable, x: Local) -> None:
        b.loop(i, b["n"], body=lambda j: None)
        b.loop(0, i, 3, body=lambda j: None)
        b.loop(i, b["n"], 2, body=lambda j: None)
        b.loop(0, b["n"], body=lambda j: None)

    plan, _ = looked_at(loops)
    inner = [each for each in walk(plan.loop.body) if isinstance(each, For)]
    assert [plan.bounds_vary(each) for each in inner] == [(True, False), (False, True), (True, False), (False, False)]
    assert [plan.varies(each.variable) for each in inner] == [False, False, True, False]


def refused(body: Body, private: bool = True) -> str:
    with pytest.raises(Refused) as caught:
        looked_at(body, private)
    return str(caught.value)


def test_what_lanes_cannot_do_is_refused() -> None:
    def leaving(b: Builder, i: LoopVariable, x: Local) -> None:
        with b.when(b.op("gt", i, 3)):
            b.void("break")

    def one_element(b: Builder, i: LoopVariable, x: Local) -> None:
        b.store(b["a"], [0], b.load(b["a"], i))

    def exchanged(b: Builder, i: LoopVariable, x: Local) -> None:
        b.atomic("exchange", b["a"], [0], b.load(b["a"], i))

    def asked_for(b: Builder, i: LoopVariable, x: Local) -> None:
        b.set(x, b.atomic("add", b["k"], [0], i))

    def any_step(b: Builder, i: LoopVariable, x: Local) -> None:
        b.loop(0, i, b["n"], body=lambda j: None)

    def other_steps(b: Builder, i: LoopVariable, x: Local) -> None:
        b.loop(0, b["n"], b.op("add", i, 1), body=lambda j: None)

    def power(b: Builder, i: LoopVariable, x: Local) -> None:
        b.set(x, b.op("pow", i, 3))

    assert "ends early" in refused(leaving)
    assert "write one element" in refused(one_element)
    assert "in turn" in refused(exchanged)
    assert "in turn" in refused(asked_for)
    assert "unknown step" in refused(any_step)
    assert "unknown step" in refused(other_steps)
    assert "cannot run in lanes" in refused(power)
    assert "carried" in refused(lambda b, i, x: {"x": b.set(x, i)}, private=False)


def test_all_lanes_may_add_to_one_element() -> None:
    plan, found = looked_at(lambda b, i, x: {"add": b.atomic("add", b["a"], [0], b.load(b["a"], i))})
    assert plan.accesses[found["add"]].step == 0


def test_tables_of_an_iteration_are_there_for_each_lane() -> None:
    def body(b: Builder, i: LoopVariable, x: Local) -> Found:
        table = LocalArray("table", f32, (4,), private=True)
        b.append(Operation("reserve", None, (), table))
        b.store(table, [1], 0.0)
        return {"load": b.load(table, 1), "table": table}

    plan, found = looked_at(body)
    assert plan.expanded == {found["table"]}
    assert plan.varies(found["load"])


def test_variables_that_are_read_in_one_loop_only_are_loose() -> None:
    def body(b: Builder, i: LoopVariable, x: Local) -> Found:
        both, within, behind = (b.local(name, i32) for name in ("both", "within", "behind"))
        with b.loop(0, b["n"]):
            for local in (both, within):
                b.get(local)
        b.loop(0, b["n"], body=lambda j: b.get(both))
        b.get(behind)
        return {"locals": (both, within, behind)}

    plan, found = looked_at(body)
    assert plan.unblended() == {found["locals"][1]}


def test_a_while_loop_whose_condition_is_the_same_for_all_is_left_by_all() -> None:
    def body(b: Builder, i: LoopVariable, x: Local) -> Found:
        b.set(x, 0)
        return {"loop": b.during(lambda: b.op("lt", b.get(x), b["n"]), lambda: b.set(x, b.op("add", b.get(x), 1)))}

    plan, found = looked_at(body)
    assert isinstance(found["loop"], While)
    assert plan.divergent_loops == set()
    assert not any(isinstance(each, Local) for each in plan.varying)
