"""Paths and answers as plain data: None, bool, int, float, complex, str, bytes and tuples of these.

Other values become tagged tuples, which start with an ellipsis; answers never contain one. A path becomes its row number in
a table; a row is (number of the parent or -1, step, key).
"""

from __future__ import annotations

from samovar import _native
from samovar.lens.answers import EnumValue, Kind
from samovar.lens.path import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Row = tuple[int, str, Any]

_PLAIN = frozenset((type(None), bool, int, float, complex, str, bytes))


class PathTable:
    """Numbered paths without duplicates, parents first."""

    __slots__ = ("_numbers", "_paths", "_shared", "rows")

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self._paths: list[Path | None] = [None] * len(rows)
        self._numbers: dict[Path, int] | None = None
        self._shared: dict[bytes, Any] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def path(self, number: int) -> Path:
        """Return the path with a number."""
        found = self._paths[number]
        if found is None:
            parent, step, key = self.rows[number]
            above = None if parent < 0 else self.path(parent)
            found = self._paths[number] = Path(above, step, self.decoded(key))
        return found

    def number(self, path: Path) -> int:
        """Return the number of a path, adding a row if needed."""
        if self._numbers is None:
            self._numbers = {self.path(number): number for number in range(len(self.rows))}
        found = self._numbers.get(path)
        if found is None:
            parent = -1 if path.parent is None else self.number(path.parent)
            key = self.encoded(path.key)
            found = self._numbers[path] = len(self.rows)
            self.rows.append((parent, path.step, key))
            self._paths.append(path)
        return found

    def encoded(self, value: Any) -> Any:
        """Return an answer, or the key of a path, as plain data.

        Equal data is shared, because many arrays have equal answers: files get smaller, and reading them creates far fewer
        objects.
        """
        kind = value.__class__
        if kind in _PLAIN:
            return value
        if kind is tuple:
            made: tuple[Any, ...] = tuple(map(self.encoded, value))
        elif kind is Kind:
            made = (..., "kind", value.name)
        elif kind is _native.DType:
            made = (..., "dtype", value.name)
        elif kind is Path:
            made = (..., "path", self.number(value))
        elif kind is EnumValue:
            inner = self.encoded(value.value)
            made = (..., "enum", value.class_name, value.name, inner, value.operators, value.number)
        else:
            raise TypeError(f"an answer must not be a {kind.__name__}")
        return self._shared.setdefault(_native.encode_plain(made), made)  # keyed by bytes: 1, 1.0 and True differ

    def decoded(self, value: Any) -> Any:
        """The inverse of `encoded`."""
        if value.__class__ is not tuple:
            return value
        if value and value[0] is ...:
            return TAGS[value[1]](self, value)
        return tuple(map(self.decoded, value))


def dtype_named(name: str) -> _native.DType:
    """Return the dtype with a name, or raise `ValueError`."""
    found = getattr(_native, name, None)
    if not isinstance(found, _native.DType):
        raise ValueError(f"unknown dtype {name!r}")
    return found


#: Tag → how the tuple is decoded.
TAGS: dict[str, Callable[[PathTable, tuple[Any, ...]], Any]] = {
    "kind": lambda table, value: Kind.members[value[2]],
    "dtype": lambda table, value: dtype_named(value[2]),
    "path": lambda table, value: table.path(value[2]),
    "enum": lambda table, value: EnumValue(value[2], value[3], table.decoded(value[4]), *value[5:]),
}


def digest(parts: Sequence[Any]) -> str:
    """Return a key: the digest of plain data."""
    return _native.plain_digest(tuple(parts))
