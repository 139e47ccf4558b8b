"""Types, functions and modules: by the name under which another process finds them.

A name counts only if it leads back to the very object. What has no such name (a lambda, a closure, a class inside a
function, a shadowed definition) is an error, or, in the lenient deconstructor, is taken apart: code, defaults, closure,
class body.
"""

from __future__ import annotations

import builtins
import enum
import functools
import sys
import types
from collections.abc import Callable
from typing import Any, Final

from samovar.fingerprint.deconstruction import (
    Deconstruction,
    EmptyDeconstruction,
    Rule,
    UnfingerprintableError,
    encode_names,
)
from samovar.fingerprint.inspection import MISSING, bases_of, lookup, mro_of, namespace_of, qualified_name_of
from samovar.fingerprint.options import Options, Planner

__all__ = ["PLANNERS", "UNSET", "class_structure", "reference", "resolves"]

#: What stands in the place of an empty closure cell or of a field without a value.
UNSET: Final = EmptyDeconstruction("unset")

_LENIENT_ADVICE: Final = (
    "define it at module level, leave it out with metadata(fingerprint=False), or use a lenient fingerprinter"
)

#: Types that claim to live in `builtins` and do not; the `types` module has them.
_NAMED_IN_TYPES: Final = {
    id(value): name
    for name, value in sorted(vars(types).items(), reverse=True)
    if isinstance(value, type) and value.__module__ == "builtins" and not hasattr(builtins, value.__name__)
}

#: Attributes of a class that describe where it came from or repeat what its other attributes say.
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
        "__slots__",
        "__abstractmethods__",
        "_abc_impl",
        "__dataclass_fields__",
        "__dataclass_params__",
        "__attrs_props__",
        "__signature__",
        "__private_attributes__",
        "__class_vars__",
        "__parameters__",
        "__orig_bases__",
    )
)


def resolves(value: object, module_name: str, qualified_name: str) -> str | None:
    """Why a name does not lead to the object, or `None` if it does."""
    if "<locals>" in qualified_name:
        function = qualified_name.rpartition(".<locals>")[0]
        return f"it is defined inside of {function}, where no other process can find it"
    if qualified_name.rpartition(".")[2] == "<lambda>":
        return "it is a lambda, which has no name of its own"
    module = sys.modules.get(module_name)
    if module is None:
        return f"its module {module_name!r} is not imported"
    target: object = module
    for name in qualified_name.split("."):
        target = _attribute(target, name)
        if target is MISSING:
            return f"{module_name}.{qualified_name} does not exist"
    if target is not value:
        return f"{module_name}.{qualified_name} is another object (shadowed, replaced or decorated)"
    return None


def reference(kind: str, module: str, qualified_name: str) -> EmptyDeconstruction:
    """The terminal state of something that is known by its name."""
    return EmptyDeconstruction(kind, encode_names((module, qualified_name)))


def class_structure(cls: type) -> Deconstruction:
    """A class taken apart: its claimed name, its metaclass and bases, and what its body defines."""
    attributes = _enum_attributes(cls) if issubclass(type(cls), enum.EnumMeta) else _body(cls)
    names = sorted(attributes)
    return Deconstruction(
        "class",
        encode_names((*qualified_name_of(cls), *names)),
        (type(cls), bases_of(cls), *(_body_piece(attributes[name]) for name in names)),
        (".__class__", ".__bases__", *(f".{name}" for name in names)),
    )


def function_structure(function: types.FunctionType) -> Deconstruction:
    """A function taken apart. Globals count by name only: their values belong to the module."""
    cells = function.__closure__ or ()
    return Deconstruction(
        "function-structure",
        encode_names((function.__module__ or "", function.__qualname__)),
        (function.__code__, function.__defaults__, function.__kwdefaults__, cells, function.__dict__),
        (".__code__", ".__defaults__", ".__kwdefaults__", ".__closure__", ".__dict__"),
    )


def _body(cls: type) -> dict[str, Any]:
    return {name: value for name, value in namespace_of(cls).items() if _is_content(name, value)}


def _is_content(name: str, value: object) -> bool:
    if name in _BOOKKEEPING or type(value) in (types.GetSetDescriptorType, types.MemberDescriptorType):
        return False
    if name.startswith("__pydantic_"):
        # The fields say it all; the rest is derived from them, and holds addresses.
        return name == "__pydantic_fields__"
    # What attrs generates follows from its attributes, and has hashes of strings in its code.
    return type(value) is not types.FunctionType or not value.__code__.co_filename.startswith("<attrs generated")


def _enum_attributes(cls: type) -> dict[str, Any]:
    """The members by name, and what the body defines besides. The machinery of enumerations differs between
    interpreters.
    """
    members: dict[str, Any] = {
        name: member._value_ for name, member in namespace_of(cls).get("_member_map_", {}).items()
    }
    for name, value in _body(cls).items():
        if not name.startswith("_") and name not in members:
            members[name] = value
    return members


