"""The rules for builtin values and for those of the standard library."""

from __future__ import annotations

import array
import datetime
import decimal
import enum
import fractions
import itertools
import math
import pathlib
import struct
import sys
import uuid
import zoneinfo

import pytest
from fingerprint_specimens import Access, Color, Level

from samovar.fingerprint import lenient_fingerprinter, stable_fingerprinter

FAMILIES = {
    "ones": [True, 1, 1.0, 1 + 0j, "1", b"1", bytearray(b"1"), decimal.Decimal(1), fractions.Fraction(1), Level.LOW],
    "nothings": [None, False, 0, 0.0, -0.0, 0j, "", b"", (), [], {}, set(), frozenset(), ..., NotImplemented, range(0)],
    "floats": [math.inf, -math.inf, math.nan, 5e-324, 1e308, 0.1, 0.1 + 1e-17, math.nextafter(0.1, 1)],
    "integers": [
        0,
        -1,
        1,
        127,
        128,
        -128,
        -129,
        255,
        256,
        2**31,
        2**63 - 1,
        2**63,
        -(2**63),
        -(2**63) - 1,
        2**64,
        2**5000,
    ],
    "complex": [complex(0.0, 0.0), complex(-0.0, 0.0), complex(0.0, -0.0), complex(1, 2), complex(2, 1)],
    "texts": ["a", "A", "ä", "a\u0308", "\ud800", "🫖", "a\0", "aa"],
    "decimals": [decimal.Decimal(text) for text in ("0", "-0", "0.0", "1E+1", "10", "NaN", "sNaN", "Infinity")],
    "ranges": [range(3), range(0, 3, 2), range(1, 3), slice(3), slice(0, 3), slice(0, 3, 1), slice(None)],
    "moments": [
        datetime.date(2020, 1, 2),
        datetime.datetime(2020, 1, 2),
        datetime.datetime(2020, 1, 2, fold=1),
        datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc),
        datetime.datetime(2020, 1, 2, tzinfo=zoneinfo.ZoneInfo("UTC")),
        datetime.time(1),
        datetime.time(1, fold=1),
        datetime.timedelta(1),
        datetime.timedelta(seconds=1),
        datetime.timezone(datetime.timedelta(hours=1)),
        datetime.timezone(datetime.timedelta(hours=1), "CET"),
    ],
    "paths": [
        pathlib.PurePosixPath("a"),
        pathlib.PureWindowsPath("a"),
        pathlib.Path("a"),
        pathlib.PurePosixPath("a/b"),
        uuid.UUID(int=1),
        uuid.UUID(int=2),
    ],
    "memory": [
        array.array("b", [1]),
        array.array("B", [1]),
        array.array("i", [1]),
        memoryview(b"\1"),
        memoryview(b"\1").cast("b"),
    ],
    "members": [
        Color.RED,
        Color.GREEN,
        Level.LOW,
        Level.HIGH,
        Access.READ,
        Access.READ | Access.WRITE,
        Access(0),
        Color,
        Level,
    ],
}


@pytest.mark.parametrize("family", FAMILIES)
def test_values_that_differ_have_different_fingerprints(family):
    fingerprints = [stable_fingerprinter(value) for value in FAMILIES[family]]
    for (left, one), (right, other) in itertools.combinations(zip(FAMILIES[family], fingerprints, strict=True), 2):
        if repr((type(left), left)) != repr((type(right), right)):
            assert one != other, f"{left!r} and {right!r}"


@pytest.mark.parametrize("family", FAMILIES)
def test_fingerprint_has_160_bits_and_both_traversals_agree(family):
    for value in FAMILIES[family]:
        assert len(bytes.fromhex(stable_fingerprinter(value))) == 20
        assert stable_fingerprinter(value) == stable_fingerprinter.reference(value)


class LyingDate(datetime.date):
    year = month = day = 5


class LyingMoment(datetime.datetime):
    year = hour = microsecond = 5
    tzinfo = None


class LyingSpan(datetime.timedelta):
    days = seconds = microseconds = 0


class LyingPath(pathlib.PurePosixPath):
    def __str__(self):
        return "lie"


class LyingUuid(uuid.UUID):
    bytes = b"lie" * 6


class LyingDecimal(decimal.Decimal):
    def as_tuple(self):
        return decimal.Decimal(0).as_tuple()


