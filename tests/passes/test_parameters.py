"""Parameters: what is used of them, and what functions are told about the arrays that they are given."""

from __future__ import annotations

from ir_builder import Builder
from samovar._native import f32, i32
from samovar.ir.structure import Function, Kernel
from samovar.ir.values import Array, Parameter
from samovar.passes import drop_untouched, propagate_facts


def names(owner: Kernel | Function) -> list[str]:
    return [parameter.name for parameter in owner.parameters]


def array(name: str, ndim: int = 1, **facts: bool) -> Array:
    return Array(name, f32, ndim, **facts)  # type: ignore[arg-type]


def test_what_nothing_touches_is_dropped() -> None:
    a, b, c, n = array("a"), array("b"), array("c"), Parameter("n", i32)
    build = Builder(a, n, b, c, Parameter("m", i32))
    build.store(a, (n,), build.constant(1.0, f32))
    build.shape(c)
    kernel = build.kernel()
    drop_untouched(kernel)
    assert names(kernel) == ["a", "n", "c"]


def test_what_a_callee_drops_is_dropped_by_its_callers() -> None:
    x, y = array("x"), array("y")
    inner = Builder(x, y, name="inner")
    inner.store(y, (0,), inner.constant(1.0, f32))
    callee = inner.function()
    a, b = array("a"), array("b")
    outer = Builder(a, b)
    outer.functions.append(callee)
    call = outer.call(callee, a, b)
    kernel = outer.kernel()
    drop_untouched(kernel)
    assert (names(callee), names(kernel), call.operands) == (["y"], ["b"], (b,))


def test_what_is_read_and_written_is_found_through_calls() -> None:
    x, y = array("x"), array("y")
    inner = Builder(x, y, name="inner")
    inner.store(y, (0,), inner.load(x, 0))
    callee = inner.function()
    a, b, c = array("a"), array("b"), array("c")
    outer = Builder(a, b, c)
    outer.functions.append(callee)
    outer.call(callee, a, b)
    outer.atomic("add", c, (0,), outer.constant(1.0, f32))
    a.written = True  # as it was, before a pass removed the store
    drop_untouched(outer.kernel())
    assert [(each.read, each.written) for each in (a, b, c)] == [(True, False), (False, True), (True, True)]


def test_constants_as_indices_of_trailing_axes() -> None:
    a, b = array("a", 4), array("b", 2, contiguous=False)
    build = Builder(a, b, Parameter("n", i32))
    n = build["n"]
    build.load(a, 0, 0, n, 3)
    build.load(b, n, 1)
    uses = drop_untouched(build.kernel())
    assert {each.name: sorted(axes) for each, axes in uses.constant_axes.items()} == {"a": [3]}
    build.load(a, n, n, 1, n)
    uses = drop_untouched(build.kernel())
    assert {each.name: sorted(axes) for each, axes in uses.constant_axes.items()} == {"a": [2, 3]}


def test_what_a_function_wants_to_know_is_asked_of_what_it_is_given() -> None:
    x = array("x", 2)
    inner = Builder(x, Parameter("i", i32), name="inner")
    inner.load(x, inner["i"], 1)
    callee = inner.function()
    a, b = array("a", 2), array("b", 2)
    outer = Builder(a, b, Parameter("n", i32))
    outer.functions.append(callee)
    for each in (a, b):
        outer.call(callee, each, outer["n"])
    kernel = outer.kernel()
    uses = drop_untouched(kernel)
    assert set(uses.constant_axes) == {x, a, b}
    kernel.disjoint = a.alone = b.alone = True
    for known, expected in ((3, (None, 3)), (4, (None, None)), (None, (None, None))):
        a.extents, b.extents = (None, 3), (None, known)
        propagate_facts(kernel, uses)
        assert x.extents == expected


def test_an_array_that_is_passed_twice_does_not_stand_alone() -> None:
    x, y = array("x"), array("y")
    inner = Builder(x, y, name="inner")
    inner.store(y, (0,), inner.load(x, 0))
    callee = inner.function()
    a, b = array("a"), array("b")
    outer = Builder(a, b)
    outer.functions.append(callee)
    outer.call(callee, a, b)
    kernel = outer.kernel()
    kernel.disjoint = a.alone = b.alone = True
    propagate_facts(kernel, drop_untouched(kernel))
    assert x.alone and y.alone  # noqa: PT018
    outer.call(callee, a, a)
    propagate_facts(kernel, drop_untouched(kernel))
    assert not x.alone and not y.alone  # noqa: PT018
