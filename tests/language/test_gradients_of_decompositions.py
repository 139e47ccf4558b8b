"""Derivatives of decompositions are those of formulas, also where singular values or eigenvalues are equal."""

import numpy as np
import pytest

import samovar as sv

NUMBERS = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def exact():
    sv.init(default_fp=sv.f64)
    yield
    sv.reset()


def kernel_of(function, size):
    """A kernel that adds to a loss what is the same for all decompositions of a matrix."""
    weights = sv.field(sv.f64, (size, size))
    weights.from_numpy(NUMBERS.normal(size=(size, size)))

    @sv.func
    def weighed(m):
        total = 0.0
        for i, j in sv.ndrange(size, size):
            total += m[i, j] * weights[i, j]
        return total

    if function == "svd":

        @sv.kernel
        def run(a: sv.Template, loss: sv.Template):
            for k in a:
                U, S, V = sv.svd(a[k])
                for n in sv.static(range(size)):
                    # Singular vectors have a sign, and their outer products have none.
                    loss[None] += S[n, n] ** 2 * weights[n, n] + weighed(U[:, n].outer_product(V[:, n]))

    elif function == "polar":

        @sv.kernel
        def run(a: sv.Template, loss: sv.Template):
            for k in a:
                turn, stretch = sv.polar_decompose(a[k])
                loss[None] += weighed(turn) + weighed(stretch @ stretch)

    elif function == "sym_eig":

        @sv.kernel
        def run(a: sv.Template, loss: sv.Template):
            for k in a:
                values, vectors = sv.sym_eig(a[k])
                for n in range(size):
                    for i, j in sv.ndrange(size, size):
                        loss[None] += values[n] ** 2 * vectors[i, n] * vectors[j, n] * weights[i, j]
                    loss[None] += vectors[n, 0] * vectors[0, 0] * weights[n, 0]

    else:

        @sv.kernel
        def run(a: sv.Template, loss: sv.Template):
            for k in a:
                loss[None] += weighed(sv.make_spd(a[k]))

    return run


def problem(function, size):
    run = kernel_of(function, size)
    a = sv.Matrix.field(size, size, sv.f64, 1, needs_grad=True)
    loss = sv.field(sv.f64, (), needs_grad=True)

    def value(_=None):
        loss[None] = 0.0
        run(a, loss)
        return loss

    return a, value


def gradient(a, value, matrix):
    a.from_numpy(matrix[None])
    sv.ad.value_and_grad(value)(a)
    return a.grad.to_numpy()[0]


def differences(function, matrix, step):
    """How a function of matrices changes along each element."""
    found = []
    for place in np.ndindex(matrix.shape):
        moved = np.zeros_like(matrix)
        moved[place] = step
        found.append((function(matrix + moved) - function(matrix - moved)) / (2 * step))
    return np.array(found).reshape(matrix.shape)


def at(a, value):
    def function(matrix):
        a.from_numpy(matrix[None])
        return value()[None]

    return function


def symmetric(size):
    matrix = NUMBERS.normal(size=(size, size))
    return matrix + matrix.T


CASES = [
    ("svd", np.array([[1.0, 0.4], [-0.3, 2.0]])),
    ("svd", NUMBERS.normal(size=(3, 3))),
    ("svd", np.diag([3.0, -2.0, 1.0])),
    ("polar", np.eye(2)),
    ("polar", np.eye(3)),
    ("polar", np.diag([2.0, 2.0, -2.0]) + 0.1 * NUMBERS.normal(size=(3, 3))),
    ("sym_eig", np.diag([1.0, 3.0])),
    ("sym_eig", symmetric(3)),
    ("sym_eig", np.diag([1.0, 4.0, 2.0, 3.0])),
    ("sym_eig", symmetric(7)),
    ("make_spd", np.diag([1.0, 1.0, -1.0])),
    ("make_spd", symmetric(7)),
]


@pytest.mark.parametrize(("function", "matrix"), CASES)
def test_first_and_second_derivatives_of_decompositions(function, matrix):
    a, value = problem(function, len(matrix))
    found = gradient(a, value, matrix)
    assert np.allclose(found, differences(at(a, value), matrix, 1e-5), atol=1e-7)
    along = NUMBERS.normal(size=matrix.shape)
    a.from_numpy(matrix[None])
    _, tangents = sv.ad.jvp(value, [a], [along[None]])
    (tangent,) = tangents if isinstance(tangents, (list, tuple)) else [tangents]
    assert np.isclose(tangent.to_numpy(), np.sum(found * along), atol=1e-10)
    second = sv.ad.hvp(value, [a], [along[None]])[-1].to_numpy()[0]
    if function == "make_spd" and matrix[0, 0] == matrix[1, 1]:
        assert np.isnan(second).any()
        return
    step = 1e-5
    beside = gradient(a, value, matrix + step * along), gradient(a, value, matrix - step * along)
    assert np.allclose(second, (beside[0] - beside[1]) / (2 * step), atol=1e-5)


def test_at_equal_singular_values_only_the_vectors_have_no_derivative():
    a, value = problem("svd", 3)
    assert np.isnan(gradient(a, value, np.eye(3))).any()

    @sv.kernel
    def stretch(a: sv.Template, loss: sv.Template):
        for k in a:
            _, S, _ = sv.svd(a[k])
            for n in sv.static(range(3)):
                loss[None] += (S[n, n] - 3.0) ** 2

    loss = sv.field(sv.f64, (), needs_grad=True)

    def total(_=None):
        loss[None] = 0.0
        stretch(a, loss)
        return loss

    assert np.allclose(gradient(a, total, np.eye(3)), -4 * np.eye(3))
    second = sv.ad.hvp(total, [a], [np.ones((1, 3, 3))])[-1].to_numpy()
    assert np.isnan(second).any()