class LyingFraction(fractions.Fraction):
    numerator = denominator = 1


class LyingArray(array.array):
    typecode, itemsize = "b", 1

    def tobytes(self):
        return b"lie"

    def __buffer__(self, flags):
        return memoryview(b"lie")


class LyingBytes(bytearray):
    __buffer__ = LyingArray.__buffer__

    def __getitem__(self, index):
        return b"lie"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (LyingDate(2020, 1, 2), LyingDate(2021, 1, 2)),
        (LyingMoment(2020, 1, 2), LyingMoment(2021, 1, 2)),
        (LyingMoment(2020, 1, 2, 3), LyingMoment(2020, 1, 2, 3, tzinfo=datetime.timezone.utc)),
        (LyingSpan(1), LyingSpan(2)),
        (LyingPath("a"), LyingPath("b")),
        (LyingUuid(int=1), LyingUuid(int=2)),
        (LyingDecimal(1), LyingDecimal(2)),
        (LyingFraction(1, 3), LyingFraction(2, 3)),
        (LyingArray("i", [1]), LyingArray("i", [2])),
        (LyingBytes(b"a"), LyingBytes(b"b")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_value_is_read_past_the_attributes_of_a_subclass(left, right):
    assert stable_fingerprinter(left) == stable_fingerprinter.reference(left) != stable_fingerprinter(right)


def test_memoryview_that_was_released_is_refused_with_its_path():
    view = memoryview(b"abc")
    view.release()
    with pytest.raises(TypeError, match=r"^\[1\]: cannot fingerprint a memoryview: operation forbidden on released"):
        stable_fingerprinter([0, view])


def test_nan_is_stable_whatever_object_holds_it():
    assert stable_fingerprinter(float("nan")) == stable_fingerprinter(math.nan)


def test_floats_count_by_their_bits():
    quiet, other = struct.unpack("<dd", struct.pack("<QQ", 0x7FF8000000000000, 0x7FF8000000000001))
    assert stable_fingerprinter(quiet) != stable_fingerprinter(other)


def test_integers_around_every_power_of_two_differ_and_agree_with_the_reference():
    values = {sign * (2**power + offset) for power in range(0, 200, 3) for offset in (-1, 0, 1) for sign in (-1, 1)}
    assert len({stable_fingerprinter(value) for value in values}) == len(values)
    assert all(stable_fingerprinter(value) == stable_fingerprinter.reference(value) for value in values)


def test_huge_integer_needs_no_decimal_conversion():
    digits = getattr(sys, "get_int_max_str_digits", lambda: 4300)()
    assert stable_fingerprinter(10 ** (2 * digits)) != stable_fingerprinter(10 ** (2 * digits) + 1)


def test_combined_flags_depend_on_the_value_and_not_on_the_way_there():
    assert stable_fingerprinter(Access.READ | Access.RUN) == stable_fingerprinter(Access(5))


def test_alias_of_an_enum_member_is_the_member():
    class Local(enum.Enum):
        FIRST = 1
        ALSO_FIRST = FIRST

    assert stable_fingerprinter(Local.ALSO_FIRST) == stable_fingerprinter(Local.FIRST)


@pytest.mark.parametrize("fingerprinter", [stable_fingerprinter, lenient_fingerprinter], ids=["strict", "lenient"])
def test_locally_defined_enums_work(fingerprinter):
    def define(value):
        class Mode(enum.Enum):
            FAST = value
            SAFE = 2

            @property
            def label(self):
                return self.name.lower()

        return Mode

    assert fingerprinter(define(1).FAST) == fingerprinter(define(1).FAST)
    assert fingerprinter(define(1).FAST) != fingerprinter(define(1).SAFE)
    assert fingerprinter(define(1).FAST) != fingerprinter(define(3).FAST)
    assert fingerprinter(define(1)) == fingerprinter(define(1))
    assert fingerprinter(define(1)) != fingerprinter(define(3))


def test_locally_defined_flags_and_int_enums_work():
    class Bits(enum.IntFlag):
        A = 1
        B = 2

    assert stable_fingerprinter(Bits.A | Bits.B) != stable_fingerprinter(Bits.A)
    assert stable_fingerprinter(Bits.A) != stable_fingerprinter(1)
