"""Long lists and tuples of simple values: one question about all elements.

A question about each would be as many paths, and as many guards. What is answered is a digest; what guards compare are the
elements themselves.
"""

from __future__ import annotations

from samovar._native import plain_digest
from samovar.lens import questions
from samovar.lens.answers import EnumValue
from samovar.lens.contents import described_values
from samovar.lens.portable import PathTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.lens.contents import Contents
    from samovar.lens.enum_members import EnumMembers

#: Sequences of up to so many elements are asked about element by element, which says more where one changes.
LONGEST_SHORT = 64


class Elements:
    """The elements of a sequence as they are now: as answers (None if one of them is no simple value), the digest of these,
    and as guards compare them."""

    __slots__ = ("answers", "contents", "digest")

    def __init__(self, sequence: Any, members: EnumMembers) -> None:
        elements = questions.elements(sequence)
        self.answers = questions.simple_values(elements, members)
        self.digest = "" if self.answers is None else plain_digest(_encoded(self.answers))
        self.contents: Contents = described_values(type(sequence), elements)


def _encoded(answers: tuple[Any, ...]) -> tuple[Any, ...]:
    """Answers as plain data. Most of them are that already."""
    encoded = PathTable([]).encoded
    known: dict[EnumValue, Any] = {}
    for answer in answers:
        if answer.__class__ is EnumValue and answer not in known:
            known[answer] = encoded(answer)
    return tuple(known[answer] if answer.__class__ is EnumValue else answer for answer in answers)
