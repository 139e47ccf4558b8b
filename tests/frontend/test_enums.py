"""Enum members compare, and are true, as they do in plain Python."""

import enum
import operator

import numpy as np
import pytest

import samovar as sv


class Plain(enum.Enum):
    ZERO = 0
    ONE = 1
    TWO = 2
    UNO = ONE
    TEXT = "one"
    EMPTY = ""


class Other(enum.Enum):
    ONE = 1
    TEXT = "one"


class Whole(enum.IntEnum):
    ZERO = 0
    ONE = 1
    TWO = 2


class Real(float, enum.Enum):
    ZERO = 0.0
    ONE = 1.0
    HALF = 0.5


class Word(str, enum.Enum):
    TEXT = "one"
    ABC = "abc"
    EMPTY = ""


class Bits(enum.Flag):
    NONE = 0
    READ = 1
    WRITE = 2
    BOTH = 3


class Numbered(enum.IntFlag):
    NONE = 0
    READ = 1
    WRITE = 2
    BOTH = 3


class Ordered(enum.Enum):
    LOW = 1
    HIGH = 2

    def __lt__(self, other):
        return self.value < other.value

    def __eq__(self, other):
        return (isinstance(other, str) and other == self.name.lower()) or self is other

    def __hash__(self):
        return hash(self._name_)

    def __bool__(self):
        return self.value > 1


class Shifted(int, enum.Enum):
    """Members are other numbers than their values."""

    ONE = 1

    def __new__(cls, value):
        member = int.__new__(cls, value + 10)
        member._value_ = value
        return member


MEMBERS = [*Plain, *Other, *Whole, *Real, *Word, *Bits, *Numbered, *Ordered, *Shifted]
VALUES = [*MEMBERS, Bits.NONE, Bits.BOTH, Numbered.BOTH, 0, 1, 1.0, 0.5, 11, True, False, "", "one", "abc", "low", None]


def bits(*answers):
    return sum(2**position for position, answer in enumerate(answers) if answer)


@pytest.mark.filterwarnings("ignore:.*was compiled")  # so many times
@pytest.mark.parametrize("one", VALUES, ids=repr)
def test_members_compare_as_in_python(one):
    others = [other for other in VALUES if isinstance(one, enum.Enum) or isinstance(other, enum.Enum)]

    @sv.kernel
    def compare(found: sv.types.NDArray[sv.i32, 1], one: sv.Template):
        for k in sv.static(range(len(others))):
            result = 0
            if sv.static(one == others[k]):
                result += 1
            if sv.static(one != others[k]):
                result += 2
            if one == others[k]:
                result += 4
            if others[k] != one:
                result += 8
            if sv.static(one is others[k]):
                result += 16
            if sv.static(one is not others[k]):
                result += 32
            if sv.static(one in (others[k], "nothing")):
                result += 64
            if sv.static(one not in [others[k]]):
                result += 128
            if others[k]:
                result += 256
            if not others[k]:
                result += 512
            found[k] = result

    found = np.zeros(len(others), np.int32)
    compare(found, one)
    for other, result in zip(others, found.tolist(), strict=True):
        equal, same = one == other, one is other
        expected = bits(
            equal, one != other, equal, other != one, same, not same, equal, not equal, bool(other), not other
        )
        assert result == expected, other


SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@sv.kernel
def ordered(one: sv.Template, other: sv.Template, sign: sv.Template) -> sv.u1:
    result = False
    if sv.static(sign == "<"):
        result = sv.static(one < other)
    if sv.static(sign == "<="):
        result = sv.static(one <= other)
    if sv.static(sign == ">"):
        result = sv.static(one > other)
    if sv.static(sign == ">="):
        result = sv.static(one >= other)
    return result


@pytest.mark.parametrize("sign", SIGNS)
def test_members_have_the_order_that_they_have_in_python(sign):
    pairs = [
        (Whole.ONE, Whole.TWO), (Whole.ONE, 1), (2, Whole.ONE), (Real.HALF, Whole.ONE), (Word.ABC, Word.TEXT),
        (Word.ABC, "b"), (Ordered.LOW, Ordered.HIGH), (Numbered.READ, 2), (Shifted.ONE, 5),
        (Plain.ONE, Plain.TWO), (Plain.ONE, 2), (Word.ABC, 1), (Whole.ONE, "a"), (Ordered.LOW, 3),
    ]  # fmt: skip
    for one, other in pairs:
        try:
            expected = SIGNS[sign](one, other)
        except (TypeError, AttributeError):
            with pytest.raises(sv.SamovarError):
                ordered(one, other, sign)
        else:
            assert ordered(one, other, sign) == expected, (one, sign, other)


def test_a_member_without_an_order_is_an_error_with_advice():
    @sv.kernel
    def run() -> sv.i32:
        return sv.static(Plain.ONE < Plain.TWO)

    with pytest.raises(sv.SamovarTypeError, match=r"`<` is not defined for Plain.ONE and Plain.TWO") as caught:
        run()
    assert "^" in str(caught.value)
    assert "compare their `.value`" in str(caught.value)


def test_flags_combine_into_flags():
    @sv.kernel
    def run(flags: sv.Template) -> sv.i32:
        result = 0
        if flags & Bits.READ:
            result += 1
        if (flags & Bits.READ) == Bits.READ:
            result += 2
        if sv.static(Bits.WRITE in flags):
            result += 4
        if sv.static(Bits.WRITE not in flags):
            result += 8
        if flags | Bits.WRITE == Bits.BOTH:
            result += 16
        if ~flags == Bits.WRITE:
            result += 32
        return result

    def expected(flags):
        return bits(
            flags & Bits.READ, flags & Bits.READ == Bits.READ, Bits.WRITE in flags, Bits.WRITE not in flags,
            flags | Bits.WRITE == Bits.BOTH, ~flags == Bits.WRITE,
        )  # fmt: skip

    for flags in (Bits.NONE, Bits.READ, Bits.WRITE, Bits.BOTH, Bits.READ | Bits.WRITE):
        assert run(flags) == expected(flags), flags


def test_members_in_dicts_and_strings():
    table = {Plain.ONE: 1, 2: 2, "abc": 3}

    @sv.kernel
    def run(key: sv.Template) -> sv.i32:
        return (1 if sv.static(key in table) else 0) + (2 if sv.static(key not in table) else 0)

    for key in (Plain.ONE, Plain.TWO, Other.ONE, Whole.TWO, Whole.ONE, Word.ABC, Word.TEXT, Numbered.WRITE, Bits.WRITE):
        assert run(key) == bits(key in table, key not in table), key

    @sv.kernel
    def part(word: sv.Template) -> sv.u1:
        return sv.static(word in "xabcx")

    assert part(Word.ABC)
    assert not part(Word.TEXT)


def test_members_still_stand_for_their_numbers_in_arithmetic():
    @sv.kernel
    def run(a: sv.types.NDArray[sv.i32, 1]):
        for i in a:
            a[i] = (a[i] & Numbered.READ) + Whole.TWO * 10

    a = np.array([2, 3], np.int32)
    run(a)
    assert a.tolist() == [20, 21]
