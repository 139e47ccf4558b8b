"""Gradients against JAX: ten programs written in both, equal to 1e-12 in f64."""

from typing import Any

import numpy as np
import pytest

import samovar as sv

jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")

A = sv.types.NDArray[sv.f64, 1]
B = sv.types.NDArray[sv.f64, 2]
S = sv.types.NDArray[sv.f64, 0]
I = sv.types.NDArray[sv.i64, 1]


@pytest.fixture(autouse=True)
def double():
    sv.init(default_fp=sv.f64)
    jax.config.update("jax_enable_x64", True)
    yield
    sv.reset()


def array(content: Any) -> Any:
    made = sv.ndarray(sv.f64, np.shape(content), needs_grad=True)
    made.from_numpy(np.asarray(content, float))
    return made


def new(*shape: int) -> Any:
    return sv.ndarray(sv.f64, shape, needs_grad=True)


def numbers(*shape: int, seed: int = 0, low: float = 0.2, high: float = 1.1) -> Any:
    return np.random.default_rng(seed).uniform(low, high, shape)


def compare(ours: Any, theirs: Any, *inputs: Any) -> None:
    value, gradients = sv.ad.value_and_grad(ours, wrt=tuple(range(len(inputs))))(*map(array, inputs))
    expected, right = jax.value_and_grad(theirs, argnums=tuple(range(len(inputs))))(*map(jnp.asarray, inputs))
    assert abs(value - float(expected)) <= 1e-12 * max(1, abs(value))
    for found, wanted in zip(gradients, right, strict=True):
        size = max(1.0, float(np.abs(wanted).max()))
        np.testing.assert_allclose(found.to_numpy(), np.asarray(wanted), rtol=1e-12, atol=1e-12 * size)


@sv.kernel
def wave_step(u: B, before: B, after: B):
    for i, j in sv.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
        after[i, j] = 2 * u[i, j] - before[i, j] + 0.2 * (around - 4 * u[i, j])


@sv.kernel
def squares(u: B, loss: S):
    for i, j in u:
        loss[None] += u[i, j] ** 2


def test_wave_equation():
    def ours(u):
        before, after, loss = new(*u.shape), new(*u.shape), new()
        for _ in range(20):
            wave_step(u, before, after)
            before, u, after = u, after, before
        squares(u, loss)
        return loss

    def theirs(u):
        before, after = jnp.zeros_like(u), jnp.zeros_like(u)
        for _ in range(20):
            inner = u[1:-1, 1:-1]
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            after = after.at[1:-1, 1:-1].set(2 * inner - before[1:-1, 1:-1] + 0.2 * (around - 4 * inner))
            before, u, after = u, after, before
        return (u**2).sum()

    compare(ours, theirs, numbers(12, 9))


@sv.kernel
def energies(x: B, m: A, loss: S):
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            if i != j:
                square = 0.01
                for k in range(3):
                    square += (x[i, k] - x[j, k]) ** 2
                loss[None] -= m[i] * m[j] / sv.sqrt(square)


def test_bodies():
    def ours(x, m):
        loss = new()
        energies(x, m, loss)
        return loss

    def theirs(x, m):
        square = ((x[:, None] - x[None]) ** 2).sum(-1) + 0.01
        pairs = m[:, None] * m[None] / jnp.sqrt(square)
        return -(pairs * (1 - jnp.eye(len(m)))).sum()

    compare(ours, theirs, numbers(10, 3), numbers(10, seed=1))


@sv.kernel
def layer(w: B, b: A, x: A, y: A):
    for i in y:
        total = b[i]
        for j in x:
            total += w[i, j] * x[j]
        y[i] = sv.tanh(total)


@sv.kernel
def softmax_loss(y: A, loss: S):
    for _ in range(1):
        greatest = y[0]
        for i in y:
            greatest = sv.max(greatest, y[i])
        total = 0.0
        for i in y:
            total += sv.exp(y[i] - greatest)
        loss[None] = sv.log(total) + greatest - y[1]


