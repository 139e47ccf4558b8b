"""Arithmetic as C has it, the parts of a float, and values of the type of another: kernels against plain Python."""

import math

import numpy as np

import samovar as sv

I1, F1, D1 = (sv.types.NDArray[dtype, 1] for dtype in (sv.i32, sv.f32, sv.f64))


@sv.kernel
def integers(a: I1, b: I1, quotient: I1, rest: I1, shifted: I1):
    for i in a:
        quotient[i] = sv.raw_div(a[i], b[i])
        rest[i] = sv.raw_mod(a[i], b[i])
        shifted[i] = sv.bit_shr(a[i], b[i] & 31)


def test_integers_as_c_has_them():
    a, b = np.random.default_rng(1).integers(-50, 50, (2, 500)).astype(np.int32)
    b[:5] = 0
    quotient, rest, shifted = np.zeros((3, 500), np.int32)
    integers(a, b, quotient, rest, shifted)
    for one, two, q, r, s in zip(a, b, quotient, rest, shifted, strict=True):
        one, two = int(one), int(two)
        assert (q, r) == (sv.raw_div(one, two), sv.raw_mod(one, two))
        assert (q, r) == ((int(one / two), math.fmod(one, two)) if two else (0, 0))
        assert s == np.int32(np.uint32(one & 0xFFFFFFFF) >> np.uint32(two & 31))


@sv.kernel
def parts(x: D1, m: D1, e: I1, y: F1, n: F1, f: I1):
    for i in x:
        m[i], e[i] = sv.frexp(x[i])
        n[i], f[i] = sv.frexp(y[i])


def test_the_parts_of_floats():
    x = np.array([0.0, -0.0, 1, -1, 12, 1e-310, -3e-320, 1e300, np.inf, -np.inf, np.nan, 0.1, 5e-324])
    y = np.array([0.0, -0.0, 1, -1, 12, 1e-40, -3e-44, 1e30, np.inf, -np.inf, np.nan, 0.1, 1e-45], np.float32)
    m, e, n, f = np.zeros_like(x), np.zeros(len(x), np.int32), np.zeros_like(y), np.zeros(len(x), np.int32)
    parts(x, m, e, y, n, f)
    for values, found, exponents in ((x, m, e), (y, n, f)):
        for value, mantissa, exponent in zip(values.tolist(), found.tolist(), exponents.tolist(), strict=True):
            expected = sv.frexp(value)
            assert exponent == expected[1]
            assert mantissa == expected[0] or math.isnan(value)
            assert math.copysign(1, mantissa) == math.copysign(1, value) or math.isnan(value)


@sv.kernel
def of_vectors(v: sv.math.ivec3) -> sv.math.ivec3:
    return sv.raw_div(v, 2) + sv.one(v) + sv.zero(v) + sv.ifte(v > 0, v, 0)


def test_entry_by_entry():
    v = sv.math.ivec3(-7, 5, 4)
    assert of_vectors(v).to_list() == [-2, 8, 7]
    assert (sv.raw_div(v, 2) + sv.one(v) + sv.zero(v) + sv.ifte(v > 0, v, 0)).to_list() == [-2, 8, 7]


def test_floats_divide_as_they_do():
    assert math.isinf(sv.raw_div(1.0, 0.0))
    assert math.isnan(sv.raw_div(0.0, 0.0))
    assert sv.raw_mod(-7.5, 2.0) == -1.5
