"""Fields from Python: making and placing them, elements, other libraries, copies, and what is refused."""

from __future__ import annotations

import copy
import gc
import hashlib
import math
import pickle
import weakref

import numpy as np
import pytest

import samovar as sv
from samovar._native import field_layout


def blocked(dtype=sv.f32, offset=None):
    f, beside = sv.field(dtype), sv.field(sv.f64)
    sv.root.dense(sv.ij, (3, 2)).dense(sv.ij, (2, 4)).place(f, beside, offset=offset)
    return f


MADE = {
    "C order": lambda: sv.field(sv.f32, (6, 8)),
    "another order": lambda: sv.field(sv.f32, (6, 8), order="ji"),
    "blocks": blocked,
}
NUMBERS = np.arange(48, dtype=np.float32).reshape(6, 8)


def hash_of(memory):
    """Of what offers its bytes one after the other."""
    return hashlib.md5(memory).hexdigest()


@pytest.fixture(params=MADE)
def field(request):
    made = MADE[request.param]()
    made.from_numpy(NUMBERS)
    return made


def test_what_a_field_is(field):
    assert isinstance(field, sv.Field)
    assert isinstance(field, sv.Tensor)
    assert not isinstance(field, sv.Ndarray)
    assert (field.shape, field.ndim, field.size, field.dtype, field.nbytes) == ((6, 8), 2, 48, sv.f32, 192)
    assert (field.grad, field.needs_grad, field.readonly, field.offset, len(field)) == (None, False, False, (0, 0), 6)


def test_elements(field):
    assert [field[i, j] for i in range(6) for j in range(8)] == NUMBERS.ravel().tolist()
    field[5, 7] = -1
    assert field[5, 7] == -1
    assert field.to_numpy()[5, 7] == -1
    for index in ((6, 0), (0, 8), (-1, 0), (0, 2**70)):
        with pytest.raises(IndexError, match="out of bounds"):
            field[index] = 0


def test_fill_and_copies(field):
    twin = copy.copy(field)
    field.fill(2.5)
    assert (field.to_numpy() == 2.5).all()
    np.testing.assert_array_equal(twin.to_numpy(), NUMBERS)
    assert field_layout(twin) == field_layout(field)
    field.copy_from(twin)
    np.testing.assert_array_equal(field.to_numpy(), NUMBERS)
    array = sv.ndarray(sv.i32, (6, 8))
    array.copy_from(field)
    np.testing.assert_array_equal(array.to_numpy(), NUMBERS)
    field.copy_from(NUMBERS.T.copy().T * 2)
    np.testing.assert_array_equal(field.to_numpy(), NUMBERS * 2)
    with pytest.raises(ValueError, match="shape"):
        field.copy_from(np.zeros((8, 6)))


def test_a_source_that_overlaps_is_read_first():
    f = sv.field(sv.i32, 6, order="i")
    f.from_numpy(np.arange(6))
    view = f.to_numpy(copy=False)
    f.copy_from(view[::-1])
    assert f.to_numpy().tolist() == [5, 4, 3, 2, 1, 0]
    g = sv.field(sv.i32, (2, 2), order="ji")
    g.from_numpy(np.array([[1, 2], [3, 4]]))
    g.copy_from(g.to_numpy(copy=False).T)
    assert g.to_numpy().tolist() == [[1, 3], [2, 4]]


@pytest.mark.parametrize("protocol", range(2, 6))
def test_pickles(field, protocol):
    loaded = pickle.loads(pickle.dumps(field, protocol))
    assert isinstance(loaded, sv.Field)
    assert field_layout(loaded) == field_layout(field)
    np.testing.assert_array_equal(loaded.to_numpy(), NUMBERS)


def test_copies_and_pickles_of_a_gradient():
    x = sv.field(sv.f32, 3, needs_grad=True, offset=1)
    x.grad.fill(2)
    for twin in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert twin.grad.to_numpy().tolist() == [2, 2, 2]
        twin.grad.fill(0)
    assert x.grad.to_numpy().tolist() == [2, 2, 2]


