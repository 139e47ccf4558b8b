"""Arguments that do not fit: the error names the kernel, the argument, what was expected and what came."""

import enum
import fractions

import numpy as np
import pytest

import samovar as sv


@sv.kernel
def launch(a: sv.types.NDArray[sv.f32, 2], n: sv.i32, x: sv.f32 = 0.0):
    a[0, 0] = n + x


@sv.kernel
def graded(a: sv.types.ndarray(dtype=sv.f32, ndim=1, needs_grad=True)):
    a[0] = 1


@sv.kernel
def reading(a: sv.types.NDArray[sv.f64, 1]) -> sv.f64:
    return a[0]


@sv.kernel
def writing(a: sv.types.NDArray[sv.f64, 1]):
    a[0] = 1


@sv.kernel
def small(n: sv.i8) -> sv.i8:
    return n


@sv.kernel
def real(x: sv.f32) -> sv.f32:
    return x


@sv.kernel
def truth(x: bool) -> bool:
    return x


GOOD = np.zeros((2, 2), "f4")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((2, 2)), 1), r"launch\(\): argument `a`: expected elements of type f32, got f64"),
        ((np.zeros(2, "f4"), 1), r"argument `a`: expected a 2-D array, got a 1-D array \(shape \(2,\)\)"),
        (([[1.0]], 1), "argument `a`: expected an array .*, got a list; convert it to an array first"),
        ((None, 1), "None, passed for the array `a`"),
        ((np.zeros((2, 2), "M8[s]"), 1), "argument `a`: "),
        ((GOOD, 1.5), r"argument `n`: expected an integer \(i32\), got 1.5"),
        ((GOOD, "1"), r"argument `n`: expected a number \(i32\), got a str"),
        ((GOOD, None), "argument `n`: expected a number .*, got None"),
        ((GOOD, GOOD), "argument `n`: expected a number .*, got an array"),
        ((GOOD, [1]), "argument `n`: expected a number .*, got a list"),
        ((GOOD, 1, 1j), "argument `x`: expected a real number .*, got 1j; pass a part of it"),
        ((), r"launch\(\) missing 2 required arguments: 'a', 'n'"),
        ((GOOD, 1, 2, 3), r"launch\(\) takes 3 arguments but 4 were given"),
    ],
)
def test_an_argument_that_does_not_fit(arguments, message):
    with pytest.raises(sv.SamovarTypeError, match=message):
        launch(*arguments)
    launch(GOOD, 1)
    with pytest.raises(sv.SamovarTypeError, match=message):
        launch(*arguments)


def test_keywords_that_do_not_fit():
    with pytest.raises(sv.SamovarTypeError, match="unexpected keyword argument 'm'"):
        launch(GOOD, m=1)
    with pytest.raises(sv.SamovarTypeError, match="multiple values for argument 'a'"):
        launch(GOOD, a=GOOD)


def test_gradients_are_checked():
    with pytest.raises(sv.SamovarTypeError, match="expected an array with a gradient"):
        graded(sv.ndarray(sv.f32, 2))
    graded(sv.ndarray(sv.f32, 2, needs_grad=True))


def test_a_read_only_array_may_be_read_but_not_written():
    array = np.ones(3)
    array.flags.writeable = False
    assert reading(array) == 1
    for _ in range(2):
        with pytest.raises(sv.SamovarTypeError, match="argument `a`: the array is read-only"):
            writing(array)
        writing(np.ones(3))
    assert array[0] == 1


class Level(enum.IntEnum):
    LOW = 3


class Number:
    def __index__(self):
        return 4


@pytest.mark.parametrize(("value", "result"), [(3, 3), (True, 1), (np.int64(3), 3), (Level.LOW, 3), (Number(), 4)])
def test_whole_numbers_of_every_kind(value, result):
    assert small(value) == result


@pytest.mark.parametrize(
    ("value", "result"),
    [(3, 3.0), (0.5, 0.5), (np.float64(0.5), 0.5), (np.float16(2), 2.0), (fractions.Fraction(1, 2), 0.5)],
)
def test_real_numbers_of_every_kind(value, result):
    assert real(value) == result


def test_truth_values():
    assert truth(True) is True
    assert truth(0) is False


def test_a_number_out_of_range():
    small(1)
    with pytest.raises(OverflowError, match=r"n.* 300 .*does not fit in i8"):
        small(300)
    with pytest.raises(OverflowError):
        small(-129)


def test_an_optional_array_may_be_none():
    @sv.kernel
    def optional(a: sv.types.NDArray[sv.f32, 1], b: sv.types.NDArray[sv.f32, 1] = None):
        for i in a:
            if sv.static(b is not None):
                a[i] += b[i]
            else:
                a[i] += 1

    a = np.zeros(2, "f4")
    optional(a)
    optional(a, np.full(2, 5, "f4"))
    assert a.tolist() == [6, 6]


@sv.kernel
def marked(a: sv.i32, /, b: sv.i32, *, c: sv.i32 = 3) -> sv.i32:
    return a * 100 + b * 10 + c


@sv.data_oriented
class Marked:
    @sv.kernel
    def sum(self, a: sv.i32, /, *, c: sv.i32) -> sv.i32:
        return a + c


@pytest.mark.parametrize(
    ("args", "kwargs", "result"),
    [((1, 2), {}, 123), ((1,), {"b": 2}, 123), ((1, 2), {"c": 5}, 125), ((1,), {"c": 4, "b": 2}, 124)],
)
def test_markers_of_parameters(args, kwargs, result):
    assert marked(*args, **kwargs) == result
    assert marked.__wrapped__(*args, **kwargs) == result


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((1, 2, 3), {}, r"marked\(\) takes 2 positional arguments but 3 were given"),
        ((), {"a": 1, "b": 2}, r"marked\(\) takes the argument 'a' by position only"),
        ((1,), {}, r"marked\(\) missing 1 required argument: 'b'"),
    ],
)
def test_what_the_markers_forbid(args, kwargs, message):
    with pytest.raises(TypeError):
        marked.__wrapped__(*args, **kwargs)
    with pytest.raises(sv.SamovarTypeError, match=message):
        marked(*args, **kwargs)


def test_markers_of_methods():
    assert Marked().sum(1, c=2) == 3
    with pytest.raises(sv.SamovarTypeError, match="takes 2 positional arguments but 3 were given"):
        Marked().sum(1, 2)
    with pytest.raises(sv.SamovarTypeError, match="by position only"):
        Marked().sum(a=1, c=2)
