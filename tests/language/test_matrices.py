"""Vectors and matrices as values in plain Python: how they are made, their parts, and their other forms."""

import copy
import pickle

import numpy as np
import pytest

import samovar as sv


def same(value, expected, dtype=None):
    assert value.to_list() == expected
    if dtype is not None:
        assert value.dtype is dtype
    return True


def test_lists_make_vectors_and_matrices():
    assert same(sv.Vector([1, 2, 3]), [1, 2, 3], sv.i32)
    assert same(sv.Vector([1, 2.5]), [1.0, 2.5], sv.f32)
    assert same(sv.Vector((True, False)), [True, False], sv.u1)
    assert same(sv.Vector(range(3), sv.f64), [0.0, 1.0, 2.0], sv.f64)
    assert same(sv.Vector([1.7, -1.7], dt=sv.i32), [1, -1], sv.i32)
    assert same(sv.Vector([300], dtype=sv.u8), [44], sv.u8)
    assert same(sv.Matrix([[1, 2], [3, 4]], sv.f32), [[1.0, 2.0], [3.0, 4.0]], sv.f32)
    assert isinstance(sv.Matrix([1, 2]), sv.Vector)
    assert not isinstance(sv.Matrix([[1, 2]]), sv.Vector)


def test_natural_types_are_those_of_literals():
    assert sv.Vector([2**31, 0]).dtype is sv.i64
    assert sv.Vector([2**63, 0]).dtype is sv.u64
    with pytest.raises(sv.SamovarTypeError, match="64 bits"):
        sv.Vector([2**64])
    assert sv.Vector([np.float64(1), 2]).dtype is sv.f64
    assert sv.Vector([np.int8(1), np.int16(2)]).dtype is sv.i16
    assert sv.Vector([1, 2], float).dtype is sv.f32
    assert sv.Vector([0.1], sv.f64)[0] == 0.1


def test_arrays_and_vectors_make_matrices():
    assert same(sv.Vector(np.arange(3, dtype=np.int16)), [0, 1, 2], sv.i16)
    assert same(sv.Matrix(np.eye(2)), [[1, 0], [0, 1]], sv.f64)
    v, w = sv.Vector([1, 2]), sv.Vector([0.5, 1.5], sv.f64)
    assert same(sv.Matrix([v, w]), [[1, 2], [0.5, 1.5]], sv.f64)
    assert same(sv.Matrix.rows([v, w]), [[1, 2], [0.5, 1.5]], sv.f64)
    assert same(sv.Matrix.cols([v, w]), [[1, 0.5], [2, 1.5]], sv.f64)
    assert same(sv.Matrix([v, [3, 4]]), [[1, 2], [3, 4]], sv.i32)


def test_matrices_by_name():
    assert same(sv.Vector.zero(sv.f32, 3), [0, 0, 0], sv.f32)
    assert same(sv.Vector.one(sv.i8, 2), [1, 1], sv.i8)
    assert same(sv.Vector.unit(3, 1), [0, 1, 0], sv.i32)
    assert same(sv.Vector.unit(3, 2, sv.f64), [0, 0, 1], sv.f64)
    assert same(sv.Matrix.zero(sv.f32, 2, 3), [[0] * 3] * 2, sv.f32)
    assert isinstance(sv.Matrix.zero(sv.f32, 2), sv.Vector)
    assert same(sv.Matrix.one(float, 1, 2), [[1, 1]], sv.f32)
    assert same(sv.Matrix.identity(sv.i32, 2), [[1, 0], [0, 1]], sv.i32)
    assert same(sv.Matrix.diag(2, 1.5), [[1.5, 0], [0, 1.5]], sv.f32)
    assert same(sv.Matrix.diag(2, sv.Vector([1, 2])), [[1, 0], [0, 2]], sv.i32)
    assert same(sv.Matrix.diag([1, 2], dt=sv.f64), [[1, 0], [0, 2]], sv.f64)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sv.Vector([]), "at least one element"),
        (lambda: sv.Vector([[1, 2], [3, 4]]), "2×2"),
        (lambda: sv.Matrix([[[1]]]), "1×1×1"),
        (lambda: sv.Matrix([[1, 2], [3]]), "2 and 1"),
        (lambda: sv.Matrix(3), "a number"),
        (lambda: sv.Matrix("ab"), "str"),
        (lambda: sv.Vector([1, "a"]), "list"),
        (lambda: sv.Vector.zero(sv.f32, 0), "a positive integer"),
        (lambda: sv.Matrix.diag(3, [1, 2]), "a number or 3 numbers"),
        (lambda: sv.Matrix.rows([1, 2]), "vectors"),
        (lambda: sv.Vector([1], dt="f32"), "not a dtype"),
        (lambda: sv.Vector(np.zeros((0,))), "the array has shape"),
    ],
)
def test_what_makes_no_matrix_says_why(make, words):
    with pytest.raises(TypeError, match=words):
        make()


