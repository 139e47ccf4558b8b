"""Minimum and maximum of floats: of a NaN and a number the number, whichever form LLVM is given."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from build import Builder, kernel
from machine import Machine

from samovar._native import DType, f16, f32, f64
from samovar.ir.structure import Kernel
from samovar.ir.values import Array, Local, LoopVariable, Parameter, Value
from samovar.language.options import Options

NUMPY = {f16: np.float16, f32: np.float32, f64: np.float64}
RULES = {"min": np.fmin, "max": np.fmax}
SHAPES = ("carried", "carried and stored", "of products", "in memory")


def over_rows(dtype: DType, code: str, shape: str) -> Kernel:
    """For each row of x an extreme, in out; `shape` says how a serial loop over the row comes to it."""
    x, out = Array("x", dtype, 2, alone=True), Array("out", dtype, 2, alone=True)
    local = Local("m", dtype)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.set(local, b.load(x, i, 0))

            def step(k: LoopVariable) -> None:
                element = b.load(x, i, k)
                if shape == "in memory":
                    b.store(out, [i, 0], b.op(code, b.load(out, i, 0), element))
                    return
                before: Value = b.get(local)
                if shape == "of products":
                    before, element = b.op("mul", before, 1.0), b.op("mul", element, 1.0)
                found = b.op(code, before, element)
                b.set(local, found)
                if shape == "carried and stored":
                    b.store(out, [i, k], found)

            b.loop(0, b.shape(x, 1), 1, body=step)
            if shape != "in memory":
                b.store(out, [i, 0], b.get(local))

        b.parallel((0, b.shape(x)), body=body, locals=[local])

    return kernel([x, out], build)


@cache
def machine(dtype: DType, code: str, shape: str, fast_math: bool) -> Machine:
    return Machine(over_rows(dtype, code, shape), Options(fast_math=fast_math))


def numbers(dtype: DType, columns: int) -> np.ndarray:
    """Rows of ordinary numbers, some with NaN, one of nothing but NaN, one with infinities and zeros of both signs."""
    random = np.random.default_rng(3)
    x = random.normal(scale=9, size=(6, columns)).astype(NUMPY[dtype])
    x[1, ::3] = np.nan
    x[2, 1:] = np.nan
    x[3] = np.nan
    x[4, ::2], x[4, 1::2] = 0.0, -0.0
    x[5, -1], x[5, 0] = np.inf, -np.inf
    return x


@pytest.mark.parametrize("fast_math", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("code", RULES)
@pytest.mark.parametrize("dtype", NUMPY, ids=str)
def test_a_number_wins_over_nan_in_every_loop(dtype: DType, code: str, shape: str, fast_math: bool) -> None:
    for columns in (1, 2, 7, 67):
        x = numbers(dtype, columns)
        out = np.full_like(x, np.nan)
        machine(dtype, code, shape, fast_math)(x, out)
        expected = RULES[code].accumulate(x, axis=1)
        np.testing.assert_array_equal(out[:, 0], expected[:, -1])
        if shape == "carried and stored":
            np.testing.assert_array_equal(out[:, 1:], expected[:, 1:])


def text(dtype: DType, code: str, shape: str) -> str:
    return machine(dtype, code, shape, True).rendered.text


@pytest.mark.parametrize("shape", ["carried", "in memory"])
def test_what_a_loop_carries_has_the_form_that_llvm_reduces(shape: str) -> None:
    assert "@llvm.maximumnum.f32" in text(f32, "max", shape)
    assert "@llvm.maxnum.f32" not in text(f32, "max", shape)


@pytest.mark.parametrize("shape", ["carried and stored", "of products"])
def test_what_cannot_be_reduced_has_the_shorter_form(shape: str) -> None:
    rendered = text(f64, "min", shape)
    assert re.search(r"@llvm\.minnum\.(v\d+)?f64", rendered)
    assert not re.search(r"@llvm\.minimumnum\.(v\d+)?f64", rendered)


@pytest.mark.parametrize("shape", SHAPES)
def test_halves_are_compared_and_never_rounded(shape: str) -> None:
    rendered = text(f16, "min", shape)
    assert re.search(r"fcmp olt (half|<\d+ x half>)", rendered)
    assert not re.search(r"num\.(v\d+)?f16", rendered)
    assert "fptrunc" not in rendered


def test_a_clamp_in_place_takes_the_number() -> None:
    x = Array("x", f32, 1, alone=True)
    limit = Parameter("limit", f32)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.store(x, [i], b.op("min", b.load(x, i), limit))

        b.parallel((0, b.shape(x)), body=body)

    values = np.array([1, np.nan, 3, -2], np.float32)
    Machine(kernel([x, limit], build))(values, 2.0)
    assert values.tolist() == [1, 2, 2, -2]
