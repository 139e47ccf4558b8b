"""Walking the operations of regions natively, against the same in plain Python."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from samovar._native import walk_operations


class Region:
    def __init__(self, operations: list[Any]) -> None:
        self.operations = operations


class Plain:
    pass


class Control(Plain):
    def __init__(self, *inside: Region) -> None:
        self.inside = inside


def regions(operation: Any) -> tuple[Region, ...]:
    return operation.inside  # type: ignore[no-any-return]


def model(region: Region) -> Iterator[Plain]:
    for operation in region.operations:
        yield operation
        if isinstance(operation, Control):
            for each in operation.inside:
                yield from model(each)


def native(region: Region) -> Iterator[Plain]:
    return walk_operations(region, Plain, regions)


bodies = st.recursive(
    st.lists(st.builds(Plain), max_size=4).map(Region),
    lambda inner: st.lists(
        st.one_of(st.builds(Plain), st.lists(inner, max_size=3).map(lambda each: Control(*each))), max_size=4
    ).map(Region),
)


@given(bodies)
def test_the_order_is_that_of_the_text(body: Region) -> None:
    assert list(native(body)) == list(model(body))


def test_a_deep_nest_takes_no_stack() -> None:
    body = Region([Plain()])
    for _ in range(100_000):
        body = Region([Control(body)])
    assert sum(1 for _ in native(body)) == 100_001
    while isinstance(body.operations[0], Control):  # so that nothing is freed deep inside
        control = body.operations[0]
        body, control.inside = control.inside[0], ()


def test_what_changes_inside_of_the_last_one_is_seen() -> None:
    first, second, third = Plain(), Plain(), Plain()
    control = Control(Region([first]))
    body = Region([control, third])
    found: list[Plain] = []
    for operation in native(body):
        found.append(operation)
        if operation is control:
            control.inside = (Region([second, first]),)
        if operation is second:
            body.operations[1] = first
    assert found == [control, second, first, first]


def test_a_list_that_grows_and_shrinks() -> None:
    body = Region([Plain(), Plain(), Plain()])
    walk = native(body)
    next(walk)
    del body.operations[1:]
    assert list(walk) == []
    body.operations.append(Plain())
    assert list(walk) == []  # it is over


def test_errors_come_through() -> None:
    def broken(operation: Any) -> Any:
        raise KeyError("inside")

    unlike: Any = Region(3)  # type: ignore[arg-type]
    wrongs: list[Any] = [lambda operation: 3, lambda operation: (3,), lambda operation: [unlike], broken]
    for wrong in wrongs:
        walk = walk_operations(Region([Control()]), Plain, wrong)
        next(walk)
        with pytest.raises((TypeError, AttributeError, KeyError)):
            next(walk)
        assert list(walk) == []
    for arguments in ((), (Region([]), 3, regions), (Region([]), Plain, 3), (3, Plain, regions)):
        with pytest.raises((TypeError, AttributeError)):
            walk_operations(*arguments)


def test_circles_are_collected() -> None:
    body = Region([Control(Region([Plain()]))])
    walk = native(body)
    next(walk)
    body.operations.append(walk)
    seen = weakref.ref(body)
    del body, walk
    gc.collect()
    assert seen() is None
