"""Elements already held in vectors: loaded or stored before, in the code that is being written.

An element that is loaded for all active lanes is not loaded again for some of them; and where an element is stored for some
lanes only, the others can store what they have loaded, which is faster than a masked store. Lanes only become fewer on the
way into a region, so whatever was loaded around it covers the lanes inside.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from samovar.ir import Affine, Array, Value

Key = tuple[Array, tuple[Hashable, ...]]


class Held(NamedTuple):
    """A vector of elements, valid for the lanes of a mask: None for all."""

    vector: Value
    mask: Value | None
    version: int


class Reuse:
    """Elements by array and indices. Writers must report each write, which invalidates the elements of the array."""

    def __init__(self, affine: Affine) -> None:
        self.affine = affine
        self.held: dict[Key, Held] = {}
        self.versions: dict[Array, int] = {}

    def key(self, array: Array, at: tuple[Value, ...]) -> Key:
        return array, tuple(map(self.affine.number, at))

    def find(self, key: Key) -> Held | None:
        found = self.held.get(key)
        return found if found is not None and found.version == self._version(key[0]) else None

    def hold(self, key: Key, vector: Value, mask: Value | None) -> None:
        if key[0].alone:
            self.held[key] = Held(vector, mask, self._version(key[0]))

    def write(self, array: Array) -> None:
        """Invalidate the elements of a written array, and of arrays that may alias it."""
        self.versions[array] = self.versions.get(array, 0) + 1

    def _version(self, array: Array) -> int:
        return self.versions.get(array, 0)
