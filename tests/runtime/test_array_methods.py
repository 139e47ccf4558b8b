"""What people type on arrays: sums, other shapes, comparison, and how they are made."""

import numpy as np
import pytest

import samovar as sv


def test_arrays_are_made_by_the_names_of_numpy():
    assert repr(sv.zeros(2)) == "ndarray([0.0, 0.0], dtype=f32, shape=(2,))"
    assert sv.ones((2, 3), sv.i32).tolist() == [[1, 1, 1], [1, 1, 1]]
    assert sv.full(2, 2.5).dtype is sv.f32
    assert sv.full(2, 3_000_000_000).dtype is sv.i64
    assert sv.full(2, 1, np.float64).dtype is sv.f64
    assert sv.zeros_like(np.ones((2, 3), np.int16)).shape == (2, 3)
    assert sv.zeros_like(sv.ones(2), sv.u8).dtype is sv.u8
    assert sv.zeros_like(sv.ndarray(sv.math.vec3, 4)).element_shape == (3,)


def test_an_array_of_lists_has_the_dtype_of_literals():
    assert sv.array([1, 2]).dtype is sv.i32
    assert sv.array([1, 2**40]).dtype is sv.i64
    assert sv.array([2**63]).tolist() == [2**63]
    assert sv.array([1, 0.5]).dtype is sv.f32
    assert sv.array([True, False]).dtype is sv.u1
    assert sv.array([]).shape == (0,)
    assert sv.array(5).shape == ()
    assert sv.array([[1, 2, 3]], sv.math.vec3)[0].to_list() == [1.0, 2.0, 3.0]
    assert sv.array(range(3)).tolist() == [0, 1, 2]


def test_an_array_of_an_array_is_a_copy():
    source = np.arange(3.0)
    made = sv.array(source)
    source[0] = 9
    assert made.tolist() == [0.0, 1.0, 2.0]
    assert made.dtype is sv.f64


@pytest.mark.parametrize(
    ("values", "problem"),
    [([[1], [1, 2]], ValueError), (["x"], TypeError), ("text", TypeError), ([None], TypeError), ([2**64], OverflowError)],
)
def test_what_makes_no_array_is_refused(values, problem):
    with pytest.raises(problem):
        sv.array(values)


def test_a_number_that_does_not_fit_is_refused():
    with pytest.raises(OverflowError):
        sv.array([300], sv.u8)


@pytest.mark.parametrize("arguments", [(5,), (2, 9, 3), (9, 2, -3), (3, 3), (0.0, 1.0, 0.25), (1, 0, 0.5)])
def test_arange_is_numpys(arguments):
    assert sv.arange(*arguments).tolist() == np.arange(*arguments).tolist()


def test_a_step_of_zero_is_refused():
    with pytest.raises(ValueError, match="zero"):
        sv.arange(1, 2, 0)


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float16, np.float32, np.bool_])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)])
def test_lists_are_numpys(dtype, shape):
    values = np.arange(6)[: int(np.prod(shape))].reshape(shape).astype(dtype)
    assert sv.from_numpy(values).tolist() == values.tolist()


def test_sums_and_their_like():
    a = sv.array([[1, 2, 3], [4, 5, 6]])
    assert (a.sum(), a.min(), a.max(), a.mean()) == (21, 1, 6, 3.5)
    assert a.sum(axis=0).tolist() == [5, 7, 9]
    assert a.max(axis=-1).tolist() == [3, 6]
    assert a.mean((0, 1)) == 3.5
    assert sv.full(1000, 100, sv.i8).sum() == 100_000
    with pytest.raises(IndexError, match="axis 2"):
        a.sum(2)
    for name in ("min", "max", "mean"):
        with pytest.raises(ValueError, match="of an empty array"):
            getattr(sv.zeros(0), name)()


@pytest.mark.parametrize("name", ["sum", "min", "max", "mean", "all", "any"])
@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"keepdims": True}, {"axis": 1, "keepdims": True}])
def test_functions_of_numpy_take_arrays(name, options):
    values = np.array([[1.5, 0.0, 3.0], [4.0, 5.0, np.nan]])
    found, wanted = getattr(np, name)(sv.from_numpy(values), **options), getattr(np, name)(values, **options)
    np.testing.assert_array_equal(np.asarray(found), wanted)


