"""Compounds: the classes whose objects kernels read members of, and what each class says about its members.

`data_oriented` marks a class; dataclasses are recognised by their fields. Whether a number is baked into a kernel or read at
each launch is a fact of the class, decided here and nowhere else. It is here, below the lens, because the lens asks it.
"""

from __future__ import annotations

import sys

import samovar
from samovar._native import entrance
from samovar.language import (
    Annotation,
    ArrayAnnotation,
    ScalarAnnotation,
    ViewAnnotation,
    annotation_of_key,
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

#: The key in the metadata of a dataclass field that bakes the value of the field into kernels.
FIELD_METADATA_CACHE_VALUE = "samovar_cache_value"

_TEMPLATE_PRIMITIVES = "_sv_template_primitives"
#: The promise as an attribute of a class: our name for it, and that of Quadrants.
_STABLE_MEMBERS = ("_sv_stable_members", "_qd_stable_members")
#: What a declaration is that names something which is not found any more, instead of the name of an annotation.
_UNRESOLVED = "unresolved"


@entrance
def data_oriented(
    cls: Any = None, *, template_primitives: bool | None = None, stable_members: bool | None = None
) -> Any:
    """Mark a class whose methods are kernels and funcs, or whose objects are passed to kernels as `sv.Template`.

    Arrays that a kernel reads are bound at each launch. Numbers that it reads are baked into the code and guarded; with
    `template_primitives=False` they are read at each launch instead. `stable_members=True` promises that no member is bound
    to another object after the first launch, so that launches need not look. An option that is left out is inherited.

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
        return entrance(
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
    """What a class is to a kernel, and what it says about the numbers and arrays in it, as text: the answer to `class`.

    The first word is "data_oriented", "dataclass" or "object". After it comes whether numbers are baked, or the fields of a
    dataclass by what they have in common: whether their values are baked, and what is declared about them.
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


#: By the identity of the fields, which the table keeps alive: they belong to the class, and are described once.
_DESCRIPTIONS: dict[int, tuple[object, str]] = {}


class Description:
    """The text of a description, taken apart."""

    __slots__ = ("_declared", "fields", "form", "template_primitives")

    def __init__(self, text: str) -> None:
        self.form, _, rest = text.partition(" ")
        self.template_primitives = self.form == "object" or rest == "True"
        self.fields: dict[str, tuple[bool, tuple[Any, ...] | None]] = {}
        self._declared: dict[tuple[Any, ...], Annotation] = {}  # by key: many fields have the same
        if self.form == "dataclass":
            from ast import literal_eval

            for common, names in literal_eval(rest).items():
                self.fields.update(dict.fromkeys(names.split(), common))

    def declared(self, name: str) -> Annotation | None:
        """What is declared about a field."""
        _, key = self.fields.get(name, (False, None))
        if key is None or key[0] == _UNRESOLVED:
            return None
        known = self._declared.get(key)
        if known is None:
            known = self._declared[key] = annotation_of_key(from_plain(key))
        return known

    def unresolved(self, name: str) -> str | None:
        """The text of a declaration that could not be evaluated, None if there is no such thing."""
        _, key = self.fields.get(name, (False, None))
        return key[1] if key is not None and key[0] == _UNRESOLVED else None


def _members(cls: Any, fields: Mapping[str, Any]) -> dict[Any, str]:
    """What fields have in common → their names."""
    members: dict[Any, list[str]] = {}
    declared: dict[Any, tuple[Any, ...] | None] = {}  # by annotation: classes with many fields have few of them
    for name, field in fields.items():
        if field._field_type.name == "_FIELD_CLASSVAR":
            continue
        written = field.type
        module = _defining_module(cls, name) if type(written) is str else None
        annotation = (id(written), None) if module is None else (written, id(module))
        if annotation not in declared:
            declared[annotation] = _declared(written, module)
        members.setdefault((_is_baked(field), declared[annotation]), []).append(name)
    return {common: " ".join(names) for common, names in members.items()}


def _is_baked(field: Any) -> bool:
    return bool(field.metadata.get(FIELD_METADATA_CACHE_VALUE))


def _declared(written: object, module: Any) -> tuple[Any, ...] | None:
    """The key of an annotation about numbers, vectors or arrays, with names in the place of dtypes."""
    if type(written) is str:
        try:
            written = eval(written, {} if module is None else vars(module), {})
        except Exception:  # a name for type checkers only, or of a function that has returned
            return (_UNRESOLVED, written)
    found = specification(without_none(written))
    if found is None:
        return None
    about_numbers = type(found) in (ScalarAnnotation, ArrayAnnotation, ViewAnnotation)
    says_something = found.is_matrix or found.is_struct or about_numbers
    return plainly(found.key()) if says_something else None


def has_stable_members(cls: Any) -> bool:
    """Does a class promise that its members are not bound to other objects? The nearest of its bases decides."""
    said = (namespace(base)[name] for base in bases(cls) for name in _STABLE_MEMBERS if name in namespace(base))
    return bool(next(said, False))


def names_of_bases(cls: Any) -> tuple[str, ...]:
    """The names of a class and its bases."""
    return tuple(map(class_name, bases(cls)))


def is_constant(cls: Any, name: str) -> bool:
    """Is what a class has under a name, which is none of its fields, a constant? What a property gives is not."""
    value = own(cls, name)
    return value is not ABSENT and own(type(value), "__get__") is ABSENT


def _defining_module(cls: Any, name: str) -> Any:
    """The module of the class that a field is annotated in."""
    definer = next((base for base in bases(cls) if name in namespace(base).get("__annotations__", ())), cls)
    return sys.modules.get(str(module_of(definer)))