def test_perceptron_with_softmax():
    def ours(w, b, x):
        y, loss = new(w.shape[0]), new()
        layer(w, b, x, y)
        softmax_loss(y, loss)
        return loss

    def theirs(w, b, x):
        y = jnp.tanh(w @ x + b)
        return jax.nn.logsumexp(y) - y[1]

    compare(ours, theirs, numbers(6, 8), numbers(6, seed=1), numbers(8, seed=2))


@sv.kernel
def newton(a: A, loss: S):
    for i in a:
        x = 1.0
        while abs(x * x * x - a[i]) > 1e-13:
            x -= (x * x * x - a[i]) / (3 * x * x)
        loss[None] += x * x


def test_newton_iteration():
    def ours(a):
        loss = new()
        newton(a, loss)
        return loss

    # JAX has no reverse of a while loop: twelve steps are as exact, and in rounding errors of each other.
    inputs = numbers(7, low=0.3, high=3)
    value, gradients = sv.ad.value_and_grad(ours)(array(inputs))
    expected = inputs ** (2 / 3)
    np.testing.assert_allclose(value, expected.sum(), rtol=1e-12)
    unrolled = jax.grad(lambda a: newton_steps(a, 12))(jnp.asarray(inputs))
    np.testing.assert_allclose(gradients.to_numpy(), np.asarray(unrolled), rtol=1e-12)


def newton_steps(a: Any, count: int) -> Any:
    x = jnp.ones_like(a)
    for _ in range(count):
        x -= (x * x * x - a) / (3 * x * x)
    return (x * x).sum()


@sv.kernel
def arm(angles: A, lengths: A, loss: S):
    for _ in range(1):
        x, y, angle = 0.0, 0.0, 0.0
        for k in angles:
            angle += angles[k]
            x += lengths[k] * sv.cos(angle)
            y += lengths[k] * sv.sin(angle)
        loss[None] = (x - 0.3) ** 2 + (y - 0.8) ** 2


def test_kinematics():
    def ours(angles, lengths):
        loss = new()
        arm(angles, lengths, loss)
        return loss

    def theirs(angles, lengths):
        total = jnp.cumsum(angles)
        return ((lengths * jnp.cos(total)).sum() - 0.3) ** 2 + ((lengths * jnp.sin(total)).sum() - 0.8) ** 2

    compare(ours, theirs, numbers(7), numbers(7, seed=1))


@sv.kernel
def options(price: A, strike: A, time: A, volatility: A, loss: S):
    for i in price:
        root = volatility[i] * sv.sqrt(time[i])
        one = (sv.log(price[i] / strike[i]) + (0.02 + 0.5 * volatility[i] ** 2) * time[i]) / root
        two = one - root
        first = 0.5 * sv.math.erfc(-one / sv.sqrt(2.0))
        second = 0.5 * sv.math.erfc(-two / sv.sqrt(2.0))
        loss[None] += price[i] * first - strike[i] * sv.exp(-0.02 * time[i]) * second


def test_black_scholes():
    def ours(price, strike, time, volatility):
        loss = new()
        options(price, strike, time, volatility, loss)
        return loss

    def theirs(price, strike, time, volatility):
        root = volatility * jnp.sqrt(time)
        one = (jnp.log(price / strike) + (0.02 + 0.5 * volatility**2) * time) / root
        normal = jax.scipy.stats.norm.cdf
        return (price * normal(one) - strike * jnp.exp(-0.02 * time) * normal(one - root)).sum()

    compare(ours, theirs, *(numbers(9, seed=seed, low=0.5) for seed in range(4)))


@sv.kernel
def sparse(values: A, columns: I, starts: I, x: A, loss: S):
    for i in range(starts.shape[0] - 1):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += values[k] * x[columns[k]]
        loss[None] += sv.sin(total)


