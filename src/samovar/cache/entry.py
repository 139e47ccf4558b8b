"""The content of a file in the store: a checksum, then plain data with the kind and the key that it is kept under.

This is where files become data. Nothing of an entry is looked at before the checksum has been verified over all of it, and
nothing of it is given to anybody before it has the form that entries of its kind have: who reads it relies on that.
A part that is copied from entry to entry is sealed: bytes with a checksum of their own, which say what they belong to.
"""

from __future__ import annotations

from samovar._native import checksum, decode_checked, encode_plain, has_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The format of the files and of the plain data in them.
FORMAT = 6
MAGIC = b"samovar" + bytes([FORMAT])


#: The form of an entry of each kind, see `_native/plain_form.c`: the kind, the key, and the data.
_ENTRIES = {
    "trees": "(SST)",  # a decision tree
    "kernels": "(SS(YY))",  # a sealed artifact, a record
    "code": "(SS(SY))",  # the salt, a sealed image
    "names": "(SS(S<(S{(SS)})>))",  # a name, and for each tree its key and its salt
}

#: What plain data of another shape than expected does to who reads it.
MISREADINGS = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, AssertionError, RuntimeError, StopIteration,
    EOFError, SystemError,
)  # fmt: skip


class Damaged(ValueError):
    """An entry that is torn, foreign, or of another format."""


class Foreign(Damaged):
    """An entry whose checksum is right, and which this version has not written."""


def wrapped(kind: str, key: str, data: Any) -> bytes:
    """An entry as the content of a file."""
    body = encode_plain((kind, key, data))
    return MAGIC + checksum(body, 0) + body


def unwrapped(kind: str, key: str, content: bytes) -> Any:
    """The data of an entry that is kept under a kind and a key."""
    entry = _checked(content)
    if not has_form(entry, _ENTRIES.get(kind, "")):
        opened(content)  # says what is wrong with it, if it is nothing but in the wrong place
        raise Damaged("it belongs to another kind")
    if entry[0] != kind or entry[1] != key:
        raise Damaged(f"it belongs to {entry[0]}/{entry[1]}")
    return entry[2]


def opened(content: bytes) -> tuple[str, str, Any]:
    """The kind, the key and the data of an entry."""
    entry = _checked(content)
    if not has_form(entry, "(SS*)") or entry[0] not in _ENTRIES:
        raise Foreign("it is no entry")
    if not has_form(entry, _ENTRIES[entry[0]]):
        raise Foreign(f"its data is not that of an entry in {entry[0]}")
    kind, key, data = entry
    return kind, key, data


def _checked(content: bytes) -> Any:
    if not content.startswith(MAGIC):
        raise Damaged("it is not an entry of this format")
    try:
        entry = decode_checked(content, len(MAGIC))
    except (ValueError, TypeError, RecursionError) as error:
        raise Foreign("its data cannot be read") from error
    if entry is None:
        raise Damaged("its checksum is wrong")
    return entry


def sealed(data: Any) -> bytes:
    """Plain data as bytes with a checksum."""
    body = encode_plain(data)
    return checksum(body, 0) + body


def unsealed(content: bytes, form: str) -> Any:
    """The data that was sealed, if it has a form."""
    try:
        data = decode_checked(content, 0)
    except (ValueError, TypeError, RecursionError) as error:
        raise Foreign("a part of it cannot be read") from error
    if data is None:
        raise Foreign("a part of it has another checksum")
    if not has_form(data, form):
        raise Foreign("a part of it is something else")
    return data
