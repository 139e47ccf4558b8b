"""Instances by their state: their class, their fields, their `__dict__` and their slots.

The rule decides which names count and in which order. The native traversal calls it once per list of names, and reads the
values itself.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from samovar.fingerprint.aggregation import digest_state
from samovar.fingerprint.deconstruction import UNSET, Deconstruction, encode_names
from samovar.fingerprint.deconstructor_options import Options
from samovar.fingerprint.vocabulary import WALK_STATE
from samovar.reflection import ABSENT, counted_positions, has_dictionary, own, read_state, slots_below

__all__ = ["StateRule", "object_level", "read_field"]


@dataclass(frozen=True, slots=True)
class StateRule:
    """The rule for instances that count with their state: all that classes below `base` store in them.

    `fields` are read first, as attributes; they are among the `skipped` names of the state.
    """

    tag: str
    base: type
    skipped: frozenset[str]
    ordered: frozenset[str]
    fields: tuple[str, ...] = ()

    @classmethod
    def of(cls, tag: str, owner: type, base: type, options: Options) -> StateRule:
        """Return the rule for one class."""
        return cls(tag, base, options.skipped_names(owner), options.ordered_names(owner))

    def __call__(self, instance: object) -> Deconstruction:
        names, values = read_state(instance, self.base)
        counted = {name: read_field(instance, name) for name in self.fields}
        counted.update((names[position], values[position]) for position in self._arrange(type(instance), names))
        return object_level(self.tag, type(instance), counted, self.ordered)

    def shape(self, cls: type, names: tuple[str, ...]) -> tuple[tuple[int, ...], bytes]:
        """Return the positions of what counts among the names of an instance, and the digest of the level's state."""
        positions = tuple(self._arrange(cls, names))
        state = Deconstruction(self.tag, encode_names((*self.fields, *(names[position] for position in positions))))
        return positions, digest_state(state)

    def native_plan(self, cls: type, guard: Callable[[type], bool] | None = None) -> tuple[Any, ...] | None:
        """Return the plan for the native traversal, or `None` if it has to call the rule."""
        slots = slots_below(cls, self.base)
        # It finds a slot by its name, to avoid keeping the class alive.
        if self.ordered or any(own(cls, name) is not slot for name, slot in slots):
            return None
        names = tuple(name for name, _ in slots)
        return (WALK_STATE, self.fields, names, has_dictionary(cls), self.shape, self, guard)

    def _arrange(self, cls: type, names: Sequence[Any]) -> list[int]:
        counted = (position for position in counted_positions(cls, names) if names[position] not in self.skipped)
        return sorted(counted, key=lambda position: str(names[position]))


def object_level(
    tag: str, cls: type, values: Mapping[Any, Any], ordered: frozenset[str] = frozenset()
) -> Deconstruction:
    """Return the level of an instance with named values."""
    if not all(type(name) is str for name in values):
        return Deconstruction(tag, b"", (cls, dict(values)), (".__class__", ".__dict__"))
    pieces = tuple(_with_order(value) if name in ordered else value for name, value in values.items())
    return Deconstruction(tag, encode_names(values), (cls, *pieces), (".__class__", *(f".{name}" for name in values)))


def _with_order(value: Any) -> object:
    """Return a mapping along with the order of its keys."""
    if own(type(value), "keys") is ABSENT:
        return value
    return Deconstruction(
        "ordered", pieces=(value, Deconstruction("order", pieces=tuple(value))), labels=("", ".keys()")
    )


def read_field(instance: object, name: str) -> Any:
    """Return the value of a field, or a marker if it has none."""
    try:
        return getattr(instance, name)
    except AttributeError:
        # A slot or an attribute without a value. An error inside a property propagates.
        if type(own(type(instance), name)) not in (object, types.MemberDescriptorType):
            raise
        return UNSET
