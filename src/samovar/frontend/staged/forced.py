"""The mark that `static(...)` leaves on its result until it is used."""

from __future__ import annotations

from samovar.frontend.staged.base import Staged


class Forced(Staged):
    """The result of `static(...)`: a loop over it is unrolled, and a name assigned from it is a compile-time value."""

    __slots__ = ("value",)

    is_forced = True

    def __init__(self, value: Staged) -> None:
        self.value = value

    def unforced(self) -> Staged:
        return self.value
