"""Compound arguments: the classes whose members kernels read, and what each class declares about its members.

`data_oriented` marks a class; dataclasses are recognized by their fields. Whether a number is a compile-time constant or is
read at each launch is a property of the class, decided here and nowhere else. The module belongs to the lens because the
lens asks about it.
"""

from __future__ import annotations

import sys

import samovar
from samovar._native import api_boundary
from samovar.language import (
    Annotation,
    ArrayAnnotation,
    ScalarAnnotation,
    ViewAnnotation,
    from_plain,
    plainly,
    specification,
    without_none,
)
from samovar.reflection import ABSENT, bases, class_name, dataclass_fields, is_class, module_of, namespace, own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: The metadata key of a dataclass field that makes its value a compile-time constant.
FIELD_METADATA_CACHE_VALUE = "samovar_cache_value"

_TEMPLATE_PRIMITIVES = "_sv_template_primitives"
#: The promise as a class attribute: our name and that of Quadrants.
_STABLE_MEMBERS = ("_sv_stable_members", "_qd_stable_members")
#: Takes the place of an annotation's name in a declaration that refers to an unknown name.
_UNRESOLVED = "unresolved"


@api_boundary
def data_oriented(
    cls: Any = None, *, template_primitives: bool | None = None, stable_members: bool | None = None
) -> Any:
    """Mark a class whose methods are kernels and funcs, or whose objects are passed to kernels as `sv.Template`.

    Arrays that a kernel reads are bound at each launch. Numbers that it reads are compile-time constants with guards; with
    `template_primitives=False` they are read at each launch instead. `stable_members=True` promises that no member is
    rebound after the first launch, so launches skip these checks. Omitted options are inherited.

    >>> import samovar as sv
    >>> @sv.data_oriented
    ... class Counter:
    ...     def __init__(self):
    ...         self.counts = sv.ndarray(sv.i32, 4)
    ...         self.step = 3
    ...     @sv.kernel
    ...     def count(self):
    ...         for i in self.counts:
    ...             self.counts[i] += self.step
    >>> counter = Counter()
    >>> counter.count()
    >>> counter.counts[0]
    3
    """
    if cls is None:
        return api_boundary(
            lambda decorated: data_oriented(
                decorated, template_primitives=template_primitives, stable_members=stable_members
            )
        )
    if not is_class(cls):
        raise samovar.SamovarTypeError(f"@sv.data_oriented decorates a class, not a {class_name(type(cls))}")
    if template_primitives is None:
        inherited = own(cls, _TEMPLATE_PRIMITIVES)
        template_primitives = inherited is ABSENT or bool(inherited)
    type.__setattr__(cls, _TEMPLATE_PRIMITIVES, bool(template_primitives))
    if stable_members is not None:
        type.__setattr__(cls, _STABLE_MEMBERS[0], bool(stable_members))
    return cls


def description(cls: Any) -> str:
    """Return the answer to the question `class`: what a class is to a kernel and what it declares about its numbers and
    arrays.

    The text starts with "data_oriented", "dataclass" or "object". Then follows whether numbers are compile-time constants,
    or for a dataclass its fields, grouped by what they have in common: whether they are compile-time constants, and their
    declared types.
    """
    inherited = own(cls, _TEMPLATE_PRIMITIVES)
    if inherited is not ABSENT:
        return f"data_oriented {bool(inherited)}"
    fields = dataclass_fields(cls)
    if fields is None:
        return "object"
    known = _DESCRIPTIONS.get(id(fields))
    if known is None:
        known = _DESCRIPTIONS[id(fields)] = (fields, f"dataclass {_members(cls, fields)!r}")
    return known[1]


#: Keyed by the identity of the fields, which the table keeps alive. Fields belong to the class and are described once.
_DESCRIPTIONS: dict[int, tuple[object, str]] = {}


