"""Sites: the places in a program that can print or fail at run time, and their messages.

The compiler creates them, artifacts store them, and they are read when a launch prints or fails. Plain classes, because a
process that compiles nothing reads them as well.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar._native import DType


class _Value:
    """A value class: equal if all slots are."""

    __slots__: tuple[str, ...] = ()

    def parts_of(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, _Value) and self.parts_of() == other.parts_of()

    def __hash__(self) -> int:
        return hash(self.parts_of())

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.parts_of()}"


#: The conversion of a value whose format is one of C, `%.3f`.
PRINTF = "%"


class Hole(_Value):
    """A value in a message: which one, and the format that Python applies to it (`{x:.3f}` → ".3f", "!r").

    `operand` counts the values that the site carries (see `Site.types`), without the condition of a `check`.
    """

    __slots__ = ("operand", "conversion", "format")  # noqa: RUF023 - the order of the parameters

    def __init__(self, operand: int, conversion: str = "", format: str = "") -> None:
        self.operand = operand
        self.conversion = conversion
        self.format = format


class Frame(_Value):
    """One entry of a call stack, which lists the innermost call first."""

    __slots__ = ("function", "file", "line")  # noqa: RUF023

    def __init__(self, function: str, file: str, line: int) -> None:
        self.function = function
        self.file = file
        self.line = line


class Site(_Value):
    """A place in a program that can print or fail at run time: a print, an assertion, a failed check.

    `parts` alternates text and holes. `types` are the dtypes of the values that `print` and `check` carry; for an overflow
    check they are the operands of the arithmetic. `kind` is one of "print", "assertion", "bounds", "overflow", "division",
    "shift", "exponent", "view". `columns` locate the evaluated expression in the line of the first frame: start and end as
    in the syntax tree (-1 if it ends on another line), and its text, which the file may no longer contain.
    """

    __slots__ = ("kind", "parts", "types", "frames", "columns")  # noqa: RUF023

    def __init__(
        self,
        kind: str,
        parts: tuple[str | Hole, ...],
        types: tuple[DType, ...],
        frames: tuple[Frame, ...],
        columns: tuple[int, int, str] | None = None,
    ) -> None:
        self.kind = kind
        self.parts = parts
        self.types = types
        self.frames = frames
        self.columns = columns
