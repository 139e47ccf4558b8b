"""The enum members behind the values that answers have for them, for one look at the user's world.

Enums of one qualified name may be several: a factory makes one each time, a cell of a notebook is run again. In an answer
they are told apart by a number, given in the order in which they come up: a compile and its replay meet them in the same.
"""

from __future__ import annotations

from samovar.lens.answers import EnumValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.lens.path import Path


class EnumMembers:
    """Which member a value stands for, and which number a class has among those of its name."""

    __slots__ = ("_classes", "_members", "_places")

    def __init__(self) -> None:
        self._classes: dict[str, list[type]] = {}
        self._members: dict[EnumValue, object] = {}
        self._places: dict[EnumValue, tuple[Path, int | None]] = {}

    def value(self, member: object, class_name: str, name: str, stands_for: Any, operators: str) -> EnumValue:
        """The value for a member, which is remembered."""
        classes = self._classes.setdefault(class_name, [])
        cls = type(member)
        number = next((number for number, each in enumerate(classes) if each is cls), len(classes))
        if number == len(classes):
            classes.append(cls)
        answer = EnumValue(class_name, name, stands_for, operators, number)
        self._members[answer] = member
        return answer

    def remember(self, value: EnumValue, member: object, path: Path, position: int | None = None) -> None:
        """Note the member behind a value, and where it is: at a path, or among the elements or keys of what is there."""
        self._members[value] = member
        self._places.setdefault(value, (path, position))

    def place(self, value: EnumValue) -> tuple[Path | None, int | None]:
        """Where a member was found first: a path, and its position in what is there if it is not that itself."""
        return self._places.get(value, (None, None))

    def behind(self, value: EnumValue) -> Any:
        """The member that a value stands for; the value itself if none has come up."""
        return self._members.get(value, value)


def member_at(found: Any, position: int | None) -> Any:
    """The member at a place whose path leads to `found`; None if there is nothing any more."""
    if position is None:
        return found
    listed = list(dict.keys(found)) if isinstance(found, dict) else found
    return listed[position] if isinstance(listed, (list, tuple)) and position < len(listed) else None
