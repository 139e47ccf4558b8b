"""What the reverses on a tape will read: boxes of arrays, found by memory and by index when a launch overwrites them.

A box fixes the index of some axes and has all of the others. So boxes with the same fixed axes are keys of a dictionary, and
a launch that writes `x[t + 1]` finds the need for `x[t + 1]` among thousands by a lookup.
"""

from __future__ import annotations

from functools import cache

from samovar.runtime.launch_plan import WHOLE
from samovar.runtime.memory_index import MemoryIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from samovar.runtime.launch_plan import Axes, Box, Place


@cache
def _places_of(shared: Axes, axes: Axes) -> Axes:
    """Where the shared axes are among the axes."""
    return tuple(axes.index(each) for each in shared)


@cache
def _shared(one: Axes, other: Axes) -> Axes:
    return tuple(each for each in one if each in other)


def _part(indices: Axes, axes: Axes, shared: Axes) -> Axes:
    """The indices of those axes that are shared."""
    return indices if shared == axes else tuple(indices[each] for each in _places_of(shared, axes))


def _intersection(one: Box, other: Box) -> Box:
    """The intersection of two boxes that agree in the axes that both fix."""
    fixed = dict(zip(*one, strict=True)) | dict(zip(*other, strict=True))
    axes = tuple(sorted(fixed))
    return axes, tuple(fixed[each] for each in axes)


class _Boxes:
    """Boxes that fix the same axes, each with the kernel whose reverse needs it."""

    __slots__ = ("_by_part", "axes", "needed_by")

    def __init__(self, axes: Axes) -> None:
        self.axes = axes
        self.needed_by: dict[Axes, str] = {}
        #: By some of the axes, and the indices there: the indices of all of them.
        self._by_part: dict[Axes, dict[Axes, dict[Axes, None]]] = {}

    def add(self, indices: Axes, name: str) -> None:
        self.needed_by[indices] = name
        for shared, found in self._by_part.items():
            found.setdefault(_part(indices, self.axes, shared), {})[indices] = None

    def remove(self, indices: Axes) -> None:
        del self.needed_by[indices]
        for shared, found in self._by_part.items():
            part = _part(indices, self.axes, shared)
            del found[part][indices]
            if not found[part]:
                del found[part]

    def meeting(self, box: Box) -> list[Axes]:
        """The indices of the boxes that have elements in common with this one."""
        axes, indices = box
        shared = _shared(self.axes, axes)
        part = _part(indices, axes, shared)
        if shared == self.axes:
            return [part] if part in self.needed_by else []
        if not shared:
            return list(self.needed_by)
        found = self._by_part.get(shared)
        if found is None:
            found = self._by_part[shared] = {}
            for each in self.needed_by:
                found.setdefault(_part(each, self.axes, shared), {})[each] = None
        return list(found.get(part, ()))


class _Group:
    """The needs of arrays in which an index means the same element."""

    __slots__ = ("boxes", "place")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.boxes: dict[Axes, _Boxes] = {}

    def add(self, box: Box, name: str) -> None:
        """Add a need, unless another one covers it; those that it covers are dropped."""
        axes, indices = box
        for each in list(self.boxes.values()):
            shared = _shared(each.axes, axes)
            if shared == each.axes and _part(indices, axes, shared) in each.needed_by:
                return
            if shared == axes:
                self._drop(each, each.meeting(box))
        if axes not in self.boxes:
            self.boxes[axes] = _Boxes(axes)
        self.boxes[axes].add(indices, name)

    def _drop(self, boxes: _Boxes, dropped: list[Axes]) -> None:
        for each in dropped:
            boxes.remove(each)
        if not boxes.needed_by:
            del self.boxes[boxes.axes]

    def taken(self, box: Box) -> Iterator[tuple[Place, Box, str]]:
        """What the needs have in common with a box that is overwritten. Those that it covers are dropped."""
        for each in list(self.boxes.values()):
            met = each.meeting(box)
            covers = _shared(each.axes, box[0]) == box[0]
            for indices in met:
                found = each.axes, indices
                yield self.place, found if covers else _intersection(found, box), each.needed_by[indices]
            if covers:
                self._drop(each, met)


class Needs:
    """All needs of a tape."""

    __slots__ = ("_groups", "_meeting")

    def __init__(self) -> None:
        self._groups = MemoryIndex()
        #: Whether two places that are not the same meet, by their keys.
        self._meeting: dict[tuple[Any, Any], bool] = {}

    def __bool__(self) -> bool:
        return bool(self._groups)

    def add(self, place: Place, box: Box | None, name: str) -> None:
        """The reverse of the kernel with this name will read a box of an array; None for no element."""
        if box is None:
            return
        group = self._groups.get(place.key)
        if group is None:
            group = _Group(place)
            self._groups.add(place.key, place.begin, place.end, group)
        group.add(box, name)

    def taken(self, place: Place, box: Box | None) -> Iterator[tuple[Place, Box, str]]:
        """What is needed and lies in a box that is overwritten, with the kernel that needs it. That is needed no longer: the
        caller saves it. A need of which only a part is overwritten remains."""
        for group in self._groups.overlapping(place.begin, place.end):
            if group.place.has_same_elements(place):
                if box is not None:
                    yield from group.taken(box)
            elif self._meet(group.place, place):
                yield from group.taken(WHOLE)
            if not group.boxes:
                self._groups.remove(group.place.key)

    def _meet(self, one: Place, other: Place) -> bool:
        found = self._meeting.get((one.key, other.key))
        if found is None:
            found = self._meeting[one.key, other.key] = one.meets(other)
        return found
