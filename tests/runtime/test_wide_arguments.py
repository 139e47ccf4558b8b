"""`wide_arguments="wrap"`: an integer argument that does not fit keeps the bits that do, with a warning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import samovar as sv


@pytest.fixture(autouse=True, scope="module")
def as_before():
    sv.reset()
    yield
    sv.reset()


@sv.kernel
def narrow(n: sv.i8) -> sv.i32:
    return sv.cast(n, sv.i32)


@sv.kernel
def ordinary(ordinary_number: sv.i32) -> sv.i32:  # the only one of this name: each is warned of once in a process
    return ordinary_number


@sv.kernel
def unsigned(n: sv.u32) -> sv.u32:
    return n


@sv.kernel
def wide(n: sv.i64) -> sv.i64:
    return n


def test_the_option_decides():
    sv.init()
    with pytest.raises(OverflowError, match="argument `ordinary_number`: 2147483648 does not fit in i32"):
        ordinary(2**31)
    sv.init(wide_arguments="wrap")
    said = "argument `ordinary_number`: 2147483653 does not fit in i32 and becomes -2147483643"
    with pytest.warns(sv.SamovarWarning, match=said):
        assert ordinary(2**31 + 5) == -(2**31) + 5
    assert ordinary(7) == 7
    sv.init()
    with pytest.raises(OverflowError, match="does not fit in i32"):
        ordinary(2**31)


@pytest.mark.filterwarnings("ignore::samovar.errors.SamovarWarning")
@given(st.integers(-(2**63), 2**63 - 1))
def test_as_numpy_keeps_bits(number):
    sv.init(wide_arguments="wrap")
    assert narrow(number) == np.int64(number).astype(np.int8)
    assert ordinary(number) == np.int64(number).astype(np.int32)
    if number >= 0:
        assert unsigned(number) == number % 2**32


@pytest.mark.filterwarnings("ignore::samovar.errors.SamovarWarning")
def test_other_signs_and_more_bits_are_errors():
    sv.init(wide_arguments="wrap")
    for kernel, number in ((unsigned, -1), (ordinary, 2**63), (wide, 2**63), (unsigned, 2**64)):
        with pytest.raises(OverflowError, match=r"argument `\w+`: .* does not fit"):
            kernel(number)
    with pytest.raises(sv.SamovarRuntimeTypeError, match="expected an integer"):
        ordinary(3.5)


def test_a_warning_that_is_an_error_stops_the_launch():
    import warnings

    @sv.kernel
    def other(only_here: sv.i16) -> sv.i32:
        return sv.cast(only_here, sv.i32)

    sv.init(wide_arguments="wrap")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(sv.SamovarWarning, match="argument `only_here`: 40000 does not fit in i16"):
            other(40000)


@pytest.mark.filterwarnings("ignore:.*does not fit in i8")
def test_constants_that_a_kernel_stores_wrap_too():
    u, i = sv.field(sv.u32, 2), sv.field(sv.i8, 2)

    @sv.kernel
    def store(n: sv.Template):
        for _ in range(1):
            u[0] = -1
            i[0] = 200
            i[1] = n

    sv.init()
    with pytest.raises(sv.SamovarTypeError, match="-1 does not fit in u32"):
        store(3)
    sv.init(wide_arguments="wrap")
    with pytest.warns(sv.SamovarWarning, match="does not fit in u32 .* and becomes 4294967295"):
        store(-129)
    assert (u[0], i[0], i[1]) == (2**32 - 1, -56, 127)
    sv.init()
    with pytest.raises(sv.SamovarTypeError, match="-1 does not fit in u32"):
        store(3)
