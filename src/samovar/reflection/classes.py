"""Inspects classes without running their code: along `__mro__`, in each `__dict__`, never through a metaclass.

A metaclass may answer any attribute, recurse, or have side effects; `isinstance` lets an object lie about its class. These
functions ask the type objects themselves.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import BuiltinFunctionType as BuiltinFunctionType
    from types import FunctionType as FunctionType
    from types import GenericAlias as GenericAlias
    from types import MethodDescriptorType as MethodDescriptorType
    from types import MethodType as MethodType
    from types import MethodWrapperType as MethodWrapperType
    from types import ModuleType as ModuleType
    from types import WrapperDescriptorType as WrapperDescriptorType
    from typing import Any
else:
    # The classes of Python's own objects. Not from `types`, which a warm start would import for nothing else.
    BuiltinFunctionType = type(len)
    FunctionType = type(lambda: None)
    GenericAlias = type(list[int])
    MethodDescriptorType = type(str.join)
    MethodType = type(type("", (), {"method": lambda self: None})().method)
    MethodWrapperType = type(object().__str__)
    ModuleType = type(sys)
    WrapperDescriptorType = type(object.__init__)

#: Stands for a missing attribute or item, or an empty cell.
ABSENT: Any = object()

#: A subclass check on the classes themselves, which metaclasses and objects cannot override.
_is_subclass: Callable[[type, type], bool] = type.__subclasscheck__

#: The descriptors behind `cls.__mro__` and the like, which a metaclass cannot override.
_MRO: Any = type.__dict__["__mro__"]
_BASES: Any = type.__dict__["__bases__"]
_NAMESPACE: Any = type.__dict__["__dict__"]
_MODULE: Any = type.__dict__["__module__"]
_QUALIFIED_NAME: Any = type.__dict__["__qualname__"]
_NAME: Any = type.__dict__["__name__"]


def derives(cls: type, base: type) -> bool:
    """Whether a class is a subclass of another one."""
    return _is_subclass(base, cls)


def is_class(value: object) -> bool:
    """Whether the object itself is a class. `tuple[int]` claims to be one in some versions of Python, but is not."""
    return derives(type(value), type)


def bases(cls: Any) -> tuple[type, ...]:
    """Return the class and its bases in method resolution order."""
    found: tuple[type, ...] = _MRO.__get__(cls)
    return found


def direct_bases(cls: Any) -> tuple[type, ...]:
    """Return the bases that a class directly derives from."""
    found: tuple[type, ...] = _BASES.__get__(cls)
    return found


def namespace(cls: Any) -> Mapping[str, Any]:
    """Return what a class itself defines, without its bases."""
    found: Mapping[str, Any] = _NAMESPACE.__get__(cls)
    return found


def own(cls: Any, name: str) -> Any:
    """Return what a class or the nearest of its bases defines under a name, unbound; ABSENT if none does."""
    for base in bases(cls):
        defined = _NAMESPACE.__get__(base)
        if name in defined:
            return defined[name]
    return ABSENT


def qualified_name(cls: Any) -> tuple[str, str]:
    """Return the module and qualified name that a class claims. The module is "" if it has no name."""
    try:
        module = _MODULE.__get__(cls)
    except AttributeError:
        module = None
    return (module if type(module) is str else "", str(_QUALIFIED_NAME.__get__(cls)))


def comes_from_class(value: object, name: str, defined: object) -> bool:
    """Whether a value is what the class of an object defines under a name, not shadowed by the object."""
    if own(type(value), name) is not defined:
        return False
    try:
        return name not in object.__getattribute__(value, "__dict__")
    except AttributeError:  # an object without a `__dict__`
        return True


def class_name(cls: Any) -> str:
    """Return the name of a class as `module.Class`."""
    module, name = qualified_name(cls)
    return name if module in ("builtins", "") else f"{module}.{name}"


def unqualified_name(cls: Any) -> str:
    """Return the name of a class without its module."""
    return str(_NAME.__get__(cls))


def module_of(cls: Any) -> object:
    """Return the name of the module that defines a class."""
    return _MODULE.__get__(cls)


def dataclass_fields(cls: Any) -> Mapping[str, Any] | None:
    """Return the fields that `dataclasses.dataclass` recorded, or None for another class."""
    fields = own(cls, "__dataclass_fields__")
    return fields if type(fields) is dict else None
