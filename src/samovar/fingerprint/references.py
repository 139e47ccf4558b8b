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
from samovar.fingerprint.inspection import mro_of, namespace_of, qualified_name_of
from samovar.fingerprint.names import reference, resolves
from samovar.fingerprint.options import Options, Planner
from samovar.fingerprint.structure import cell_structure, class_structure, code_structure, function_structure

__all__ = ["PLANNERS"]

_LENIENT_ADVICE: Final = (
    "define it at module level, leave it out with metadata(fingerprint=False), or use a lenient fingerprinter"
)

#: Types that claim to live in `builtins` and do not; the `types` module has them.
_NAMED_IN_TYPES: Final = {
    id(value): name
    for name, value in sorted(vars(types).items(), reverse=True)
    if isinstance(value, type) and value.__module__ == "builtins" and not hasattr(builtins, value.__name__)
}


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


def _plan_by_name(take_apart: Callable[[Any], Deconstruction] | None) -> Planner:
    """For what has a module and a qualified name; `take_apart` is for the lenient deconstructor, where it is
    possible.
    """

    def plan(cls: type, options: Options) -> Rule:
        def rule(function: Any) -> Deconstruction:
            module, name = function.__module__ or "", function.__qualname__
            reason = resolves(function, module, name)
            if reason is None:
                return reference("function", module, name)
            if options.lenient and take_apart is not None:
                return take_apart(function)
            raise _refuse("function", function, module, name, reason)

        return rule

    return plan


def _plan_builtin_function(cls: type, options: Options) -> Rule:
    by_name = _plan_by_name(None)(cls, options)

    def rule(function: types.BuiltinFunctionType) -> Deconstruction:
        owner = function.__self__
        if owner is None or issubclass(type(owner), types.ModuleType):
            return by_name(function)
        return Deconstruction("bound-builtin", encode_names((function.__name__,)), (owner,))

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


def _cached_function_structure(function: Any) -> Deconstruction:
    return Deconstruction("cached-function", pieces=(function.cache_parameters(), function.__wrapped__))


def _fixed(rule: Callable[[Any], Deconstruction]) -> Planner:
    return lambda cls, options: rule


PLANNERS: Final[dict[type, Planner]] = {
    type: _plan_type,
    types.FunctionType: _plan_by_name(function_structure),
    functools._lru_cache_wrapper: _plan_by_name(_cached_function_structure),
    types.BuiltinFunctionType: _plan_builtin_function,
    types.ModuleType: _plan_module,
    types.CodeType: _fixed(code_structure),
    types.CellType: _fixed(cell_structure),
}
