"""`x.grad` and `x.dual` of everything that holds floats, in both modes."""

from dataclasses import dataclass

import numpy as np
import pytest

import samovar as sv

N = 3
Particle = sv.types.struct(x=sv.math.vec3, m=sv.f64, n=sv.i32)


@pytest.fixture(autouse=True)
def double():
    sv.init(default_fp=sv.f64)
    yield
    sv.reset()


def placed(**options):
    x = sv.field(sv.f64, **options)
    members = [each for each in (x, x.grad, x.dual) if each is not None]
    sv.root.dense(sv.i, N).place(*members)
    return x


def lazy(**options):
    x = sv.field(sv.f64, **options)
    sv.root.dense(sv.i, N).place(x)
    sv.root.lazy_grad()
    sv.root.lazy_dual()
    return x


NUMBERS = {
    "field": lambda **o: sv.field(sv.f64, N, **o),
    "offset": lambda **o: sv.field(sv.f64, N, offset=-2, **o),
    "placed": placed,
    "lazy": lazy,
    "ndarray": lambda **o: sv.ndarray(sv.f64, N, **o),
    "tensor": lambda **o: sv.tensor(sv.f64, N, **o),
    "field tensor": lambda **o: sv.tensor(sv.f64, N, backend=sv.Backend.FIELD, **o),
    "entry": lambda **o: sv.Vector.field(2, sv.f64, N, **o).get_scalar_field(1),
    "member": lambda **o: Particle.field(N, **o).m,
    "member apart": lambda **o: Particle.field(N, layout=sv.Layout.SOA, **o).m,
    "member of array": lambda **o: Particle.ndarray(N, layout=sv.Layout.SOA, **o).m,
}
VECTORS = {
    "field": lambda **o: sv.Vector.field(3, sv.f64, N, **o),
    "field apart": lambda **o: sv.Vector.field(3, sv.f64, N, layout=sv.Layout.SOA, **o),
    "ndarray": lambda **o: sv.Vector.ndarray(3, sv.f64, N, **o),
    "ndarray apart": lambda **o: sv.ndarray(sv.math.vec3, N, layout=sv.Layout.SOA, **o),
    "tensor": lambda **o: sv.tensor(sv.math.vec3, N, **o),
    "member": lambda **o: Particle.field(N, **o).x,
    "member of array": lambda **o: Particle.ndarray(N, layout=sv.Layout.SOA, **o).x,
}
MATRICES = {
    "field": lambda **o: sv.Matrix.field(2, 3, sv.f64, N, **o),
    "ndarray": lambda **o: sv.Matrix.ndarray(2, 3, sv.f64, N, **o),
    "ndarray apart": lambda **o: sv.Matrix.ndarray(2, 3, sv.f64, N, layout=sv.Layout.SOA, **o),
}


def number_of(x, y):
    @sv.kernel
    def run(x: sv.Template, y: sv.Template):
        for i in x:
            y[None] += x[i] ** 3

    run(x, y)
    return run


def vector_of(x, y):
    @sv.kernel
    def run(x: sv.Template, y: sv.Template):
        for i in x:
            y[None] += x[i].dot(x[i]) * x[i][1]

    run(x, y)
    return run


def matrix_of(x, y):
    @sv.kernel
    def run(x: sv.Template, y: sv.Template):
        for i in x:
            y[None] += (x[i] @ x[i].transpose()).determinant()

    run(x, y)
    return run


def value_of_number(x):
    return (x**3).sum()


def value_of_vector(x):
    return ((x * x).sum(1) * x[:, 1]).sum()


def value_of_matrix(x):
    return sum(np.linalg.det(each @ each.T) for each in x)


CASES = [
    *((f"numbers, {name}", make, number_of, value_of_number) for name, make in NUMBERS.items()),
    *((f"vectors, {name}", make, vector_of, value_of_vector) for name, make in VECTORS.items()),
    *((f"matrices, {name}", make, matrix_of, value_of_matrix) for name, make in MATRICES.items()),
]


def expected(value, content):
    found = np.zeros_like(content)
    for place in np.ndindex(content.shape):
        moved = [content.copy(), content.copy()]
        moved[0][place] += 1e-6
        moved[1][place] -= 1e-6
        found[place] = (value(moved[0]) - value(moved[1])) / 2e-6
    return found


