"""Arrays of vectors and matrices whose entries lie apart: `sv.ndarray(vec3, n, layout=sv.Layout.SOA)`."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import samovar as sv

vec3, mat2 = sv.math.vec3, sv.math.mat2
AOS, SOA = sv.Layout.AOS, sv.Layout.SOA


def filled(kind, shape, layout, seed=1, **options):
    array = sv.ndarray(kind, shape, layout=layout, **options)
    numbers = np.random.default_rng(seed).integers(-9, 9, (*array.shape, *array.element_shape))
    array.from_numpy(numbers.astype(array.to_numpy().dtype))
    return array


@sv.kernel
def advance(x: sv.types.NDArray[vec3, 1], v: sv.types.NDArray[vec3, 1], k: sv.i32):
    for i in x:
        x[i] += v[i] * 2
        x[i].y = x[i].x - x[i].y
        x[i][k] -= 1


@sv.func
def squared(a, i, j):
    a[i, j] = a[i, j] @ a[i, j]
    return a[i, j].sum()


@sv.kernel
def square(m: sv.template(), out: sv.types.NDArray[sv.f32, 2], k: sv.i32):
    for i, j in m:
        out[i, j] = squared(m, i, j)
        m[i, j][1, k] += i


@pytest.mark.parametrize("n", [0, 1, 2, 17, 1000])
def test_kernels_compute_what_they_compute_on_whole_elements(n):
    found = {}
    for layout in (AOS, SOA):
        x, v = filled(vec3, n, layout), filled(vec3, n, layout, 2)
        advance(x, v, 2)
        found[layout] = x.to_numpy()
    assert np.array_equal(found[AOS], found[SOA])


@given(st.tuples(st.integers(0, 5), st.integers(0, 5)), st.integers(0, 1))
def test_matrices_of_two_axes_in_funcs(shape, k):
    found = {}
    for layout in (AOS, SOA):
        m, out = filled(mat2, shape, layout), sv.ndarray(sv.f32, shape)
        square(m, out, k)
        found[layout] = m.to_numpy(), out.to_numpy()
    assert all(map(np.array_equal, found[AOS], found[SOA]))


def test_others_see_strides_and_share_the_memory():
    array = sv.Matrix.ndarray(2, 3, sv.f64, (4, 5), layout=SOA)
    assert array.layout == SOA
    assert array.shape == (4, 5)
    assert array.element_shape == (2, 3)
    seen = array.to_numpy(copy=False)
    assert seen.shape == (4, 5, 2, 3)
    assert seen.strides == (40, 8, 480, 160)
    seen[1, 2, 1, 0] = 7
    assert array[1, 2][1, 0] == 7
    array[1, 2][1, 0] = 8
    assert np.asarray(array)[1, 2, 1, 0] == 8


def test_the_layout_of_arrays_and_fields():
    assert sv.ndarray(sv.f32, 3).layout == sv.ndarray(vec3, 3).layout == sv.field(mat2, 3).layout == AOS
    assert sv.Vector.ndarray(3, sv.f32, 1, layout=SOA).layout == SOA
    assert vec3.ndarray(2, layout=SOA).layout == sv.field(vec3, 3, layout=SOA).layout == SOA


def test_copies_and_pickles_keep_layout_and_gradient():
    array = filled(vec3, 6, SOA, needs_grad=True)
    array.grad.fill([1, 2, 3])
    for alike in (array.copy(), copy.deepcopy(array), *(pickle.loads(pickle.dumps(array, k)) for k in (2, 5))):
        assert alike.layout == alike.grad.layout == SOA
        assert np.array_equal(alike.to_numpy(), array.to_numpy())
        assert alike.grad[5].to_list() == [1, 2, 3]
        alike[0] = 0
    assert array[0].to_list() == array.to_numpy()[0].tolist() != [0, 0, 0]
    assert sv.zeros_like(array).layout == SOA
    assert sv.zeros_like(array).to_numpy().sum() == 0


def test_elements_fills_and_whole_array_methods():
    array = sv.ndarray(vec3, 4, layout=SOA)
    array.fill([1, 2, 3])
    array[2] = [4, 5, 6]
    array[3].z = 9
    expected = np.array([[1, 2, 3], [1, 2, 3], [4, 5, 6], [1, 2, 9]], np.float32)
    assert array.tolist() == expected.tolist()
    assert [list(each) for each in array] == expected.tolist()
    assert list(array.sum()) == expected.sum(0).tolist()
    assert array.reshape(2, 2).to_numpy().tolist() == expected.reshape(2, 2, 3).tolist()


def test_a_view_of_a_part_knows_how_long_the_whole_is():
    @sv.kernel
    def raise_all(part: sv.BufferView[vec3]):
        for i in range(part.shape[0]):
            part[i] += 10

    array = sv.ndarray(vec3, 8, layout=SOA)
    raise_all(array[2:5])
    assert array.to_numpy().tolist() == [[10 * (2 <= i < 5)] * 3 for i in range(8)]


def test_what_has_no_entries_is_refused():
    with pytest.raises(ValueError, match="vectors, matrices and structs; those of f32 are in C order"):
        sv.ndarray(sv.f32, 3, layout=SOA)
    with pytest.raises(ValueError, match=r"is not one of 'sv\.Layout\.AOS', 'sv\.Layout\.SOA'"):
        sv.ndarray(vec3, 3, layout="rows")
    with pytest.raises(ValueError, match="negative extent"):
        sv.ndarray(vec3, -1, layout=SOA)
    with pytest.raises(TypeError, match="only floats have gradients"):
        sv.ndarray(sv.math.ivec3, 3, layout=SOA, needs_grad=True)


def test_out_of_bounds_is_found_in_debug_mode(debug):
    @sv.kernel
    def beyond(a: sv.types.NDArray[vec3, 1], i: sv.i32):
        a[i].y = 1

    with pytest.raises(sv.SamovarIndexError):
        beyond(sv.ndarray(vec3, 4, layout=SOA), 4)


def test_the_layout_is_in_the_key_in_turns():
    aos, soa = filled(vec3, 5, AOS), filled(vec3, 5, SOA)
    for turn in (aos, soa, soa, aos, soa):
        before = turn.to_numpy()
        advance(turn, turn, 0)
        after = turn.to_numpy()
        x = before[:, 0] * 3
        assert np.array_equal(after, np.stack([x - 1, x - before[:, 1] * 3, before[:, 2] * 3], 1))

