"""What both traversals have to agree on: tags, digest domains, and the numbers of the native walks.

`_native/fingerprint/fingerprint_tables.h` defines them. They are read from there at import, so that the two sides cannot
drift apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from samovar import _native

__all__ = [
    "BUILTIN_TAGS",
    "BUILTIN_WALKS",
    "DIGEST_SIZE",
    "DOMAIN_LEAF",
    "DOMAIN_ORDERED",
    "DOMAIN_STATE",
    "DOMAIN_UNORDERED",
    "TAG_EXTENDED",
    "TAG_ITEM",
    "TAG_UNSET",
    "WALK_EXTENDED",
    "WALK_FIELDS",
    "WALK_LEVEL",
    "WALK_STATE",
]

DIGEST_SIZE: Final = _native.FINGERPRINT_DIGEST_SIZE

DOMAIN_LEAF: Final = _native.FINGERPRINT_DOMAINS["LEAF"]
DOMAIN_STATE: Final = _native.FINGERPRINT_DOMAINS["STATE"]
DOMAIN_ORDERED: Final = _native.FINGERPRINT_DOMAINS["ORDERED"]
DOMAIN_UNORDERED: Final = _native.FINGERPRINT_DOMAINS["UNORDERED"]

#: The tags of builtin types that the native traversal walks itself, and their numbers there.
BUILTIN_TAGS: Final[Mapping[type, str]] = {cls: tag for cls, (_, tag) in _native.FINGERPRINT_BUILTINS.items()}
BUILTIN_WALKS: Final[Mapping[type, int]] = {cls: walk for cls, (walk, _) in _native.FINGERPRINT_BUILTINS.items()}

#: A key and its value; a field without a value; builtin content and what a subclass adds to it.
TAG_ITEM: Final = _native.FINGERPRINT_TAGS["ITEM"]
TAG_UNSET: Final = _native.FINGERPRINT_TAGS["UNSET"]
TAG_EXTENDED: Final = _native.FINGERPRINT_TAGS["EXTENDED"]

#: Walks that a plan describes: of deconstructions, declared fields, the state of an instance, builtin content and more.
WALK_LEVEL: Final = _native.FINGERPRINT_WALKS["DECONSTRUCTION"]
WALK_FIELDS: Final = _native.FINGERPRINT_WALKS["FIELDS"]
WALK_STATE: Final = _native.FINGERPRINT_WALKS["STATE"]
WALK_EXTENDED: Final = _native.FINGERPRINT_WALKS["EXTENDED"]
