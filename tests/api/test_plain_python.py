"""Samovar's functions called from plain Python: the same meaning, on Python numbers."""

import math

import pytest

import samovar as sv


def test_ndrange_goes_over_a_box():
    assert list(sv.ndrange(2, (1, 3))) == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert list(sv.ndrange(3)) == [0, 1, 2]
    assert list(sv.ndrange(2, 0)) == []


def test_the_axes_of_ndrange_are_the_order_of_the_loops():
    assert list(sv.ndrange(2, (5, 7), axes=(1, 0))) == [(0, 5), (1, 5), (0, 6), (1, 6)]
    with pytest.raises(ValueError, match="axes"):
        sv.ndrange(2, 2, axes=(0, 0))


def test_grouped_gives_tuples():
    assert list(sv.grouped(sv.ndrange(2))) == [(0,), (1,)]
    assert list(sv.grouped(sv.ndarray(sv.f32, (1, 2)))) == [(0, 0), (0, 1)]


def test_static_functions():
    assert sv.static([1]) == [1]
    sv.static_assert(True)
    with pytest.raises(sv.SamovarCompilationError, match="static_assert failed: too small"):
        sv.static_assert(False, "too small")


def test_casts():
    assert sv.cast(3.9, sv.i32) == 3
    assert sv.cast(300, sv.u8) == 44
    assert sv.bit_cast(1.0, sv.i32) == 0x3F800000
    assert sv.bit_cast(0x3F800000, sv.f32) == 1.0
    assert sv.bit_cast(-1, sv.u32) == 0xFFFFFFFF
    assert sv.bit_cast(0xFFFFFFFF, sv.i32) == -1


@pytest.mark.parametrize(
    "name", [name for name in sv.__all__ if name.startswith("atomic_")]
)
def test_atomics_say_where_they_work(name):
    arguments = (0, 1, 2) if name == "atomic_cas" else (0, 1)
    with pytest.raises(sv.SamovarRuntimeError, match=f"sv.{name} works on array elements inside kernels"):
        getattr(sv, name)(*arguments)
    with pytest.raises(TypeError, match=name):
        getattr(sv, name)()


def test_outside_of_the_domain_there_are_nans_and_infinities():
    assert math.isnan(sv.sqrt(-1.0))
    assert math.isnan(sv.log(-1.0))
    assert sv.log(0.0) == -math.inf
    assert sv.math.log1p(-1.0) == -math.inf
    assert sv.exp(1e6) == math.inf
    assert sv.sinh(-1e6) == -math.inf
    assert sv.rsqrt(0.0) == math.inf
    assert sv.math.exp2(5000.0) == math.inf
    assert sv.floor(math.inf) == math.inf
    assert math.isnan(sv.sin(math.inf))


def test_of_a_nan_and_a_number_the_number_counts():
    assert sv.min(math.nan, 2.0) == 2.0
    assert sv.max(1.0, math.nan, 3.0) == 3.0
    assert math.isnan(sv.max(math.nan, math.nan))


def test_rounding_gives_floats():
    assert (sv.floor(1.5), sv.ceil(1.5), sv.round(2.5), sv.math.trunc(-1.5)) == (1.0, 2.0, 2.0, -1.0)
    assert all(isinstance(f(1.5), float) for f in (sv.floor, sv.ceil, sv.round, sv.math.trunc))


def test_bits():
    assert [sv.math.popcnt(n) for n in (0, 7, -1, -(2**40))] == [0, 3, 32, 24]
    assert [sv.math.clz(n) for n in (0, 1, -1, 2**40)] == [32, 31, 0, 23]
    assert [sv.math.ffs(n) for n in (0, 1, 8, -8)] == [0, 1, 4, 4]


def test_shader_functions():
    assert sv.math.clamp(-1, 0, 5) == 0
    assert sv.math.mix(2.0, 4.0, 0.5) == 3.0
    assert (sv.math.step(1.0, 0.5), sv.math.step(1.0, 1.0)) == (0.0, 1.0)
    assert [sv.math.sign(x) for x in (-2.0, 0.0, 3.0)] == [-1.0, 0.0, 1.0]
    assert sv.math.cbrt(-8.0) == pytest.approx(-2.0)


def test_random_numbers_stay_in_their_range():
    for dtype in (sv.f16, sv.f32, sv.f64):
        assert all(0.0 <= sv.random(dtype) < 1.0 for _ in range(200))
    assert all(-128 <= sv.random(sv.i8) < 128 for _ in range(200))
    assert {sv.random(sv.u1) for _ in range(200)} == {False, True}
