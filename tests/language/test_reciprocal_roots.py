"""rsqrt of numbers where an estimate goes wrong: in scalar code, in vector code, and in what a vector loop leaves over."""

import numpy as np
import pytest

import samovar as sv

EDGES = [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0, 4.0, 1e-30, 1e30]


@sv.kernel
def one(x: sv.f32) -> sv.f32:
    return sv.rsqrt(x)


@sv.kernel
def many(x: sv.types.NDArray[sv.f32, 1], y: sv.types.NDArray[sv.f32, 1]):
    for i in range(x.shape[0]):
        y[i] = sv.rsqrt(x[i])


def expected(values: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.abs((1 / np.sqrt(values.astype(np.float64))).astype(np.float32))


@pytest.mark.parametrize("value", EDGES)
def test_of_a_single_number(value):
    np.testing.assert_allclose(abs(one(float(np.float32(value)))), expected(np.array([value], np.float32))[0], rtol=1e-6)


@pytest.mark.parametrize("length", [1, 3, 7, 8, 33, 100])
def test_of_an_array_of_any_length(length):
    x = np.resize(np.array(EDGES, np.float32), length)
    y = np.zeros_like(x)
    many(x, y)
    np.testing.assert_allclose(np.abs(y), expected(x), rtol=1e-6)