def test_numpy_shares_what_it_can_see():
    for make in ("C order", "another order"):
        f = MADE[make]()
        view = f.to_numpy(copy=False)
        view[1, 2] = 7
        assert f[1, 2] == 7
        assert np.asarray(f)[1, 2] == 7
        assert np.shares_memory(np.from_dlpack(f), view)
        assert not np.shares_memory(f.to_numpy(), view)
        assert f.to_numpy(copy=None).base is not None
    f = blocked()
    with pytest.raises(ValueError, match="blocked layout"):
        f.to_numpy(copy=False)
    with pytest.raises((TypeError, BufferError), match="blocked layout"):
        np.asarray(f)
    assert f.to_numpy(copy=None).shape == (6, 8)
    with pytest.raises(BufferError, match="C order"):
        hash_of(sv.field(sv.f32, (2, 3), order="ji"))


def test_other_dtypes_of_numpy(field):
    assert field.to_numpy(dtype=np.float64).dtype == np.float64
    assert field.to_numpy(dtype=sv.i16).dtype == np.int16
    np.testing.assert_array_equal(field.to_numpy(dtype=int), NUMBERS)
    f = MADE["C order"]()
    assert np.shares_memory(f.to_numpy(copy=False, dtype=np.float32), f.to_numpy(copy=False))
    with pytest.raises(ValueError, match="converting the dtype requires a copy"):
        f.to_numpy(copy=False, dtype=np.float64)


def test_torch(field):
    torch = pytest.importorskip("torch")
    tensor = field.to_torch()
    assert tensor.dtype is torch.float32
    np.testing.assert_array_equal(tensor.numpy(), NUMBERS)
    assert field.to_torch(device="cpu").device.type == "cpu"
    field.from_torch(torch.ones(6, 8))
    assert (field.to_numpy() == 1).all()
    assert field.to_torch(device="meta").device.type == "meta"
    shared = MADE["another order"]()
    shared.to_torch(copy=False)[2, 3] = 9
    assert shared[2, 3] == 9


def test_what_it_looks_like():
    f = sv.field(sv.i32, (2, 2), order="ji")
    f[0, 1] = 5
    assert repr(f) == "field([[0, 5],\n       [0, 0]], dtype=i32, shape=(2, 2))"
    b = blocked(sv.i8)
    b.from_numpy(NUMBERS.astype(np.int8))
    assert repr(b).startswith("field([[ 0,  1,  2,  3,  4,  5,  6,  7],")
    assert repr(sv.field(sv.f32)) == "<field of f32 that is not in use yet>"


def test_names_and_attributes_of_users():
    f = sv.field(sv.f32, 2, name="density")
    assert f.name == "density"
    f._cached = f.to_numpy(copy=False)
    assert f._cached.shape == (2,)


# --- trees


def test_a_tree_is_laid_out_as_it_is_written():
    a, b, c = sv.field(sv.f64), sv.field(sv.i8), sv.field(sv.f32)
    node = sv.root.dense(sv.i, 4)
    node.place(a, b)
    node.dense(sv.j, 3).place(c)
    # A cell has 8 bytes of a, one of b, and three times four of c, from a multiple of four on.
    assert field_layout(a) == ((0,), (((4, 3),),))
    assert field_layout(b) == ((0,), (((4, 24),),))
    assert field_layout(c) == ((0, 0), (((4, 6),), ((3, 1),)))
    assert a.shape == (4,)
    assert c.shape == (4, 3)


def test_blocks_that_follow_each_other_are_one():
    f = sv.field(sv.f32)
    sv.root.dense(sv.i, 4).dense(sv.i, 8).dense(sv.i, 1).place(f)
    assert field_layout(f) == ((0,), (((32, 1),),))


