"""What a compile makes goes when it is not used any more, without the garbage collector: looking through all of it took
longer than some of the steps."""

from __future__ import annotations

import ast
import gc

import numpy as np

import samovar as sv
from samovar.ir import Operation


@sv.func
def chosen(x: sv.f32, y: sv.f32):
    return (x, y) if (0.0 < x < y <= 9.0 and y != 3.0) or not x > 1.0 else (y, x)


@sv.func
def summed(a: sv.types.NDArray[sv.f32, 1], i: sv.i32):
    s = 0.0
    for k in range(4):
        if a[k] > 0.5:
            s += sum([a[each] * other for each in sv.static(range(2)) for other in (1.0, 2.0)])
            continue
        while s < 10.0:
            s += a[i] + 1.0
            if s > 5.0:
                break
    return s


@sv.kernel
def everything(a: sv.types.NDArray[sv.f32, 1], n: sv.i32) -> sv.f32:
    total = 0.0
    for i in range(n):
        low, high = chosen(a[i], 2.0)
        v = sv.Vector([low, high, summed(a, i)])
        a[i] = v.norm() + v.dot(v)
        total += a[i]
    return total


def test_no_syntax_tree_and_no_operation_waits_for_the_collector() -> None:
    sv.init(offline_cache=False)
    gc.collect()
    before = gc.get_debug(), gc.isenabled()
    gc.disable()
    try:
        everything(np.arange(4, dtype=np.float32), 4)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = [each for each in gc.garbage if isinstance(each, (ast.AST, Operation))]
        assert left == []
    finally:
        gc.set_debug(before[0])
        gc.garbage.clear()
        if before[1]:
            gc.enable()
        sv.reset()
