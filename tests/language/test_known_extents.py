"""Arrays with a short last axis, indexed by constants or in short loops: the same whatever is known of their shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import samovar as sv
from samovar import static


@sv.kernel
def rotate(a: sv.types.NDArray[sv.f32, 2], b: sv.types.NDArray[sv.f32, 2]):
    for i in range(a.shape[0]):
        b[i, 0] = a[i, 1]
        b[i, 1] = -a[i, 0]
        b[i, b.shape[1] - 1] += a.shape[1]


@settings(max_examples=25)
@given(st.integers(0, 40), st.integers(2, 11), st.integers(2, 11), st.sampled_from(["numpy", "own", "strided"]))
def test_rows_of_any_length(rows, one, two, kind):
    a = np.arange(rows * one, dtype=np.float32).reshape(rows, one)
    b = np.zeros((rows, two), np.float32)
    if kind == "strided":
        a = np.repeat(a, 2, axis=1)[:, ::2]
    given_b = sv.from_numpy(b, copy=True) if kind == "own" else b
    rotate(a, given_b)
    expected = np.zeros((rows, two), np.float32)
    expected[:, 0], expected[:, 1] = a[:, 1], -a[:, 0]
    expected[:, -1] += one
    np.testing.assert_array_equal(given_b.to_numpy() if kind == "own" else b, expected)


@sv.func
def norm(x, i):
    s = sv.f64(0)
    for k in static(range(3)):
        s += x[i, k] * x[i, k]
    return s


@sv.kernel
def norms(a: sv.types.NDArray[sv.f64, 2], b: sv.types.NDArray[sv.f64, 2], out: sv.types.NDArray[sv.f64, 2]):
    for i in range(a.shape[0]):
        out[i, 0] = norm(a, i)
        out[i, 1] = norm(b, i)


@pytest.mark.parametrize(("one", "two"), [(3, 3), (3, 4), (4, 3), (3, 100), (100, 3), (9, 12)])
def test_a_func_that_is_given_arrays_of_different_lengths(one, two):
    random = np.random.default_rng(1)
    a, b, out = random.random((7, one)), random.random((7, two)), np.zeros((7, 2))
    norms(a, b, out)
    np.testing.assert_allclose(out, np.stack([(a[:, :3] ** 2).sum(1), (b[:, :3] ** 2).sum(1)], 1))


@sv.kernel
def trace(a: sv.types.NDArray[sv.f64, 3], out: sv.types.NDArray[sv.f64, 1]):
    for i in out:
        out[i] = a[i, 0, 0] + a[i, 1, 1]


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (2, 20), (20, 2), (8, 9)])
def test_matrices(shape):
    a, out = np.random.default_rng(1).random((9, *shape)), np.zeros(9)
    trace(a, out)
    np.testing.assert_array_equal(out, a[:, 0, 0] + a[:, 1, 1])


def test_the_first_axis_is_not_asked_for():
    @sv.kernel
    def first(a: sv.types.NDArray[sv.f32, 2], out: sv.types.NDArray[sv.f32, 1]):
        for j in range(a.shape[1]):
            out[j] = a[0, j] + a[2, j]

    for rows in (3, 4, 5, 50):
        a, out = np.arange(4 * rows, dtype=np.float32).reshape(rows, 4), np.zeros(4, np.float32)
        first(a, out)
        np.testing.assert_array_equal(out, a[0] + a[2])
    assert len(first.specializations) == 1


@sv.kernel
def fourth(a: sv.types.NDArray[sv.i32, 2]) -> sv.i32:
    return a[1, 3]


@pytest.mark.usefixtures("debug")
def test_bounds_are_checked_against_the_actual_length():
    assert fourth(np.arange(8, dtype=np.int32).reshape(2, 4)) == 7
    for length in (2, 3):
        problem = rf"index \(1, 3\) is out of bounds .* of shape \(2, {length}\)"
        with pytest.raises(sv.SamovarRuntimeError, match=problem):
            fourth(np.zeros((2, length), np.int32))
    assert fourth(np.arange(40, dtype=np.int32).reshape(2, 20)) == 23


def test_what_is_known_is_printed():
    fourth(np.zeros((2, 4), np.int32))
    assert "i32[:, 4]" in fourth.inspect("ir")


def test_clamped_indices():
    @sv.kernel
    def edge(a: sv.types.ndarray(dtype=sv.i32, ndim=2, boundary="clamp")) -> sv.i32:
        return a[9, 0] * 100 + a[0, 9]

    for shape in ((2, 3), (3, 5), (2, 20)):
        a = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
        assert edge(a) == a[-1, 0] * 100 + a[0, min(9, shape[1] - 1)]


@sv.kernel
def weighted(a: sv.types.NDArray[sv.f32, 2], w: sv.types.NDArray[sv.f32, 3], out: sv.types.NDArray[sv.f32, 2]):
    for i in range(a.shape[0]):
        for j in range(3):
            total = 0.0
            for k in range(4):
                total += a[i, k] * w[i, j, k]
            out[i, j] = total


@pytest.mark.parametrize("rows", [0, 1, 15, 16, 17, 70])
@pytest.mark.parametrize(("one", "two"), [(4, (3, 4)), (5, (3, 4)), (4, (4, 6)), (9, (3, 9))])
def test_axes_that_short_loops_go_along(rows, one, two):
    random = np.random.default_rng(rows)
    a, w = random.integers(0, 9, (rows, one)).astype("f4"), random.integers(0, 9, (rows, *two)).astype("f4")
    for columns in (3, 5):
        out = np.zeros((rows, columns), np.float32)
        weighted(a, w, out)
        np.testing.assert_array_equal(out[:, :3], np.einsum("ik,ijk->ij", a[:, :4], w[:, :3, :4]))
        assert not out[:, 3:].any()


def test_short_loops_stand_for_their_indices_and_longer_ones_do_not():
    @sv.kernel
    def sums(a: sv.types.NDArray[sv.f32, 2], b: sv.types.NDArray[sv.f32, 2], out: sv.types.NDArray[sv.f32, 1]):
        for i in out:
            for k in range(4):
                out[i] += a[i, k]
            for k in range(20):
                out[i] += b[i, k]

    text = sums.inspect("ir", np.zeros((9, 4), np.float32), np.zeros((9, 20), np.float32), np.zeros(9, np.float32))
    assert "a: alone f32[:, 4]" in text
    assert "b: alone f32[:, :]" in text
