"""Element-wise loops, which LLVM makes vectors of: every size comes out right, in vectors as long as those of our own."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from build import Builder, kernel
from machine import rendered, run

from backends.optimize import optimized_text
from samovar._native import DType, f32, f64, i32
from samovar.backends.llvm.target import Target, host_target
from samovar.ir.machine import SCALAR
from samovar.ir.structure import Kernel
from samovar.ir.values import Array, Local, LoopVariable

Body = Callable[[Builder, Array, Array, LoopVariable], object]


class Fast:
    fast_math = True
    opt_level = 3
    flush_denormals = False
    without = ""


def over_two_arrays(body: Body, dtype: DType = f32, alone: bool = True) -> Kernel:
    x, y = Array("x", dtype, 1, alone=alone), Array("y", dtype, 1, alone=alone)

    def build(b: Builder) -> None:
        b.parallel((0, b.shape(y)), body=lambda i: discard(body(b, x, y, i)))

    return kernel([x, y], build)


def discard(_: object) -> None:
    """Nothing."""


def choosing(b: Builder, x: Array, y: Array, i: LoopVariable) -> None:
    positive = b.op("gt", b.load(x, i), 0.0)
    b.when(
        positive,
        lambda: discard(b.store(y, [i], b.op("mul", b.load(x, i), 2.0))),
        lambda: discard(b.store(y, [i], b.op("add", b.load(x, i), 1.0))),
    )


def neighbors(b: Builder, x: Array, y: Array, i: LoopVariable) -> None:
    b.store(y, [i], b.op("sub", b.load(x, b.op("add", i, 1)), b.load(x, i)))


def adding(b: Builder, x: Array, y: Array, i: LoopVariable) -> None:
    b.change("update", "add", y, [i], b.load(x, i))


PLAIN: dict[str, tuple[Body, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "choosing": (choosing, lambda x, y: np.where(x[:-1] > 0, x[:-1] * 2, x[:-1] + 1)),
    "neighbors": (neighbors, lambda x, y: x[1:] - x[:-1]),
    "adding": (adding, lambda x, y: y + x[:-1]),
}


@pytest.mark.parametrize("dtype", [f32, f64, i32], ids=str)
@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("size", [0, 1, 7, 8, 15, 16, 17, 31, 33, 1000])
def test_every_size_comes_out_right(name: str, dtype: DType, size: int) -> None:
    body, expected = PLAIN[name]
    kind = {"f32": np.float32, "f64": np.float64, "i32": np.int32}[dtype.name]
    x = (np.arange(size + 1) * 7 % 11 - 4).astype(kind)
    y = np.arange(size).astype(kind)
    wanted = expected(x, y)
    run(over_two_arrays(body, dtype), x, y)
    np.testing.assert_array_equal(y, wanted)


def counting_from(low: int, block: int | None) -> Kernel:
    """y[i] = x[i + 1] + i - (i - 2) for i from `low`: the variable as an index, as a value, and as both at once."""
    x, y = Array("x", f32, 1, alone=True), Array("y", f32, 1, alone=True)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            before = b.op("sub", i, 2)
            value = b.op("sub", b.cast(i, f32), b.cast(before, f32))
            b.store(y, [i], b.op("add", b.op("add", b.load(x, b.op("add", 1, i)), b.load(x, before)), value))

        b.parallel((low, b.op("sub", b.shape(y), 1)), body=body, block=block)

    return kernel([x, y], build)


@pytest.mark.parametrize("block", [None, 8])
@pytest.mark.parametrize("low", [2, 5, 90])
@pytest.mark.parametrize("size", [2, 40, 100])
def test_a_loop_may_begin_anywhere_and_use_its_variable(low: int, size: int, block: int | None) -> None:
    x, y = np.arange(size, dtype=np.float32), np.full(size, -1, np.float32)
    run(counting_from(low, block), x, y)
    wanted = [x[i + 1] + x[i - 2] + 2 if low <= i < size - 1 else -1 for i in range(size)]
    np.testing.assert_array_equal(y, np.array(wanted, np.float32))


def repeating(count: int) -> Kernel:
    x, y = Array("x", f32, 1, alone=True), Array("y", f32, 1, alone=True)
    value = Local("value", f32)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.set(value, b.load(x, i))
            b.loop(0, count, 1, body=lambda _: discard(b.set(value, b.op("mul", b.get(value), 0.5))))
            b.store(y, [i], b.get(value))

        b.parallel((0, b.shape(y)), body=body, locals=[value])

    return kernel([x, y], build)


@pytest.mark.parametrize("count", [0, 1, 4, 40])
def test_a_loop_of_constant_length_inside_comes_out_right(count: int) -> None:
    x, y = np.full(37, 16, np.float32), np.zeros(37, np.float32)
    run(repeating(count), x, y)
    np.testing.assert_array_equal(y, np.float32(16 * 0.5**count))


def with_long_vectors(design: str) -> Target:
    """The host as a processor with vectors of 512 bits."""
    long = {"avx512f", "avx512dq", "avx512vl", "avx512bw", "avx512cd", "evex512"}
    names = dict.fromkeys((*host_target().feature_map(), *long))
    features = ",".join("+" + name for name in names if not name.startswith(("avx512", "avx10")) or name in long)
    return replace(host_target(), cpu=design, features=features)


SHORT_BY_CHOICE = ("skylake-avx512", "cascadelake", "icelake-server", "tigerlake", "sapphirerapids", "emeraldrapids")


@pytest.mark.parametrize("dtype", [f32, f64], ids=str)
@pytest.mark.parametrize("target", [host_target(), *map(with_long_vectors, SHORT_BY_CHOICE)], ids=lambda target: target.cpu)
def test_vectors_are_planned_as_long_as_those_of_llvm(target: Target, dtype: DType) -> None:
    text = rendered(over_two_arrays(neighbors, dtype, alone=False), Fast()).text  # LLVM is not told how long
    longest = max(int(lanes) for lanes in re.findall(r"<(\d+) x (?:float|double)>", optimized_text(text, target)))
    assert longest == target.plans_for().lanes(dtype.bits)


def test_a_processor_without_avx2_has_no_plans() -> None:
    assert replace(host_target(), cpu="nehalem", features="+sse4.2,-avx2").plans_for() is SCALAR
