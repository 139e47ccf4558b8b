"""What names stand for is looked up again when their dict has changed: in single launches, in recorded ones and below stable
members."""

import builtins
import importlib
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import samovar as sv

MODULE = """
import samovar as sv
import {other} as other

FACTOR = 2.0

@sv.func
def shift(x):
    return x + 1.0

@sv.func
def shift_more(x):
    return x + 10.0

@sv.kernel
def run(x: sv.types.NDArray[sv.f64, 1]):
    for i in range(4):
        x[i] = shift(abs(x[i])) * FACTOR + other.turn(x[i]) + sv.sqrt(4.0)

@sv.data_oriented(stable_members=True)
class Stable:
    def __init__(self, x):
        self.x = x

    @sv.kernel
    def run(self):
        for i in range(4):
            self.x[i] = shift(abs(self.x[i])) * FACTOR + other.turn(self.x[i]) + sv.sqrt(4.0)

@sv.func
def hide(x):
    return x * 0.5
"""
OTHER = """
import samovar as sv

@sv.func
def turn(x):
    return -x

@sv.func
def turn_further(x):
    return -3.0 * x
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    (folder / "names_that_change.py").write_text(MODULE.format(other="other_names_that_change"))
    (folder / "other_names_that_change.py").write_text(OTHER)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("names_that_change"), importlib.import_module("other_names_that_change")
    sys.path.remove(str(folder))
    del sys.modules["names_that_change"], sys.modules["other_names_that_change"]


class Namesake(str):
    """A key that is equal to others by code of its own."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        return str.__eq__(self, other)


CHANGES = ["factor", "shift", "turn", "abs", "another name", "a strange key", "all of them again"]


@settings(max_examples=25)
@given(changes=st.lists(st.lists(st.sampled_from(CHANGES), max_size=2), min_size=2, max_size=10))
def test_every_kind_of_launch_sees_every_change(modules, changes):
    module, other = modules
    names = vars(module)
    funcs = names["shift"], names["shift_more"], other.turn, other.turn_further
    chosen = {"factor": 0, "shift": 0, "turn": 0, "abs": 0}

    def expected(x):
        shifted = (abs(x) if not chosen["abs"] else 0.5 * x) + (10.0 if chosen["shift"] else 1.0)
        turned = -3.0 * x if chosen["turn"] else -x
        return shifted * (3.0 if chosen["factor"] else 2.0) + turned + 2.0

    def put():
        module.FACTOR = 3.0 if chosen["factor"] else 2.0
        module.shift = funcs[chosen["shift"]]
        other.turn = funcs[2 + chosen["turn"]]
        names.pop("abs", None)
        if chosen["abs"]:
            module.abs = module.hide

    x = sv.from_numpy(np.full(4, -2.0))
    stable = module.Stable(x)
    try:
        with sv.graph.record() as step:
            module.run(x)
            module.run(x)
        for some in changes:
            for change in some:
                if change in chosen:
                    chosen[change] ^= 1
                elif change == "another name":
                    module.something_else = object()
                elif change == "a strange key":
                    names[Namesake("strange")] = 1
                put()
            for launch, times in ((lambda: module.run(x), 1), (step, 2), (stable.run, 1), (step, 2)):
                x.fill(-2.0)
                launch()
                value = -2.0
                for _ in range(times):
                    value = expected(value)
                assert x.to_numpy().tolist() == [value] * 4
    finally:
        chosen.update(dict.fromkeys(chosen, 0))
        module.shift, other.turn, module.FACTOR = funcs[0], funcs[2], 2.0
        for name in ("abs", "something_else", "strange"):
            names.pop(name, None)


def test_a_builtin_that_is_replaced(monkeypatch):
    @sv.func
    def twice(x):
        return 2 * x

    @sv.kernel
    def apply(x: sv.types.NDArray[sv.f64, 1]):
        for i in range(4):
            x[i] = abs(x[i])

    x = sv.from_numpy(np.full(4, -2.0))
    with sv.graph.record() as step:
        apply(x)
    step()
    assert x[0] == 2
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "abs", twice)
        step()
        assert x[0] == 4
        apply(x)
        assert x[0] == 8
    x.fill(-1.0)
    step()
    apply(x)
    assert x[0] == 1


SPACE = """
@sv.kernel
def k() -> sv.i32:
    return C + abs(-1)
@sv.kernel
def static() -> sv.i32:
    return sv.static(f())
def f(): return C
"""


def test_globals_that_are_the_dictionary_of_an_instance(tmp_path):
    """In Python 3.13, assigning an attribute does not give the dictionary another number."""

    class Space: ...

    space = Space()
    space.C, space.sv, space.__name__ = 1, sv, "space"
    path = tmp_path / "space.py"
    path.write_text(SPACE)
    exec(compile(SPACE, str(path), "exec"), vars(space))
    for number in (1, 1, 9, 9, 2):
        space.C = number
        assert (space.k(), space.static()) == (number + 1, number)
    space.abs = sv.math.floor  # which hides the builtin
    assert space.k() == 1
    del space.abs
    assert space.k() == 3
