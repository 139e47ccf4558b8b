"""An object that is compared by identity can become one of another class, and is another thing then."""

from __future__ import annotations

import pytest
from test_guards_of_traces import guarded, template

import samovar as sv


class Plain:
    pass


class Other:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def test_identity_does_not_hold_for_another_class():
    for ask in (lambda ref: ref.opaque(), lambda ref: ref.whole()):
        thing = Plain()

        def look(lens, ask=ask):
            lens.parameter("x").kind()
            ask(lens.parameter("x"))

        holds, same_answers = guarded(template, look, x=thing)
        assert holds(thing)
        assert same_answers(thing)
        thing.__class__ = Other
        assert not holds(thing)


def test_identity_of_a_thing_whose_kind_nobody_asked_is_enough():
    thing = Plain()
    holds, _ = guarded(template, lambda lens: lens.parameter("x").opaque(), x=thing)
    thing.__class__ = Other
    assert holds(thing)
    assert not holds(Plain())


@sv.kernel
def are_equal(one: sv.Template, other: sv.Template) -> sv.i32:
    return 1 if sv.static(one == other) else 0


@pytest.mark.filterwarnings("ignore:.*FASTCACHE")
def test_objects_are_compared_as_their_new_class_says():
    one, other = Plain(), Plain()
    assert are_equal(one, other) == 0
    one.__class__ = Other
    assert are_equal(one, other) == 1
