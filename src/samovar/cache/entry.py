"""The content of a file in the store: a checksum, then plain data with the kind and the key that it is kept under.

Nothing of an entry is looked at before the checksum has been verified over all of it.
"""

from __future__ import annotations

from samovar._native import checksum, decode_plain, encode_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The format of the files and of the plain data in them.
FORMAT = 6
MAGIC = b"samovar" + bytes([FORMAT])
_CHECKSUM_SIZE = 16
_START = len(MAGIC) + _CHECKSUM_SIZE


#: What plain data of another shape than expected does to who reads it.
MISREADINGS = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError, EOFError)


class Damaged(ValueError):
    """An entry that is torn, foreign, or of another format."""


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
    try:
        kind, key, data = decode_plain(content, _START)
    except (ValueError, TypeError) as error:
        raise Damaged("its data cannot be read") from error
    return kind, key, data
