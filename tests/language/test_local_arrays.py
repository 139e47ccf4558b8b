"""Arrays that are local to an iteration, a func or a kernel: run-time indices, privacy, and what becomes of them."""

import numpy as np
import pytest

import samovar as sv

F1 = sv.types.NDArray[sv.f32, 1]
F2 = sv.types.NDArray[sv.f32, 2]
I1 = sv.types.NDArray[sv.i32, 1]


@sv.kernel
def median(image: F2, out: F2):
    for i, j in sv.ndrange((1, image.shape[0] - 1), (1, image.shape[1] - 1)):
        window = [0.0] * 9
        for k in range(9):
            window[k] = image[i + k // 3 - 1, j + k % 3 - 1]
        for a in range(9):
            for b in range(8 - a):
                if window[b] > window[b + 1]:
                    larger = window[b]
                    window[b] = window[b + 1]
                    window[b + 1] = larger
        out[i, j] = window[4]


def test_a_median_filter():
    image = np.random.default_rng(1).random((40, 33), np.float32)
    out = np.zeros_like(image)
    median(image, out)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3)).reshape(38, 31, 9)
    assert np.array_equal(out[1:-1, 1:-1], np.median(windows, axis=2))


@sv.kernel
def private_histograms(values: I1, out: sv.types.NDArray[sv.i32, 2]):
    for row in range(out.shape[0]):
        counts = sv.Vector.zero(sv.i32, 64)
        for k in range(row, values.shape[0], out.shape[0]):
            counts[values[k]] += 1
        for bin in range(64):
            out[row, bin] = counts[bin]


def test_private_histograms():
    values = np.random.default_rng(2).integers(0, 64, 5000).astype(np.int32)
    out = np.zeros((7, 64), np.int32)
    private_histograms(values, out)
    for row in range(7):
        assert np.array_equal(out[row], np.bincount(values[row::7], minlength=64))


@sv.kernel
def depth_first(children: sv.types.NDArray[sv.i32, 2], out: I1):
    for root in range(out.shape[0]):
        stack = sv.Vector.zero(sv.i32, 32)
        stack[0] = root
        height = 1
        while height > 0:
            height -= 1
            node = stack[height]
            out[root] += 1
            for side in range(2):
                child = children[node, side]
                if child >= 0:
                    stack[height] = child
                    height += 1