@pytest.mark.parametrize("values", [[0, 0], [0, 1], [1, 1], [], [0.0, np.nan], [True, False]])
def test_all_and_any(values):
    array, wanted = sv.from_numpy(np.array(values)), np.array(values)
    assert (array.all(), array.any()) == (wanted.all(), wanted.any())
    assert type(array.all()) is bool
    with pytest.raises(ValueError, match=r"a\.all\(\) or a\.any\(\)"):
        bool(array)


def test_sums_of_vectors_are_vectors():
    v = sv.array([[1.0, 2.0], [3.0, 4.0]], sv.math.vec2)
    assert v.sum().to_list() == [4.0, 6.0]
    assert v.max().to_list() == [3.0, 4.0]


def test_another_shape_shares_the_memory():
    a = sv.arange(6)
    b = a.reshape(2, -1)
    b[1, 2] = 50
    assert a[5] == 50
    assert b.shape == (2, 3)
    assert a.reshape((3, 2)).shape == (3, 2)
    del a
    assert b.sum() == 60
    with pytest.raises(ValueError, match=r"of shape \(2, 3\) to \(4, -1\)"):
        b.reshape(4, -1)


def test_the_grad_goes_along_with_another_shape():
    a = sv.ndarray(sv.f32, 4, needs_grad=True)
    b = a.reshape(2, 2)
    b.grad[1, 1] = 3
    assert a.grad[3] == 3


def test_a_field_in_another_order_is_copied_for_another_shape():
    f = sv.field(sv.f32, (2, 3), order="ji")
    f[0, 1] = 5
    assert f.reshape(6).tolist() == [0, 5, 0, 0, 0, 0]
    assert f.T[1, 0] == 5


def test_the_transposed_array_shares_the_memory():
    a = sv.zeros((2, 3))
    a.T[2, 1] = 5
    assert a[1, 2] == 5
    b = sv.zeros(3)
    assert b.T is b


def test_a_copy_and_another_dtype():
    a = sv.array([1.75, -2.5])
    b = a.copy()
    b[0] = 0
    assert a[0] == 1.75
    assert a.astype(sv.i32).tolist() == [1, -2]
    assert a.astype(np.float64).dtype is sv.f64


def test_comparison_is_element_by_element():
    a = sv.array([[1, 2], [3, 4]])
    assert (a == 2).tolist() == [[False, True], [False, False]]
    assert (a != 2).tolist() == [[True, False], [True, True]]
    assert (a == a.to_numpy()).dtype is sv.u1
    assert (a == np.array([[1, 0], [3, 0]], np.float32)).tolist() == [[True, False], [True, False]]
    assert isinstance(a.to_numpy() == a, np.ndarray)
    assert (a == 1.5).sum() == 0
    assert (a == 2**80).sum() == 0
    with pytest.raises(ValueError, match="shapes"):
        _ = a == sv.zeros(3)
    assert (sv.array([0.1]) == 0.1).tolist() == [True]  # as exact as the elements
    assert (sv.array([True, False]) == 2).tolist() == [False, False]


def test_a_negative_number_is_no_large_one():
    signed, unsigned = sv.array([-1, 5]).astype(sv.i64), sv.array([2**64 - 1, 5])
    assert (signed == unsigned).tolist() == [False, True]
    assert (unsigned == signed).tolist() == [False, True]
    assert (unsigned != signed.astype(sv.i8)).tolist() == [True, False]


def test_an_array_is_a_key_by_its_identity():
    a, b = sv.zeros(2), sv.zeros(2)
    assert {a: 1, b: 2}[a] == 1
    assert a in [a, b]
    assert (a == None) is False  # noqa: E711
    assert (a == "text") is False


def test_numpy_shares_the_memory_and_copies_where_it_is_told_to():
    a = sv.zeros(3)
    np.asarray(a)[1] = 5
    assert a[1] == 5
    assert a.__array__(np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        a.__array__(np.float64, copy=False)
    copied = a.__array__(copy=True)
    copied[1] = 0
    assert a[1] == 5
    blocked = sv.field(sv.f32)
    sv.root.dense(sv.ij, (2, 2)).dense(sv.ij, (2, 2)).place(blocked)
    blocked[3, 0] = 7
    assert blocked.__array__()[3, 0] == 7
