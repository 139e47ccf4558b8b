"""The content of a file in the store: a checksum, then plain data with the kind and the key that it is kept under.

This is where files become data. Nothing of an entry is looked at before the checksum has been verified over all of it, and
nothing of it is given to anybody before it has the form that entries of its kind have: who reads it relies on that.
A part that is copied from entry to entry is sealed: bytes with a checksum of their own, which say what they belong to.
"""

from __future__ import annotations

from samovar._native import checksum, decode_plain, encode_plain, has_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The format of the files and of the plain data in them.
FORMAT = 6
MAGIC = b"samovar" + bytes([FORMAT])
_CHECKSUM_SIZE = 16
_START = len(MAGIC) + _CHECKSUM_SIZE


#: The form of the data of each kind of entry, see `_native/plain_form.c`.
FORMS = {
    "trees": "(<R>?G)",  # rows of paths, the first segment
    "kernels": "(YY)",  # a sealed artifact, a record
    "code": "(SY)",  # the salt, a sealed image
    "names": "(S<(S{(SS)})>)",  # a name, and for each tree its key and its salt
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
    found_kind, found_key, data = opened(content)
    if (found_kind, found_key) != (kind, key):
        raise Damaged(f"it belongs to {found_kind}/{found_key}")
    return data


def opened(content: bytes) -> tuple[str, str, Any]:
    """The kind, the key and the data of an entry."""
    if not content.startswith(MAGIC):
        raise Damaged("it is not an entry of this format")
    if content[len(MAGIC) : _START] != checksum(content, _START):
        raise Damaged("its checksum is wrong")
    entry = _decoded(content, _START)
    if entry.__class__ is not tuple or len(entry) != 3 or entry[0].__class__ is not str or entry[0] not in FORMS:
        raise Foreign("it is no entry")
    kind, key, data = entry
    if key.__class__ is not str or not _fits(data, FORMS[kind]):
        raise Foreign(f"its data is not that of an entry in {kind}")
    return kind, key, data


def _fits(data: Any, form: str) -> bool:
    is_table = data.__class__ is tuple and len(data) > 0 and data[0].__class__ is list
    return has_form(data, form, len(data[0]) if is_table else 0)


def _decoded(content: bytes, start: int) -> Any:
    try:
        return decode_plain(content, start)
    except (ValueError, TypeError, RecursionError) as error:
        raise Foreign("its data cannot be read") from error


def sealed(data: Any) -> bytes:
    """Plain data as bytes with a checksum."""
    body = encode_plain(data)
    return checksum(body, 0) + body


def unsealed(content: bytes, form: str) -> Any:
    """The data that was sealed, if it has a form."""
    if content[:_CHECKSUM_SIZE] != checksum(content, _CHECKSUM_SIZE):
        raise Foreign("a part of it has another checksum")
    data = _decoded(content, _CHECKSUM_SIZE)
    if not has_form(data, form):
        raise Foreign("a part of it is something else")
    return data