def is_compound_class(cls: Any) -> bool:
    """Whether a class says that its objects are compounds: a dataclass, or one that is marked as `data_oriented`."""
    return description(cls) != "object"


class Description:
    """A parsed description."""

    __slots__ = ("_declared", "declared_as", "fields", "template_primitives")

    def __init__(self, text: str) -> None:
        self.declared_as, _, rest = text.partition(" ")
        self.template_primitives = self.declared_as == "object" or rest == "True"
        self.fields: dict[str, tuple[bool, tuple[Any, ...] | None]] = {}
        self._declared: dict[tuple[Any, ...], Annotation] = {}  # by key: many fields share one
        if self.declared_as == "dataclass":
            from ast import literal_eval

            for common, names in literal_eval(rest).items():
                self.fields.update(dict.fromkeys(names.split(), common))

    def declared(self, name: str) -> Annotation | None:
        """Return the declared annotation of a field."""
        _, key = self.fields.get(name, (False, None))
        if key is None or key[0] == _UNRESOLVED:
            return None
        known = self._declared.get(key)
        if known is None:
            from samovar.values import annotation_of_key

            known = self._declared[key] = annotation_of_key(from_plain(key))
        return known

    def unresolved(self, name: str) -> str | None:
        """Return the text of a declaration that could not be evaluated, or None."""
        _, key = self.fields.get(name, (False, None))
        return key[1] if key is not None and key[0] == _UNRESOLVED else None


def _members(cls: Any, fields: Mapping[str, Any]) -> dict[Any, str]:
    """Group fields by what they have in common; the values are their names."""
    members: dict[Any, list[str]] = {}
    declared: dict[Any, tuple[Any, ...] | None] = {}  # by annotation: classes with many fields have few distinct ones
    for name, field in fields.items():
        if field._field_type.name == "_FIELD_CLASSVAR":
            continue
        written = field.type
        module = _defining_module(cls, name) if type(written) is str else None
        annotation = (id(written), None) if module is None else (written, id(module))
        if annotation not in declared:
            declared[annotation] = _declared(written, module)
        members.setdefault((_is_constant_field(field), declared[annotation]), []).append(name)
    return {common: " ".join(names) for common, names in members.items()}


def _is_constant_field(field: Any) -> bool:
    return bool(field.metadata.get(FIELD_METADATA_CACHE_VALUE))


def _declared(written: object, module: Any) -> tuple[Any, ...] | None:
    """Return the key of an annotation of numbers, vectors or arrays, with dtypes replaced by their names."""
    if type(written) is str:
        try:
            written = eval(written, {} if module is None else vars(module), {})
        except Exception:  # a name that only type checkers see, or a local of a function that has returned
            return (_UNRESOLVED, written)
    found = specification(without_none(written))
    if found is None:
        return None
    about_numbers = type(found) in (ScalarAnnotation, ArrayAnnotation, ViewAnnotation)
    says_something = found.is_matrix or found.is_struct or about_numbers
    return plainly(found.key()) if says_something else None


def has_stable_members(cls: Any) -> bool:
    """Whether a class promises never to rebind its members. The nearest base that sets the option decides."""
    said = (namespace(base)[name] for base in bases(cls) for name in _STABLE_MEMBERS if name in namespace(base))
    return bool(next(said, False))


def names_of_bases(cls: Any) -> tuple[str, ...]:
    """Return the names of a class and its bases."""
    return tuple(map(class_name, bases(cls)))


def is_constant(cls: Any, name: str) -> bool:
    """Whether a class attribute that is not a field is a constant. The result of a property is not."""
    value = own(cls, name)
    return value is not ABSENT and own(type(value), "__get__") is ABSENT


def _defining_module(cls: Any, name: str) -> Any:
    """Return the module of the class that annotates a field."""
    definer = next((base for base in bases(cls) if name in namespace(base).get("__annotations__", ())), cls)
    return sys.modules.get(str(module_of(definer)))