@pytest.mark.parametrize(("name", "make", "run", "value"), CASES, ids=[case[0] for case in CASES])
def test_gradients_and_tangents(name, make, run, value):
    x, y = make(needs_grad=True), sv.field(sv.f64, (), needs_grad=True)
    assert x.has_grad()
    content = np.random.default_rng(1).uniform(0.5, 1.5, x.to_numpy().shape)
    x.from_numpy(content)
    right = expected(value, content)
    kernel = run(x, y)
    with sv.ad.Tape(y):
        kernel(x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), right, rtol=1e-7)
    x.grad.fill(0)
    y.grad[None] = 2
    kernel.grad(x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * right, rtol=1e-7)

    for options in ({"needs_dual": True}, {"needs_grad": True}, {"needs_grad": True, "needs_dual": True}):
        x, y = make(**options), sv.field(sv.f64, (), **options)
        x.from_numpy(content)
        seed = np.random.default_rng(2).uniform(-1, 1, content.shape)
        with sv.ad.FwdMode(loss=y, param=x, seed=seed.reshape(-1)):
            kernel(x, y)
        assert x.has_dual()
        np.testing.assert_allclose(y.dual[None], (right * seed).sum(), rtol=1e-7)


def test_only_floats_have_derivatives():
    for make in (sv.field, sv.ndarray, sv.tensor):
        with pytest.raises(TypeError, match="only floats have tangents"):
            make(sv.i32, 3, needs_dual=True)
        assert make(sv.f64, 3).dual is None
        assert not make(sv.f64, 3).has_dual()


def test_members_of_structs():
    f = Particle.field(N, needs_grad=True, needs_dual=True)
    assert f.has_grad()
    assert f.has_dual()
    assert f.grad.keys == f.dual.keys == ["x", "m"]
    assert f.n.grad is None
    assert f.n.dual is None
    assert not Particle.field(N).has_dual()


def test_reshaped_arrays_share_tangents():
    x, y = sv.ndarray(sv.f64, (2, 2), needs_grad=True), sv.field(sv.f64, (), needs_grad=True)
    x.from_numpy(np.array([[1.0, 2.0], [3.0, 4.0]]))
    flat = x.reshape(4)
    with sv.ad.FwdMode(loss=y, param=x, seed=[1, 0, 0, 1]):
        number_of(flat, y)
    assert y.dual[None] == 3 * (1 + 16)
    with sv.ad.Tape(y):
        number_of(flat, y)
    assert x.grad.to_numpy().tolist() == [[3, 12], [27, 48]]


def test_methods_and_compound_arguments():
    @dataclass
    class State:
        x: sv.Ndarray
        v: sv.Ndarray

    @sv.data_oriented
    class World:
        def __init__(self):
            self.x = sv.field(sv.f64, N, needs_grad=True)
            self.state = State(*(sv.ndarray(sv.f64, N, needs_grad=True) for _ in range(2)))
            self.loss = sv.field(sv.f64, (), needs_grad=True)

        @sv.kernel
        def step(self, k: sv.f64):
            for i in self.x:
                self.state.v[i] = k * self.x[i] * self.state.x[i]

        @sv.kernel
        def total(self):
            for i in self.x:
                self.loss[None] += self.state.v[i]

    @sv.kernel
    def both(state: State, loss: sv.Template):
        for i in state.x:
            loss[None] += state.x[i] * state.v[i]

    world = World()
    world.x.fill(3)
    world.state.x.fill(5)
    world.step(2)
    world.total()
    world.loss.grad[None] = 1
    world.total.grad()
    world.step.grad(2)
    assert world.x.grad.to_numpy().tolist() == [10] * N
    assert world.state.x.grad.to_numpy().tolist() == [6] * N
    with sv.ad.Tape(world.loss):
        world.step(2)
        both(world.state, world.loss)
    assert world.x.grad.to_numpy().tolist() == [50] * N
    assert world.state.x.grad.to_numpy().tolist() == [60] * N
    world.loss.grad[None] = 1
    sv.ad.clear_all_gradients()
    world.loss.grad[None] = 1
    both.grad(world.state, world.loss)
    assert world.state.v.grad.to_numpy().tolist() == [5] * N
