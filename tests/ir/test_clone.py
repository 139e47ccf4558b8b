"""Copies of code: they do the same, share nothing that they define, and work on what they are told to."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from hypothesis_profiles import examples
from ir_builder import Builder
from ir_interpreter import Interpreter, same
from passes.loops.rewriting import AVX2, vectorize
from passes.programs import ARRAYS, arguments, kernels
from samovar._native import i32
from samovar.ir import Array, For, Kernel, Local, LocalArray, Operation, ParallelFor, Parameter, Region, verify, walk
from samovar.ir.clone import Clone
from samovar.ir.traversal import used, variables

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@examples("interpreted", suppress_health_check=RELAXED)
@given(kernels(), st.integers(0, 1000))
def test_a_copy_of_a_body_does_the_same(kernel: Kernel, data: int) -> None:
    expected, found = arguments(data), arguments(data)
    results = Interpreter(kernel, expected).run()
    originals: set[object] = set()
    for operation in walk(kernel.body):
        if isinstance(operation, ParallelFor):
            originals |= {*walk(operation.body), *(each for inner in walk(operation.body) for each in variables(inner))}
            operation.body = Clone().region(operation.body)
            assert originals.isdisjoint({value for each in walk(operation.body) for value in (each, *used(each))})
    verify(kernel)
    assert Interpreter(kernel, found).run() == results
    for name in ARRAYS:
        assert same(expected[name], found[name])


def test_values_locals_and_arrays_are_exchanged() -> None:
    build = Builder(Array("a", i32, 1), Array("b", i32, 1), Parameter("n", i32), Parameter("m", i32))
    x = build.local("x", i32)
    build.set(x, build["n"])
    build.store(build["a"], [0], build.get(x))
    build.change("update", "add", build["a"], [1], build.shape(build["a"]))
    other = Local("y", i32)
    clone = Clone({build["n"]: build["m"]}, {x: other, build["a"]: build["b"]})
    copied = clone.region(build.body)
    kernel = Kernel("k", build.parameters, (), copied, [], [other])
    a, b = np.zeros(2, np.int32), np.zeros(3, np.int32)
    Interpreter(kernel, {"a": a, "b": b, "n": 5, "m": 7}).run()
    assert a.tolist() == [0, 0]
    assert b.tolist() == [7, 3, 0]


def test_reserved_arrays_are_copied_with_the_code() -> None:
    build = Builder()
    table = LocalArray("table", i32, (4,), private=True)
    build.append(Operation("reserve", None, (), table))
    build.store(table, [1], 5)
    copied = Clone().region(build.body)
    reserve, store = copied.operations
    assert reserve.payload is store.payload is not table
    assert reserve.payload.shape == (4,)


def test_what_one_region_defines_the_next_one_finds() -> None:
    build = Builder(Parameter("n", i32))
    total = build.op("add", build["n"], 1)
    twice = build.op("mul", total, 2)
    clone = Clone()
    first = clone.region(Region([total])).operations[0]
    second = clone.region(Region([twice])).operations[0]
    assert second.operands[0] is first


def test_masks_hints_lines_and_origins_are_copied() -> None:
    build = Builder(Array("a", i32, 1, alone=True), Array("b", i32, 1, alone=True), Parameter("n", i32))
    with build.loop(0, build["n"]) as i, build.when(build.op("gt", build.load(build["b"], i), 3)):
        build.store(build["a"], [i], 1)
    kernel = build.kernel()
    assert vectorize(AVX2, 8)(kernel) == 1
    clone = Clone(origin="elsewhere")
    copied = clone.region(kernel.body)
    pairs = list(zip(walk(kernel.body), walk(copied), strict=True))
    masked = [(one, other) for one, other in pairs if getattr(one, "mask", None) is not None]
    assert masked
    assert all(other.mask is clone.values[one.mask] for one, other in masked)  # type: ignore[attr-defined]
    for one, other in pairs:
        assert (one.code, one.line, one.width) == (other.code, other.line, other.width)
        assert other.origin == "elsewhere"
        if isinstance(one, For):
            assert isinstance(other, For)
            assert one.hints == other.hints
            assert one.variable is not other.variable
    kernel.body = copied
    verify(kernel)
    a, b = np.full(20, 7, np.int32), np.arange(20, dtype=np.int32)
    Interpreter(kernel, {"a": a, "b": b, "n": 20}).run()
    assert a.tolist() == [*[7] * 4, *[1] * 16]
