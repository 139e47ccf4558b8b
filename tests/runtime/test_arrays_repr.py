"""The repr of arrays."""

from __future__ import annotations

import numpy as np
import pytest

from samovar import _native as native
from samovar.language.dtypes import LONG_NAMES
from samovar.runtime.arrays import Ndarray, from_numpy, ndarray


def of(values: object, dtype: str) -> str:
    return repr(from_numpy(np.array(values, dtype)))


def test_rank_0_shows_its_value() -> None:
    assert of(2.5, "f8") == "ndarray(2.5, dtype=f64, shape=())"


def test_values_dtype_and_shape_are_shown() -> None:
    assert of([1, -20, 3], "i4") == "ndarray([  1, -20,   3], dtype=i32, shape=(3,))"
    assert of([[True, False]], "?") == "ndarray([[ True, False]], dtype=u1, shape=(1, 2))"


def test_rows_are_lines() -> None:
    assert of([[1, 2], [3, 4]], "u1") == "ndarray([[1, 2],\n         [3, 4]], dtype=u8, shape=(2, 2))"


def test_planes_are_paragraphs() -> None:
    assert of([[[1], [2]], [[3], [4]]], "i2") == (
        "ndarray([[[1],\n          [2]],\n\n         [[3],\n          [4]]], dtype=i16, shape=(2, 2, 1))"
    )


def test_floats_are_as_short_as_their_precision_allows() -> None:
    assert "[0.1, 0.2]" in of([0.1, 0.2], "f4")
    assert "[0.1, 0.2]" in of([0.1, 0.2], "f2")
    assert "[0.33333333]" in of([1 / 3], "f8")
    assert "[1e+30, -0.0]" in of([1e30, -0.0], "f8").replace("   ", " ").replace("  ", " ")
    assert "[ nan,  inf, -inf]" in of([np.nan, np.inf, -np.inf], "f4")


def test_empty_arrays_show_no_values() -> None:
    assert repr(ndarray(native.f32, (0, 3))) == "ndarray([], dtype=f32, shape=(0, 3))"
    assert repr(ndarray(native.f32, (2, 0))) == "ndarray([[],\n         []], dtype=f32, shape=(2, 0))"


def test_a_grad_is_mentioned() -> None:
    assert repr(ndarray(native.f32, 1, needs_grad=True)) == "ndarray([0.0], dtype=f32, shape=(1,), needs_grad=True)"


def test_large_arrays_are_elided() -> None:
    assert of(range(1000), "i8") == "ndarray([  0,   1,   2, ..., 997, 998, 999], dtype=i64, shape=(1000,))"
    text = repr(ndarray(native.u8, (100, 100)))
    assert text.count("\n") == 6
    assert "         ...,\n" in text


def test_long_rows_are_wrapped() -> None:
    lines = of(range(150), "i4").splitlines()
    assert len(lines) > 2
    assert max(map(len, lines[:-1])) <= 100
    assert all(line.startswith("         ") for line in lines[1:])


def test_many_axes_are_not_shown() -> None:
    assert repr(ndarray(native.f32, (2,) * 12)) == f"ndarray(..., dtype=f32, shape={(2,) * 12})"


@pytest.mark.parametrize("dtype", LONG_NAMES.values(), ids=str)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (3, 0, 2), (7, 8, 9), (1,) * 16])
def test_every_dtype_and_rank_has_a_repr(dtype: native.DType, shape: tuple[int, ...]) -> None:
    text = repr(ndarray(dtype, shape))
    assert text.startswith("ndarray(")
    assert text.endswith(f"dtype={dtype.name}, shape={shape})")


def test_str_is_the_repr() -> None:
    a: Ndarray = ndarray(native.f32, 2)
    assert str(a) == repr(a)
