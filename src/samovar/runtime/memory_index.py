"""An index of memory ranges: finds those that overlap a range without comparing it with all others.

Ranges of more than 2^(k-1) and up to 2^k bytes are sorted by where they begin: those that overlap another range begin inside
of it, or less than 2^k bytes before it.
"""

from __future__ import annotations

from bisect import bisect_left, insort

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Any


class MemoryIndex:
    """Values by key, each with a range of memory. Empty ranges overlap nothing."""

    __slots__ = ("_entries", "_levels", "_number")

    def __init__(self) -> None:
        #: Begin, a number that decides between equal ones, end and value.
        self._entries: dict[Hashable, tuple[int, int, int, Any]] = {}
        #: The same by k, sorted.
        self._levels: dict[int, list[tuple[Any, ...]]] = {}
        self._number = 0

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries

    def __bool__(self) -> bool:
        return bool(self._entries)

    def values(self) -> list[Any]:
        """All values."""
        return [each[3] for each in self._entries.values()]

    def get(self, key: Hashable) -> Any:
        """The value of a key, None if there is none."""
        found = self._entries.get(key)
        return None if found is None else found[3]

    def add(self, key: Hashable, begin: int, end: int, value: Any) -> None:
        """Add a key that is not known yet."""
        self._number += 1
        entry = self._entries[key] = begin, self._number, end, value
        if begin < end:
            insort(self._levels.setdefault((end - begin - 1).bit_length(), []), entry)

    def remove(self, key: Hashable) -> None:
        """Remove a known key."""
        begin, number, end, _ = self._entries.pop(key)
        if begin < end:
            k = (end - begin - 1).bit_length()
            level = self._levels[k]
            del level[bisect_left(level, (begin, number))]
            if not level:
                del self._levels[k]

    def overlapping(self, begin: int, end: int) -> list[Any]:
        """The values whose ranges share bytes with this one."""
        found = []
        for k, level in self._levels.items() if begin < end else ():
            for place in range(bisect_left(level, (begin - (1 << k),)), len(level)):
                low, _, high, value = level[place]
                if low >= end:
                    break
                if begin < high:
                    found.append(value)
        return found