def test_the_order_of_axes_is_that_of_memory():
    f, g = sv.field(sv.f32), sv.field(sv.f32)
    sv.root.dense(sv.ji, (3, 2)).place(f)
    sv.root.dense(sv.j, 3).dense(sv.i, 2).place(g)
    assert f.shape == g.shape == (2, 3)
    assert field_layout(f) == field_layout(g) == field_layout(sv.field(sv.f32, (2, 3), order="ji"))


def test_nothing_is_added_to_a_tree_in_use():
    f = sv.field(sv.f32)
    node = sv.root.dense(sv.i, 4).place(f)
    assert f.shape == (4,)
    with pytest.raises(RuntimeError, match="in use"):
        node.place(sv.field(sv.f32))
    with pytest.raises(RuntimeError, match="in use"):
        node.dense(sv.j, 2)


def test_a_field_has_one_place():
    f = sv.field(sv.f32)
    node = sv.root.dense(sv.i, 4).place(f)
    for other in (node, sv.root, sv.root.dense(sv.i, 2)):
        with pytest.raises(ValueError, match="placed only once"):
            other.place(f)
    with pytest.raises(ValueError, match="placed only once"):
        sv.root.dense(sv.i, 2).place(sv.field(sv.f32, 2))


def test_a_field_without_a_place_says_what_to_do():
    f = sv.field(sv.f32)
    uses = (lambda: f.shape, lambda: f[0], lambda: f.fill(0), lambda: f.to_numpy(), lambda: len(f), lambda: copy.copy(f))
    for use in uses:
        with pytest.raises(RuntimeError, match="give it a shape"):
            use()

    @sv.kernel
    def read() -> sv.f32:
        return f[0]

    with pytest.raises(sv.SamovarError, match="give it a shape"):
        read()


@pytest.mark.parametrize("name", ["quant_array", "bit_struct"])
def test_quantized_types_are_refused(name):
    for node in (sv.root, sv.root.dense(sv.i, 2), sv.FieldsBuilder()):
        with pytest.raises(sv.SamovarTypeError, match=f"`{name}`"):
            getattr(node, name)(sv.i, 4)


def test_what_is_wrong_is_said():
    for call, error, match in (
        (lambda: sv.field(sv.f32, (2, 3), order="ik"), ValueError, "permutation of 'ij'"),
        (lambda: sv.field(sv.f32, (2, 3), offset=1), ValueError, "one number per dimension"),
        (lambda: sv.field(sv.f32, offset=1), ValueError, "require a shape"),
        (lambda: sv.field(sv.f32, (2, -1)), ValueError, "negative extent"),
        (lambda: sv.field(sv.i32, 3, needs_grad=True), TypeError, "only floats"),
        (lambda: sv.field("f32", 3), TypeError, "dtype"),
        (lambda: sv.field(sv.f32, (1,) * 17), ValueError, "at most 16"),
        (lambda: sv.root.dense(0, 3), TypeError, "sv.i"),
        (lambda: sv.root.dense(sv.ij, (3, 2, 1)), ValueError, "one positive extent per dimension"),
        (lambda: sv.root.dense(sv.i, 0), ValueError, "one positive extent per dimension"),
        (lambda: sv.root.dense(sv.i, 3).place(sv.ndarray(sv.f32, 3)), TypeError, "takes fields"),
        (lambda: sv.axes(0, 0), ValueError, "each at most once"),
        (lambda: sv.Field(sv.f32), TypeError, "Field"),
    ):
        with pytest.raises(error, match=match):
            call()


def test_a_size_that_is_not_there_is_a_memory_error():
    with pytest.raises((MemoryError, ValueError)):
        sv.field(sv.f64, (1 << 40, 1 << 20))


def test_empty_fields():
    f = sv.field(sv.f32, (0, 3), order="ji")
    assert f.to_numpy().shape == (0, 3)
    f.fill(1)
    g = sv.field(sv.f32, ())
    assert g[None] == 0
    assert pickle.loads(pickle.dumps(f)).shape == (0, 3)


