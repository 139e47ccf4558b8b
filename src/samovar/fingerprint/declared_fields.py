"""Classes that declare their fields: dataclasses, attrs classes, pydantic models.

They are recognized by what they store in the class's `__dict__`, so none of the libraries is imported. Only fields count, in
the order of their declaration, and excluded fields are not even read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Final

from samovar.fingerprint.aggregation import digest_state
from samovar.fingerprint.deconstruction import METADATA_KEY, Deconstruction, Rule, encode_names
from samovar.fingerprint.deconstructor_options import Options
from samovar.fingerprint.state import StateRule, object_level, read_field
from samovar.fingerprint.vocabulary import WALK_FIELDS
from samovar.reflection import bases, namespace

__all__ = ["FieldsRule", "declared_names", "declares_fields", "plan_fields"]

_FIELD: Final[Any] = dataclasses._FIELD  # type: ignore[attr-defined]


@dataclasses.dataclass(frozen=True, slots=True)
class FieldsRule:
    """The rule for a class that declares its fields.

    The native traversal reads `names` and `state`, and does the same without calling the rule.
    """

    names: tuple[str, ...]
    payload: bytes
    labels: tuple[str, ...]
    state: bytes

    @classmethod
    def of(cls, names: tuple[str, ...]) -> FieldsRule:
        payload = encode_names(names)
        state = digest_state(Deconstruction("fields", payload))
        return cls(names, payload, (".__class__", *(f".{name}" for name in names)), state)

    def __call__(self, instance: object) -> Deconstruction:
        return Deconstruction(
            "fields", self.payload, (type(instance), *(read_field(instance, name) for name in self.names)), self.labels
        )

    def native_plan(self, cls: type) -> tuple[Any, ...]:
        """Return the plan for the native traversal."""
        return (WALK_FIELDS, self.names, self.state)


def plan_fields(cls: type, options: Options) -> Rule | None:
    """Return the rule for a class that declares fields, or `None` if it does not."""
    owner = next((base for base in bases(cls) if declares_fields(base)), None)
    if owner is None:
        return None
    skipped, ordered = options.skipped_names(cls), options.ordered_names(cls)
    declared = _declaration(owner)
    counted = tuple(name for name in declared if declared[name] and name not in skipped)
    if owner is not cls:
        # A subclass that declares no fields keeps its additions in its instances, along with fields of other bases.
        left_out = skipped.union(declared, _opted_out(cls))
        return StateRule("fields", object, left_out, ordered, counted)
    if _is_pydantic(owner):
        return _plan_model(counted, ordered)
    if ordered & frozenset(counted):
        return lambda instance: _level(instance, {name: read_field(instance, name) for name in counted}, ordered)
    return FieldsRule.of(counted)


def declares_fields(cls: type) -> bool:
    """Whether the class itself declares fields, and not only a base."""
    defined = namespace(cls)
    return "__dataclass_fields__" in defined or "__attrs_attrs__" in defined or _is_pydantic(cls)


def declared_names(cls: type) -> Iterable[str]:
    """Return the names of all fields of a class that declares them itself."""
    return _declaration(cls).keys()


def _plan_model(counted: tuple[str, ...], ordered: frozenset[str]) -> Rule:
    def rule(instance: object) -> Deconstruction:
        values = {name: read_field(instance, name) for name in counted}
        if undeclared := getattr(instance, "__pydantic_extra__", None):
            values["__pydantic_extra__"] = undeclared
        return _level(instance, values, ordered)

    return rule


def _level(instance: object, values: dict[str, Any], ordered: frozenset[str]) -> Deconstruction:
    return object_level("fields", type(instance), values, ordered)


def _declaration(cls: type) -> dict[str, bool]:
    """Return the fields that a class declares, and for each whether it counts."""
    defined = namespace(cls)
    if "__dataclass_fields__" in defined:
        fields = defined["__dataclass_fields__"].values()
        return {field.name: _counts(field.metadata) for field in fields if field._field_type is _FIELD}
    if "__attrs_attrs__" in defined:
        return {field.name: _counts(field.metadata) for field in defined["__attrs_attrs__"]}
    models = defined.get("__pydantic_fields__") or defined.get("model_fields") or {}
    return {name: _counts(info.json_schema_extra, *info.metadata) for name, info in models.items()}


def _opted_out(cls: type) -> frozenset[str]:
    """Return the excluded fields of all bases; of two declarations, the nearer one decides."""
    found: dict[str, bool] = {}
    for base in filter(declares_fields, bases(cls)):
        found = {**_declaration(base), **found}
    return frozenset(name for name, counts in found.items() if not counts)


def _is_pydantic(owner: type) -> bool:
    return "__pydantic_generic_metadata__" in namespace(owner)


def _counts(*sources: object) -> bool:
    return all(source.get(METADATA_KEY, True) for source in sources if isinstance(source, Mapping))
