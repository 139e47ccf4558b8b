"""The vector functions: as accurate as their page says, everywhere, with the C library's values at the ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from vector_calls import FUNCTIONS, available, called, lanes

from samovar._native import symbol_address
from samovar.backends.llvm.vectors import OWN

#: The largest error in units of the last place, for floats and doubles.
LARGEST = {"exp": (1.1, 1.1), "log": (0.9, 0.9), "sin": (1.6, 2.4), "cos": (1.6, 2.4), "tanh": (1.3, 1.4), "pow": (0.6, 1.1)}

EVERYWHERE = [(name, function) for name in available() for function in FUNCTIONS]
DTYPES = [np.dtype(np.float32), np.dtype(np.float64)]

np.seterr(all="ignore")


def exact(function: str, *numbers: np.ndarray) -> np.ndarray:
    """In a wider format; of angles too large for it to be exact, as the C library has it."""
    wide = np.float64 if numbers[0].dtype == np.float32 else np.longdouble
    compute: Callable[..., Any] = getattr(np, "power" if function == "pow" else function)
    return compute(*(number.astype(wide) for number in numbers))


def errors(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """In units of the last place; 0 where there is no number, which is compared as it is."""
    rounded = expected.astype(found.dtype)
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(found[~finite], rounded[~finite])
    format_ = np.finfo(found.dtype)
    least = format_.smallest_subnormal.astype(expected.dtype)
    unit = np.maximum(np.spacing(np.abs(rounded[finite])).astype(expected.dtype), least)
    # Below a power of two, the numbers of which the result is one lie half as far apart.
    below = np.abs(expected[finite]) < np.abs(rounded[finite]).astype(expected.dtype)
    whole = np.frexp(np.abs(rounded[finite]))[0] == 0.5
    unit = np.where(below & whole & (unit > least), unit / 2, unit)
    return np.abs(found[finite].astype(expected.dtype) - expected[finite]) / unit


def samples(function: str, dtype: np.dtype, random: np.random.Generator, count: int) -> np.ndarray:
    """All magnitudes, and those where a function does most of its work."""
    bits = random.integers(0, np.iinfo(f"u{dtype.itemsize}").max, count, f"u{dtype.itemsize}", endpoint=True).view(dtype)
    format_ = np.finfo(dtype)
    ends = [0.0, 1.0, 0.625, 10.0, 20.0, format_.max, format_.smallest_normal, format_.smallest_subnormal, np.inf, np.nan]
    ends += [np.log(format_.max), np.log(format_.smallest_normal), np.log(format_.smallest_subnormal)]
    special = np.array(ends, dtype)
    special = np.concatenate([special, -special])
    special = np.concatenate([special, *(np.nextafter(special, dtype.type(end)) for end in (0, np.inf))])
    near = [random.uniform(-width, width, count).astype(dtype) for width in (1e-3, 1, 10, 100, 1000, 1e6, 1e12)]
    if function == "log":
        near.append(random.uniform(0.7, 1.5, count).astype(dtype))
    return np.concatenate([special, bits, *near])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("name", "function"), [each for each in EVERYWHERE if FUNCTIONS[each[1]] == 1])
def test_errors_are_small_everywhere(name: str, function: str, dtype: np.dtype) -> None:
    x = samples(function, dtype, np.random.default_rng(7), 3000)
    if dtype == np.float64 and function in ("sin", "cos"):
        x = x[~(np.abs(x) > 1e18)]  # where the wider format has too few digits of pi
    found = called(name, function, x)
    assert np.max(errors(found, exact(function, x))) <= LARGEST[function][dtype == np.float64]


@pytest.mark.parametrize(("name", "function"), [(name, each) for name in available() for each in ("sin", "cos")])
def test_angles_of_any_size(name: str, function: str) -> None:
    random = np.random.default_rng(3)
    x = random.integers(1080 << 52, 2047 << 52, 2000, np.uint64).view(np.float64)
    expected = getattr(np, function)(x)  # to half a unit, in the C library
    assert np.max(np.abs(called(name, function, x) - expected) / np.spacing(np.abs(expected))) <= 3


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", available())
def test_powers(name: str, dtype: np.dtype) -> None:
    random = np.random.default_rng(11)
    format_ = np.finfo(dtype)
    x = np.concatenate(
        [
            1 + random.uniform(-0.1, 0.1, 4000),
            np.exp2(random.uniform(format_.minexp - 20, format_.maxexp, 4000)),
            random.uniform(0, 10, 4000),
        ]
    ).astype(dtype)
    y = (random.uniform(-1.02, 1.02, x.size) * np.log(format_.max) / np.log(x)).astype(dtype)
    y[::3] = random.uniform(-10, 10, y[::3].size)
    y = np.where(np.isfinite(y), y, dtype.type(2))
    found = called(name, "pow", x, y)
    assert np.max(errors(found, exact("pow", x, y))) <= LARGEST["pow"][dtype == np.float64]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", available())
def test_powers_at_the_ends_are_those_of_the_c_library(name: str, dtype: np.dtype) -> None:
    format_ = np.finfo(dtype)
    numbers = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 2.0**24 + 1, 2.0**53 + 1, 2.0**62, 2.0**64, np.inf, np.nan]
    numbers += [format_.max, format_.smallest_normal, format_.smallest_subnormal, 1 + format_.eps, 1 - format_.epsneg]
    values = np.array(numbers, dtype)
    values = np.concatenate([values, -values])
    x, y = (each.ravel() for each in np.meshgrid(values, values))
    found, expected = called(name, "pow", x, y), np.power(x, y)
    np.testing.assert_allclose(found, expected, rtol=float(2 * format_.eps), atol=0)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(np.where(np.isnan(expected), found, expected)))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("name", "function"), EVERYWHERE)
def test_a_number_gives_the_same_in_any_company(name: str, function: str, dtype: np.dtype) -> None:
    """A lane that is special does not change the others."""
    width = lanes(name, dtype)
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -1.0, 1e30, -1e30, np.finfo(dtype).smallest_subnormal], dtype)
    for place in range(width):
        for strange in special:
            x = np.linspace(0.1, 3, width).astype(dtype)
            alone = called(name, function, x, np.full_like(x, 1.7))
            x[place] = strange
            beside = called(name, function, x, np.full_like(x, 1.7))
            np.testing.assert_array_equal(np.delete(beside, place), np.delete(alone, place))


def test_each_function_that_is_offered_is_there() -> None:
    assert set(FUNCTIONS) == OWN
    for function in OWN:
        for name in ("avx2", "avx512"):
            assert symbol_address(f"sv_{name}_{function}") is not None
            assert symbol_address(f"sv_{name}_{function}f") is not None
    assert symbol_address("sv_avx2_") is None
    assert symbol_address("sv_avx2_system") is None


@pytest.mark.stress
@pytest.mark.parametrize(("name", "function"), [each for each in EVERYWHERE if FUNCTIONS[each[1]] == 1])
def test_all_floats(name: str, function: str) -> None:
    """Each float that there is, against the C library in double."""
    worst = 0.0
    for begin in range(0, 1 << 32, 1 << 22):
        x = np.arange(begin, begin + (1 << 22), dtype=np.uint32).view(np.float32)
        worst = max(worst, float(np.max(errors(called(name, function, x), exact(function, x)), initial=0.0)))
    assert worst <= LARGEST[function][0]
