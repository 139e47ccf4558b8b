"""Functions, code and classes taken apart, for objects that cannot be found by name."""

from __future__ import annotations

import enum
import functools
import sys
import types
from collections.abc import Callable
from typing import Any, Final

from samovar import _native
from samovar.fingerprint.deconstruction import UNSET, Deconstruction, UnfingerprintableError, encode_names
from samovar.fingerprint.names import claimed_name, home_of, resolves
from samovar.reflection import direct_bases, namespace, qualified_name

__all__ = [
    "cached_function_structure",
    "cell_structure",
    "class_structure",
    "code_structure",
    "function_structure",
]

#: Attributes that `functools.update_wrapper` and `lru_cache` set on a wrapper. The wrapped function and the parameters imply
#: them.
_COPIED_TO_WRAPPERS: Final = frozenset((*functools.WRAPPER_ASSIGNMENTS, "__wrapped__", "cache_parameters"))

#: Attributes of a class that describe its origin or repeat what its other attributes say.
_BOOKKEEPING: Final = frozenset(
    (
        "__module__",
        "__qualname__",
        "__doc__",
        "__dict__",
        "__weakref__",
        "__firstlineno__",
        "__static_attributes__",
        "__slotnames__",
        "__abstractmethods__",
        "_abc_impl",
        "__dataclass_fields__",
        "__dataclass_params__",
        "__attrs_props__",
        "__signature__",
        "__private_attributes__",
        "__class_vars__",
        "__parameters__",
    )
)


def class_structure(cls: type) -> Deconstruction:
    """Take a class apart: its claimed name, its metaclass and bases, and what its body defines."""
    attributes = _enum_attributes(cls) if issubclass(type(cls), enum.EnumMeta) else _body(cls)
    names = sorted(attributes)
    module, name = qualified_name(cls)
    return Deconstruction(
        "class",
        encode_names((home_of(module), name, *names)),
        (type(cls), direct_bases(cls), *(_body_piece(attributes[name]) for name in names)),
        (".__class__", ".__bases__", *(f".{name}" for name in names)),
    )


def function_structure(function: types.FunctionType) -> Deconstruction:
    """Take a function apart. Globals count by name only: their values belong to the module."""
    cells = function.__closure__ or ()
    module, name = claimed_name(function)
    return Deconstruction(
        "function-structure",
        encode_names((home_of(module), name)),
        (function.__code__, function.__defaults__, function.__kwdefaults__, cells, function.__dict__),
        (".__code__", ".__defaults__", ".__kwdefaults__", ".__closure__", ".__dict__"),
    )


def cached_function_structure(function: Any, stand_in: Callable[[Any], object] = lambda wrapped: wrapped) -> Deconstruction:
    """Take a result of `functools.lru_cache` apart: its parameters, what it wraps, and further attributes."""
    content = _native.instance_dict(function) or {}
    if "__wrapped__" not in content or "cache_parameters" not in content:
        raise UnfingerprintableError(
            "cannot fingerprint a functools.lru_cache function: it lost its __wrapped__ or its cache_parameters"
        )
    more = {name: value for name, value in content.items() if name not in _COPIED_TO_WRAPPERS}
    return Deconstruction(
        "cached-function",
        pieces=(content["cache_parameters"](), stand_in(content["__wrapped__"]), more),
        labels=(".cache_parameters()", ".__wrapped__", ".__dict__"),
    )


def _body(cls: type) -> dict[str, Any]:
    return {name: value for name, value in namespace(cls).items() if _is_content(name, value)}


def _is_content(name: str, value: object) -> bool:
    if name in _BOOKKEEPING or type(value) in (types.GetSetDescriptorType, types.MemberDescriptorType):
        return False
    if name.startswith("__pydantic_"):
        # The fields say everything; the rest is derived from them, and holds addresses.
        return name == "__pydantic_fields__"
    # Code that attrs generates follows from the attributes, and contains hashes of strings.
    return type(value) is not types.FunctionType or not value.__code__.co_filename.startswith("<attrs generated")


def _enum_attributes(cls: type) -> dict[str, Any]:
    """Return the members by name, and what else the body defines: the machinery differs between interpreters."""
    members: dict[str, Any] = {
        name: member._value_ for name, member in namespace(cls).get("_member_map_", {}).items()
    }
    for name, value in _body(cls).items():
        if not name.startswith("_") and name not in members:
            members[name] = value
    return members


def _body_piece(value: object) -> object:
    """Return the piece for an attribute. Functions in a class without a name cannot be found by name either."""
    if type(value) in (types.FunctionType, functools._lru_cache_wrapper):
        if resolves(value, *claimed_name(value)) is None:
            return value
        is_plain = type(value) is types.FunctionType
        return function_structure(value) if is_plain else cached_function_structure(value, _body_piece)  # type: ignore[arg-type]
    if type(value) in (staticmethod, classmethod):
        return Deconstruction(type(value).__name__, pieces=(_body_piece(value.__func__),))  # type: ignore[attr-defined]
    if type(value) is functools.cached_property:
        return Deconstruction("cached_property", pieces=(_body_piece(value.func),))
    if issubclass(type(value), property):
        accessors = (value.fget, value.fset, value.fdel)  # type: ignore[attr-defined]
        return Deconstruction("property", pieces=tuple(map(_body_piece, accessors)))
    return value


def code_structure(code: types.CodeType) -> Deconstruction:
    """Take a code object apart, without its position in a file. Bytecode is specific to one version of Python."""
    numbers = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return Deconstruction(
        "code",
        encode_names((sys.implementation.cache_tag or sys.version, code.co_name, *map(str, numbers))),
        (
            code.co_code,
            code.co_consts,
            code.co_names,
            code.co_varnames,
            code.co_freevars,
            code.co_cellvars,
            getattr(code, "co_exceptiontable", b""),
        ),
        (".co_code", ".co_consts", ".co_names", ".co_varnames", ".co_freevars", ".co_cellvars", ".co_exceptiontable"),
    )


def cell_structure(cell: types.CellType) -> Deconstruction:
    """The content of a closure cell, which may be empty."""
    try:
        return Deconstruction("cell", pieces=(cell.cell_contents,), labels=(".cell_contents",))
    except ValueError:
        return Deconstruction("cell", pieces=(UNSET,))