def test_shapes():
    m = sv.Matrix([[1, 2, 3], [4, 5, 6]])
    assert (m.n, m.m, m.shape, m.ndim, len(m)) == (2, 3, (2, 3), 2, 2)
    v = sv.Vector([1, 2, 3])
    assert (v.n, v.m, v.shape, v.ndim, len(v)) == (3, 1, (3,), 1, 3)
    assert list(v) == [1, 2, 3]
    assert [row.to_list() for row in m] == [[1, 2, 3], [4, 5, 6]]
    assert m.shape == m.to_numpy().shape


SUBSCRIPTS = [
    (0,), (2,), (slice(None),), (slice(1, 3),), (slice(None, None, 2),), (slice(None, None, -1),),
]  # fmt: skip
PAIRS = [
    (1, 2), (0, slice(None)), (slice(None), 1), (slice(1), slice(1, 3)), (slice(None, None, -1), slice(0, 1)), (1,),
    (slice(0, 2),),
]  # fmt: skip


@pytest.mark.parametrize(("array", "key"), [*((np.arange(4), key) for key in SUBSCRIPTS), *(
    (np.arange(12.0).reshape(3, 4), key) for key in PAIRS
)])  # fmt: skip
def test_subscripts_are_those_of_arrays(array, key):
    value = sv.Matrix(array)
    index = key if len(key) > 1 else key[0]
    found, expected = value[index], array[index]
    assert np.array_equal(found if np.ndim(expected) == 0 else found.to_numpy(), expected)
    array, value = array.copy(), value.copy()
    array[index], value[index] = 7, 7
    assert np.array_equal(value.to_numpy(), array)
    array[index], value[index] = expected + 1, expected + 1
    assert np.array_equal(value.to_numpy(), array)


@pytest.mark.parametrize("key", [-1, 3, (0, 0), slice(-2, None), slice(0, 0), slice(3, 5)])
def test_subscripts_out_of_bounds(key):
    with pytest.raises(IndexError):
        sv.Vector([1, 2, 3])[key]


def test_wrong_subscripts_and_assignments():
    m = sv.Matrix([[1, 2], [3, 4]])
    with pytest.raises(TypeError, match="an index must be an integer"):
        m[0.5]
    with pytest.raises(TypeError, match="cannot assign a value of shape 3 to shape 2"):
        m[0] = [1, 2, 3]
    with pytest.raises(IndexError, match="dimension 1 of a value of shape 2×2"):
        m[0, 2]
    with pytest.raises(AttributeError):
        m.dtype = sv.f32
    with pytest.raises(AttributeError):
        m.x  # noqa: B018


def test_a_row_with_a_name_is_still_that_row():
    m = sv.Matrix([[1, 2], [3, 4]])
    row = m[0]
    row[0] = 9
    assert m.to_list() == [[9, 2], [3, 4]]


def test_swizzles():
    v = sv.Vector([1, 2, 3, 4])
    assert (v.x, v.g, v.p, v.w, v.u) == (1, 2, 3, 4, 1)
    assert v.xy.to_list() == v.rg.to_list() == v.st.to_list() == v.uv.to_list() == [1, 2]
    assert v.wzyx.to_list() == [4, 3, 2, 1]
    assert v.xxx.to_list() == [1, 1, 1]
    v.zx = [7, 8.9]
    assert v.to_list() == [8, 2, 7, 4]
    v.rgb = 0
    v.w += 1
    assert v.to_list() == [0, 0, 0, 5]
    assert v.xy.dtype is sv.i32


@pytest.mark.parametrize("name", ["z", "xz", "xr", "xxxxx", "foo", "entry", ""])
def test_what_is_no_swizzle_is_an_attribute_error(name):
    v = sv.Vector([1, 2])
    with pytest.raises(AttributeError):
        getattr(v, name)
    with pytest.raises(AttributeError):
        setattr(v, name, 1)


def test_swizzles_that_cannot_be_assigned():
    v = sv.Vector([1, 2, 3])
    with pytest.raises(AttributeError, match="twice"):
        v.xx = [1, 2]
    with pytest.raises(TypeError, match=r"cannot assign 3 to the 2 of `\.xy`"):
        v.xy = v
    with pytest.raises(TypeError):
        v.x = [1]


def test_other_forms():
    m = sv.Matrix([[1, 2], [3, 4]], sv.f64)
    assert m.to_numpy().dtype == np.float64
    assert np.asarray(m, dtype=np.int32).tolist() == [[1, 2], [3, 4]]
    assert str(m) == "[[1.0, 2.0], [3.0, 4.0]]"
    assert repr(m) == "Matrix([[1.0, 2.0], [3.0, 4.0]], dt=f64)"
    assert repr(sv.Vector([1, 2])) == "Vector([1, 2], dt=i32)"
    assert same(m.cast(sv.i32), [[1, 2], [3, 4]], sv.i32)
    assert same(sv.Vector([1.9, -300.0]).cast(sv.i8), [1, -128], sv.i8)
    assert sv.Vector([1, 2]).cast(float).dtype is sv.f32
    m.fill(2)
    assert m.to_list() == [[2, 2], [2, 2]]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v)), sv.Matrix.copy])