def test_memory_goes_with_the_last_field():
    a, b = sv.field(sv.f32), sv.field(sv.f32)
    sv.root.dense(sv.i, 4).place(a, b)
    view = a.to_numpy(copy=False)
    gone = weakref.ref(a)
    view[0] = 3
    b[1] = 4
    del a
    gc.collect()
    assert gone() is not None  # the view sees it
    assert view[0] == 3
    del view
    gc.collect()
    assert gone() is None
    assert b[1] == 4


def test_a_field_is_shown_as_numpy_shows_its_elements():
    field = sv.Vector.field(2, sv.f32, 2)
    field.fill(1.5)
    assert str(field) == str(np.full((2, 2), 1.5, np.float32))
    assert repr(field).startswith("field(")


def test_rows_and_columns_of_elements():
    vectors, matrices = sv.Vector.field(3, sv.f32, 2), sv.Matrix.ndarray(2, 4, sv.f32, 3)
    assert (vectors.n, vectors.m, matrices.n, matrices.m) == (3, 1, 2, 4)
    for name in "nm":
        with pytest.raises(AttributeError, match=f"the elements are scalars and have no `{name}`"):
            getattr(sv.field(sv.f32, 3), name)


def test_arguments_of_methods_by_their_names():
    field, array = sv.field(sv.f32, 3), sv.ndarray(sv.f32, 3)
    field.fill(val=2)
    array.copy_from(other=field)
    field.from_numpy(arr=np.array([1, 2, 3], np.float32))
    assert (array.to_numpy().tolist(), field.to_numpy().tolist()) == ([2, 2, 2], [1, 2, 3])
    for call in (lambda: field.fill(value=2), lambda: field.fill(), lambda: field.copy_from(array, array)):
        with pytest.raises(TypeError, match="takes one argument"):
            call()


def test_to_numpy_with_a_dtype_first_and_with_columns():
    field = sv.Vector.field(3, sv.f32, 2)
    field.fill(1.5)
    assert field.to_numpy(np.float64).dtype == np.float64
    assert field.to_numpy(sv.i32).tolist() == [[1, 1, 1]] * 2
    assert field.to_numpy(keep_dims=True).shape == (2, 3, 1)
    assert field.to_numpy(True, np.int8, keep_dims=True).dtype == np.int8
    assert sv.field(sv.f32, 2).to_numpy(keep_dims=True).shape == (2,)
    with pytest.raises(TypeError, match="copy must be True, False or None"):
        field.to_numpy("f4", dtype="f8")


def test_filling_a_field_of_integers_truncates():
    numbers, vectors = sv.field(sv.i32, 3), sv.Matrix.field(2, 2, sv.i64, shape=3)
    for value, expected in ((1.5, 1), (-1.5, -1), (2.0, 2)):
        numbers.fill(value)
        vectors.fill(value)
        assert numbers.to_numpy().tolist() == [expected] * 3
        assert vectors.to_numpy().ravel().tolist() == [expected] * 12
    for value in (math.nan, math.inf):
        with pytest.raises((ValueError, OverflowError)):
            numbers.fill(value)
    assert numbers[0] == 2
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        sv.ndarray(sv.i32, 3).fill(1.5)


def test_a_tensor_of_an_array_is_the_array():
    for made in (sv.ndarray(sv.f32, 4), sv.field(sv.f32, 4), sv.ndarray(sv.math.vec2, 3)):
        assert sv.Tensor(made) is made
        assert sv.Tensor(impl=made) is made
        assert isinstance(made, sv.Tensor)
    for wrong in ((), (3,), (np.zeros(3),), (sv.ndarray(sv.f32, 1), 2)):
        with pytest.raises(TypeError):
            sv.Tensor(*wrong)
    with pytest.raises(TypeError, match="cannot create"):
        type(sv.field(sv.f32, 2))()
