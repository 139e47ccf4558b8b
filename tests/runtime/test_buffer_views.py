"""`sv.BufferView` on the host: slices of arrays, parts of parts, what others see of them, and what is refused."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import samovar as sv
from read_only_arrays import read_only
from samovar._native import disjoint

ELEMENTS = {"numbers": sv.f32, "vectors": sv.math.vec3, "matrices": sv.types.matrix(2, 2, sv.f64)}


@pytest.fixture
def data():
    array = sv.ndarray(sv.f32, 32)
    array.from_numpy(np.arange(32, dtype=np.float32))
    return array


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize(
    "part",
    [
        slice(16), slice(8, 24), slice(-8, None), slice(8, None), slice(None), slice(0), slice(99), slice(40, 50),
        slice(8, 4), slice(-99, 3), slice(-5, -2), slice(np.int64(3), np.uint8(9)), slice(3, 9, 1),
        slice(2**70), slice(-(2**70), 4),
    ],
)  # fmt: skip
def test_a_slice_is_a_view_where_python_would_cut(element, part):
    array = sv.ndarray(ELEMENTS[element], 32)
    expected = range(32)[part]
    view = array[part]
    assert type(view) is sv.BufferView
    assert (view.size, len(view), view.shape, view.ndim) == (len(expected), len(expected), (len(expected),), 1)
    assert 0 <= view.offset <= 32
    assert view.offset == expected.start or not expected
    assert view.array is array
    assert view.get_ndarray() is array
    assert (view.dtype, view.element_shape) == (array.dtype, array.element_shape)
    assert np.shares_memory(np.asarray(view), np.asarray(array)) == bool(expected)
    np.testing.assert_array_equal(view.to_numpy(), array.to_numpy()[part])


@pytest.mark.parametrize("element", ELEMENTS)
def test_a_part_of_a_part_adds_up(element):
    array = sv.ndarray(ELEMENTS[element], 32)
    array.to_numpy(copy=False)[...] = np.random.default_rng(0).normal(size=np.asarray(array).shape)
    whole = array.to_numpy()
    view = array[4:28]
    for part, expected in [
        (view[4:12], whole[8:16]),
        (view[:99], whole[4:28]),
        (view[-2:], whole[26:28]),
        (view[5:][5:][5:], whole[19:28]),
        (view.subview(4, 8), whole[8:16]),
        (view.subview(offset=20, size=4), whole[24:28]),
        (view.subview(size=0, offset=24), whole[28:28]),
        (view.subview(np.int32(1), np.uint64(2)), whole[5:7]),
        (view[3:9].subview(1, 2), whole[8:10]),
        (sv.BufferView(array, 16, 8), whole[16:24]),
        (sv.BufferView(array, offset=16, size=16), whole[16:32]),
        (sv.BufferView(array, 32, 0), whole[32:]),
    ]:
        np.testing.assert_array_equal(part.to_numpy(), expected)
        assert part.array is array
        assert (part.size, np.asarray(part).nbytes) == (len(expected), part.nbytes)


def test_others_see_the_part(data):
    view = data[8:12]
    assert memoryview(view).tolist() == [8, 9, 10, 11]
    assert np.asarray(view).tolist() == [8, 9, 10, 11]
    assert np.from_dlpack(view).tolist() == [8, 9, 10, 11]
    assert view.__array_interface__["shape"] == (4,)
    assert view.to_numpy(dtype=np.int64).tolist() == [8, 9, 10, 11]
    view.to_numpy(copy=False)[1] = -1
    assert data[9] == -1
    view.to_numpy()[1] = 5
    assert data[9] == -1
    view.fill(7)
    assert data.to_numpy()[6:14].tolist() == [6, 7, 7, 7, 7, 7, 12, 13]
    view.copy_from(np.array([1, 2, 3, 4]))
    data[20:24].copy_from(view)
    assert data.to_numpy()[20:24].tolist() == [1, 2, 3, 4]
    other = sv.ndarray(sv.i32, 4)
    other.copy_from(view)
    assert other.to_numpy().tolist() == [1, 2, 3, 4]


def test_vectors_and_matrices_are_whole_elements():
    array = sv.ndarray(sv.math.vec3, 6)
    array[2:4].fill([1, 2, 3])
    assert array.to_numpy()[1:4].tolist() == [[0, 0, 0], [1, 2, 3], [1, 2, 3]]
    array[4:].fill(9)
    assert array.to_numpy()[4:].tolist() == [[9, 9, 9]] * 2
    assert np.asarray(array[1:3]).shape == (2, 3)


@pytest.mark.parametrize("layout", [sv.Layout.AOS, sv.Layout.SOA])
def test_parts_of_arrays_of_structs(layout):
    struct = sv.types.struct(n=sv.i8, v=sv.math.vec3, inner=sv.types.struct(x=sv.f64))
    array = struct.ndarray(8, layout=layout)
    view = array[2:6]
    assert isinstance(view, sv.BufferView)
    assert (view.offset, view.size, view.shape, len(view), view.ndim) == (2, 4, (4,), 4, 1)
    assert view.array is view.get_ndarray() is array
    assert (view[1:].offset, view[-2:].size, view.subview(offset=1, size=2).offset, array[6:2].size) == (3, 2, 3, 0)
    assert (sv.BufferView(array, 5, 3).offset, view.v.offset, view.inner.x.size, view.inner.array.shape) == (5, 2, 4, (8,))
    view[1:3].fill(7)
    view.inner.x.fill(5)
    whole = array.to_numpy(structured=True)
    assert whole["n"].tolist() == [0, 0, 0, 7, 7, 0, 0, 0]
    assert whole["v"][:, 1].tolist() == [0, 0, 0, 7, 7, 0, 0, 0]
    assert whole["inner"]["x"].tolist() == [0, 0, 5, 5, 5, 5, 0, 0]
    assert view.to_numpy()["n"].tolist() == [0, 7, 7, 0]
    assert (view.to_numpy(structured=True) == whole[2:6]).all()
    assert copy.copy(view).array is array
    deep, again = copy.deepcopy(view), pickle.loads(pickle.dumps(view))
    for other in (deep, again):
        assert (other.offset, other.size, other.array is array) == (2, 4, False)
        assert (other.to_numpy(structured=True) == whole[2:6]).all()
    assert repr(view) == "BufferView(offset=2, size=4, dtype=struct) of an array of shape (8,)"
    for wrong, error, said in [
        (lambda: view[1], TypeError, "indexed with a slice"),
        (lambda: view.__setitem__(1, 1), TypeError, "assigned in kernels"),
        (lambda: array[::2], ValueError, "step=1"),
        (lambda: view.subview(3, 2), ValueError, "subview out of range"),
        (lambda: sv.BufferView(array, 3, 6), ValueError, "out of range"),
        (lambda: sv.BufferView(view, 0, 1), TypeError, "subview"),
        (lambda: struct.ndarray((2, 3))[1:], TypeError, "1-D"),
        (lambda: struct.field(4)[1:], TypeError, "fields cannot be sliced"),
        (lambda: iter(view), TypeError, "not iterable"),
    ]:
        with pytest.raises(error, match=said):
            wrong()


def test_members_of_structs_overlap_where_their_parts_do():
    array = sv.types.struct(x=sv.f32, v=sv.math.vec3, n=sv.i32).ndarray(8)
    x, v, n = array.x, array.v, array.n
    for written, others, expected in [
        (x[:4], (x[4:],), True),
        (x[:5], (x[4:],), False),
        (x[:5], (v[:5], n[2:]), True),
        (x[3:5], (x,), False),
        (v[3:5], (x, n), True),
        (v[3:5], (v[1:3], v[5:]), True),
        (v[3:5], (v[1:4],), False),
        (x[3:3], (x,), True),
    ]:
        assert disjoint((written,), others) is expected


def test_what_it_says_of_itself(data):
    assert repr(data[8:24]) == "BufferView(offset=8, size=16, dtype=f32) of an array of shape (32,)"
    vectors = sv.ndarray(sv.math.vec3, 4)
    assert repr(vectors[1:]) == "BufferView(offset=1, size=3, dtype=f32, element_shape=(3,)) of an array of shape (4,)"
    assert not isinstance(data[:], sv.Tensor)


def test_a_view_keeps_its_array_alive_and_no_longer():
    array = sv.ndarray(sv.f32, 1000)
    array.fill(3)
    gone = weakref.ref(array)
    view, watched = array[10:20], weakref.ref(array[:])
    assert watched() is None
    del array
    gc.collect()
    part = view[2:4]
    del view
    assert part.to_numpy().tolist() == [3, 3]
    shared = part.to_numpy(copy=False)
    del part
    gc.collect()
    assert shared.tolist() == [3, 3]
    del shared
    gc.collect()
    assert gone() is None


def test_a_cycle_through_a_view_is_found():
    array = sv.ndarray(sv.f32, 8)
    array.first_half = array[:4]
    gone = weakref.ref(array)
    del array
    gc.collect()
    assert gone() is None


def test_copies_and_pickles(data):
    view = data[8:12]
    shallow = copy.copy(view)
    assert (shallow.array, shallow.offset, shallow.size) == (data, 8, 4)
    deep, array = copy.deepcopy((view, data))
    assert deep.array is array
    assert array is not data
    again, other, array = pickle.loads(pickle.dumps((view, data[:2], data)))
    assert again.array is other.array is array
    assert again.to_numpy().tolist() == [8, 9, 10, 11]


def test_views_of_memory_that_must_not_be_written():
    memory = np.arange(8.0)
    view = read_only(memory)[2:6]
    assert view.readonly
    with pytest.raises(ValueError, match="read-only"):
        view.fill(1)

    @sv.kernel
    def write(v: sv.BufferView):
        v[0] = 1

    with pytest.raises(sv.SamovarTypeError, match="read-only"):
        write(view)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda a: a[::2], ValueError, "step=1, not step=2"),
        (lambda a: a[::-1], ValueError, "step=1, not step=-1"),
        (lambda a: a[4:][::3], ValueError, "step=1, not step=3"),
        (lambda a: sv.ndarray(sv.f32, (4, 8))[1:3], TypeError, r"but this one has 2 dimensions \(shape \(4, 8\)\)"),
        (lambda a: sv.ndarray(sv.f32, ())[:], TypeError, "1-D array, but this one has 0 dimensions"),
        (lambda a: sv.BufferView(sv.ndarray(sv.f32, (4, 8)), 0, 1), TypeError, "1-D array"),
        (lambda a: a[2:][3], TypeError, r"indexed with a slice, not with 3: .*offset=2, size=30"),
        (lambda a: a[2:][0, 1], TypeError, "slice"),
        (lambda a: a[2:].__setitem__(0, 1), TypeError, r"view.array\[view.offset \+ i\] = x.*offset=2, size=30"),
        (lambda a: a[2:].__setitem__(slice(4), 1), TypeError, r"to_numpy\(copy=False\)\[a:b\] = x"),
        (lambda a: sv.BufferView(a[2:], 0, 1), TypeError, r"not a view \(offset=2, size=30\).*subview"),
        (lambda a: sv.BufferView(np.zeros(4), 0, 1), TypeError, "not a numpy.ndarray; use sv.from_numpy"),
        (lambda a: sv.BufferView(sv.field(sv.f32, 4), 0, 1), TypeError, "fields have no views"),
        (lambda a: sv.field(sv.f32, 4)[1:], TypeError, "fields cannot be sliced"),
        (lambda a: sv.BufferView(a, 30, 8), ValueError, "out of range: offset=30, size=8 of an array of 32 elements"),
        (lambda a: sv.BufferView(a, -1, 8), ValueError, "out of range: offset=-1, size=8"),
        (lambda a: sv.BufferView(a, 0, -8), ValueError, "out of range: offset=0, size=-8"),
        (lambda a: sv.BufferView(a, 2**80, 1), ValueError, "out of range"),
        (lambda a: sv.BufferView(a, 1, 2**63 - 1), ValueError, "out of range"),
        (lambda a: a[4:12].subview(4, 5), ValueError, "subview out of range: offset=4, size=5 in a BufferView of size 8"),
        (lambda a: a[4:12].subview(-1, 2), ValueError, "subview out of range: offset=-1, size=2"),
        (lambda a: a[4:12].subview(9, 0), ValueError, "subview out of range"),
        (lambda a: a[4:12].subview(2, -2), ValueError, "subview out of range"),
        (lambda a: a[4:12].subview(1.0, 2), TypeError, r"offset of a BufferView must be an integer, not float \(1.0\)"),
        (lambda a: sv.BufferView(a, 0, np.float32(2)), TypeError, "BufferView must be an integer, not numpy.float32"),
        (lambda a: a[1.0:], TypeError, "integers"),
        (lambda a: a[1:].subview(1), TypeError, "size"),
        (lambda a: sv.BufferView(a), TypeError, "offset"),
        (lambda a: sv.BufferView[sv.f32, "clamp", 3], TypeError, "not 3 parameters"),
        (lambda a: sv.BufferView[sv.f32, "wrap"], sv.SamovarTypeError, "'wrap' is not one of 'unsafe', 'clamp'"),
        (lambda a: sv.BufferView["f32"], sv.SamovarTypeError, "dtype of an array"),
        (lambda a: iter(a[1:]), TypeError, "not iterable"),
        (lambda a: setattr(a[1:], "size", 3), AttributeError, "size"),
        (lambda a: setattr(a[1:], "other", 3), AttributeError, "other"),
    ],
)  # fmt: skip
def test_what_is_refused_says_why(data, make, error, said):
    with pytest.raises(error, match=said):
        make(data)


def test_annotations():
    clamped = sv.types.buffer_view(sv.f32, "clamp")
    assert sv.BufferView[sv.f32, "clamp"] == clamped != sv.BufferView[sv.f32]
    assert sv.BufferView[float] == sv.types.buffer_view(float)
    assert str(sv.BufferView[sv.math.vec3]) == "BufferView[vector(3, float)]"
    assert pickle.loads(pickle.dumps(clamped)) == clamped
