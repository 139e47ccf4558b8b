"""How often a kernel is staged: once, unless only staging can decide the type or kind of a variable (ADR 0079)."""

import numpy as np
import pytest

import samovar as sv
from samovar.frontend import lowering


@sv.func
def double(x: sv.template()):
    x *= 2


@sv.kernel
def largest(a: sv.types.NDArray[sv.f32, 1]) -> sv.f32:
    top = -1e9
    for i in a:
        sv.atomic_max(top, a[i])
    return top


@sv.kernel
def last(a: sv.types.NDArray[sv.f32, 1], first: sv.u1) -> sv.f32:
    x = a[0]
    if not first:
        x = a[2]
    return x


@sv.kernel
def widened(a: sv.types.NDArray[sv.f64, 1]) -> sv.f64:
    total = 0.0
    for i in a:
        total += a[i]
    return total


@sv.kernel
def changed_by_a_func(a: sv.types.NDArray[sv.f32, 1]) -> sv.f32:
    x = a[0]
    double(x)
    return x


@pytest.mark.parametrize(
    ("kernel", "dtype", "arguments", "result", "count"),
    [
        (largest, np.float32, (), 3, 1),
        (last, np.float32, (False,), 3, 1),
        (widened, np.float64, (), 6, 2),
        (changed_by_a_func, np.float32, (), 2, 2),
    ],
)
def test_a_kernel_is_staged_as_often_as_its_variables_need(kernel, dtype, arguments, result, count, monkeypatch):
    staged = []
    original = lowering.stage_kernel
    monkeypatch.setattr(lowering, "stage_kernel", lambda context: staged.append(context) or original(context))
    sv.init(offline_cache=False)
    try:
        assert kernel(np.array([1, 2, 3], dtype), *arguments) == result
    finally:
        sv.reset()
    assert len(staged) == count