def test_copies_are_their_own(again):
    for value in (sv.Vector([1, 2], sv.u8), sv.Matrix([[1.5], [2.5]])):
        other = again(value)
        assert (type(other), other.dtype, other.shape, other.entries) == (
            type(value), value.dtype, value.shape, value.entries,
        )  # fmt: skip
        other.fill(0)
        assert value.entries != other.entries


def test_truth_is_asked_for_by_name():
    v = sv.Vector([1, 2])
    with pytest.raises(ValueError, match=r"\.all\(\)"):
        bool(v == v)
    assert (v == v).all()
    assert not (v == 1).all()
    assert (v == 1).any()
    assert bool(sv.Vector([3]) == 3)
    assert v != "a word"
    with pytest.raises(TypeError, match="unhashable"):
        hash(v)


def test_reductions():
    v = sv.Vector([3, 1, 2], sv.i8)
    assert (v.sum(), v.min(), v.max(), v.any(), v.all()) == (6, 1, 3, True, True)
    assert sv.Vector([100, 100], sv.i8).sum() == -56
    assert sv.Vector([True, True, False]).sum() == 2
    assert sv.Vector([float("nan"), 2.0]).max() == 2.0
    assert sv.Matrix([[1, 0], [0, 0]]).any()
    assert not sv.Matrix([[1, 0], [0, 0]]).all()


def test_defaults_follow_the_options_in_force():
    from samovar.language import Options, options_in_force, put_in_force

    before = options_in_force()
    put_in_force(Options(default_fp=sv.f64, default_ip=sv.i64))
    try:
        assert sv.Vector([1.5]).dtype is sv.f64
        assert (sv.Vector([1]) / 2).dtype is sv.f64
        assert sv.Vector([1]).dtype is sv.i64
        assert sv.math.vec3(0).dtype is sv.f64
    finally:
        put_in_force(before)


def changed_by_kernel_and_host(change):
    """What a change makes of a matrix and a vector, in a kernel and in plain Python."""
    mat, vec = sv.types.matrix(3, 3, sv.f32), sv.math.vec3

    @sv.kernel
    def in_kernel(m0: mat, v0: vec, i: sv.i32) -> tuple[mat, vec]:
        m, v = m0, v0
        change(m, v, i)
        return m, v

    m, v = mat(range(9)), vec(1, 2, 3)
    there = [each.to_list() for each in in_kernel(m, v, 1)]
    change(m, v, 1)
    return there, [m.to_list(), v.to_list()]


@sv.func
def an_entry_of_a_row(m: sv.template(), v: sv.template(), i):
    m[i][1] = 9
    m[2][i] += 2


@sv.func
def an_entry_of_a_column(m: sv.template(), v: sv.template(), i):
    m[:, 1][i] = 9


@sv.func
def an_entry_of_a_block(m: sv.template(), v: sv.template(), i):
    m[0:2, 1:3][1, 0] = 5


@sv.func
def letters_of_a_row(m: sv.template(), v: sv.template(), i):
    m[i].x = 4
    m[2].yz = sv.Vector([7.0, 8.0])
    m[0].zx[1] = 6


@sv.func
def a_row_as_a_whole(m: sv.template(), v: sv.template(), i):
    m[i] += v
    m[0] *= 2


@sv.func
def parts_of_a_vector(m: sv.template(), v: sv.template(), i):
    v[1:3][0] = 9
    v.zy[0] -= 5
    v.xy += 1


@pytest.mark.parametrize(
    "change",
    [an_entry_of_a_row, an_entry_of_a_column, an_entry_of_a_block, letters_of_a_row, a_row_as_a_whole, parts_of_a_vector],
    ids=lambda change: change.__name__,
)
def test_parts_are_assigned_in_kernels_and_in_plain_python(change):
    there, here = changed_by_kernel_and_host(change)
    assert there == here
    assert here != [[[0, 1, 2], [3, 4, 5], [6, 7, 8]], [1, 2, 3]]


def test_a_part_of_an_element_of_an_array_is_assigned():
    array = sv.Matrix.ndarray(2, 2, sv.f32, 3)
    array[1][0][1] = 5
    array[2][1].xy = [1, 2]
    assert array.to_numpy()[1:].tolist() == [[[0, 5], [0, 0]], [[0, 0], [1, 2]]]


def test_a_copy_of_a_part_is_its_own():
    m = sv.Matrix([[1, 2], [3, 4]])
    row = m[0].copy()
    row[0] = 9
    pickle.loads(pickle.dumps(m[1]))[0] = 9
    assert m.to_list() == [[1, 2], [3, 4]]
