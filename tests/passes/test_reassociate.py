"""Minima of several terms: what the iteration before has stored comes last, and nothing else changes."""

from __future__ import annotations

import pytest
from samovar.passes.late_terms import put_late_terms_last

from ir_builder import Builder
from samovar._native import DType, f32, i32
from samovar.ir import verify
from samovar.ir.traversal import walk
from samovar.ir.values import Array, Constant, Operation, Value


def table(dtype: DType, before: int = -1, row: int = 0, uses: int = 1) -> tuple[Builder, Operation]:
    """A loop that stores `min(min(d[i + row, j + before] + 1, p[j]), min(q[j], 5))`; gives what is loaded from the table."""
    build = Builder(*(Array(name, dtype, ndim, alone=True) for name, ndim in (("d", 2), ("p", 1), ("q", 1))))
    with build.loop(1, 10) as i, build.loop(1, 20) as j:
        loaded = build.load(build["d"], build.op("add", i, row) if row else i, build.op("add", j, before))
        five = Constant(5 if dtype is i32 else 5.0, dtype)
        left = build.op("min", build.op("add", loaded, five), build.load(build["p"], j))
        right = build.op("min", build.load(build["q"], j), five)
        for _ in range(uses - 1):
            build.store(build["p"], [j], left)
        build.store(build["d"], [i, j], build.op("min", left, right))
    return build, loaded


def waiting(build: Builder, loaded: Operation) -> int:
    """How many minima are taken of what needs a value."""
    needs: set[Value] = {loaded}
    count = 0
    for operation in walk(build.body):
        if any(operand in needs for operand in operation.operands):
            needs.add(operation)
            count += operation.code == "min"
    return count


@pytest.mark.parametrize(("dtype", "fast_math"), [(i32, False), (i32, True), (f32, True)])
def test_what_was_stored_last_comes_last(dtype: DType, fast_math: bool) -> None:
    build, loaded = table(dtype)
    assert waiting(build, loaded) == 2
    kernel = build.kernel()
    put_late_terms_last(kernel, fast_math)
    verify(kernel)
    assert waiting(build, loaded) == 1
    assert kernel.recurs
    assert [each.code for each in walk(build.body)].count("min") == 3


@pytest.mark.parametrize("options", [{"row": -1}, {"before": -2}, {"before": 1}, {"uses": 2}])
def test_other_elements_and_what_is_used_elsewhere_stay(options: dict[str, int]) -> None:
    build, loaded = table(i32, **options)
    put_late_terms_last(build.kernel(), True)
    assert waiting(build, loaded) == 2


def test_floats_keep_their_order_without_fast_math() -> None:
    build, loaded = table(f32)
    put_late_terms_last(build.kernel(), False)
    assert waiting(build, loaded) == 2
