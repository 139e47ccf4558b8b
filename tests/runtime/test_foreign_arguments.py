"""Kernels take the arrays of NumPy, as they are: strides honored, dtype and rank checked, read-only memory not written."""

import array

import numpy as np
import pytest

import samovar as sv
from read_only_arrays import read_only


@sv.kernel
def double(a: sv.types.NDArray[sv.f32, 2]):
    for i, j in a:
        a[i, j] *= 2


@sv.kernel
def copy(a: sv.types.NDArray, b: sv.types.NDArray):
    for i in a:
        b[i] = a[i]


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?"])
def test_numpy_arrays_of_every_dtype_are_read_and_written(dtype: str) -> None:
    a, b = (np.arange(40) % 2).astype(dtype), np.zeros(40, dtype)
    copy(a, b)
    assert np.array_equal(a, b)


@pytest.mark.parametrize(
    "view", [lambda x: x, lambda x: x.T, lambda x: x[:, ::2], lambda x: x[::-1, ::-3], lambda x: x[3:4], lambda x: x[:0]]
)
def test_strides_are_honored(view: object) -> None:
    base = np.arange(130, dtype=np.float32).reshape(10, 13)
    expected = base.copy()
    view(expected)[...] *= 2  # type: ignore[operator]
    double(view(base))  # type: ignore[operator]
    assert np.array_equal(base, expected)


def test_fields_of_records_are_arrays() -> None:
    records = np.zeros(5, [("x", "f4"), ("y", "f4")])
    copy(np.arange(5, dtype=np.float32), records["y"])
    assert records["y"].tolist() == [0, 1, 2, 3, 4]
    assert not records["x"].any()


def test_standard_arrays_are_arrays() -> None:
    sv.reset()  # nothing is compiled that could be taken
    b = array.array("d", [0] * 4)
    copy(array.array("d", [1, 2, 3, 4]), b)
    assert b.tolist() == [1, 2, 3, 4]
    b.append(5)  # no buffer is left open


def test_read_only_memory_is_read_but_not_written() -> None:
    a, b = np.arange(4.0), np.zeros(4)
    a.flags.writeable = False
    copy(a, b)
    assert b.tolist() == [0, 1, 2, 3]
    with pytest.raises((sv.SamovarError, ValueError, TypeError), match="read-only"):
        copy(b, a)
    frozen = read_only(np.arange(4.0))
    copy(frozen, b)
    with pytest.raises((sv.SamovarError, ValueError, TypeError), match="read-only"):
        copy(b, frozen)
    assert a.tolist() == frozen.to_numpy().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((2, 2)),
        np.zeros(4, np.float32),
        np.zeros((2, 2), ">f4"),
        np.zeros((2, 2), complex),
        np.float32(3),
        [1.0],
    ],
)
def test_other_arguments_are_refused(wrong: object) -> None:
    with pytest.raises((sv.SamovarError, TypeError)):
        double(wrong)


class Producer:
    """Hands out capsules, and raises where it is told to."""

    def __init__(self, where: str = "", error: type[BaseException] = ValueError) -> None:
        self.memory, self.where, self.error = sv.ndarray(sv.f64, 4), where, error

    def come_to(self, place: str) -> None:
        if self.where == place:
            raise self.error("as told")

    def __dlpack_device__(self) -> tuple[int, int]:
        self.come_to("device")
        return (1, 0)

    def is_neg(self) -> bool:
        self.come_to("negation")
        return False

    def __dlpack__(self, **options: object) -> object:
        self.come_to("capsule")
        return self.memory.__dlpack__(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("place", ["device", "negation", "capsule"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError, RecursionError])
@pytest.mark.parametrize("first", [True, False])
def test_what_is_not_about_an_array_is_not_taken_for_it(place: str, error: type[BaseException], first: bool) -> None:
    sv.reset()
    target = np.zeros(4)
    if not first:
        copy(Producer(), target)
    with pytest.raises(error, match="as told"):
        copy(Producer(place, error), target)
    with pytest.raises(error, match="as told"):
        sv.from_dlpack(Producer(place, error))
    copy(Producer(), target)


def test_an_error_of_a_producer_says_why_the_array_cannot_be_used() -> None:
    target = np.zeros(4)
    copy(Producer(), target)
    for place in ("device", "capsule"):
        with pytest.raises(sv.SamovarTypeError, match="argument `a`: a kernel cannot use this Producer: as told"):
            copy(Producer(place), target)
    copy(Producer("negation"), target)


class Moving:
    """An object whose number gives an array other memory while it is read."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.moves = array, 0

    @property
    def rate(self) -> float:
        if self.moves:
            self.moves -= 1
            self.array.__setstate__((1, (3_000_000,), np.dtype(np.float64), False, bytes(8 * 3_000_000)))
        return 2.0


@sv.data_oriented(template_primitives=False)
class Owner(Moving):
    @sv.kernel
    def scale(self, a: sv.types.NDArray[sv.f64, 1]):
        n = a.shape[0]
        for i in range(n):
            a[i] = a[i] + self.rate


def test_memory_that_moves_while_later_members_are_read() -> None:
    """The guard of the array comes before the property: what was seen of the array then is not used."""
    for _ in range(3):
        a = np.zeros(2_000_000)
        owner = Owner(a)
        owner.scale(a)
        assert a[-1] == 2
        owner.moves = 1
        owner.scale(a)
        assert a.shape == (3_000_000,)
        assert (a == 2).all()
