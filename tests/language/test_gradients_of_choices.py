"""Derivatives of values that a choice leaves out: 0 also where theirs are infinite or undefined."""

import numpy as np
import pytest

import samovar as sv

A = sv.types.NDArray[sv.f64, 1]


@pytest.fixture(autouse=True)
def options():
    sv.init(default_fp=sv.f64)
    yield
    sv.reset()


@sv.kernel
def normalized(x: A, y: A):
    for i in x:
        v = sv.Vector([x[i], 2 * x[i]])
        y[i] = (v / sv.max(v.norm(), 1e-3)).sum()


@sv.kernel
def sinc(x: A, y: A):
    for i in x:
        y[i] = sv.select(x[i] != 0, sv.sin(x[i]) / x[i], 1.0)


@sv.kernel
def bounded(x: A, y: A):
    for i in x:
        y[i] = sv.min(1 / x[i], 3.0) + sv.max(sv.log(x[i]), -2.0) + sv.max(x[i] ** 0.5, 1e-2)


@sv.kernel
def softplus(x: A, y: A):
    for i in x:
        large = 1e5 * x[i] + 800
        y[i] = sv.select(large > 20, large, sv.log(1 + sv.exp(large)))


@sv.kernel
def in_two_loops(x: A, y: A):
    for i in range(4):
        y[i] = sv.sqrt(x[i])
    for i in range(4):
        y[4 + i] = sv.max(y[i], 0.1) * x[i]


@pytest.mark.parametrize(
    ("kernel", "at_0", "at_1"),
    [
        (normalized, 3e3, 0.0),
        (sinc, 0.0, np.cos(1) - np.sin(1)),
        (bounded, 0.0, -1 + 1 + 0.5),
        (softplus, 1e5, 1e5),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_not_chosen_has_no_derivative(kernel, at_0, at_1):
    x, y = (sv.ndarray(sv.f64, 9, needs_grad=True) for _ in range(2))
    x.from_numpy(np.arange(9.0) % 2)
    y.grad.fill(1)
    kernel(x, y)
    kernel.grad(x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), np.where(np.arange(9) % 2, at_1, at_0), rtol=1e-12, atol=1e-12)


def test_the_choice_may_be_in_another_loop():
    x, y = (sv.ndarray(sv.f64, 8, needs_grad=True) for _ in range(2))
    x.from_numpy(np.arange(8.0) % 2)
    y.grad.from_numpy(np.arange(8) // 4 * 1.0)
    in_two_loops(x, y)
    in_two_loops.grad(x, y)
    np.testing.assert_allclose(x.grad.to_numpy()[:4], [0.1, 1.5, 0.1, 1.5], rtol=1e-12)


def test_a_weight_that_happens_to_be_zero_has_a_derivative():
    @sv.kernel
    def distance(x: A, loss: sv.types.NDArray[sv.f64, 0]):
        for i in x:
            loss[()] += (sv.max(sv.sqrt(x[i]), 0.1) - 2) ** 2

    def f(x):
        loss = sv.ndarray(sv.f64, (), needs_grad=True)
        distance(x, loss)
        return loss

    x = sv.ndarray(sv.f64, 1, needs_grad=True)
    x.fill(4)  # the derivative is 0 there, and the second one is 2 · (1 / (2 · 2))²
    (twice,) = sv.ad.hvp(f, [x], [np.ones(1)])
    assert twice.to_numpy() == pytest.approx([0.125], rel=1e-14)
