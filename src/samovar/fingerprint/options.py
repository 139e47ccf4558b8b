"""What a deconstructor was told, and what it turns that into for one class.

Rules are planned per class: everything that depends on the class alone (its fields, what is left out of it) is computed
once, and the rule that runs per object does no more than read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from samovar.fingerprint.deconstruction import Rule
from samovar.fingerprint.identities import HeldArrays
from samovar.reflection import bases

__all__ = ["ArrayPolicy", "FieldTable", "Options", "Planner", "check_array_policy", "field_table"]

ArrayPolicy = Literal["content", "identity"]

#: Names of fields per class. Pairs and not a mapping: a class may not be hashable.
FieldTable = tuple[tuple[type, frozenset[str]], ...]


@dataclass(frozen=True)
class Options:
    """The choices that the rules of one deconstructor share."""

    lenient: bool = False
    skip: FieldTable = ()
    ordered: FieldTable = ()
    array_identities: HeldArrays | None = None

    def skipped_names(self, cls: type) -> frozenset[str]:
        """The names of fields that are left out of instances of a class."""
        return _names_for(self.skip, cls)

    def ordered_names(self, cls: type) -> frozenset[str]:
        """The names of fields whose mapping counts with its order."""
        return _names_for(self.ordered, cls)


#: Makes the rule for one class.
Planner = Callable[[type, Options], Rule]


def field_table(argument: str, fields: Mapping[type, Iterable[str]] | None) -> FieldTable:
    """Check a mapping from classes to names of fields. A single string, which iterates as letters, is refused."""
    table = []
    for cls, names in (fields or {}).items():
        if not issubclass(type(cls), type):
            raise TypeError(f"{argument} takes classes as keys, not {cls!r}")
        names = names if isinstance(names, str) else tuple(names)
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise TypeError(f"{argument}[{cls.__name__}] takes a collection of names, not {names!r}")
        table.append((cls, frozenset(names)))
    return tuple(table)


def check_array_policy(policy: str) -> None:
    """Refuse what is not one of the policies."""
    if policy not in get_args(ArrayPolicy):
        raise ValueError(f"arrays is one of {', '.join(map(repr, get_args(ArrayPolicy)))}, not {policy!r}")


def _names_for(table: FieldTable, cls: type) -> frozenset[str]:
    if not table:
        return frozenset()
    mro = bases(cls)
    return frozenset().union(*(names for owner, names in table if any(base is owner for base in mro)))