def test_sparse_matrix():
    dense = np.random.default_rng(5).random((8, 8)) < 0.4
    rows, columns = np.nonzero(dense)
    starts = np.concatenate([[0], np.cumsum(dense.sum(1))])

    def ours(values, x):
        loss = new()
        sparse(values, columns, starts, x, loss)
        return loss

    def theirs(values, x):
        return jnp.sin(jnp.zeros(8).at[rows].add(values * x[columns])).sum()

    compare(ours, theirs, numbers(len(rows)), numbers(8, seed=1))


@sv.kernel
def svd_energy(f: sv.types.NDArray[sv.f64, 3], loss: S):
    for e in range(f.shape[0]):
        m = sv.Matrix([[f[e, 0, 0], f[e, 0, 1], f[e, 0, 2]], [f[e, 1, 0], f[e, 1, 1], f[e, 1, 2]],
                       [f[e, 2, 0], f[e, 2, 1], f[e, 2, 2]]])  # fmt: skip
        _, s, _ = sv.svd(m)
        for k in sv.static(range(3)):
            loss[None] += (s[k, k] - 1) ** 2


def test_energy_of_singular_values():
    def ours(f):
        loss = new()
        svd_energy(f, loss)
        return loss

    def theirs(f):
        return sum(((jnp.linalg.svd(each, compute_uv=False) - 1) ** 2).sum() for each in f)

    compare(ours, theirs, np.eye(3) * [1.7, 1.1, 0.6] + numbers(4, 3, 3, low=-0.2, high=0.2))


@sv.kernel
def collide(f: B, after: B):
    for i in range(f.shape[0]):
        density = f[i, 0] + f[i, 1] + f[i, 2]
        speed = (f[i, 2] - f[i, 0]) / density
        for k in sv.static(range(3)):
            c, w = sv.static(k - 1), sv.static((1 / 6, 2 / 3, 1 / 6)[k])
            equal = w * density * (1 + 3 * c * speed + 4.5 * c * c * speed * speed - 1.5 * speed * speed)
            after[(i + c + f.shape[0]) % f.shape[0], k] = f[i, k] - 0.7 * (f[i, k] - equal)


def test_lattice_boltzmann():
    def ours(f):
        after, loss = new(*f.shape), new()
        for _ in range(6):
            collide(f, after)
            f, after = after, f
        squares(f, loss)
        return loss

    def theirs(f):
        c, w = jnp.array([-1.0, 0.0, 1.0]), jnp.array([1 / 6, 2 / 3, 1 / 6])
        for _ in range(6):
            density = f.sum(1, keepdims=True)
            speed = (f[:, 2:] - f[:, :1]) / density
            equal = w * density * (1 + 3 * c * speed + 4.5 * c * c * speed * speed - 1.5 * speed * speed)
            f = f - 0.7 * (f - equal)
            f = jnp.stack([jnp.roll(f[:, k], k - 1) for k in range(3)], 1)
        return (f**2).sum()

    compare(ours, theirs, numbers(11, 3))


@sv.kernel(serial=True)
def recurrence(x: A, k: A):
    for i in range(1, x.shape[0]):
        x[i] = sv.sin(x[i - 1]) * k[i] + x[i] * x[i - 1]


@sv.kernel
def last(x: A, loss: S):
    for _ in range(1):
        loss[None] = x[x.shape[0] - 1] ** 2


def test_recurrence_in_place():
    def ours(x, k):
        loss = new()
        for _ in range(3):
            recurrence(x, k)
        last(x, loss)
        return loss

    def theirs(x, k):
        for _ in range(3):
            for i in range(1, len(x)):
                x = x.at[i].set(jnp.sin(x[i - 1]) * k[i] + x[i] * x[i - 1])
        return x[-1] ** 2

    compare(ours, theirs, numbers(8), numbers(8, seed=1))
