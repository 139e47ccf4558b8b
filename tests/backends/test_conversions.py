"""Casts and bit casts between all dtypes, choice, and constants."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from build import Builder, kernel
from machine import Machine, run
from test_operations import FLOATS, INTEGERS, NUMPY, dtype_of, samples, wrap

from samovar._native import f16, f32, f64, i64, u1, u64
from samovar.ir.values import Array, Constant, LoopVariable, Parameter

ALL = [*INTEGERS, *FLOATS, "u1"]


@cache
def casts(source: str) -> tuple[np.ndarray[Any, Any], dict[str, np.ndarray[Any, Any]]]:
    """The samples of a dtype, cast to every dtype."""
    x = Array("x", dtype_of(source), 1, alone=True)
    outputs = {target: Array(f"as_{target}", dtype_of(target), 1, alone=True) for target in ALL}

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            value = b.load(x, i)
            for target, out in outputs.items():
                b.store(out, [i], value if target == source else b.cast(value, dtype_of(target)))

        b.parallel((0, b.shape(x)), body=body)

    values = np.tile(samples(source), 3)
    arrays = {target: np.zeros(values.size, NUMPY[target]) for target in ALL}
    Machine(kernel([x, *outputs.values()], build))(values, *arrays.values())
    return values, arrays


@pytest.mark.parametrize("source", ALL)
@pytest.mark.parametrize("target", ALL)
def test_cast(source: str, target: str) -> None:
    values, arrays = casts(source)
    for value, found in zip(values.tolist(), arrays[target].tolist(), strict=True):
        if target in FLOATS:
            with np.errstate(all="ignore"):
                expected = float(NUMPY[target].type(value))
            assert found == expected or (math.isnan(found) and math.isnan(expected))
        elif target == "u1":
            assert found == (value != 0)
        elif source in FLOATS:
            assert found == saturated(value, target)
        else:
            assert found == wrap(int(value), target)


@pytest.mark.parametrize(
    ("value", "expected"), [(1.5e19, 15 * 10**18), (2.0**63, 2**63), (-1.0, 0), (0.9, 0), (3e19, 2**64 - 1)]
)
def test_unsigned_64_bit_truncation_covers_its_range(value: float, expected: int) -> None:
    x = Parameter("x", f64)
    assert run(kernel([x], lambda b: void(b.give(b.cast(x, u64))), [u64]), value) == (expected,)


def saturated(value: float, target: str) -> int:
    least, greatest = wrap(2 ** (int(target[1:]) - 1), target) if target[0] == "i" else 0, wrap(-1, target)
    greatest = greatest if target[0] == "u" else -least - 1
    return 0 if math.isnan(value) else least if value <= least else greatest if value >= greatest else int(value)


def void(_: object) -> None:
    """Discard."""


def test_bit_casts_keep_the_bits() -> None:
    x, y, z = Parameter("x", f64), Parameter("y", u64), Parameter("z", f16)

    def build(b: Builder) -> None:
        b.give(
            b.op("bitcast", x, type=i64), b.op("bitcast", y, type=f64), b.op("bitcast", z, type=dtype_of("u16")),
            b.op("bitcast", Constant(1.0, f32), type=dtype_of("i32")),
        )  # fmt: skip

    bits = run(kernel([x, y, z], build, [i64, f64, dtype_of("u16"), dtype_of("i32")]), -0.0, 0x3FF8000000000000, 1.0)
    assert bits == (-(2**63), 1.5, 0x3C00, 0x3F800000)


@pytest.mark.parametrize("name", ALL)
def test_select_takes_the_value_that_the_condition_names(name: str) -> None:
    c, x, y = Parameter("c", u1), Parameter("x", dtype_of(name)), Parameter("y", dtype_of(name))
    built = kernel([c, x, y], lambda b: void(b.give(b.op("select", c, x, y, type=dtype_of(name)))), [dtype_of(name)])
    machine = Machine(built)
    assert machine(True, 1, 0) == (1,)
    assert machine(False, 1, 0) == (0,)


@pytest.mark.parametrize("name", ALL)
def test_constants_arrive_exactly(name: str) -> None:
    values = samples(name).tolist()
    constants = [Constant(value, dtype_of(name)) for value in values]
    found = run(kernel([], lambda b: void(b.give(*constants)), [dtype_of(name)] * len(values)))
    assert all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(found, values, strict=True))
    assert [math.copysign(1, a) for a in found] == [math.copysign(1, b) for b in values]
