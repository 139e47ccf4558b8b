"""Classes that declare their fields: dataclasses, attrs classes, pydantic models.

They are recognised by what they leave in the class's `__dict__`, so none of the libraries is imported. Only fields
count, in the order of their declaration, and a field that opted out is not even read.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterable, Mapping
from typing import Any, Final

from samovar.fingerprint.aggregation import digest_state
from samovar.fingerprint.deconstruction import METADATA_KEY, UNSET, Deconstruction, Rule, encode_names
from samovar.fingerprint.inspection import MISSING, instance_state, lookup, mro_of, namespace_of
from samovar.fingerprint.options import Options
from samovar.fingerprint.vocabulary import WALK_FIELDS

__all__ = ["FieldsRule", "declared_names", "object_level", "plan_fields"]

_FIELD: Final[Any] = dataclasses._FIELD  # type: ignore[attr-defined]


@dataclasses.dataclass(frozen=True, slots=True)
class FieldsRule:
    """The rule of a class that declares its fields.

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
            "fields", self.payload, (type(instance), *(_read(instance, name) for name in self.names)), self.labels
        )

    def native_plan(self, cls: type) -> tuple[Any, ...]:
        """What the native traversal needs to know."""
        return (WALK_FIELDS, self.names, self.state)


def plan_fields(cls: type, options: Options) -> Rule | None:
    """The rule for a class that declares fields, or `None` if it does not."""
    found = _declaration(cls)
    if found is None:
        return None
    owner, names = found
    skipped = options.skipped_names(cls)
    counted = tuple(name for name in names if names[name] and name not in skipped)
    ordered = options.ordered_names(cls)
    is_pydantic, is_inherited = _is_pydantic(owner), owner is not cls
    if not is_inherited and not ordered & frozenset(counted) and not is_pydantic:
        return FieldsRule.of(counted)

    def rule(instance: object) -> Deconstruction:
        values = {name: _read(instance, name) for name in counted}
        if is_inherited:
            # A subclass that declares nothing itself keeps what it adds in its instances.
            extra = instance_state(instance, object)
            values.update(
                (name, extra[name]) for name in sorted(extra, key=str) if name not in names and name not in skipped
            )
        if is_pydantic and (undeclared := getattr(instance, "__pydantic_extra__", None)):
            values["__pydantic_extra__"] = undeclared
        return object_level("fields", type(instance), values, ordered)

    return rule


def declared_names(cls: type) -> Iterable[str] | None:
    """The names of all fields that a class declares, or `None` if it declares none."""
    found = _declaration(cls)
    return None if found is None else found[1].keys()


def object_level(
    tag: str, cls: type, values: Mapping[Any, Any], ordered: frozenset[str] = frozenset()
) -> Deconstruction:
    """The level of an instance with named values."""
    if not all(type(name) is str for name in values):
        return Deconstruction(tag, b"", (cls, dict(values)), (".__class__", ".__dict__"))
    pieces = tuple(_with_order(value) if name in ordered else value for name, value in values.items())
    return Deconstruction(tag, encode_names(values), (cls, *pieces), (".__class__", *(f".{name}" for name in values)))


def _with_order(value: Any) -> object:
    """A mapping as it is, and the order of its keys besides."""
    if lookup(type(value), "keys") is MISSING:
        return value
    return Deconstruction(
        "ordered", pieces=(value, Deconstruction("order", pieces=tuple(value))), labels=("", ".keys()")
    )


def _read(instance: object, name: str) -> Any:
    try:
        return getattr(instance, name)
    except AttributeError:
        # A slot or an attribute without a value. A property that fails is another matter.
        if type(lookup(type(instance), name)) not in (object, types.MemberDescriptorType):
            raise
        return UNSET


def _declaration(cls: type) -> tuple[type, dict[str, bool]] | None:
    """The nearest class that declares fields, and for each field whether it counts."""
    for owner in mro_of(cls):
        namespace = namespace_of(owner)
        if "__dataclass_fields__" in namespace:
            fields = namespace["__dataclass_fields__"].values()
            return owner, {field.name: _counts(field.metadata) for field in fields if field._field_type is _FIELD}
        if "__attrs_attrs__" in namespace:
            return owner, {field.name: _counts(field.metadata) for field in namespace["__attrs_attrs__"]}
        if _is_pydantic(owner):
            models = namespace.get("__pydantic_fields__") or namespace.get("model_fields") or {}
            return owner, {name: _counts(info.json_schema_extra, *info.metadata) for name, info in models.items()}
    return None


def _is_pydantic(owner: type) -> bool:
    return "__pydantic_generic_metadata__" in namespace_of(owner)


def _counts(*sources: object) -> bool:
    return all(source.get(METADATA_KEY, True) for source in sources if isinstance(source, Mapping))
