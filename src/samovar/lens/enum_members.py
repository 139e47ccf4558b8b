"""Maps enum values in answers to the enum members they stand for, during one compile or replay.

Several enums can share a qualified name: a factory creates one per call, and notebook cells are re-run. Answers distinguish
them by a number in order of first use, which is the same for a compile and its replay.
"""

from __future__ import annotations

from samovar.lens.answers import EnumValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.lens.path import Path


class EnumMembers:
    """Maps values to members, and numbers the classes that share a name."""

    __slots__ = ("_classes", "_members", "_places")

    def __init__(self) -> None:
        self._classes: dict[str, list[type]] = {}
        self._members: dict[EnumValue, object] = {}
        self._places: dict[EnumValue, tuple[Path, int | None]] = {}

    def value(self, member: object, class_name: str, name: str, stands_for: Any, operators: str) -> EnumValue:
        """Return the value for a member, and remember the member."""
        classes = self._classes.setdefault(class_name, [])
        cls = type(member)
        number = next((number for number, each in enumerate(classes) if each is cls), len(classes))
        if number == len(classes):
            classes.append(cls)
        answer = EnumValue(class_name, name, stands_for, operators, number)
        self._members[answer] = member
        return answer

    def remember(self, value: EnumValue, member: object, path: Path, position: int | None = None) -> None:
        """Record the member behind a value and its location: a path, or a position among the elements or keys there."""
        self._members[value] = member
        self._places.setdefault(value, (path, position))

    def place(self, value: EnumValue) -> tuple[Path | None, int | None]:
        """Return where a member was first found: a path, and its position there if it is an element or a key."""
        return self._places.get(value, (None, None))

    def behind(self, value: EnumValue) -> Any:
        """Return the member that a value stands for, or the value itself if the member is unknown."""
        return self._members.get(value, value)


def member_at(found: Any, position: int | None) -> Any:
    """Return the member at a position of `found`, the object at its path; None if it no longer exists."""
    if position is None:
        return found
    listed = list(dict.keys(found)) if isinstance(found, dict) else found
    return listed[position] if isinstance(listed, (list, tuple)) and position < len(listed) else None
