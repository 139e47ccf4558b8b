"""A gradient may be placed by itself: `node.place(x, x.grad)`. Without that, or `needs_grad`, a field has none."""

import pytest

import samovar as sv


def test_a_gradient_that_is_placed_is_the_gradient():
    x, y = sv.field(sv.f32), sv.field(sv.f32)
    sv.root.dense(sv.i, 4).place(x, x.grad, y, y.grad)

    @sv.kernel
    def square():
        for i in x:
            y[i] = x[i] * x[i]

    for i in range(4):
        x[i] = i
    y.grad.fill(1)
    square()
    square.grad()
    assert x.grad.to_numpy().tolist() == [0, 2, 4, 6]
    assert x.grad.parent() is not None


def test_a_gradient_may_be_in_another_node():
    v = sv.Vector.field(2, sv.f32)
    sv.root.dense(sv.i, 3).place(v)
    sv.root.dense(sv.j, 3).place(v.grad)
    assert v.needs_grad
    assert v.grad.to_numpy().shape == (3, 2)


def test_a_gradient_that_is_not_placed_is_none():
    x = sv.field(sv.f32)
    assert x.grad is not None
    assert not x.needs_grad
    sv.root.dense(sv.i, 4).place(x)
    assert x[0] == 0
    assert x.grad is None


def test_fields_of_integers_and_those_with_a_shape_offer_none():
    assert sv.field(sv.i32).grad is None
    assert sv.field(sv.f32, 4).grad is None


def test_lazy_gradients_are_placed_once():
    x = sv.field(sv.f32)
    node = sv.root.dense(sv.i, 4).place(x)
    node.lazy_grad()
    assert x.grad.shape == (4,)
    y = sv.field(sv.f32)
    node = sv.root.dense(sv.i, 4).place(y, y.grad)
    node.lazy_grad()
    assert y.grad.shape == (4,)


def test_a_gradient_comes_too_late_for_a_field_in_use():
    x = sv.field(sv.f32)
    grad = x.grad
    sv.root.dense(sv.i, 4).place(x)
    assert x[0] == 0
    with pytest.raises(TypeError, match="not in use yet"):
        sv.root.dense(sv.i, 4).place(grad)
