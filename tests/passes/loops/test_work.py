"""Estimates of loops: never less than what runs, as expressions of what is known before."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_builder import Builder
from ir_interpreter import Interpreter
from samovar._native import f64, i32, i64
from samovar.ir import OPCODES, For, Function, Kernel, Operation, Parameter, Region, Value, walk
from samovar.ir import Builder as Writer
from samovar.passes.loops.work import SHORT, Work, as_integer, has_long, is_long


def estimate(build: Builder, **arguments: int) -> float | None:
    """An estimate of the first loop as a number."""
    loop = next(each for each in build.body.operations if isinstance(each, For))
    inside = {*walk(loop.body), *(each.variable for each in walk(build.body) if isinstance(each, For))}
    writer = Writer()
    known = Work(writer, lambda value: value not in inside and not isinstance(value, Operation), set()).loop(loop)
    if known is None:
        return None
    whole = as_integer(writer, known)
    body = Region([*writer.operations, Operation("return", None, (known, whole))])
    kernel = Kernel("k", build.parameters, (f64, i64), body)
    found, integer = Interpreter(kernel, arguments).run()
    assert integer == max(1, int(found)) or not 1 <= found < 2**62
    return float(found)


def counting(bounds: Callable[[Builder, Value], tuple[object, object, int]]) -> Builder:
    """A loop up to n around another one with some bounds."""
    build = Builder(Parameter("n", i32), Parameter("m", i32))
    with build.loop(0, build["n"]) as i, build.loop(*bounds(build, i)) as j:  # type: ignore[arg-type]
        build.op("mul", j, 3)
    return build


def iterations(n: int, bounds: Callable[[int], range]) -> int:
    return sum(len(bounds(i)) for i in range(n))


CASES: dict[str, tuple[Callable[[Builder, Value], tuple[object, object, int]], Callable[[int, int], range]]] = {
    "rectangle": (lambda b, i: (0, b["m"], 1), lambda i, m: range(m)),
    "below": (lambda b, i: (0, i, 1), lambda i, m: range(i)),
    "above": (lambda b, i: (i, b["m"], 1), lambda i, m: range(i, m)),
    "downwards": (lambda b, i: (b["m"], i, -2), lambda i, m: range(m, i, -2)),
    "in steps": (lambda b, i: (0, b.op("add", b["m"], i), 3), lambda i, m: range(0, m + i, 3)),
    "a band": (
        lambda b, i: (b.op("max", b.op("sub", i, 3), 0), b.op("min", b.op("add", i, 4), b["m"]), 1),
        lambda i, m: range(max(i - 3, 0), min(i + 4, m)),
    ),
    "a product": (lambda b, i: (0, b.op("mul", b["m"], 2), 1), lambda i, m: range(2 * m)),
    "a triangle": (lambda b, i: (0, b.op("sub", b["m"], i), 1), lambda i, m: range(m - i)),
    "a half": (lambda b, i: (0, b.op("shr", b["m"], 1), 1), lambda i, m: range(m >> 1)),
}


@pytest.mark.parametrize("case", CASES)
@given(n=st.integers(0, 30), m=st.integers(0, 30))
def test_an_estimate_is_not_less_than_what_runs(case: str, n: int, m: int) -> None:
    bounds, meant = CASES[case]
    build = counting(bounds)
    each = OPCODES["mul"].cost
    found = estimate(build, n=n, m=m)
    assert found is not None
    # Up to a step for each loop inside.
    assert found + n * each >= iterations(n, lambda i: meant(i, m)) * each


def test_an_estimate_of_a_rectangle_is_exact() -> None:
    build = counting(CASES["rectangle"][0])
    one = estimate(build, n=1, m=1)
    assert one is not None
    assert estimate(build, n=7, m=9) == pytest.approx(63 * one)
    assert estimate(build, n=0, m=9) == 0
    assert estimate(build, n=5, m=-3) == 0


def test_what_is_loaded_or_may_never_end_is_not_known() -> None:
    from samovar.ir import Array

    build = Builder(Array("k", i32, 1), Parameter("n", i32))
    with build.loop(0, build["n"]) as i, build.loop(0, build.load(build["k"], i)) as j:
        build.op("mul", j, 3)
    assert estimate(build, n=3) is None
    build = Builder(Parameter("n", i32))
    with build.loop(0, build["n"]) as i:
        build.during(lambda: build.op("gt", i, 3), lambda: None)
    assert estimate(build, n=3) is None
    build = Builder(Parameter("n", i32))
    build.loop(0, 10, build["n"], body=lambda i: None)
    assert estimate(build, n=3) is None


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [((SHORT,), False), ((SHORT + 1,), True), ((64, 64), False), ((64, 65), True), ((1, SHORT), False)],
)
def test_loops_that_are_written_long_are_long(lengths: tuple[int, ...], expected: bool) -> None:
    build = Builder()

    def nest(rest: tuple[int, ...]) -> None:
        if rest:
            build.loop(0, rest[0], body=lambda i: nest(rest[1:]))

    nest(lengths)
    assert has_long(build.body, set()) == expected
    assert is_long(build.body.operations[0], set()) == expected


def test_loops_beside_each_other_are_added_up() -> None:
    build = Builder()
    with build.loop(0, 40):
        build.loop(0, 60, body=lambda i: None)
        build.loop(0, 60, body=lambda i: None)
    assert has_long(build.body, set())


def test_a_call_is_as_long_as_its_function() -> None:
    build = Builder(Parameter("n", i32))
    function = Function("f", [], (), Region())
    call = build.call(function)
    assert not is_long(call, set())
    assert is_long(call, {function})
    assert has_long(build.body, {function})
