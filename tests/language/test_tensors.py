"""`sv.Tensor`: an array or a field, decided where it is made; as the annotation of parameters and of members, and None."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Optional

import numpy as np
import pytest

import samovar as sv

BACKENDS = [sv.Backend.NDARRAY, sv.Backend.FIELD]


def test_what_is_made():
    array, field = (sv.tensor(sv.f32, (2, 3), backend=backend) for backend in BACKENDS)
    assert isinstance(array, sv.Ndarray)
    assert isinstance(field, sv.Field)
    for each in (array, field):
        assert isinstance(each, sv.Tensor)
        assert each.shape == (2, 3)
    assert not isinstance(np.zeros(2), sv.Tensor)
    assert isinstance(sv.tensor(sv.f32, 2), sv.Ndarray)
    assert sv.tensor(sv.f32, 2, sv.Backend.FIELD, offset=3).offset == (3,)
    assert sv.tensor(sv.f32, 2, needs_grad=True).needs_grad
    with pytest.raises(ValueError, match=r"Backend\.FIELD"):
        sv.tensor(sv.f32, (2, 2), order="ji")
    with pytest.raises(TypeError, match="Backend"):
        sv.tensor(sv.f32, 2, backend="field")
    with pytest.raises(TypeError):
        sv.Tensor()


@sv.kernel
def add(a: sv.Tensor, b: Optional[sv.Tensor], c: sv.Tensor | None):  # noqa: UP045
    for i in a:
        if sv.static(b is not None):
            a[i] += b[i]
        if sv.static(c is not None):
            a[i] += 10 * scaled(c, i)


@sv.func
def scaled(x: sv.Tensor, i):
    return x[i] + 1


def test_a_parameter_takes_arrays_fields_and_none():
    for a, b, c in itertools.product(BACKENDS, [*BACKENDS, None], [*BACKENDS, None]):
        made = [None if each is None else sv.tensor(sv.i32, 4, backend=each) for each in (a, b, c)]
        for number, each in enumerate(made):
            if each is not None:
                each.fill(number + 1)
        add(*made)
        expected = 1 + (0 if b is None else 2) + (0 if c is None else 40)
        assert made[0].to_numpy().tolist() == [expected] * 4


def test_anything_else_is_refused():
    with pytest.raises(sv.SamovarTypeError, match="argument `a`: expected an array or a field, or None, got a int"):
        add(3, None, None)

    @sv.kernel
    def wrong() -> sv.i32:
        return scaled(3, 0)

    with pytest.raises(sv.SamovarTypeError, match="`x` of `scaled` must be an array or a field"):
        wrong()


@dataclass
class State:
    x: sv.Tensor
    v: Optional[sv.Tensor] = None  # noqa: UP045
    w: sv.Tensor | None = None
    unread: sv.Tensor | None = None


@sv.kernel
def step(state: State, dt: sv.f64) -> sv.f64:
    s: sv.f64 = 0
    for i in state.x:
        if sv.static(state.v is not None):
            state.x[i] += sv.f32(state.v[i] * dt)
        s += state.x[i]
    return s


@sv.data_oriented
class World:
    def __init__(self, state: State) -> None:
        self.state = state

    @sv.kernel
    def step(self, dt: sv.f64) -> sv.f64:
        s = 0.0
        for i in self.state.x:
            if sv.static(self.state.v is not None):
                self.state.x[i] += self.state.v[i] * dt
            s += self.state.x[i]
        return s


MAKERS = [
    lambda: sv.ndarray(sv.f64, 4),
    lambda: sv.field(sv.f64, 4),
    lambda: sv.tensor(sv.f64, 4, sv.Backend.FIELD),
    lambda: sv.tensor(sv.f64, 4),
    lambda: np.zeros(4),
]


def test_one_class_with_members_of_every_kind_in_turns():
    for _ in range(2):
        for x, v, unread in itertools.product(MAKERS, [None, *MAKERS], [None, MAKERS[0], MAKERS[1]]):
            made = State(x(), None if v is None else v(), unread=None if unread is None else unread())
            if v is not None:
                made.v[1] = 2
            moved = 0.0 if v is None else 1.0
            assert step(made, 0.5) == moved
            assert World(made).step(0.5) == 2 * moved


def test_what_is_not_read_makes_no_difference():
    made = State(sv.ndarray(sv.f64, 4), sv.ndarray(sv.f64, 4))
    step(made, 1)
    before = sv.compile_count()
    for made.unread in (None, sv.field(sv.f64, 3), sv.ndarray(sv.i32, 1)):
        step(made, 1)
    assert sv.compile_count() == before
