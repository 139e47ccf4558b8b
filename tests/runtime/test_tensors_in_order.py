"""`sv.tensor(layout=)`: arrays and fields whose axes lie in memory in another order than they are indexed in."""

import copy
import itertools
import pickle
import random

import numpy as np
import pytest

import samovar as sv

BACKENDS = list(sv.Backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("rank", [1, 2, 3, 8, 9, 12, 16])
def test_any_number_of_axes(rank, backend):
    chance = random.Random(rank)
    shape = tuple(chance.choice([1, 2]) for _ in range(rank)) if rank > 3 else tuple(range(2, 2 + rank))
    orders = list(itertools.permutations(range(rank))) if rank <= 3 else [chance.sample(range(rank), rank) for _ in range(5)]
    for order in orders:
        t = sv.tensor(sv.f32, shape, backend=backend, layout=order)
        assert t.shape == shape
        assert isinstance(t, sv.Ndarray if backend is sv.Backend.NDARRAY else sv.Field)
        content = np.arange(t.size, dtype=np.float32).reshape(shape)
        t.from_numpy(content)
        assert np.array_equal(t.to_numpy(), content)
        assert t[(0,) * rank] == 0
        assert t[tuple(extent - 1 for extent in shape)] == t.size - 1
        seen = t.to_numpy(copy=False)
        assert np.array_equal(seen, content)
        assert seen.transpose(order).flags.c_contiguous


def test_an_array_serves_every_shape_with_one_code():
    @sv.kernel
    def add(x: sv.Tensor):
        for i, j in x:
            x[i, j] += 10 * i + j

    before = sv.compile_count()
    loaded = add.cache_observations.loads
    for n in (30, 40, 50):
        a = sv.tensor(sv.f32, (n, 70), layout=(1, 0))
        add(a)
        assert np.array_equal(a.to_numpy(), np.fromfunction(lambda i, j: 10 * i + j, (n, 70)))
    assert sv.compile_count() - before + add.cache_observations.loads - loaded == 1
    b = sv.tensor(sv.f32, (30, 70), layout=(0, 1))
    add(b)
    assert b.to_numpy(copy=False).flags.c_contiguous
    assert b[3, 4] == 34


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [sv.f32, sv.i64, sv.u8, sv.math.vec3, sv.math.mat2], ids=str)
def test_methods_are_those_of_any_array(dtype, backend):
    t = sv.tensor(dtype, (4, 3), backend=backend, layout=(1, 0))
    plain = sv.ndarray(dtype, (4, 3))
    content = (np.arange(plain.to_numpy().size) % 100).reshape(plain.to_numpy().shape).astype(plain.to_numpy().dtype)
    for each in (t, plain):
        each.from_numpy(content)
    assert np.array_equal(np.asarray(t), content)
    assert t.tolist() == plain.tolist()
    assert str(t[1, 2]) == str(plain[1, 2])
    for method in ("sum", "max", "min", "mean"):
        assert str(getattr(t, method)()) == str(getattr(plain, method)())
    assert np.array_equal(t.astype(sv.f64).to_numpy(), plain.astype(sv.f64).to_numpy())
    assert np.array_equal(t.T, plain.T)
    assert np.array_equal(t.reshape(12).to_numpy(), plain.reshape(12).to_numpy())
    assert np.array_equal(np.asarray(t == plain), np.asarray(plain == plain))
    assert repr(t).replace("field(", "ndarray(").split() == repr(plain).split()
    assert (t.nbytes, t.size, t.ndim, t.element_shape) == (plain.nbytes, plain.size, plain.ndim, plain.element_shape)
    t.fill(3)
    assert (t.to_numpy() == 3).all()
    t.copy_from(plain)
    assert np.array_equal(t.to_numpy(), content)
    assert np.array_equal(np.from_dlpack(t), content)
    assert np.array_equal(np.asarray(memoryview(t)), content)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "made",
    [
        copy.copy,
        copy.deepcopy,
        lambda t: t.copy(),
        lambda t: pickle.loads(pickle.dumps(t, 2)),
        lambda t: pickle.loads(pickle.dumps(t, 5)),
    ],
)
def test_copies_and_pickles_have_the_same_order(made, backend):
    for dtype in (sv.f32, sv.math.vec3):
        t = sv.tensor(dtype, (2, 3, 4), backend=backend, layout=(2, 0, 1), needs_grad=True)
        t.from_numpy(np.random.default_rng(0).random(t.to_numpy().shape, np.float32))
        t.grad.fill(2)
        other = made(t)
        assert type(other) is type(t)
        assert np.array_equal(other.to_numpy(), t.to_numpy())
        assert other.to_numpy(copy=False).strides == t.to_numpy(copy=False).strides
        assert (other.grad.to_numpy() == 2).all()
        assert other.grad.to_numpy(copy=False).strides == t.grad.to_numpy(copy=False).strides
        other.fill(0)
        assert t.to_numpy().any()


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("backend", BACKENDS)
def test_kernels_index_it_as_if_it_had_no_layout(backend, debug):
    sv.init(debug=debug)

    @sv.kernel
    def work(x: sv.Tensor, y: sv.Tensor, total: sv.Tensor):
        for i, j, k in x:
            x[i, j, k] = 100 * i + 10 * j + k
        for index in sv.grouped(x):
            y[index] += x[index]
        for i, j, k in sv.ndrange(x.shape[0], x.shape[1], x.shape[2]):
            total[None] += x[i, j, k]

    for order in itertools.permutations(range(3)):
        for shape in ((2, 3, 4), (1, 7, 33), (5, 0, 2), (40, 1, 3)):
            x = sv.tensor(sv.i32, shape, backend=backend, layout=order)
            y = sv.tensor(sv.i32, shape, backend=backend, layout=order[::-1])
            total = sv.tensor(sv.i32, (), backend=backend)
            work(x, y, total)
            expected = np.fromfunction(lambda i, j, k: 100 * i + 10 * j + k, shape, dtype=int)
            assert np.array_equal(x.to_numpy(), expected)
            assert np.array_equal(y.to_numpy(), expected)
            assert total[None] == expected.sum()