def _body_piece(value: object) -> object:
    """Functions in the body of a class that has no name cannot have one either: they are taken apart even where
    strictness rules.
    """
    if type(value) is types.FunctionType and resolves(value, value.__module__, value.__qualname__) is not None:
        return function_structure(value)
    if type(value) in (staticmethod, classmethod):
        return Deconstruction(type(value).__name__, pieces=(_body_piece(value.__func__),))  # type: ignore[attr-defined]
    if type(value) is functools.cached_property:
        return Deconstruction("cached_property", pieces=(_body_piece(value.func),))
    if issubclass(type(value), property):
        accessors = (value.fget, value.fset, value.fdel)  # type: ignore[attr-defined]
        return Deconstruction("property", pieces=tuple(map(_body_piece, accessors)))
    return value


def _attribute(owner: object, name: str) -> object:
    if issubclass(type(owner), type):
        found = lookup(owner, name)  # type: ignore[arg-type]
        return found.__func__ if type(found) is staticmethod else found
    try:
        return getattr(owner, name)
    except Exception:
        return MISSING


def _refuse(kind: str, value: object, module: str, qualified_name: str, reason: str) -> UnfingerprintableError:
    return UnfingerprintableError(
        f"cannot fingerprint the {kind} {module}.{qualified_name} by its name: {reason}; {_LENIENT_ADVICE}", value
    )


def _plan_type(metaclass: type, options: Options) -> Rule:
    local_is_structure = options.lenient or any(base is enum.EnumMeta for base in mro_of(metaclass))

    def rule(cls: type) -> Deconstruction:
        if id(cls) in _NAMED_IN_TYPES:
            return reference("type", "types", _NAMED_IN_TYPES[id(cls)])
        module, name = qualified_name_of(cls)
        reason = resolves(cls, module, name)
        if reason is None:
            return reference("type", module, name)
        generic = namespace_of(cls).get("__pydantic_generic_metadata__")
        if type(generic) is dict and generic.get("origin") is not None:
            return Deconstruction("parametrised-model", pieces=(generic["origin"], generic["args"]))
        if local_is_structure:
            return class_structure(cls)
        raise _refuse("class", cls, module, name, reason)

    return rule


def _plan_function(cls: type, options: Options) -> Rule:
    def rule(function: types.FunctionType) -> Deconstruction:
        module, name = function.__module__ or "", function.__qualname__
        reason = resolves(function, module, name)
        if reason is None:
            return reference("function", module, name)
        if options.lenient:
            return function_structure(function)
        raise _refuse("function", function, module, name, reason)

    return rule


def _plan_builtin_function(cls: type, options: Options) -> Rule:
    def rule(function: types.BuiltinFunctionType) -> Deconstruction:
        owner = function.__self__
        if owner is not None and not issubclass(type(owner), types.ModuleType):
            return Deconstruction("bound-builtin", encode_names((function.__name__,)), (owner,))
        module, name = function.__module__ or "", function.__qualname__
        reason = resolves(function, module, name)
        if reason is None:
            return reference("function", module, name)
        raise _refuse("function", function, module, name, reason)

    return rule


def _plan_module(cls: type, options: Options) -> Rule:
    def rule(module: types.ModuleType) -> Deconstruction:
        content = module.__dict__
        name = content.get("__name__")
        if type(name) is str and sys.modules.get(name) is module:
            return EmptyDeconstruction("module", encode_names((name,)))
        if options.lenient:
            public = {key: value for key, value in content.items() if type(key) is str and not key.startswith("__")}
            return Deconstruction("module-structure", encode_names((str(name),)), (public,), ("",))
        reason = "sys.modules has another module or none under it"
        raise UnfingerprintableError(
            f"cannot fingerprint the module {name!r} by its name: {reason}; {_LENIENT_ADVICE}", module
        )

    return rule


def _deconstruct_code(code: types.CodeType) -> Deconstruction:
    """Byte code means something to one version of the interpreter only, so that version is part of the state."""
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


def _deconstruct_cell(cell: types.CellType) -> Deconstruction:
    try:
        return Deconstruction("cell", pieces=(cell.cell_contents,), labels=(".cell_contents",))
    except ValueError:
        return Deconstruction("cell", pieces=(UNSET,))


def _fixed(rule: Callable[[Any], Deconstruction]) -> Planner:
    return lambda cls, options: rule


def _plan_cached_function(cls: type, options: Options) -> Rule:
    def rule(function: Any) -> Deconstruction:
        module, name = function.__module__ or "", function.__qualname__
        reason = resolves(function, module, name)
        if reason is None:
            return reference("function", module, name)
        if options.lenient:
            return Deconstruction("cached-function", pieces=(function.cache_parameters(), function.__wrapped__))
        raise _refuse("function", function, module, name, reason)

    return rule


PLANNERS: Final[dict[type, Planner]] = {
    type: _plan_type,
    functools._lru_cache_wrapper: _plan_cached_function,
    types.FunctionType: _plan_function,
    types.BuiltinFunctionType: _plan_builtin_function,
    types.ModuleType: _plan_module,
    types.CodeType: _fixed(_deconstruct_code),
    types.CellType: _fixed(_deconstruct_cell),
}
