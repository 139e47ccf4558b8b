"""The algorithms that kernels call at their top level."""

import numpy as np
import pytest

import samovar as sv

A = sv.algorithms
RANDOM = np.random.default_rng(7)


@sv.kernel
def reductions(
    a: sv.types.NDArray[sv.i32, 1], out: sv.types.NDArray[sv.i32, 2], row: sv.types.NDArray[sv.i32, 1],
    scans: sv.types.NDArray[sv.i32, 1], scratch: sv.types.NDArray[sv.u32, 1], n: sv.i32,
):  # fmt: skip
    A.reduce_add(a, row, scratch, n, sv.i32, 2)
    for _ in range(1):
        out[0, 0] = row[0]
    A.reduce_min(a, row, scratch, n, sv.i32, 2)
    for _ in range(1):
        out[0, 1] = row[0]
    A.reduce_max(a, row, scratch, n, sv.i32, 2)
    for _ in range(1):
        out[0, 2] = row[0]
    A.exclusive_scan_add(a, scans, scratch, n, sv.i32, 2)


@pytest.mark.parametrize("n", [0, 1, 5, 700])
def test_sums_extremes_and_scans(n):
    a = RANDOM.integers(-50, 50, 700, dtype=np.int32)
    out, row, scans = np.zeros((1, 3), np.int32), np.zeros(1, np.int32), np.zeros(700, np.int32)
    scratch = np.zeros(A.reduce_scratch_slots(700), np.uint32)
    reductions(a, out, row, scans, scratch, n)
    used = a[:n]
    limits = np.iinfo(np.int32)
    assert out[0].tolist() == [used.sum(), used.min(initial=limits.max), used.max(initial=limits.min)]
    assert scans[:n].tolist() == (np.cumsum(used) - used).tolist()


def test_scans_of_extremes():
    a, scratch = sv.field(sv.f32, 6), sv.field(sv.u32, A.exclusive_scan_scratch_slots(6))
    low, high = sv.field(sv.f32, 6), sv.field(sv.f32, 6)
    a.from_numpy(np.array([3, 1, 2, 5, 0, 4], np.float32))

    @sv.kernel
    def scan(n: sv.i32):
        A.exclusive_scan_min(a, low, scratch, n, sv.f32, 1)
        A.exclusive_scan_max(a, high, scratch, n, sv.f32, 1)

    scan(6)
    assert low.to_numpy().tolist() == [np.inf, 3, 1, 1, 1, 0]
    assert high.to_numpy().tolist() == [-np.inf, 3, 3, 3, 5, 5]


def test_selecting_and_summing_runs():
    n = 40
    keys = np.sort(RANDOM.integers(0, 6, n, dtype=np.int32))
    values = RANDOM.integers(0, 9, n, dtype=np.int32)
    flags = (values > 4).astype(np.int32)
    out, count = np.zeros(n, np.int32), np.zeros(1, np.int32)
    keys_out, values_out, runs = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(1, np.int32)

    @sv.kernel
    def work(
        keys: sv.types.ndarray(), values: sv.types.ndarray(), flags: sv.types.ndarray(), out: sv.types.ndarray(),
        count: sv.types.ndarray(), keys_out: sv.types.ndarray(), values_out: sv.types.ndarray(), runs: sv.types.ndarray(),
        scratch: sv.types.ndarray(), n: sv.i32,
    ):  # fmt: skip
        A.select(values, flags, out, count, scratch, n, 1)
        A.reduce_by_key_add(keys, values, keys_out, values_out, runs, scratch, n, sv.i32, 1)

    scratch = np.zeros(A.select_scratch_slots(n), np.uint32)
    work(keys, values, flags, out, count, keys_out, values_out, runs, scratch, n)
    assert out[: count[0]].tolist() == values[flags == 1].tolist()
    distinct = np.unique(keys)
    assert keys_out[: runs[0]].tolist() == distinct.tolist()
    assert values_out[: runs[0]].tolist() == [values[keys == key].sum() for key in distinct]


@pytest.mark.parametrize("name", ["u32", "i32", "f32", "u64", "i64", "f64"])
def test_a_sort_is_stable_and_takes_values_along(name):
    dtype, n = getattr(sv, name), 300
    numpy_type = {"u": np.uint, "i": np.int_, "f": np.float64}[name[0]]
    drawn = RANDOM.integers(0, 40, n) if name[0] == "u" else RANDOM.integers(-20, 20, n)
    keys = drawn.astype(np.dtype(numpy_type).kind + str(dtype.itemsize))
    bits = dtype.bits

    @sv.kernel(graph=True)
    def work(
        keys: sv.types.ndarray(), spare: sv.types.ndarray(), values: sv.types.ndarray(), moved: sv.types.ndarray(),
        scratch: sv.types.ndarray(), n: sv.i32,
    ):  # fmt: skip
        A.sort(keys, spare, values, moved, scratch, n, dtype, True, bits, 2)

    order = np.argsort(keys, kind="stable")
    found, values = keys.copy(), np.arange(n, dtype=np.int32)
    scratch = np.zeros(A.sort_scratch_slots(n), np.uint32)
    work(found, np.zeros_like(keys), values, np.zeros_like(values), scratch, n)
    assert found.tolist() == keys[order].tolist()
    assert values.tolist() == order.tolist()