def test_vectors_and_gradients():
    t = sv.tensor(sv.math.vec3, (4, 5), layout=(1, 0), needs_grad=True)
    assert t.grad.shape == (4, 5)
    assert t.to_numpy(copy=False).strides == (12, 48, 4)

    @sv.kernel
    def fill(x: sv.Tensor):
        for i, j in x:
            x[i, j] = sv.math.vec3(i, j, i + j)
            x.grad[i, j] = x[i, j] * 2

    fill(t)
    assert t[3, 2].to_list() == [3, 2, 5]
    assert t.grad[3, 2].to_list() == [6, 4, 10]
    with pytest.raises(TypeError, match="only floats have gradients"):
        sv.tensor(sv.i32, (2, 2), layout=(1, 0), needs_grad=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layout": (0, 0)}, "a permutation of the 2 dimensions"),
        ({"layout": (0,)}, "a permutation of the 2 dimensions"),
        ({"layout": (0, 1, 2)}, "a permutation of the 2 dimensions"),
        ({"layout": (1, 0), "order": "ij"}, "contradict each other"),
        ({"layout": (1, 0), "offset": (1, 1)}, "are for sv.Backend.FIELD"),
        ({"order": "ji"}, "are for sv.Backend.FIELD"),
    ],
)
def test_what_is_no_layout_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        sv.tensor(sv.f32, (2, 3), **options)


def test_structs_have_no_order_of_axes():
    pair = sv.types.struct(a=sv.f32, b=sv.i32)
    with pytest.raises(ValueError, match="an array of structs is in C order"):
        sv.tensor(pair, (2, 3), layout=(1, 0))
