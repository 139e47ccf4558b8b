"""The content of a file in the store: a checksum, then plain data with its kind and key.

This is where files become data. Nothing of an entry is interpreted before the checksum over all of it is verified, and
nothing of it is returned before it has the format of its kind: readers rely on that. A part that is copied from entry to
entry is sealed: bytes with a checksum of their own, which name what they belong to.
"""

from __future__ import annotations

from samovar._native import checksum, decode_checked, encode_plain, matches_schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The version of the file format and of the plain data in it.
FORMAT = 6
MAGIC = b"samovar" + bytes([FORMAT])


#: The format of each kind of entry, see `_native/cache/plain_schema.c`: the kind, the key, and the data.
_ENTRIES = {
    "trees": "(SST)",  # a decision tree
    "kernels": "(SS(YY))",  # a sealed artifact, a record
    "code": "(SS(SY))",  # the toolchain fingerprint, a sealed image
    "leaves": "(SS(TYY))",  # a decision tree with one leaf, its sealed artifact, a record: in shared tiers
    "names": "(SS(S<(S{(SS)})>))",  # a name, and for each tree its key and its toolchain fingerprint
}

#: Exceptions that malformed plain data can raise in its reader.
MISREADINGS = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, AssertionError, RuntimeError, StopIteration,
    EOFError, SystemError,
)  # fmt: skip


class Damaged(ValueError):
    """An entry that is truncated, misplaced, or of another format."""


class Foreign(Damaged):
    """An entry with a valid checksum that this version has not written."""


def wrapped(kind: str, key: str, data: Any) -> bytes:
    """Return an entry as the content of a file."""
    body = encode_plain((kind, key, data))
    return MAGIC + checksum(body, 0) + body


def unwrapped(kind: str, key: str, content: bytes) -> Any:
    """Return the data of the entry with a kind and a key."""
    entry = _checked(content)
    if not matches_schema(entry, _ENTRIES.get(kind, "")):
        opened(content)  # raises a more precise error, unless the entry is only misplaced
        raise Damaged("it belongs to another kind")
    if entry[0] != kind or entry[1] != key:
        raise Damaged(f"it belongs to {entry[0]}/{entry[1]}")
    return entry[2]


def opened(content: bytes) -> tuple[str, str, Any]:
    """Return the kind, key and data of an entry."""
    entry = _checked(content)
    if not matches_schema(entry, "(SS*)") or entry[0] not in _ENTRIES:
        raise Foreign("it is not an entry")
    if not matches_schema(entry, _ENTRIES[entry[0]]):
        raise Foreign(f"its data is not that of an entry in {entry[0]}")
    kind, key, data = entry
    return kind, key, data


def _checked(content: bytes) -> Any:
    if not content.startswith(MAGIC):
        raise Damaged("it is not an entry of this format")
    try:
        entry = decode_checked(content, len(MAGIC))
    except (ValueError, TypeError, RecursionError) as error:
        raise Foreign("its data is malformed") from error
    if entry is None:
        raise Damaged("its checksum is wrong")
    return entry


def sealed(data: Any) -> bytes:
    """Return plain data as bytes with a checksum."""
    body = encode_plain(data)
    return checksum(body, 0) + body


def unsealed(content: bytes, schema: str) -> Any:
    """Return sealed data, if it has the expected format."""
    try:
        data = decode_checked(content, 0)
    except (ValueError, TypeError, RecursionError) as error:
        raise Foreign("a part of it is malformed") from error
    if data is None:
        raise Foreign("the checksum of a part is wrong")
    if not matches_schema(data, schema):
        raise Foreign("a part of it has an unexpected format")
    return data
