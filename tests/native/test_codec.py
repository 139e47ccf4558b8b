"""Plain data as bytes and back."""

import gc
import math
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samovar._native import checksum, decode_checked, decode_plain, encode_plain, same_value

ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.complex_numbers(allow_nan=False)
    | st.text(st.characters())
    | st.sampled_from(["kind", "tensor", "f32", "TENSOR", "not a word"])
    | st.binary()
    | st.just(...)
)
PLAIN = st.recursive(ATOMS, lambda inner: st.lists(inner).map(tuple) | st.lists(inner), max_leaves=30)


def same(one, two):
    if isinstance(one, (tuple, list)):
        return type(one) is type(two) and len(one) == len(two) and all(map(same, one, two))
    return same_value(one, two)


@given(PLAIN)
def test_what_is_read_is_what_was_written(value):
    assert same(decode_plain(encode_plain(value)), value)


@given(PLAIN, PLAIN)
def test_other_data_are_other_bytes(one, two):
    assert (encode_plain(one) == encode_plain(two)) <= same(one, two)


@pytest.mark.parametrize("text", ["\ud800", "ä", "\U0001f600", "", "\0"])
def test_every_string(text):
    assert decode_plain(encode_plain(text)) == text


@pytest.mark.parametrize("number", [0, -1, 127, 128, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 10**40, -(10**40)])
def test_every_size_of_integer(number):
    assert decode_plain(encode_plain((number,))) == (number,)


def test_what_occurs_twice_is_one_object():
    inner = ("a long enough string", 1.5)
    one, two, three = decode_plain(encode_plain((inner, inner, inner[0])))
    assert one is two
    assert one[0] is three


def test_many_references():
    texts = [f"text {number}" for number in range(1000)]
    assert decode_plain(encode_plain((texts, texts, tuple(texts)))) == (texts, texts, tuple(texts))


def test_it_is_nothing_to_the_garbage_collector():
    found = decode_plain(encode_plain(([1, (2, "three")], (4.0, ("a", ["b"])))))
    assert not any(map(gc.is_tracked, (found, found[0], found[0][1], found[1], found[1][1], found[1][1][1])))


@pytest.mark.parametrize("value", [{}, {1}, object(), b"".join, (1, [object()]), bytearray(b"a")])
def test_what_is_not_plain_is_refused(value):
    with pytest.raises(ValueError, match="cannot contain a"):
        encode_plain(value)


def test_data_that_holds_itself_is_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="too deeply"):
        encode_plain(endless)


def read(content):
    try:
        return decode_plain(content)
    except ValueError:
        return None


def test_damaged_bytes_are_refused_or_read_as_something():
    content = encode_plain(("kind", [1, -2, 2**80, 1.5, 1j, "text", b"bytes", None, ("again",)], "text", True, ...))
    for size in range(len(content)):
        with pytest.raises(ValueError, match="not plain data"):
            decode_plain(content[:size])
    with pytest.raises(ValueError, match="not plain data"):
        decode_plain(content + b"N")
    for place in range(len(content)):
        for value in range(256):
            read(content[:place] + bytes([value]) + content[place + 1 :])


@given(st.binary(max_size=64))
def test_any_bytes_are_refused_or_read_as_something(content):
    read(content)


@pytest.mark.parametrize(
    "content", [b"t" + b"\xff" * 8 + b"\x7f", b"r\x00", b"t\x01r\x00", b"w\xff\x7f", b"l\x05N", b"t\x01" * 300]
)
def test_sizes_and_references_that_lead_nowhere(content):
    with pytest.raises(ValueError, match="not plain data"):
        decode_plain(content)


def test_a_place_to_start():
    content = encode_plain((1, math.pi))
    assert decode_plain(b"head" + content, 4) == (1, math.pi)
    with pytest.raises(ValueError, match="not plain data"):
        decode_plain(content, len(content) + 1)


# --- small files that describe much


def counted(number):
    """A number in groups of seven bits."""
    found = b""
    while True:
        found += bytes([number & 127 | (128 if number > 127 else 0)])
        number >>= 7
        if not number:
            return found


def memory_taken(function):
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("tag", [b"t", b"l"])
def test_sizes_inside_of_each_other_take_no_more_than_there_are_bytes(tag):
    """Each of 190 tuples claims as many items as there are bytes left: together they would take 190 times as much."""
    content, rest = b"", 1 << 18
    for _ in range(190):
        content += tag + counted(rest - len(content) - 8)
    content += b"N" * (rest - len(content))

    def read():
        with pytest.raises(ValueError, match="plain data"):
            decode_plain(content)

    assert memory_taken(read) < 40 * len(content)


def test_references_to_references_are_weighed():
    """Forty levels, each of which has the one below twice: a few hundred bytes for a million millions of numbers."""
    value = (1, 1)
    for _ in range(40):
        value = (value, value)
    with pytest.raises(ValueError, match="too many references"):
        encode_plain(value)
    bomb = bytearray()
    for _ in range(40):
        bomb += b"t\x02"
    bomb += b"t\x00"
    for level in range(40, 0, -1):
        bomb += b"r" + counted(level)
    with pytest.raises(ValueError, match="plain data"):
        decode_plain(bytes(bomb))


def test_long_texts_are_weighed_as_often_as_they_are_named():
    text = "a long text" * 100_000
    with pytest.raises(ValueError, match="too many references"):
        encode_plain((text,) * 10_000)
    assert decode_plain(encode_plain((text,) * 50)) == (text,) * 50


@given(PLAIN)
def test_whatever_is_written_can_be_read(value):
    """Writing refuses what reading would."""
    repeated = (value,) * 20
    assert same(decode_plain(encode_plain((repeated, repeated))), (repeated, repeated))


def test_a_checksum_comes_before_all():
    body = encode_plain((1, "two"))
    assert decode_checked(checksum(body, 0) + body, 0) == (1, "two")
    assert decode_checked(b"head" + checksum(body, 0) + body, 4) == (1, "two")
    shorter = checksum(body, 0) + body[:-1]
    for content, start in ((b"", 0), (bytes(15), 0), (shorter, 0), (body, 1), (body, 10**9), (body, -1)):
        assert decode_checked(content, start) is None
    with pytest.raises(ValueError, match="plain data"):
        decode_checked(checksum(b"\xff", 0) + b"\xff", 0)
