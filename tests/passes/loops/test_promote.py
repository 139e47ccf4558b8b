"""Register promotion, interpreted before and after: elements that a loop does not move are kept in locals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samovar as sv
from passes.loops.rewriting import AVX2, AVX512, check, loops_in, lowered, outlined, vectorize
from samovar.ir import Array, Kernel, Operation, bodies, memory, walk
from samovar.passes import outline
from samovar.passes.loops import promote

Floats = sv.types.NDArray[sv.f64, 1]
Rows = sv.types.NDArray[sv.f64, 2]
Integers = sv.types.NDArray[sv.i32, 1]
SIZES = (0, 1, 2, 3, 7, 9, 17, 40)


@sv.kernel(serial=True)
def product(a: Rows, b: Rows, n: sv.i32):
    for i in range(n):
        for j in range(n):
            a[i, j] = 0.0
            for k in range(n):
                a[i, j] += b[i, k] * b[k, j]


@sv.kernel(serial=True)
def elimination(a: Rows, b: Rows, n: sv.i32):
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] * b[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


@sv.kernel(serial=True)
def upwards(a: Rows, b: Rows, n: sv.i32):
    """Downwards, with bounds on the other side."""
    for k in range(n - 1, -1, -1):
        for j in range(k - 1, -1, -1):
            a[0, j] += a[0, k] * b[k, j]


@sv.kernel(serial=True)
def swapped(a: Rows, b: Rows, n: sv.i32):
    """An element is read, written and read again."""
    for i in range(n):
        for j in range(n):
            b[i, j] = a[i, 0]
            a[i, 0] = b[j, i] + 1.0
            b[j, j] += a[i, 0]


@sv.kernel(serial=True)
def sometimes(a: Rows, b: Rows, n: sv.i32):
    """Not every iteration touches the element, and it may not be there."""
    for i in range(n):
        for j in range(n):
            if b[i, j] > 0.0:
                a[i + n - 1 - i, 0] += b[i, j]
        for j in range(n - 1):
            if j == 3:
                continue
            a[i, 1 % n] = max(a[i, 1 % n], b[i, j])


@sv.kernel(serial=True)
def beyond(a: Rows, b: Rows, n: sv.i32):
    """The loop runs no iteration where the element is not there."""
    for i in range(n + 5):
        for j in range(i, n):
            a[i, 0] = a[i, 0] + b[i, j]


@sv.kernel(serial=True)
def left(a: Rows, b: Rows, n: sv.i32):
    for i in range(n):
        for j in range(n):
            a[0, i] += b[i, j]
            if a[0, i] > 50.0:
                break
            a[0, i] *= 2.0


ALL = [product, elimination, upwards, swapped, sometimes, beyond, left]


def arguments(n: int) -> dict[str, Any]:
    random = np.random.default_rng(n)
    return {name: random.integers(-9, 9, (n, n)).astype(np.float64) for name in "ab"} | {"n": n}


def promoted(kernel: Kernel) -> None:
    promote(kernel, fast_math=False)
    outline(kernel, False)


@pytest.mark.parametrize("kernel", ALL, ids=lambda each: each.__name__)
def test_kept_elements_do_the_same(kernel: Any) -> None:
    for n in SIZES:
        given = arguments(n)
        for machine in (AVX2, AVX512):
            check(lambda: lowered(kernel, given), given, promoted, vectorize(machine, 8, 4, fast_math=False))  # noqa: B023


def innermost_accesses(kernel: Kernel, name: str) -> list[Operation]:
    """What the innermost loops do to an array."""
    inner = [each for body in bodies(kernel) for each in loops_in(body) if not loops_in(each.body)]
    accesses = [each for loop in inner for each in walk(loop.body)]
    return [each for each in accesses if isinstance(array := memory(each), Array) and array.name == name]


def test_sums_stay_out_of_memory() -> None:
    made = lowered(product, arguments(4))
    promote(made, fast_math=False)
    assert innermost_accesses(made, "a") == []


def test_bounds_tell_elements_apart() -> None:
    made = lowered(elimination, arguments(4))
    promote(made, fast_math=False)
    accesses = innermost_accesses(made, "a")
    assert sorted(each.code for each in accesses) == ["load", "update"]  # a[k, j] and a[i, j]; a[i, k] is in a local


@sv.kernel(serial=True)
def almost(a: Rows, b: Rows, n: sv.i32):
    """j begins at k: the element is one of those that are written."""
    for k in range(n):
        for i in range(k + 1, n):
            for j in range(k, n):
                a[i, j] -= a[i, k] * a[k, j]


def test_an_element_that_another_access_may_touch_stays_in_memory() -> None:
    made = lowered(almost, arguments(4))
    promote(made, fast_math=False)
    assert len(innermost_accesses(made, "a")) == 3
    for n in SIZES:
        given = arguments(n)
        check(lambda: lowered(almost, given), given, promoted)  # noqa: B023


def test_arrays_that_may_overlap_stay_in_memory() -> None:
    made = lowered(product, arguments(4), shared=("a", "b"))
    promote(made, fast_math=False)
    assert innermost_accesses(made, "a")


@sv.kernel
def counted(x: Integers, c: Integers):
    """In a task, updates that meet are atomic: one for each loop is enough."""
    for i in range(x.shape[0]):
        k = x[i] % 3
        for j in range(x.shape[0]):
            if x[j] > x[i]:
                c[k] += x[j]


def test_updates_of_a_loop_are_one_atomic() -> None:
    for n in SIZES:
        random = np.random.default_rng(n)
        given = {"x": random.integers(0, 99, n).astype(np.int32), "c": np.zeros(3, np.int32)}
        made = check(lambda: lowered(counted, given), given, promoted)  # noqa: B023
        assert not any(each.code == "atomic" for each in innermost_accesses(made, "c"))


@sv.kernel
def flag(x: Integers, c: Integers):
    """Another iteration may write the element meanwhile, and this one may not write it at all."""
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            if c[0] == 0 and x[j] == i:
                c[0] = 1


def test_no_write_is_invented_in_a_task() -> None:
    made = lowered(flag, {"x": np.arange(5, dtype=np.int32), "c": np.zeros(1, np.int32)})
    promote(made, fast_math=False)
    assert [each.code for each in innermost_accesses(made, "c")] == ["load", "store"]


@sv.kernel(serial=True)
def records(p: Rows, f: Rows, n: sv.i32):
    for i in range(n):
        for j in range(i + 1, n):
            d = p[j, 1] - p[i, 0]
            f[j, 2] -= d * p[j, 0]
            f[j, 1] = d
            f[j, 0] += d + p[j, 2]
            f[i, 0] += d


@sv.kernel(serial=True)
def parts(p: Rows, f: Rows, n: sv.i32):
    """Not all parts of a record are written, and one is written under a condition."""
    for j in range(n):
        f[j, 0] += p[j, 1]
        f[j, 1] = f[j, 0] + p[j, 2]
    for j in range(n):
        if p[j, 0] > 0.0:
            f[j, 2] = p[j, 0]
        f[j, 0] -= f[j, 2]
        f[j, 1] += 1.0


@sv.kernel(serial=True)
def conditions(p: Rows, f: Rows, n: sv.i32):
    """What is stored for some lanes is stored for all, if these hold the elements."""
    for j in range(n):
        if p[0, j % 3] + p[j, 1] < f[j, 1]:
            f[j, 1] = p[j, 1]
        elif f[j, 1] > 3.0:
            f[j, 1] -= 1.0
        f[j, 0] = f[j, 1]


@sv.kernel(serial=True)
def gaps(p: Rows, f: Rows, n: sv.i32):
    """A part of each record is left alone."""
    for j in range(n):
        f[j, 0] = p[j, 1]
        f[j, 2] = p[j, 0]


@sv.kernel(serial=True)
def diagonal(p: Rows, f: Rows, n: sv.i32):
    """All parts are written, those of different records."""
    for j in range(n - 1):
        f[j, 0] = p[j, 1]
        f[j + 1, 1] = p[j, 0]
        f[j, 2] = p[j, 2]


RECORDS = [records, parts, conditions, gaps, diagonal]


@pytest.mark.parametrize("kernel", RECORDS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("machine", [AVX2, AVX512], ids=["avx2", "avx512"])
def test_records_in_lanes_do_the_same(kernel: Any, machine: Any) -> None:
    for n in SIZES:
        random = np.random.default_rng(n)
        # Sums of small whole numbers are the same in any order.
        given = {name: random.integers(-9, 9, (n, 3)).astype(np.float64) for name in "pf"} | {"n": n}
        check(lambda: lowered(kernel, given), given, promoted, vectorize(machine, 8, 4))  # noqa: B023


def test_whole_records_are_stored_at_once() -> None:
    given = {"p": np.ones((9, 3)), "f": np.ones((9, 3)), "n": 9}
    made = outlined(records, given)
    vectorize(AVX512, 8)(made)
    stores = [each for body in bodies(made) for each in walk(body) if each.code == "store" and each.width]
    assert {each.width for each in stores} <= {8, 24}
    made = lowered(records, given)
    promoted(made)
    vectorize(AVX512, 8)(made)
    stores = [each for body in bodies(made) for each in walk(body) if each.code == "store" and each.width]
    assert {each.width for each in stores} == {24, 12}


@sv.kernel
def beyond(f: sv.types.NDArray[sv.f64, 1], n: sv.i32):
    """Elements of a record and of the next one: what the loop gives is not defined, and yet there is code for it."""
    for j in range(n):
        f[3 * j] = f[3 * j + 3]
        f[3 * j + 1] = 1.0
        f[3 * j + 2] = 2.0


def test_what_reaches_into_another_record_is_no_part_of_one() -> None:
    made = outlined(beyond, {"f": np.zeros(30), "n": 9})
    assert vectorize(AVX512, 8)(made)