def test_a_stack_of_each_iteration():
    nodes = 63
    children = np.full((nodes, 2), -1, np.int32)
    for node in range(nodes // 2):
        children[node] = 2 * node + 1, 2 * node + 2
    out = np.zeros(nodes, np.int32)
    depth_first(children, out)

    def size(node):
        return 1 + sum(size(child) for child in children[node] if child >= 0)

    assert out.tolist() == [size(node) for node in range(nodes)]


@sv.kernel
def shared_table(out: F1):
    table = sv.Vector.zero(sv.f32, 100)
    for k in range(100):
        table[k] = k * k
    sums = sv.Vector.zero(sv.f32, 20)
    for k in range(1000):
        sums[k % 20] += table[k % 100]
    for k in range(20):
        out[k] = sums[k]


def test_an_array_of_the_kernel_is_seen_by_all_its_tasks():
    out = np.zeros(20, np.float32)
    shared_table(out)
    expected = np.zeros(20)
    np.add.at(expected, np.arange(1000) % 20, (np.arange(1000) % 100) ** 2)
    assert np.array_equal(out, expected)


@sv.func
def reversed_entries(v):
    result = sv.Vector.zero(sv.f32, 24)
    for k in range(24):
        result[k] = v[23 - k]
    v[0] = -1.0
    return result


@sv.func
def fill(v: sv.template(), value: sv.f32):
    for k in range(24):
        v[k] = value + k


@sv.kernel
def through_funcs(out: F2):
    for i in range(out.shape[0]):
        v = sv.Vector.zero(sv.f32, 24)
        fill(v, i)
        w = reversed_entries(v)
        v, w = w, v
        for k in range(24):
            out[i, k] = v[k] * 100 + w[k]


def test_large_vectors_are_given_by_value_by_reference_and_back():
    out = np.zeros((5, 24), np.float32)
    through_funcs(out)
    for i in range(5):
        v = i + np.arange(24)
        assert np.array_equal(out[i], v[::-1] * 100 + v)


@sv.kernel
def chosen(n: sv.i32, out: F1):
    for _ in range(1):
        a, b = sv.Vector.one(sv.f32, 40), sv.Vector.zero(sv.f32, 40)
        c = a * 2.0 if n > 3 else b
        if n > 5:
            d = c + 1.0
        else:
            d = c - 1.0
        d += a
        for k in range(40):
            out[k] = d[k]


@pytest.mark.parametrize(("n", "expected"), [(1, 0.0), (4, 2.0), (6, 4.0)])
def test_large_vectors_are_chosen_and_merged(n, expected):
    out = np.full(40, 9, np.float32)
    chosen(n, out)
    assert (out == expected).all()


@sv.kernel
def out_of_bounds(n: sv.i32) -> sv.f32:
    values = [0.0] * 9
    values[n] = 1.0
    return values[0]


def test_indices_are_checked_in_debug_mode():
    sv.init(debug=True)
    try:
        with pytest.raises(sv.SamovarRuntimeError, match=r"index 9 is out of bounds for array 'values' of shape \(9,\)"):
            out_of_bounds(9)
        assert out_of_bounds(0) == 1.0
        out = np.zeros((7, 64), np.int32)
        private_histograms(np.arange(64, dtype=np.int32), out)  # no race: every iteration has its own
        assert out.sum() == 64
    finally:
        sv.reset()


def test_what_does_not_fit_is_refused():
    @sv.kernel
    def huge():
        for i in range(2):
            v = sv.Vector.zero(sv.f64, 1 << 20)
            v[i] = 1.0

    with pytest.raises(sv.SamovarTypeError, match="local values are limited to"):
        huge()


@pytest.mark.parametrize("dtype", [sv.i8, sv.u1, sv.u16, sv.i32, sv.f16, sv.f32, sv.f64], ids=lambda dtype: dtype.name)
def test_large_results_beside_others(dtype):
    square, long = sv.types.matrix(5, 5, dtype), sv.types.vector(40, dtype)

    @sv.kernel
    def results(k: sv.i32) -> tuple[square, sv.i32, long, square, sv.f64, long]:
        m, v = sv.Matrix.zero(dtype, 5, 5), sv.Vector.zero(dtype, 40)
        for i in range(5):
            for j in range(5):
                m[i, j] = sv.cast((i * 5 + j + k) % 2, dtype)
        for i in range(40):
            v[i] = sv.cast((i + k) % 3 == 0, dtype)
        return m, k, v, m.transpose(), 0.5, v

    m, number, v, turned, half, again = results(1)
    expected = ((np.arange(25) + 1) % 2).reshape(5, 5)
    assert np.array_equal(m.to_numpy(), expected)
    assert np.array_equal(turned.to_numpy(), expected.T)
    assert np.array_equal(v.to_numpy(), (np.arange(40) + 1) % 3 == 0)
    assert again.to_list() == v.to_list()
    assert (number, half) == (1, 0.5)


def test_many_large_results():
    square = sv.types.matrix(5, 5, sv.f32)

    @sv.kernel
    def multiples(a: square) -> tuple[(square,) * 30]:
        return [a * k for k in sv.static(range(30))]

    a = np.arange(25, dtype=np.float32).reshape(5, 5)
    for k, found in enumerate(multiples(a.tolist())):
        assert np.array_equal(found.to_numpy(), k * a)


def test_a_large_result_that_changes_before_it_is_returned():
    square = sv.types.matrix(5, 5, sv.f32)

    @sv.kernel
    def changed(a: square, early: sv.u1) -> square:
        m = a
        if early:
            return m * 2
        m[2, 3] = 7
        return m

    a = np.ones((5, 5), np.float32)
    assert changed(a.tolist(), True).to_numpy().tolist() == (2 * a).tolist()
    a[2, 3] = 7
    assert changed(np.ones((5, 5)).tolist(), False).to_numpy().tolist() == a.tolist()
