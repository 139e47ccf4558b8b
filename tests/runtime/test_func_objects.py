"""Funcs as objects of plain Python."""

import copy
import pickle
import types

import samovar as sv


@sv.func
def square(x: sv.f32) -> sv.f32:
    """The square."""
    return x * x


class Owner:
    scale = 3

    @sv.func
    def scaled(self, x: sv.f32) -> sv.f32:
        return x * self.scale


def test_plain_python_can_call_it():
    assert square(3.0) == 9.0
    assert square(x=4) == 16


def test_it_looks_like_the_function():
    assert (square.__name__, square.__qualname__, square.__module__, square.__doc__) == (
        "square",
        "square",
        __name__,
        "The square.",
    )
    assert square.__wrapped__.__name__ == "square"
    assert "square" in repr(square)


def test_it_is_pickled_and_copied_by_name():
    assert pickle.loads(pickle.dumps(square)) is square
    assert pickle.loads(pickle.dumps(Owner.scaled)) is Owner.scaled
    assert copy.copy(square) is square
    assert copy.deepcopy([square])[0] is square


def test_it_binds_as_a_method():
    assert isinstance(Owner().scaled, types.MethodType)
    assert Owner().scaled(2) == 6
    assert Owner.scaled(Owner(), 2) == 6


def test_options():
    @sv.func(requires_top_level=True)
    def top(x: sv.f32):
        pass

    assert top.signature.options == {"requires_top_level": True}
