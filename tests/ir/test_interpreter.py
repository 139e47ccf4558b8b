"""The interpreter that other tests rely on: complete, exact, and able to see a race."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_arithmetic import COMPARISONS, EXACT, MATHEMATICS, TYPED, evaluate
from ir_builder import Builder
from ir_interpreter import WATCHING, Interpreter, Wrong
from samovar._native import f32, f64, i8, i32, i64, u8, u32
from samovar.ir.opcodes import CELL_OPERATIONS, OPCODES
from samovar.ir.values import Array

ELSEWHERE = "select cast bitcast isnan isinf shape extract lane_numbers any reduce shuffle uniform listed".split()


def test_every_operation_has_a_meaning() -> None:
    pure = {code for code, row in OPCODES.items() if row.effect == "pure"}
    assert pure - {"detach"} == {*EXACT, *TYPED, *COMPARISONS, *MATHEMATICS, *ELSEWHERE}
    rest = {code for code, row in OPCODES.items() if row.effect in ("read", "write")}
    elsewhere = "reserve scratch thread threads clock poll spend call push pop key random print check".split()
    elsewhere += ["stop_gradient", "surrogate", "unavailable"]  # gone before code is executed
    assert rest == {*Interpreter.MEMORY, *WATCHING, *elsewhere, *CELL_OPERATIONS - {"listed"}}


def test_integers_wrap_and_divide_as_the_table_says() -> None:
    assert evaluate("add", i8, (100, 100)) == -56
    assert evaluate("floordiv", i8, (-128, -1)) == -128
    assert evaluate("floordiv", i32, (7, 0)) == 0
    assert evaluate("mod", i32, (-7, 3)) == 2
    assert evaluate("pow", i32, (-1, -3)) == -1
    assert evaluate("shl", u8, (1, 8)) == 0
    assert evaluate("shr", i8, (-5, 100)) == -1
    assert evaluate("clz", i32, (0,)) == 32
    assert evaluate("ffs", i32, (12,)) == 3
    assert evaluate("popcnt", i8, (-1,)) == 8


def test_the_number_is_preferred_to_nan() -> None:
    assert evaluate("min", f32, (math.nan, 2.0)) == 2.0
    assert evaluate("max", f64, (2.0, math.nan)) == 2.0


@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_are_rounded_once_on_the_way_to_a_float(value: int) -> None:
    assert evaluate("cast", f32, (value,), i64) == float(np.array(value, np.int64).astype(np.float32))


@given(st.floats(width=32), st.floats(width=32), st.floats(width=32))
def test_a_fused_product_is_rounded_once(a: float, b: float, c: float) -> None:
    found = evaluate("fma", f32, (a, b, c))
    with np.errstate(all="ignore"):
        close = np.float32(np.longdouble(a) * np.longdouble(b) + np.longdouble(c))
    assert math.isclose(found, float(close), rel_tol=1e-6, abs_tol=1e-44) or (found != found and close != close)


def counting(code: str) -> Builder:
    build = Builder(Array("a", i32, 1))
    with build.parallel(8):
        build.atomic("add", build["a"], [0], 1).code = code
    return build


def test_a_plain_update_of_a_shared_element_loses_values_and_an_atomic_does_not() -> None:
    totals: dict[str, set[int]] = {"atomic": set(), "update": set()}
    for code, found in totals.items():
        for seed in range(20):
            elements = np.zeros(1, np.int32)
            Interpreter(counting(code).kernel(), {"a": elements}, seed=seed).run()
            found.add(int(elements[0]))
    assert totals["atomic"] == {8}
    assert min(totals["update"]) < 8


def test_errors_of_a_program_are_seen() -> None:
    build = Builder(Array("a", u32, 1), returns=[u32])
    build.give(build.load(build["a"], -1))
    with pytest.raises(Wrong, match=r"load of a\[-1\]"):
        Interpreter(build.kernel(), {"a": np.zeros(3, np.uint32)}).run()
    build = Builder(returns=[i32])
    build.give(build.get(build.local("v", i32)))
    with pytest.raises(Wrong, match="before it is assigned"):
        Interpreter(build.kernel(), {}).run()