@pytest.mark.parametrize("scratch", [0, 1, 4, 255, 256])
def test_sort_leaves_scratch_alone(scratch):
    n = 100
    keys = RANDOM.integers(0, 1000, n).astype(np.uint32)
    order = np.argsort(keys, kind="stable")

    @sv.kernel
    def sort(k: sv.Template, spare: sv.Template, v: sv.Template, spare_v: sv.Template, scratch: sv.Template, n: sv.Template):
        A.sort(k, spare, v, spare_v, scratch, n, sv.u32, True, 32, 3)

    k, v, memory = keys.copy(), np.arange(n, dtype=np.int32), np.full(600, 7, np.uint32)
    sort(k, np.zeros(n, np.uint32), v, np.zeros(n, np.int32), memory[:scratch], n)
    assert (memory == 7).all()
    assert k.tolist() == keys[order].tolist()
    assert v.tolist() == order.tolist()


@sv.kernel
def call_sort(k: sv.Template, spare: sv.Template, v: sv.Template, spare_v: sv.Template, s: sv.Template, n: sv.Template):
    A.sort(k, spare, v, spare_v, s, n, sv.u32, True, 32, 3)


@sv.kernel
def call_scan(a: sv.types.ndarray(), out: sv.types.ndarray(), s: sv.types.ndarray(), n: sv.i32):
    A.exclusive_scan_add(a, out, s, n, sv.i32, 1)


@sv.kernel
def call_reduce(a: sv.types.ndarray(), out: sv.types.ndarray(), s: sv.types.ndarray(), n: sv.i32):
    A.reduce_max(a, out, s, n, sv.i32, 1)


@sv.kernel
def call_select(
    a: sv.types.ndarray(), flags: sv.types.ndarray(), out: sv.types.ndarray(), count: sv.types.ndarray(),
    s: sv.types.ndarray(), n: sv.i32,
):  # fmt: skip
    A.select(a, flags, out, count, s, n, 1)


@sv.kernel
def call_by_key(
    keys: sv.types.ndarray(), values: sv.types.ndarray(), keys_out: sv.types.ndarray(), values_out: sv.types.ndarray(),
    runs: sv.types.ndarray(), s: sv.types.ndarray(), n: sv.i32,
):  # fmt: skip
    A.reduce_by_key_add(keys, values, keys_out, values_out, runs, s, n, sv.i32, 1)


#: A kernel, how long its arrays are when n is 8, and which of them is checked under what name.
SIZES = [
    (call_sort, {0: "keys", 1: "tmp_keys", 2: "values", 3: "tmp_values"}, 5),
    (call_scan, {0: "arr", 1: "out"}, 3),
    (call_reduce, {0: "arr"}, 3),
    (call_select, {0: "arr", 1: "flags", 2: "out"}, 5),
    (call_by_key, {0: "keys_in", 1: "values_in", 2: "keys_out", 3: "values_out"}, 6),
]


@pytest.mark.parametrize(
    ("kernel", "place", "name", "count"),
    [(kernel, place, name, count) for kernel, names, count in SIZES for place, name in names.items()],
)
def test_an_array_that_is_too_short_is_refused_and_nothing_beyond_it_is_written(kernel, place, name, count):
    n = 8
    memory = [np.ones(64, np.uint32 if kernel is call_sort else np.int32) for _ in range(count)]
    arrays = [each[:n] for each in memory]
    if kernel is call_by_key:
        arrays[0][:] = np.arange(n)
    before = memory[place].copy()
    arrays[place] = arrays[place][: n - 1]
    with pytest.raises(sv.SamovarError, match=f"`{name}` has 7 elements"):
        kernel(*arrays, n)
    assert (memory[place][n - 1 :] == before[n - 1 :]).all()
    for length in (n, n - 1):
        arrays[place] = memory[place][: max(length, n)]
        kernel(*arrays, length)  # long enough


def test_a_negative_length_is_refused():
    a = np.ones(4, np.int32)
    with pytest.raises(sv.SamovarError, match="`n` is -1"):
        call_scan(a, a.copy(), a, -1)


def test_a_place_for_a_result_is_needed():
    a, empty = np.ones(4, np.int32), np.ones(0, np.int32)
    with pytest.raises(sv.SamovarError, match="`out` is empty"):
        call_reduce(a, empty, a, 4)
    with pytest.raises(sv.SamovarError, match="`num_out` is empty"):
        call_select(a, a, a.copy(), empty, a, 4)
