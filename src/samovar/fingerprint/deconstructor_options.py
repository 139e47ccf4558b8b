"""The options of a deconstructor, and what they mean for one class.

Rules are planned per class: whatever depends on the class alone (its fields, what is excluded) is computed once, so that the
rule that runs per object only reads.
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

#: Names of fields per class. Pairs instead of a mapping, because a class may be unhashable.
FieldTable = tuple[tuple[type, frozenset[str]], ...]


@dataclass(frozen=True)
class Options:
    """The options that the rules of one deconstructor share."""

    lenient: bool = False
    skip: FieldTable = ()
    ordered: FieldTable = ()
    array_identities: HeldArrays | None = None

    def skipped_names(self, cls: type) -> frozenset[str]:
        """Return the names of the fields that are excluded from instances of a class."""
        return _names_for(self.skip, cls)

    def ordered_names(self, cls: type) -> frozenset[str]:
        """Return the names of the fields that hold a mapping whose order counts."""
        return _names_for(self.ordered, cls)


#: Creates the rule for one class.
Planner = Callable[[type, Options], Rule]


def field_table(argument: str, fields: Mapping[type, Iterable[str]] | None) -> FieldTable:
    """Validate a mapping from classes to names of fields. A single string, which iterates as letters, is rejected."""
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
    """Reject an unknown policy."""
    if policy not in get_args(ArrayPolicy):
        raise ValueError(f"arrays has to be one of {', '.join(map(repr, get_args(ArrayPolicy)))}, not {policy!r}")


def _names_for(table: FieldTable, cls: type) -> frozenset[str]:
    if not table:
        return frozenset()
    mro = bases(cls)
    return frozenset().union(*(names for owner, names in table if any(base is owner for base in mro)))
