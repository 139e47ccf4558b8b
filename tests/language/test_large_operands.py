"""Vectors and matrices of plain Python meet arrays of any size: shapes are compared before a number is read."""

import numpy as np
import pytest

import samovar as sv

#: So many that reading them would never end.
ENDLESS = np.broadcast_to(np.float64(1), (2**40,))
V = sv.Vector([1.0, 2.0, 3.0])


class Unread:
    """An array whose numbers must not be asked for."""

    dtype = np.dtype(np.float32)
    shape = (5_000_000,)

    def tolist(self):
        raise AssertionError("the numbers were read")


def nested_in_itself():
    items = []
    items.append(items)
    return items


@pytest.mark.parametrize("other", [ENDLESS, Unread(), np.zeros(4), np.zeros((3, 1))])
@pytest.mark.parametrize(
    "operate",
    [
        lambda v, other: v + other, lambda v, other: v * other, lambda v, other: v == other, lambda v, other: v < other,
        lambda v, other: v.dot(other), lambda v, other: sv.max(v, other), lambda v, other: v.__iadd__(other),
        lambda v, other: v.__radd__(other), lambda v, other: sv.select(v, v, other),
        lambda v, other: v.__setitem__(slice(2), other),
        lambda v, other: setattr(v, "xy", other), lambda v, other: sv.types.vector(3, sv.f32)(other),
    ],
)  # fmt: skip
def test_another_shape_is_refused_before_it_is_read(operate, other):
    with pytest.raises(sv.SamovarTypeError):
        operate(V.copy(), other)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sv.Vector(ENDLESS), lambda: sv.Vector(Unread()), lambda: sv.Vector(range(10**12)),
        lambda: sv.Matrix(ENDLESS),
        lambda: sv.Matrix([[[0] * 1000] * 1000] * 1000), lambda: sv.Matrix.rows([ENDLESS, ENDLESS]),
        lambda: sv.Vector.zero(sv.f32, 10**12), lambda: sv.Matrix.one(sv.f32, 10**4, 10**4),
        lambda: sv.Matrix.identity(sv.f32, 10**7), lambda: sv.Matrix.diag(10**9, 1.0), lambda: sv.Matrix.diag(ENDLESS),
        lambda: sv.Vector.unit(10**12, 3), lambda: sv.types.vector(3, sv.f32)(range(10**12)),
        lambda: sv.Vector(nested_in_itself()),
    ],
)  # fmt: skip
def test_what_is_too_large_for_a_value_is_refused_at_once(make):
    with pytest.raises(sv.SamovarTypeError):
        make()


def test_arrays_of_the_right_shape_are_read():
    assert (V + np.ones(3)).entries == [2.0, 3.0, 4.0]
    assert sv.Vector(np.arange(4)).entries == [0, 1, 2, 3]
    assert sv.Matrix(np.eye(2)).entries == [1.0, 0.0, 0.0, 1.0]
    assert sv.Matrix([np.ones(2), np.zeros(2)]).entries == [1.0, 1.0, 0.0, 0.0]
    v = V.copy()
    v += np.ones(3)
    assert v.entries == [2.0, 3.0, 4.0]
    assert sv.Matrix.diag(2, 5.0).entries == [5.0, 0.0, 0.0, 5.0]
    assert sv.Matrix.diag(sv.Vector([1, 2])).entries == [1, 0, 0, 2]
    assert sv.types.vector(3, sv.f32)(2).entries == [2.0, 2.0, 2.0]
    assert sv.Vector(range(3)).entries == [0, 1, 2]
