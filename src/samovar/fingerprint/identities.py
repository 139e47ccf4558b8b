"""Arrays by identity, for keys that are used only inside the process."""

from __future__ import annotations

import itertools
import os
import secrets
import struct
from typing import Final

from samovar.fingerprint.deconstruction import EmptyDeconstruction
from samovar.reflection import ABSENT, own

__all__ = ["HeldArrays", "is_array_type"]

#: A class that has one of these attributes, directly or inherited, is an array on some device.
_ARRAY_PROTOCOLS: Final = ("__array_interface__", "__cuda_array_interface__", "__dlpack__")


class HeldArrays:
    """Assigns a token to every array and holds the array, so that its address cannot be reused for another one.

    A token also names the process and this table: it is not valid in another process, not even in a forked one.
    """

    def __init__(self) -> None:
        self._table_name = secrets.token_bytes(16)
        self._numbers = itertools.count()
        self._held: dict[int, tuple[object, EmptyDeconstruction]] = {}

    def __call__(self, array: object) -> EmptyDeconstruction:
        held = self._held.get(id(array))
        if held is None:
            token = self._table_name + struct.pack("<qq", os.getpid(), next(self._numbers))
            held = self._held.setdefault(id(array), (array, EmptyDeconstruction("array-identity", token)))
        return held[1]

    def release(self) -> None:
        """Release all arrays. They get new tokens when they occur again."""
        self._held.clear()

    def __reduce__(self) -> tuple[type[HeldArrays], tuple[()]]:
        return (HeldArrays, ())


def is_array_type(cls: type) -> bool:
    """Whether instances are arrays, of any library."""
    return any(own(cls, name) is not ABSENT for name in _ARRAY_PROTOCOLS)
