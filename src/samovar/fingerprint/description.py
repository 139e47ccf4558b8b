"""Short descriptions of levels, for the two sides of a difference.

They are derived from the level and not from the object: no `repr` of a user's class runs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from samovar.fingerprint.deconstruction import Deconstruction, EmptyDeconstruction, decode_names
from samovar.fingerprint.vocabulary import BUILTIN_TAGS, TAG_EXTENDED

__all__ = ["describe"]

_LONGEST: Final = 80

#: How deep nested containers are shown. Deeper levels are not readable, and there may be a hundred thousand.
_DEEPEST: Final = 6


def describe(level: Deconstruction | None, depth: int = _DEEPEST) -> str:
    """Return a short text for a level whose pieces are nodes; `None` is a side that has nothing at this place."""
    if level is None:
        return "nothing"
    if isinstance(level, EmptyDeconstruction):
        text = _describe_leaf(level)
    elif depth == 0:
        text = "..."
    else:
        text = _describe_composite(level, depth - 1)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _describe_leaf(level: EmptyDeconstruction) -> str:
    spell = _LEAVES.get(level.tag)
    if spell is not None:
        return spell(bytes(level.payload))
    if level.tag == "memory":
        return f"{level.payload.nbytes if isinstance(level.payload, memoryview) else len(level.payload)} bytes"
    content = bytes(level.payload)
    if not content:
        return level.tag
    shown = content.decode() if content.isascii() and content.decode().isprintable() else content.hex()
    return f"{level.tag} {shown}"


def _describe_composite(level: Deconstruction, depth: int) -> str:
    pieces = [node.level for node in level.pieces]

    def below(index: int) -> str:
        return describe(pieces[index], depth)

    if level.tag == "enum":
        return f"{below(0)}.{decode_names(bytes(level.payload))[0]}"
    if level.tag == "flag":
        return f"{below(0)}({below(1)})"
    if level.tag in ("fields", "object", "namespace", "state"):
        return f"{below(0)}(...)"
    if level.tag == TAG_EXTENDED:
        return below(1)
    if level.tag == "ndarray":
        return f"array of {below(0)} with shape ({', '.join(decode_names(bytes(level.payload)))})"
    if level.tag in ("class", "function-structure"):
        return decode_names(bytes(level.payload))[1]
    if level.tag in _SMALL and len(pieces) <= 4:
        opening, closing = _SMALL[level.tag]
        return f"{opening}{', '.join(map(below, range(len(pieces))))}{closing}"
    return f"{level.tag} of {len(pieces)}"


def _name(payload: bytes) -> str:
    return decode_names(payload)[-1]


def _integer(payload: bytes) -> str:
    # Python limits the number of decimal digits it converts; hexadecimal has no such limit.
    value = int.from_bytes(payload, "little", signed=True)
    return str(value) if len(payload) <= 16 else hex(value)


#: Brackets of containers that are shown in full if they are short.
_SMALL: Final = {
    BUILTIN_TAGS[tuple]: ("(", ")"),
    BUILTIN_TAGS[list]: ("[", "]"),
    BUILTIN_TAGS[set]: ("{", "}"),
    BUILTIN_TAGS[frozenset]: ("frozenset({", "})"),
}

_LEAVES: Final[dict[str, Callable[[bytes], str]]] = {
    BUILTIN_TAGS[type(None)]: lambda payload: "None",
    BUILTIN_TAGS[bool]: lambda payload: str(payload == b"\1"),
    BUILTIN_TAGS[int]: _integer,
    BUILTIN_TAGS[float]: lambda payload: repr(struct.unpack("<d", payload)[0]),
    BUILTIN_TAGS[complex]: lambda payload: repr(complex(*struct.unpack("<dd", payload))),
    BUILTIN_TAGS[str]: lambda payload: repr(payload.decode("utf-8", "surrogatepass")),
    BUILTIN_TAGS[bytes]: repr,
    "type": _name,
    "function": _name,
    "name": _name,
    "module": _name,
    "dtype": lambda payload: payload.decode(),
    "back-reference": lambda payload: f"a reference {int.from_bytes(payload, 'little')} levels up",
}
