"""Long lists and tuples of simple values: one question about all elements.

Asking about each element would create as many paths and guards. The answer is a digest; guards compare the elements
themselves.
"""

from __future__ import annotations

from samovar._native import plain_digest
from samovar.lens import questions
from samovar.lens.answers import EnumValue
from samovar.lens.deep_values import described_values
from samovar.lens.serialized import PathTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.lens.deep_values import Contents
    from samovar.lens.enum_members import EnumMembers

#: Sequences of up to this length are asked about element by element, which gives more precise explanations.
LONGEST_SHORT = 64


class Elements:
    """The current elements of a sequence: as answers (None if one is not a simple value), as the digest of the answers, and
    as guards compare them."""

    __slots__ = ("answers", "contents", "digest")

    def __init__(self, sequence: Any, members: EnumMembers) -> None:
        elements = questions.elements(sequence)
        self.answers = questions.simple_values(elements, members)
        self.digest = "" if self.answers is None else plain_digest(_encoded(self.answers))
        self.contents: Contents = described_values(type(sequence), elements)


def _encoded(answers: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return answers as plain data, which most of them are already."""
    encoded = PathTable([]).encoded
    known: dict[EnumValue, Any] = {}
    for answer in answers:
        if answer.__class__ is EnumValue and answer not in known:
            known[answer] = encoded(answer)
    return tuple(known[answer] if answer.__class__ is EnumValue else answer for answer in answers)
