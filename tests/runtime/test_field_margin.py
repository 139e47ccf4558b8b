"""With `field_margin`, fields have unused bytes around them, in which indices out of bounds do no harm."""

import numpy as np
import pytest

import samovar as sv
import samovar.compat.quadrants as qd


@pytest.fixture(autouse=True)
def as_before():
    yield
    sv.reset()


def placed():
    """A field in a node."""
    made = sv.field(sv.f32)
    sv.root.dense(sv.i, 8).place(made)
    return made


@pytest.mark.parametrize("make", [lambda: sv.field(sv.f32, 8), placed], ids=["alone", "in a node"])
def test_writes_around_a_field_stay_in_its_margin(make):
    sv.init(field_margin=100)
    fields = [make() for _ in range(20)]

    @sv.kernel
    def beyond(x: sv.template(), n: sv.i32):
        x[n + 9] = 1.0
        x[-n - 9] = 1.0

    for each in fields:
        beyond(each, 0)
        beyond(each, 10)
    assert not any(each.to_numpy().any() for each in fields)
    assert all(each.to_numpy(copy=False).ctypes.data % 64 == 0 for each in fields)


def test_structs_have_a_margin_too():
    sv.init(field_margin=64)
    pair = sv.types.struct(a=sv.f32, b=sv.i32)
    several = [pair.field(4) for _ in range(20)]

    @sv.kernel
    def beyond(x: sv.template(), n: sv.i32):
        x[n].a = 1.0
        x[-n].b = 3

    for each in several:
        beyond(each, 6)
    assert not any(each.to_numpy()[name].any() for each in several for name in "ab")
    several[1].fill(2)
    assert np.array_equal(several[1].a.to_numpy(), [2, 2, 2, 2])


def test_it_is_set_under_the_names_of_the_peers_and_checks_still_find_it():
    qd.init(debug=True)
    field = qd.field(qd.i32, 5)

    @qd.kernel
    def beyond(n: qd.i32):
        field[n] = 1

    with pytest.raises(AssertionError):
        beyond(5)
    qd.init()
    beyond(5)
    assert field.to_numpy().tolist() == [0, 0, 0, 0, 0]
