"""Functions of numbers on vectors and matrices in plain Python: entry by entry, in the type that a kernel gives them."""

import math

import numpy as np
import pytest

import samovar as sv
from samovar.language.operations import OPERATIONS

from .model import FLOATS, INTEGERS, NAMES, dtype, same

ROWS = [row for row in OPERATIONS.values() if row.spellings]


def public(row):
    return getattr(sv, row.name, None) or getattr(sv.math, row.name)


@pytest.mark.parametrize("row", [row for row in ROWS if row.staged in ("floats", "rounding")], ids=lambda row: row.name)
@pytest.mark.parametrize("name", [*FLOATS, "i32"])
def test_functions_of_floats(row, name):
    values = [dtype(name)(x) for x in (0.0, 0.25, 1.0, 2.5, -0.5, 3.0)]
    arguments = [values, values[::-1], values[2:] + values[:2]][: row.arity]
    result = public(row)(*(sv.Vector(each, dtype(name)) for each in arguments))
    kept = row.staged == "rounding" or name in FLOATS
    assert result.dtype is (dtype(name) if kept else sv.f32)
    for found, entries in zip(result, zip(*arguments, strict=True), strict=True):
        assert same(found, result.dtype(public(row)(*entries)))


@pytest.mark.parametrize("name", NAMES)
def test_functions_that_keep_the_type(name):
    values = [dtype(name)(x) for x in (0, 1, 3, -2, 100)]
    v, w = sv.Vector(values, dtype(name)), sv.Vector(values[::-1], dtype(name))
    assert sv.max(v, w, v).entries == [max(a, b) for a, b in zip(v, w, strict=True)]
    assert sv.min(v, w).dtype is dtype(name)
    assert sv.math.clamp(v, v, w).dtype is dtype(name)
    assert sv.select(v > 1, v, w).entries == [a if a > 1 else b for a, b in zip(v, w, strict=True)]
    arithmetic = sv.i32 if name == "u1" else dtype(name)
    assert sv.abs(v).dtype is sv.math.sign(v).dtype is arithmetic
    assert sv.math.sign(v).entries == [(a > 0) - (a < 0) for a in v]


@pytest.mark.parametrize("name", INTEGERS)
def test_functions_of_bits(name):
    values = [dtype(name)(x) for x in (0, 1, 5, -1)]
    mask = (1 << dtype(name).bits) - 1
    v = sv.Vector(values, dtype(name))
    assert sv.math.popcnt(v).entries == [bin(x & mask).count("1") for x in values]
    assert sv.math.clz(v).entries == [dtype(name).bits - (x & mask).bit_length() for x in values]
    assert sv.math.ffs(v).entries == [0, 1, 1, 1]
    assert sv.math.popcnt(v).dtype is sv.i32


def test_bits_of_floats_are_not_counted():
    with pytest.raises(TypeError, match="f32"):
        sv.math.popcnt(sv.Vector([1.0]))


def test_functions_of_shaders():
    v = sv.Vector([0.0, 1.0, 2.0])
    assert sv.math.mix(v, v + 2, 0.5).entries == [1, 2, 3]
    assert sv.math.mix(1.0, 3.0, v).entries == [1, 3, 5]
    assert sv.math.step(1.0, v).entries == [0, 1, 1]
    assert sv.math.fract(v + 0.25).entries == [0.25] * 3
    assert sv.math.radians(v * 180).entries == pytest.approx([0, math.pi, 2 * math.pi])
    assert sv.math.degrees(sv.Vector([1], sv.f64)).entries == [math.degrees(1)]
    assert sv.math.clamp(v, 0.5, 1.5).entries == [0.5, 1, 1.5]
    assert sv.math.clamp(x=v, xmin=1, xmax=1).entries == [1, 1, 1]
    assert sv.math.smoothstep(0.0, 2.0, v).entries == [0, 0.5, 1]
    assert sv.math.smoothstep(1.0, sv.Vector([1.0, 2.0, 2.0]), v).entries == [0, 0, 1]
    assert sv.math.smoothstep(1.0, 1.0, 1.0) == 1.0
    assert sv.pow(v, 2).entries == [0, 1, 4]
    assert sv.pow(2, sv.Vector([1, 2])).entries == [2, 4]


def test_tests_and_choices():
    v = sv.Vector([math.nan, math.inf, 1.0])
    assert sv.isnan(v).entries == [True, False, False]
    assert sv.isinf(v).entries == [False, True, False]
    assert sv.isnan(v).dtype is sv.u1
    assert sv.select(True, sv.Vector([1, 2]), 0.5).entries == [1.0, 2.0]
    assert sv.select(sv.Vector([True, False]), 1, 2).entries == [1, 2]
    assert sv.max(sv.Vector([3, 5, 4])) == 5


def test_conversions():
    v = sv.Vector([1.5, -2.5])
    assert sv.cast(v, sv.i32).entries == [1, -2]
    assert sv.bit_cast(sv.Vector([1.0]), sv.u32).entries == [0x3F800000]
    assert sv.bit_cast(sv.Vector([-1]), sv.u32).entries == [0xFFFFFFFF]
    with pytest.raises(TypeError, match="f32 and u64"):
        sv.bit_cast(v, sv.u64)
    assert sv.floor(v, sv.i32).entries == [1, -3]
    assert sv.floor(v, dtype=sv.i32).dtype is sv.i32
    assert round(v).entries == [2, -2]
    assert sv.floor(sv.Vector([3])).dtype is sv.i32


def test_matrices_keep_their_shape():
    m = sv.Matrix([[0.0, 1.0], [4.0, 9.0]])
    assert sv.sqrt(m).to_list() == [[0, 1], [2, 3]]
    assert sv.atan2(m, m).shape == (2, 2)
    with pytest.raises(sv.SamovarTypeError, match="`atan2` requires values of the same shape, or numbers, got 2×2 and 2"):
        sv.atan2(m, sv.Vector([1, 2]))
    with pytest.raises(TypeError, match="`hypot` requires numbers, lists, arrays, vectors or matrices, not a dict"):
        sv.math.hypot(m, {})


def test_numbers_are_as_they_were():
    assert sv.sin(x=0.0) == 0.0
    assert sv.max(1, 2) == 2
    assert isinstance(sv.sin(np.float32(0)), float)


def test_the_inner_product_of_matrices_and_the_shape_as_a_method():
    @sv.kernel
    def both() -> sv.f32:
        a = sv.Matrix([[1.0, 2.0], [3.0, 4.0]])
        return a.frobenius_inner(other=a * 2) + 100 * a.get_shape()[1]

    assert both() == 260
    a = sv.Matrix([[1, 2], [3, 4]])
    assert (a.frobenius_inner(a), a.get_shape()) == (30, (2, 2))
