"""Random numbers as functions of a counter: floats reach every value below one, and never one."""

from __future__ import annotations

import pytest

from ir_builder import Builder
from ir_interpreter import Interpreter
from samovar._native import DType, f16, f32, f64, u64
from samovar.ir import verify
from samovar.ir.traversal import walk_kernel
from samovar.passes.random_numbers import assign_random_streams, expand_random_numbers


@pytest.mark.parametrize(("type", "digits"), [(f16, 11), (f32, 24), (f64, 53)], ids=str)
def test_random_floats_are_made_of_random_bits(type: DType, digits: int) -> None:
    build = Builder(returns=[type])
    build.give(build.op("random", type=type))
    kernel = build.kernel()
    assign_random_streams(kernel)
    verify(kernel)
    meant = [Interpreter(kernel, {}, seed=seed).run()[0] for seed in range(50)]
    expand_random_numbers(kernel)
    verify(kernel)
    assert [each.type for each in walk_kernel(kernel) if each.code in ("key", "random", "uniform")] == [u64]
    draws = [Interpreter(kernel, {}, seed=seed).run()[0] for seed in range(50)]
    assert draws == meant
    assert all(0.0 <= draw < 1.0 for draw in draws)
    assert len(set(draws)) > 40
    # As many digits as the type has, and no more.
    assert all(float(draw * 2**digits).is_integer() for draw in draws)
    assert any(draw * 2 ** (digits - 1) % 1 for draw in draws)
