"""`sum`, `any`, `all`, `divmod`, `in` and the size of an array: what Python gives for the same."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import samovar as sv

I1 = sv.types.NDArray[sv.i32, 1]


@sv.kernel
def sums(a: I1, out: I1):
    for i in a:
        v = sv.Vector([a[i], 2, 3])
        out[i] = sum((a[i], 5, a[i] * 2)) + sum([1, 2], 10) + sum(v) + sum([a[i] + k for k in sv.static(range(3))])


def test_sums():
    a, out = np.arange(-5, 5, dtype=np.int32), np.zeros(10, np.int32)
    sums(a, out)
    assert out.tolist() == [(x * 3 + 5) + 13 + (x + 5) + (3 * x + 3) for x in a.tolist()]


@sv.kernel
def conditions(a: I1, out: I1):
    for i in a:
        x = a[i]
        out[i] = (
            int(any((x > 3, x < -3)))
            + 2 * int(all([x > 0, x % 2 == 0]))
            + 4 * int(all(()))
            + 8 * int(any([]))
            + 16 * int(any((x > 0, True)))
            + 32 * int(all((x > 0, False)))
            + 64 * int(x in (1, -2, 4))
            + 128 * int(x not in [0, 1])
            + 256 * int(all(sv.Vector([x, 1])))
            + 512 * int(any((True, x > 0)))
            + 1024 * int(all((False, x > 0)))
            + 2048 * int(all((True, x > 0, 1, x < 4)))
            + 4096 * int(any((0, x > 0, False, x < -4)))
        )


def test_conditions():
    a, out = np.arange(-5, 6, dtype=np.int32), np.zeros(11, np.int32)
    conditions(a, out)
    for x, found in zip(a.tolist(), out.tolist(), strict=True):
        expected = [
            any((x > 3, x < -3)), all([x > 0, x % 2 == 0]), all(()), any([]), any((x > 0, True)), all((x > 0, False)),
            x in (1, -2, 4), x not in [0, 1], all([x, 1]), any((True, x > 0)), all((False, x > 0)),
            all((True, x > 0, 1, x < 4)), any((0, x > 0, False, x < -4)),
        ]  # fmt: skip
        assert [bool(found >> bit & 1) for bit in range(13)] == expected, x


@sv.kernel
def parts(a: I1, out: sv.types.NDArray[sv.i32, 2]) -> sv.i32:
    for i in a:
        out[i, 0], out[i, 1] = divmod(a[i], 3)
    return out.size * 1000 + a.size


def test_divmod_and_size():
    a, out = np.arange(-7, 7, dtype=np.int32), np.zeros((14, 2), np.int32)
    assert parts(a, out) == 28014
    assert [tuple(row) for row in out.tolist()] == [divmod(x, 3) for x in a.tolist()]


def test_what_is_no_number_is_not_looked_for():
    @sv.kernel
    def looks(a: I1) -> sv.i32:
        return 1 if a in (1, 2) else 0

    with pytest.raises(sv.SamovarError, match="`in` tests for numbers"):
        looks(np.zeros(2, np.int32))


@sv.kernel
def rounded(x: sv.f64) -> tuple[sv.f64, sv.f64, sv.f64, sv.f64]:
    return round(x, 2), round(x, 1), round(x, -2), round(x, 7)


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15),
    st.integers(-(10**9), 10**9).map(lambda n: n / 1000),
    st.integers(-(10**6), 10**6).map(lambda n: n * 5.0),
    st.sampled_from([2.675, -2.675, 1.005, 0.5, 2.5, 0.045, 1e22, -1e300, 5e-324, 0.0, -0.0]),
)


@pytest.mark.parametrize("fast", [True, False])
def test_digits_are_rounded_as_python_does(fast):
    @given(NUMBERS)
    @example(-2.675)
    def agrees(x):
        assert rounded(x) == (round(x, 2), round(x, 1), round(x, -2), round(x, 7))

    sv.init(fast_math=fast)
    agrees()
    sv.reset()


@sv.kernel
def left_out(a: sv.Template, b: sv.Template) -> sv.i32:
    result = 0
    if b is None:
        result += 1
    if a is not None:
        result += 2
    return result


def test_whether_an_argument_was_left_out_is_known():
    array = np.zeros(2, np.float32)
    pairs = [(array, None), (None, array), (array, array), (None, None), (3, 4)]
    assert [left_out(*pair) for pair in pairs] == [3, 0, 2, 1, 2]
