"""Sites: the places of a program that can speak at run time, and what they say.

They are made by the compiler, kept in artifacts and read when a launch prints or fails. Plain classes, because a process
that compiles nothing reads them as well.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar._native import DType


class _Value:
    """Equal if all of its slots are."""

    __slots__: tuple[str, ...] = ()

    def parts_of(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, _Value) and self.parts_of() == other.parts_of()

    def __hash__(self) -> int:
        return hash(self.parts_of())

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.parts_of()}"


class Hole(_Value):
    """A value in a message: which one, and the format that Python applies to it (`{x:.3f}` → ".3f", "!r").

    `operand` counts the values that the site carries (see `Site.types`): the condition of a `check` is not among them.
    """

    __slots__ = ("operand", "conversion", "format")  # noqa: RUF023 - the order of the parameters

    def __init__(self, operand: int, conversion: str = "", format: str = "") -> None:
        self.operand = operand
        self.conversion = conversion
        self.format = format


class Frame(_Value):
    """One entry of a call chain: innermost first."""

    __slots__ = ("function", "file", "line")  # noqa: RUF023

    def __init__(self, function: str, file: str, line: int) -> None:
        self.function = function
        self.file = file
        self.line = line


class Site(_Value):
    """A place in a program that can speak at run time: a print, an assertion, a failed check.

    `parts` alternates text and holes. `types` are the dtypes of the values that `print` and `check` carry; those of an
    overflow check on arithmetic are its operands. `kind` is one of "print", "assertion", "bounds", "overflow", "division",
    "shift", "exponent", "view". `columns` are those of what was evaluated, in the line of the first frame: where it begins
    and ends, as the syntax tree counts, or -1 if it ends on another line; and the text between, which the line may not have
    any more.
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
