"""Sums, sorts and selections over whole arrays: the same as NumPy's for every dtype, size, layout and number of threads."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import samovar as sv
from samovar.algorithms import (
    PrefixSumExecutor,
    argmax,
    argmin,
    compact,
    parallel_sort,
    prefix_sum,
    reduce,
    unique,
)  # fmt: skip
from samovar.algorithms import max as greatest
from samovar.algorithms import min as least

ALL = [sv.i8, sv.i16, sv.i32, sv.i64, sv.u1, sv.u8, sv.u16, sv.u32, sv.u64, sv.f16, sv.f32, sv.f64]
SIZES = [0, 1, 2, 7, 1000, 32767, 32769, 100_003]


@pytest.fixture(params=ALL, ids=lambda dtype: dtype.name)
def dtype(request):
    return request.param


@pytest.fixture(autouse=True, params=[1, 3], ids=["one thread", "three threads"])
def threads(request):
    sv.init(num_threads=request.param)
    yield
    sv.reset()


def numbers(dtype: sv.i32, size: int, seed: int = 1) -> np.ndarray:
    random, target = np.random.default_rng(seed), np.dtype(dtype.typestr)
    if dtype.kind == "float":
        values = random.normal(size=size).astype(target)
        values[random.random(size) < 0.01] = 0.0
        return values
    if dtype.kind == "bool":
        return random.random(size) < 0.5
    limits = np.iinfo(target)
    return random.integers(limits.min, limits.max, size, target, endpoint=True)


@pytest.mark.parametrize("size", SIZES)
def test_sort_and_unique(dtype, size):
    values = numbers(dtype, size)
    keys, order = sv.from_numpy(values, copy=True), sv.from_numpy(np.arange(size, dtype=np.int32), copy=True)
    parallel_sort(keys, order)
    expected = np.argsort(values, kind="stable")
    np.testing.assert_array_equal(keys.to_numpy(), values[expected])
    if dtype.kind != "float" or not (values == 0).any():
        np.testing.assert_array_equal(order.to_numpy(), expected)
    alone = values.copy()
    parallel_sort(alone)
    np.testing.assert_array_equal(alone, np.sort(values))
    np.testing.assert_array_equal(unique(values).to_numpy(), np.unique(values))


@pytest.mark.parametrize("size", SIZES)
def test_sums_and_prefix_sums(dtype, size):
    values = numbers(dtype, size)
    a = sv.from_numpy(values, copy=True)
    wide = values.astype(np.float64 if dtype.kind == "float" else np.int64 if dtype.kind == "int" else np.uint64)
    target = np.int32 if dtype is sv.u1 else values.dtype
    expected = np.cumsum(wide)
    found, before = prefix_sum(a), prefix_sum(a, exclusive=True)
    assert found.shape == before.shape == (size,)
    if dtype.kind == "float":
        tolerance = {"f16": 1e-2, "f32": 1e-5, "f64": 1e-11}[dtype.name] * 300
        np.testing.assert_allclose(found.to_numpy(), expected, atol=tolerance)
        np.testing.assert_allclose(before.to_numpy()[1:], expected[:-1], atol=tolerance)
        assert math.isclose(reduce(a), wide.sum(), abs_tol=1e-9)
    else:
        np.testing.assert_array_equal(found.to_numpy(), expected.astype(target))
        np.testing.assert_array_equal(before.to_numpy()[1:], expected[:-1].astype(target))
        assert reduce(a) == int(wide.sum())
        assert reduce(a, "mul") == (int(np.prod(wide)) if size else 1)
    assert (before.to_numpy()[:1] == 0).all()
    np.testing.assert_array_equal(a.to_numpy(), values)


@pytest.mark.parametrize("first", [0, 1], ids=["aligned", "between"])
@pytest.mark.parametrize("exclusive", [False, True])
def test_prefix_sums_that_go_past_the_caches(first, exclusive):
    values = np.arange(7_000_001, dtype=np.int32)[first:] % 1000
    out = np.empty(len(values) + first, np.int32)[first:]
    assert prefix_sum(values, out, exclusive=exclusive) is out
    expected = values.cumsum(dtype=np.int32)
    np.testing.assert_array_equal(out, expected - values if exclusive else expected)


@pytest.mark.parametrize("size", SIZES[1:])
def test_extremes(dtype, size):
    values = numbers(dtype, size)
    assert (least(values), greatest(values)) == (values.min(), values.max())
    assert (argmin(values), argmax(values)) == (values.argmin(), values.argmax())
    assert (reduce(values, "min"), reduce(values, "max")) == (values.min(), values.max())


@pytest.mark.parametrize("size", SIZES)
def test_compact(dtype, size):
    values, mask = numbers(dtype, size), np.random.default_rng(2).random(size) < 0.3
    np.testing.assert_array_equal(compact(values, mask).to_numpy(), values[mask])
    np.testing.assert_array_equal(compact(values, mask.astype(np.float32) * 0.5).to_numpy(), values[mask])


def made(shape, kind):
    if kind == "blocks":
        f, beside = sv.field(sv.f32), sv.field(sv.i8)
        sv.root.dense(sv.ij, 2).dense(sv.ij, (shape[0] // 2, shape[1] // 2)).place(f, beside)
        return f
    return sv.field(sv.f32, shape, order="ji" if kind == "order" else None)


@pytest.mark.parametrize("kind", ["plain", "order", "blocks"])
def test_fields_in_every_layout(kind):
    values = np.random.default_rng(3).integers(-50, 50, (6, 8)).astype(np.float32)
    f = made((6, 8), kind)
    f.from_numpy(values)
    assert (reduce(f), least(f), greatest(f)) == (values.sum(), values.min(), values.max())
    assert (argmin(f), argmax(f)) == (values.argmin(), values.argmax())
    np.testing.assert_array_equal(unique(f).to_numpy(), np.unique(values))
    np.testing.assert_array_equal(compact(f, values > 0).to_numpy(), values[values > 0])
    np.testing.assert_array_equal(prefix_sum(f).to_numpy(), values.cumsum().reshape(6, 8))
    order = made((6, 8), "plain")
    order.from_numpy(np.arange(48).reshape(6, 8))
    parallel_sort(f, order)
    np.testing.assert_array_equal(f.to_numpy(), np.sort(values, axis=None).reshape(6, 8))
    np.testing.assert_array_equal(order.to_numpy().ravel(), np.argsort(values, axis=None, kind="stable"))
    prefix_sum(f, f, exclusive=True)
    np.testing.assert_array_equal(f.to_numpy().ravel()[1:], np.sort(values, axis=None).cumsum()[:-1])


def test_not_a_number():
    values = np.array([3.0, -np.nan, -0.0, np.inf, 0.0, np.nan, -np.inf])
    keys, order = values.copy(), np.arange(7)
    parallel_sort(keys, order)
    np.testing.assert_array_equal(keys, np.sort(values))
    assert order.tolist() == [6, 2, 4, 0, 3, 1, 5]
    assert argmin(values) == argmax(values) == 1
    assert math.isnan(least(values))
    np.testing.assert_array_equal(unique(values).to_numpy(), np.unique(values))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-5, 5), max_size=50), st.sampled_from([np.int8, np.int16, np.int64, np.float32]))
def test_stable_with_many_equal_keys(keys, value_type):
    found, values = np.array(keys, np.int32), np.arange(len(keys)).astype(value_type)
    parallel_sort(found, values)
    order = np.argsort(np.array(keys, np.int32), kind="stable")
    np.testing.assert_array_equal(values, np.arange(len(keys)).astype(value_type)[order])


def test_executor():
    f = sv.field(sv.i32, 5)
    f.fill(1)
    PrefixSumExecutor(5).run(f)
    assert list(f) == [1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="for 5 elements"):
        PrefixSumExecutor(5).run(sv.field(sv.i32, 4))


def test_what_is_wrong_is_said():
    a, read_only = sv.ndarray(sv.f32, 4), np.zeros(4)
    read_only.flags.writeable = False
    for call, error, match in (
        (lambda: parallel_sort([3, 1]), sv.SamovarTypeError, "not list"),
        (lambda: parallel_sort(a, sv.ndarray(sv.f32, 3)), ValueError, "shape"),
        (lambda: parallel_sort(read_only), ValueError, "read-only"),
        (lambda: compact(a, sv.ndarray(sv.u1, 3)), ValueError, "mask"),
        (lambda: prefix_sum(a, sv.ndarray(sv.f32, 3)), ValueError, "shape"),
        (lambda: reduce(a, "xor"), ValueError, "not one of"),
        (lambda: least(sv.ndarray(sv.f32, 0)), ValueError, "empty"),
    ):
        with pytest.raises(error, match=match):
            call()


def test_ten_million_elements():
    values = np.random.default_rng(4).integers(-(1 << 31), (1 << 31) - 1, 10_000_000, np.int32)
    keys = values.copy()
    parallel_sort(keys)
    np.testing.assert_array_equal(keys, np.sort(values))
    np.testing.assert_array_equal(prefix_sum(values).to_numpy(), np.cumsum(values, dtype=np.int32))
    assert argmax(values) == values.argmax()


KEYS = {
    "nearly all equal": lambda random, size: np.where(random.random(size) < 0.97, 7, random.integers(0, 2**62, size)),
    "few values far apart": lambda random, size: random.integers(0, 5, size) << 50,
    "differing in their lowest bits": lambda random, size: 2**61 + random.integers(0, 2**9, size),
    "in order": lambda random, size: np.arange(size) * 3,
    "in reverse": lambda random, size: np.arange(size)[::-1] * 2**33,
    "equal leading bits": lambda random, size: (random.integers(0, 40, size) << 40) + random.integers(0, 2**20, size),
}


@pytest.mark.parametrize("size", [49, 5000, 300_007])
@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_every_distribution_are_sorted_stably(kind, size):
    keys = KEYS[kind](np.random.default_rng(size), size).astype(np.int64)
    expected = np.argsort(keys, kind="stable")
    found, order = keys.copy(), np.arange(size)
    parallel_sort(found, order)
    np.testing.assert_array_equal(found, keys[expected])
    np.testing.assert_array_equal(order, expected)


@pytest.mark.parametrize("place", [0, 63, 64, 32767, 32768, 99_999])
@pytest.mark.parametrize("dtype_", [np.float32, np.float64])
def test_an_extreme_is_found_where_it_is(dtype_, place):
    values = np.sin(np.arange(100_000)).astype(dtype_)
    extremes = [(np.inf, argmax), (-np.inf, argmin), (np.nan, argmax), (np.nan, argmin), (2.0, argmax), (-2.0, argmin)]
    for extreme, find in extremes:
        values[place] = extreme
        values[place + 1 :: 20_000] = extreme
        assert find(values) == place


@pytest.mark.parametrize("n", [2, 10, 1000, 100_000])
@pytest.mark.parametrize(("source", "target"), [(slice(None, -1), slice(1, None)), (slice(1, None), slice(None, -1))])
@pytest.mark.parametrize("exclusive", [False, True])
def test_a_prefix_sum_into_memory_that_overlaps_is_that_of_what_was_there(n, source, target, exclusive):
    x = np.arange(n, dtype=np.float64)
    sums = np.cumsum(x[source])
    expected = sums - x[source] if exclusive else sums
    sv.algorithms.prefix_sum(x[source], x[target], exclusive=exclusive)
    assert (x[target] == expected).all()


def test_a_prefix_sum_in_place_by_another_view_of_the_same():
    x = np.arange(1000, dtype=np.int64)
    expected = np.cumsum(x)
    sv.algorithms.prefix_sum(x[:], x[:])
    assert (x == expected).all()


def test_keys_and_values_that_overlap_are_refused():
    x = np.arange(20, dtype=np.int32)[::-1].copy()
    for keys, values in ((x[:10], x[5:15]), (x, x)):
        with pytest.raises(ValueError, match="overlap"):
            sv.algorithms.parallel_sort(keys, values)
    assert (x == np.arange(20)[::-1]).all()
    sv.algorithms.parallel_sort(x[:10], x[10:])
    assert x.tolist() == [*range(10, 20), *range(10)]


def test_pairs_of_keys_and_values_that_are_interleaved_are_sorted():
    x = np.arange(20, dtype=np.int32)[::-1].copy()
    sv.algorithms.parallel_sort(x[::2], x[1::2])
    assert x[::2].tolist() == list(range(1, 20, 2))
    assert x[1::2].tolist() == list(range(0, 20, 2))
