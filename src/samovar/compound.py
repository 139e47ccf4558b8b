"""Compounds: the classes whose objects kernels read members of, and what each class says about its members.

`data_oriented` marks a class; dataclasses are recognised by their fields. Whether a number is baked into a kernel or read at
each launch is a fact of the class, decided here and nowhere else. It is here, below the lens, because the lens asks it.
"""

from __future__ import annotations

import sys

from samovar.annotations import Annotation, specification
from samovar.classes import ABSENT, bases, class_name, dataclass_fields, is_class, module_of, namespace, own
from samovar.errors import SamovarTypeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The key in the metadata of a dataclass field that bakes the value of the field into kernels.
FIELD_METADATA_CACHE_VALUE = "samovar_cache_value"

_TEMPLATE_PRIMITIVES = "_sv_template_primitives"
_STABLE_MEMBERS = "_sv_stable_members"


def data_oriented(
    cls: Any = None, /, *, template_primitives: bool | None = None, stable_members: bool | None = None
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
        return lambda decorated: data_oriented(
            decorated, template_primitives=template_primitives, stable_members=stable_members
        )
    if not is_class(cls):
        raise SamovarTypeError(f"@sv.data_oriented decorates a class, not a {class_name(type(cls))}")
    if template_primitives is None:
        inherited = own(cls, _TEMPLATE_PRIMITIVES)
        template_primitives = inherited is ABSENT or bool(inherited)
    type.__setattr__(cls, _TEMPLATE_PRIMITIVES, bool(template_primitives))
    if stable_members is not None:
        type.__setattr__(cls, _STABLE_MEMBERS, bool(stable_members))
    return cls


def form(cls: Any) -> str:
    """What a class is to a kernel: "data_oriented", "dataclass" or "object"."""
    if own(cls, _TEMPLATE_PRIMITIVES) is not ABSENT:
        return "data_oriented"
    return "object" if dataclass_fields(cls) is None else "dataclass"


def has_stable_members(cls: Any) -> bool:
    """Does a class promise that its members are not bound to other objects?"""
    stable = own(cls, _STABLE_MEMBERS)
    return stable is not ABSENT and bool(stable)


def names_of_bases(cls: Any) -> tuple[str, ...]:
    """The names of a class and its bases."""
    return tuple(map(class_name, bases(cls)))


#: How a number that is a member comes into a kernel.
BAKED, RUN_TIME = "baked", "run time"


def treatment(cls: Any, name: str) -> str:
    """How a number under a name of an object of a class comes into a kernel."""
    inherited = own(cls, _TEMPLATE_PRIMITIVES)
    if inherited is not ABSENT:
        return BAKED if inherited else RUN_TIME
    fields = dataclass_fields(cls)
    if fields is None:
        return BAKED
    field = fields.get(name)
    if field is None or _is_class_variable(field):
        # A constant of the class is known when it compiles; what a property gives is not.
        value = own(cls, name)
        return RUN_TIME if value is ABSENT or own(type(value), "__get__") is not ABSENT else BAKED
    return BAKED if field.metadata.get(FIELD_METADATA_CACHE_VALUE) else RUN_TIME


def declaration(cls: Any, name: str) -> Annotation | None:
    """What the annotation of a dataclass field says about its values, None where it says nothing that concerns kernels."""
    fields = dataclass_fields(cls)
    field = None if fields is None else fields.get(name)
    if field is None:
        return None
    known = _DECLARATIONS.get(id(field))
    if known is None:
        known = _DECLARATIONS[id(field)] = (field, _resolved(cls, name, field.type))
    return known[1]


#: Annotations of fields, resolved once, by the identity of the field, which the table keeps alive.
_DECLARATIONS: dict[int, tuple[object, Annotation | None]] = {}


def _resolved(cls: Any, name: str, written: object) -> Annotation | None:
    if type(written) is str:
        definer = next((base for base in bases(cls) if name in namespace(base).get("__annotations__", ())), cls)
        module = sys.modules.get(str(module_of(definer)))
        try:
            written = eval(written, {} if module is None else vars(module), {})
        except Exception:  # a name for type checkers only, or of a function that has returned
            return None
    return specification(written)


def _is_class_variable(field: Any) -> bool:
    return bool(field._field_type.name == "_FIELD_CLASSVAR")

