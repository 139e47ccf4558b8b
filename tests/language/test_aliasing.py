"""Arrays that share memory, and memory laid out in every way that NumPy knows: results are those of the plain loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

import samovar as sv
from hypothesis_profiles import examples

F1, F2, F3 = (sv.types.NDArray[sv.f64, ndim] for ndim in (1, 2, 3))
I1 = sv.types.NDArray[sv.i64, 1]


@sv.kernel
def copy(a: F1, b: F1):
    for i in range(a.shape[0]):
        b[i] = a[i] * 2


@sv.kernel
def serial_copy(a: F1, b: F1):
    sv.loop_config(serialize=True)
    for i in range(a.shape[0]):
        b[i] = a[i] * 2 + 1


@sv.kernel
def add(a: F1, b: F1, c: F1):
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]


@sv.kernel
def accumulate(a: F1, b: F1):
    for i in range(a.shape[0]):
        b[i] += a[i]


def test_the_same_array_twice():
    a = np.arange(100.0)
    copy(a, a)
    assert (a == np.arange(100.0) * 2).all()
    add(a, a, a)
    assert (a == np.arange(100.0) * 4).all()
    accumulate(a, a)
    assert (a == np.arange(100.0) * 8).all()


def test_the_same_samovar_array_twice():
    a = sv.ndarray(sv.f64, 100)
    a.copy_from(np.arange(100.0))
    add(a, a, a)
    assert (a.to_numpy() == np.arange(100.0) * 2).all()


def test_a_numpy_view_of_a_samovar_array_is_the_same_memory():
    a = sv.ndarray(sv.f64, 100)
    a.copy_from(np.arange(100.0))
    accumulate(np.asarray(a), a)
    assert (a.to_numpy() == np.arange(100.0) * 2).all()


def plain_copy(a, b):
    for i in range(len(a)):
        b[i] = a[i] * 2 + 1


@pytest.mark.parametrize("shift", [-17, -8, -1, 0, 1, 2, 3, 8, 17])
def test_overlapping_views_in_a_serial_loop_are_written_one_after_the_other(shift):
    memory = np.arange(200.0)
    expected = memory.copy()
    length = 100
    serial_copy(memory[50 : 50 + length], memory[50 + shift : 50 + shift + length])
    plain_copy(expected[50 : 50 + length], expected[50 + shift : 50 + shift + length])
    assert (memory == expected).all()


def test_overlap_is_noticed_after_disjoint_launches():
    """The code made for arrays that stand alone must not run on arrays that do not."""
    memory = np.arange(400.0)
    serial_copy(memory[:100], memory[200:300])
    memory = np.arange(200.0)
    expected = memory.copy()
    serial_copy(memory[:100], memory[1:101])
    plain_copy(expected[:100], expected[1:101])
    assert (memory == expected).all()


@sv.kernel
def twice_in_a_loop(a: F1, b: F1, n: sv.i32):
    sv.loop_config(serialize=True)
    for _ in range(n):
        first = a[0]
        b[0] = first + 1
        b[1] = a[0] + first


def test_a_load_after_a_store_sees_it_if_the_arrays_are_one():
    a = np.zeros(2)
    twice_in_a_loop(a, a, 3)
    assert a.tolist() == [3.0, 5.0]
    a, b = np.zeros(2), np.zeros(2)
    twice_in_a_loop(a, b, 3)
    assert (a.tolist(), b.tolist()) == ([0.0, 0.0], [1.0, 0.0])


@sv.func
def put(target: F1, source: F1, i: sv.i32):
    target[i] = source[i] + 1
    target[i + 1] = source[i] + 10


@sv.kernel
def through_func(a: F1, b: F1):
    sv.loop_config(serialize=True)
    for i in range(a.shape[0] - 1):
        put(a, b, i)
        put(b, b, i)


def plain_through_func(a, b):
    for i in range(len(a) - 1):
        for target in (a, b):
            target[i] = b[i] + 1
            target[i + 1] = b[i] + 10


@pytest.mark.parametrize("same", [True, False])
def test_funcs_see_that_their_arrays_are_one(same):
    a, b = np.zeros(9), np.arange(9.0)
    expected_a, expected_b = a.copy(), b.copy()
    if same:
        a, expected_a = b, expected_b
    through_func(a, b)
    plain_through_func(expected_a, expected_b)
    assert (a == expected_a).all()
    assert (b == expected_b).all()


# --- atomics on memory that iterations share


@sv.kernel
def count_all(a: I1, n: sv.i64):
    for i in range(n):
        a[i] += 1


def test_stride_zero_is_one_element_for_all():
    n = 100_000
    memory = np.zeros(1, np.int64)
    count_all(as_strided(memory, (n,), (0,), writeable=True), n)
    assert memory[0] == n


def test_overlapping_windows_count_every_hit():
    """Rows of a window over one array: each element belongs to several indices."""
    memory = np.zeros(1003, np.int64)
    windows = as_strided(memory, (1000, 4), (8, 8), writeable=True)
    count_rows(windows)
    expected = np.zeros(1003, np.int64)
    for k in range(4):
        expected[k : 1000 + k] += 1
    assert (memory == expected).all()


@sv.kernel
def count_rows(a: sv.types.NDArray[sv.i64, 2]):
    for i, k in a:
        a[i, k] += 1


@sv.kernel
def into_both(a: I1, b: I1, n: sv.i32):
    for i in range(n):
        a[i] += 1
        b[i] += 2


def test_updates_through_two_views_of_one_array_are_not_lost():
    n = 50_000
    memory = np.zeros(n + 1, np.int64)
    into_both(memory[:n], memory[1:], n)
    assert memory[0] == 1
    assert memory[n] == 2
    assert (memory[1:n] == 3).all()
    into_both(memory[:n], memory[:n], n)
    assert (memory[1:n] == 6).all()


@sv.kernel
def sums(a: F1, total: F1):
    for i in range(a.shape[0]):
        total[0] += a[i]


def test_a_sum_into_an_element_of_what_is_summed():
    """Which value a[0] has when it is read is open; the sum of the others is not."""
    a = np.ones(1000)
    a[0] = 0
    sums(a, a)
    assert a[0] >= 999
    assert (a[1:] == 1).all()


# --- layouts


@sv.kernel
def scale2(a: F2, b: F2):
    for i, j in a:
        b[i, j] = a[i, j] * 10 + i - j


#: Views of an array of 20 by 30.
VIEWS = {
    "C": lambda base: base,
    "transposed": lambda base: base.T,
    "transposed part": lambda base: base[:7, :6].T,
    "rows": lambda base: base[3:9],
    "every other row": lambda base: base[:12:2, :7],
    "columns": lambda base: base[:, 3:9],
    "every other column": lambda base: base[:6, :14:2],
    "both": lambda base: base[3:18:3, 2:28:4],
    "reversed rows": lambda base: base[5::-1, :7],
    "reversed columns": lambda base: base[:6, 6::-1],
    "both reversed": lambda base: base[::-1, ::-1],
    "one row": lambda base: base[3:4, :],
    "one column": lambda base: base[:, 4:5],
    "part of a column": lambda base: base[2:9:3, 4:5],
    "diagonal band": lambda base: as_strided(base, (5, 6), (31 * base.itemsize, base.itemsize)),
    "flat and cut again": lambda base: base.reshape(-1)[7:].reshape(-1)[:588].reshape(49, 12),
    "empty rows": lambda base: base[:0, :7],
    "empty columns": lambda base: base[:6, :0],
    "one point": lambda base: base[2:3, 2:3],
}
#: Views in which several indices mean one element.
REPEATING = {
    "broadcast row": lambda base: np.broadcast_to(base[3], (6, 30)),
    "broadcast column": lambda base: np.broadcast_to(base[:, 3:4], (20, 7)),
    "broadcast point": lambda base: np.broadcast_to(base[3, 3], (6, 7)),
    "window": lambda base: np.lib.stride_tricks.sliding_window_view(base[0], 6),
}


def base_in(order: str) -> np.ndarray:
    return np.asarray(np.arange(600.0).reshape(20, 30), order=order)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("view", [*VIEWS.values(), *REPEATING.values()], ids=[*VIEWS, *REPEATING])
def test_every_layout_can_be_read(view, order):
    a = view(base_in(order))
    out = np.zeros(a.shape)
    scale2(a, out)
    i, j = np.indices(a.shape)
    assert (out == a * 10 + i - j).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_every_layout_can_be_written_and_nothing_else_is(view, order):
    if order == "F" and view in (VIEWS["diagonal band"], VIEWS["flat and cut again"]):
        pytest.skip("needs C order")
    base = base_in(order)
    target = view(base)
    expected = base.copy(order="K")
    a = np.arange(1000.0, 1000.0 + target.size).reshape(target.shape)
    i, j = np.indices(a.shape)
    view(expected)[...] = a * 10 + i - j
    scale2(a, target)
    assert (base == expected).all()


@sv.kernel
def axes(a: F3, b: F3):
    for i, j, k in a:
        b[i, j, k] = a[i, j, k] + 100 * i + 10 * j + k


@examples("compiled")
@given(
    st.permutations(range(3)),
    st.lists(st.sampled_from([1, 2, 3, -1, -2]), min_size=3, max_size=3),
    st.permutations(range(3)),
    st.lists(st.sampled_from([1, 2, -1, -3]), min_size=3, max_size=3),
)
def test_any_order_of_axes_with_any_steps(order_a, steps_a, order_b, steps_b):
    def view(order, steps):
        memory = np.arange(12.0 * 15 * 18).reshape([(12, 15, 18)[axis] for axis in order])
        turned = memory.transpose(np.argsort(order))
        return turned[tuple(slice(None, None, step) for step in steps)][:4, :5, :6]

    a, b = view(order_a, steps_a), view(order_b, steps_b)
    axes(a, b)
    i, j, k = np.indices((4, 5, 6))
    assert (b == a + 100 * i + 10 * j + k).all()


# --- what may not be used


@sv.kernel
def only_reads(a: F1) -> sv.f64:
    total: sv.f64 = 0
    for i in range(a.shape[0]):
        total += a[i]
    return total


def frozen(n: int) -> np.ndarray:
    a = np.ones(n)
    a.flags.writeable = False
    return a


def test_a_read_only_array_can_be_read():
    assert only_reads(frozen(10)) == 10
    assert only_reads(np.broadcast_to(np.float64(2), 8)) == 16


@pytest.mark.parametrize("kernel", [copy, accumulate])
def test_a_read_only_array_is_refused_if_it_is_written(kernel):
    target = frozen(10)
    kernel(np.zeros(10), np.zeros(10))  # also when a specialization for writable arrays is there
    with pytest.raises(sv.SamovarTypeError, match="read-only"):
        kernel(np.zeros(10), target)
    assert (target == 1).all()
    kernel(frozen(10), np.zeros(10))


@sv.func
def write_first(a: F1):
    a[0] = 3


@sv.kernel
def writes_in_a_func(a: F1):
    write_first(a)


def test_a_read_only_array_is_refused_if_a_func_writes_it():
    with pytest.raises(sv.SamovarTypeError, match="read-only"):
        writes_in_a_func(frozen(3))


def misaligned(n: int) -> np.ndarray:
    return np.zeros(n * 8 + 8, np.uint8)[1 : 1 + 8 * n].view(np.float64)


def test_a_misaligned_array_is_refused():
    with pytest.raises(sv.SamovarTypeError, match="align"):
        only_reads(misaligned(4))


def test_strides_that_are_no_multiple_of_the_element_are_refused():
    records = np.zeros(4, np.dtype([("x", np.float64), ("y", np.int8)]))
    with pytest.raises(sv.SamovarTypeError, match="strides"):
        only_reads(records["x"])


def test_fields_of_aligned_records_can_be_used():
    records = np.zeros(4, np.dtype([("x", np.float64), ("y", np.float64)]))
    records["x"] = 3
    assert only_reads(records["x"]) == 12
    copy(np.ones(4), records["y"])
    assert records["y"].tolist() == [2.0] * 4
    assert records["x"].tolist() == [3.0] * 4


def test_a_byte_swapped_array_is_refused():
    with pytest.raises(sv.SamovarTypeError, match="byte order"):
        only_reads(np.zeros(4, np.dtype(np.float64).newbyteorder()))


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros(4, np.float32),
        np.zeros(4, np.int64),
        np.zeros((2, 2)),
        np.array(1.0),
        np.zeros(4, complex),
        np.array([None, None]),
        np.array(["a", "b"]),
        np.zeros(4, "M8[s]"),
        [1.0, 2.0],
        3.0,
        None,
        "text",
        b"bytes",
    ],
    ids=lambda value: getattr(getattr(value, "dtype", None), "name", type(value).__name__),
)
def test_what_is_not_such_an_array_is_refused(wrong):
    with pytest.raises(sv.SamovarTypeError):
        only_reads(wrong)
