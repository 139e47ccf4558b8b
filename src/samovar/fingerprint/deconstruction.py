"""One level of an object: a tagged state and the pieces below it.

All three layers share this vocabulary: rules produce deconstructions, the traversal walks their pieces, a reduction
collapses them. Nothing here inspects an object or knows about hashing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from samovar.fingerprint.vocabulary import TAG_UNSET

__all__ = [
    "UNSET",
    "Deconstruction",
    "EmptyDeconstruction",
    "OrderInsensitiveDeconstruction",
    "Rule",
    "UnfingerprintableError",
    "decode_names",
    "encode_names",
    "metadata",
]

#: The metadata key for our options in a field of a dataclass, attrs class or pydantic model.
METADATA_KEY = "samovar.fingerprint"


@dataclass(frozen=True, slots=True)
class Deconstruction:
    """A state (a tag and a payload of bytes) and the ordered pieces below it.

    A piece is any object, or a deconstruction, which is used as it is. `labels` name the pieces in the paths of
    `difference`; they are not part of the state.

    >>> from samovar.fingerprint import Deconstruction, make_deconstructor, make_fingerprinter
    >>> class Interval:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    >>> rule = lambda interval: Deconstruction("Interval", pieces=(interval.low, interval.high))
    >>> fingerprinter = make_fingerprinter(make_deconstructor({Interval: rule}))
    >>> fingerprinter(Interval(1, 2)) == fingerprinter(Interval(1, 2)) != fingerprinter(Interval(2, 1))
    True
    """

    tag: str
    payload: bytes | memoryview = b""
    pieces: tuple[Any, ...] = ()
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class EmptyDeconstruction(Deconstruction):
    """A terminal state: a tag and a payload, without pieces.

    The payload may be a `memoryview`, to avoid a copy; its elements count in C order.

    >>> from samovar.fingerprint import EmptyDeconstruction
    >>> EmptyDeconstruction("Version", b"1.2").pieces
    ()
    """

    pieces: tuple[Any, ...] = field(init=False, default=())
    labels: tuple[str, ...] | None = field(init=False, default=None)


@dataclass(frozen=True, slots=True)
class OrderInsensitiveDeconstruction(Deconstruction):
    """A state whose pieces are unordered: the traversal passes their results to the reduction sorted.

    >>> from samovar.fingerprint import OrderInsensitiveDeconstruction, catabolize
    >>> bag = OrderInsensitiveDeconstruction("bag", pieces=(3, 1, 2))
    >>> leaf = lambda number: OrderInsensitiveDeconstruction(str(number))
    >>> catabolize(bag, deconstruct=leaf, collapse=lambda level: level.tag + "".join(level.pieces))
    'bag123'
    """


#: Stands for an empty closure cell or a field without a value.
UNSET: Final = EmptyDeconstruction(TAG_UNSET)

#: Takes one object apart.
Rule = Callable[[Any], Deconstruction]


class UnfingerprintableError(TypeError):
    """Raised by a rule for an object that has no stable content. The fingerprinter adds the path to the object."""


def metadata(*, fingerprint: bool = True) -> Mapping[str, Any]:
    """Return field metadata. With `fingerprint=False` the field is never read, and so never part of a fingerprint.

    Pass it to `dataclasses.field(metadata=...)` or `attrs.field(metadata=...)`; for pydantic use `Annotated[T,
    metadata(...)]` or `Field(json_schema_extra=...)`. It is a mapping and can be merged with others.

    >>> import dataclasses, io
    >>> from samovar.fingerprint import lenient_fingerprinter, metadata
    >>> @dataclasses.dataclass
    ... class Job:
    ...     name: str
    ...     log: object = dataclasses.field(default=None, metadata=metadata(fingerprint=False))
    >>> lenient_fingerprinter(Job("a", io.StringIO())) == lenient_fingerprinter(Job("a", None))
    True
    """
    return MappingProxyType({METADATA_KEY: fingerprint})


def encode_names(names: Iterable[str]) -> bytes:
    """Encode strings as one payload. Each is preceded by its length, so that the encoding is unambiguous."""
    parts = []
    for name in names:
        data = name.encode("utf-8", "surrogatepass")
        parts.append(len(data).to_bytes(4, "little") + data)
    return b"".join(parts)


def decode_names(payload: bytes) -> list[str]:
    """The inverse of `encode_names`."""
    names, position = [], 0
    while position < len(payload):
        end = position + 4 + int.from_bytes(payload[position : position + 4], "little")
        names.append(payload[position + 4 : end].decode("utf-8", "surrogatepass"))
        position = end
    return names
