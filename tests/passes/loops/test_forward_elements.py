"""Elements: what was loaded or stored before is not loaded again, unless something in between may have changed it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samovar as sv
from passes.loops.rewriting import check, outlined
from samovar.ir import Kernel, walk_kernel
from samovar.passes.loops.forward_elements import forward_elements

Floats = sv.types.NDArray[sv.f32, 1]


def loads(kernel: Kernel, name: str = "a") -> int:
    return sum(each.code == "load" and each.payload.name == name for each in walk_kernel(kernel))


@sv.kernel
def twice(a: Floats, b: Floats, n: sv.i32):
    for i in range(n):
        if a[i] > 0.5:
            b[i] = a[i] + a[i]


@sv.kernel
def stored(a: Floats, b: Floats, n: sv.i32):
    for _ in range(1):
        for i in range(n):
            a[i] = 3.0
            a[i + 1] = 4.0
            b[i] += a[i]


@sv.kernel
def changed(a: Floats, b: Floats, n: sv.i32):
    for _ in range(1):
        for j in range(n):
            x = a[j]
            a[n - 1 - j] = 2.0
            b[j] = x + a[j]


@sv.kernel
def changed_in_a_branch(a: Floats, b: Floats, n: sv.i32):
    for i in range(n):
        x = a[i]
        if x > 0.5:
            a[i] = 9.0
        b[i] = x + a[i]


@sv.kernel
def changed_in_a_loop(a: Floats, b: Floats, n: sv.i32):
    for i in range(n):
        x = a[i]
        for k in range(2):
            b[i] += a[i]
            a[i] = x + k


@sv.kernel(serial=True)
def updated_again(a: sv.types.NDArray[sv.f32, 2], n: sv.i32):
    for i in range(n):
        a[i, 1] -= a[i, 0]
        a[i, 2] -= a[i, 1]
        a[i, 2] *= a[i, 0]
        a[i, 3] += a[n - 1 - i, 1]


@sv.kernel(serial=True)
def overwritten(a: Floats, b: Floats, n: sv.i32):
    for i in range(n):
        a[i + 1] = 1.0
        a[i + 2] = 2.0  # read by the next statement if n - i - 1 is i + 2
        b[i] = a[n - i - 1]
        a[i + 1] = 3.0
        a[i + 2] = b[i]
        a[i + 1] = 4.0
        if b[i] > 2.0:
            a[i + 2] = 5.0
        a[i + 2] = 6.0


@sv.kernel
def through_another(a: Floats, b: Floats, n: sv.i32):
    for _ in range(1):
        for j in range(n):
            x = a[j]
            b[j] = 2.0
            b[j + 1] = x + a[j]


@sv.kernel
def old_values(a: Floats, b: Floats, n: sv.i32):
    for i in range(n):
        x = sv.atomic_add(a[i], a[i] * 0.5)
        y = sv.atomic_sub(a[i], x * x)
        b[i] = x * y + a[i]


@sv.kernel
def computed_on_both_sides(a: Floats, b: Floats, n: sv.i32):
    for i in range(n):
        if b[i] > 0.5:
            b[i] = a[i + 1]
        else:
            b[i] = a[i + 1] + 1.0


@sv.kernel
def left_before(a: Floats, b: Floats, n: sv.i32):
    for _ in range(1):
        for i in range(n + 3):
            if i > n:
                continue
            else:
                b[0] += a[i]
            b[1] += a[i]


def arguments(n: int = 7) -> dict[str, Any]:
    a, b = (np.random.default_rng(seed).random(n + 1).astype(np.float32) for seed in (1, 2))
    return {"a": a, "b": b, "n": n}


@pytest.mark.parametrize(
    ("kernel", "left"),
    [(twice, 1), (stored, 0), (changed, 2), (changed_in_a_branch, 2), (changed_in_a_loop, 2), (through_another, 1),
     (old_values, 1), (computed_on_both_sides, 2), (left_before, 2)],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_loads_that_are_left(kernel: Any, left: int) -> None:
    made = check(lambda: outlined(kernel, arguments()), arguments(), forward_elements)
    assert loads(made) == left


def test_arrays_that_may_share_memory_change_each_other() -> None:
    made = outlined(through_another, arguments(), shared=("a", "b"))
    forward_elements(made)
    assert loads(made) == 2


@sv.kernel
def neighbors(a: Floats, k: sv.types.NDArray[sv.i32, 1]):
    for _ in range(1):
        for j in range(k.shape[0]):
            i = k[j]
            a[i + 1] += 1.0
            a[i + 2] += 2.0


@sv.kernel
def records(a: Floats, k: sv.types.NDArray[sv.i32, 1]):
    for _ in range(1):
        for j in range(k.shape[0]):
            i = k[j]
            a[2 * i] += 1.0
            a[2 * i + 1] += 2.0


@sv.kernel
def between_records(a: Floats, k: sv.types.NDArray[sv.i32, 1]):
    for _ in range(1):
        for j in range(k.shape[0]):
            i = k[j]
            a[2 * i + 1] += 1.0
            a[2 * i + 2] += 2.0


@pytest.mark.parametrize(("kernel", "apart"), [(neighbors, True), (records, False), (between_records, True)])
def test_neighbors_are_updated_one_by_one_if_others_may_overlap_them_by_half(kernel: Any, apart: bool) -> None:
    given = {"a": np.zeros(9, np.float32), "k": np.array([0, 1, 1, 3], np.int32)}
    made = check(lambda: outlined(kernel, given), given, forward_elements)
    updates = [each for each in walk_kernel(made) if each.code == "update"]
    assert [each.payload.singly for each in updates] == [apart, apart]


def test_an_element_that_is_updated_again_is_not_loaded_again() -> None:
    x = np.random.default_rng(0).random((6, 4)).astype("f4")
    made = check(lambda: outlined(updated_again, {"a": x, "n": 6}), {"a": x, "n": 6}, forward_elements)
    assert loads(made) == 4  # a[i, 0], a[i, 1], a[i, 2] and that of another row
    assert sum(each.code == "update" for each in walk_kernel(made)) == 1


def test_a_store_that_is_overwritten_at_once_is_dropped() -> None:
    for n in range(7):
        arguments = {"a": np.arange(9, dtype="f4"), "b": np.zeros(9, "f4"), "n": n}
        made = check(lambda: outlined(overwritten, arguments), arguments, forward_elements)  # noqa: B023
    assert sum(each.code == "store" and each.payload.name == "a" for each in walk_kernel(made)) == 6
