"""Derivatives by arrays that share memory: views, reshaped arrays and components share those of their derivatives."""

import copy
import pickle

import numpy as np
import pytest

import samovar as sv

N = 9


@pytest.fixture(autouse=True)
def double():
    sv.init(default_fp=sv.f64)
    yield
    sv.reset()


loss = sv.ndarray(sv.f64, (), needs_grad=True)


@sv.kernel
def clear():
    loss[None] = 0


@sv.kernel
def cubes(v: sv.BufferView[sv.f64]):
    for i in range(v.size):
        loss[None] += v[i] ** 3


@sv.kernel
def square(v: sv.BufferView[sv.f64]):
    for i in range(v.size):
        v[i] *= v[i]


@sv.kernel
def cubes_of_all(x: sv.template()):
    for i in sv.grouped(x):
        loss[None] += x[i] ** 3


@sv.kernel
def products(v: sv.BufferView[sv.f64], w: sv.BufferView[sv.f64]):
    for i in range(v.size):
        loss[None] += v[i] * v[i] * w[i]


@pytest.fixture
def x():
    made = sv.ndarray(sv.f64, N, needs_grad=True)
    made.from_numpy(np.random.default_rng(2).uniform(0.5, 1.5, N))
    return made


def overlapping(x):
    clear()
    square(x[1:6])
    square(x[4:8])
    cubes(x[2:7])
    return loss


def both(x):
    clear()
    products(x[1:6], x[3:8])
    return loss


@pytest.mark.parametrize("f", [overlapping, both])
def test_views_as_arguments(f, x):
    assert sv.ad.check(f, x) < 1e-6


def test_a_view_has_the_gradient_of_its_part(x):
    view = x[2:5]
    assert view.needs_grad
    assert view.grad.array is x.grad
    loss.fill(0)
    with sv.ad.Tape(loss):
        cubes(view)
    expected = np.zeros(N)
    expected[2:5] = 3 * x.to_numpy()[2:5] ** 2
    np.testing.assert_allclose(x.grad.to_numpy(), expected)
    np.testing.assert_array_equal(view.grad.to_numpy(), expected[2:5])
    for other in (copy.copy(view), copy.deepcopy(view), pickle.loads(pickle.dumps(view)), view.subview(0, 3), x[1:][1:4]):
        np.testing.assert_array_equal(other.grad.to_numpy(), expected[2:5])
    assert sv.ndarray(sv.f64, 3)[1:].grad is None


def test_views_of_structs():
    p = sv.types.struct(at=sv.f64, mass=sv.f64).ndarray(N, layout=sv.Layout.SOA, needs_grad=True)
    p.at.from_numpy(np.arange(N) + 1.0)
    p.mass.from_numpy(np.arange(N) + 2.0)

    def f(*_):
        clear()
        products(p[2:6].at, p[2:6].mass)
        return loss

    assert sv.ad.check(f, p.at, p.mass) < 1e-6


def of_view(x):
    cubes(x[2:])


def of_reshaped(x):
    cubes_of_all(x.reshape(3, 3))


def of_temporary(x):
    y = sv.ndarray(sv.f64, N, needs_grad=True)
    y.copy_from(x)
    of_sum(x, y)


@sv.kernel
def of_sum(x: sv.template(), y: sv.template()):
    for i in x:
        y[i] = x[i] * x[i]
    for i in x:
        loss[None] += y[i] * x[i]


@pytest.mark.parametrize("part", [of_view, of_reshaped, of_temporary])
@pytest.mark.parametrize("made_before", [False, True])
def test_forward_mode_and_second_derivatives(part, made_before, x):
    kept = (x[2:], x.reshape(3, 3)) if made_before else ()

    def f(x):
        clear()
        part(x)
        cubes_of_all(x)
        return loss

    times = np.where(np.arange(N) < 2, 1, 2) if part is of_view else np.full(N, 2)
    ones = sv.ones(N, sv.f64)
    start = x.to_numpy()
    np.testing.assert_allclose(sv.ad.jvp(f, [x], [ones])[1].to_numpy(), (3 * start**2 * times).sum())
    np.testing.assert_allclose(sv.ad.hvp(f, [x], [ones])[0].to_numpy(), 6 * start * times)
    del kept


def test_second_derivatives_by_components_of_a_field():
    x = sv.Vector.field(2, sv.f64, 4, needs_grad=True)
    x.fill(2)

    def f(_):
        clear()
        cubes_of_all(x.get_scalar_field(0))
        add_second()
        return loss

    @sv.kernel
    def add_second():
        for i in x:
            loss[None] += x[i].x ** 3

    tangent = sv.ones((4, 2), sv.f64)
    np.testing.assert_allclose(sv.ad.jvp(f, [x], [tangent])[1].to_numpy(), 96)
    np.testing.assert_allclose(sv.ad.hvp(f, [x], [tangent])[0].to_numpy(), [[24, 0]] * 4)
