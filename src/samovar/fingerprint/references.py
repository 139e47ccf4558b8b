"""Types, functions and modules: by the name under which another process finds them.

A name counts only if it resolves to the very object. Objects without such a name (a lambda, a closure, a class inside a
function, a shadowed definition) raise an error, or are taken apart by the lenient deconstructor: code, defaults, closure,
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

from samovar.fingerprint.code_structure import (
    cached_function_structure,
    cell_structure,
    class_structure,
    code_structure,
    function_structure,
)
from samovar.fingerprint.deconstruction import (
    Deconstruction,
    EmptyDeconstruction,
    Rule,
    UnfingerprintableError,
    encode_names,
)
from samovar.fingerprint.deconstructor_options import Options, Planner
from samovar.fingerprint.names import claimed_name, home_of, reference, resolves, spell
from samovar.reflection import bases, namespace, qualified_name

__all__ = ["PLANNERS", "by_name", "refuse"]

_LENIENT_ADVICE: Final = (
    "define it at module level, exclude it with metadata(fingerprint=False), or use a lenient fingerprinter"
)

#: Types that claim to be in `builtins` but are in the module `types`.
_NAMED_IN_TYPES: Final = {
    id(value): name
    for name, value in sorted(vars(types).items(), reverse=True)
    if isinstance(value, type) and value.__module__ == "builtins" and not hasattr(builtins, value.__name__)
}


def refuse(kind: str, module: str, qualified_name: str, reason: str) -> UnfingerprintableError:
    """Return the error for an object that a strict deconstructor identifies by name only."""
    return UnfingerprintableError(
        f"cannot fingerprint the {kind} {spell(module, qualified_name)} by its name: {reason}; {_LENIENT_ADVICE}"
    )


def _plan_type(metaclass: type, options: Options) -> Rule:
    local_is_structure = options.lenient or any(base is enum.EnumMeta for base in bases(metaclass))

    def rule(cls: type) -> Deconstruction:
        if id(cls) in _NAMED_IN_TYPES:
            return reference("type", "types", _NAMED_IN_TYPES[id(cls)])
        module, name = qualified_name(cls)
        reason = resolves(cls, module, name)
        if reason is None:
            return reference("type", module, name)
        generic = namespace(cls).get("__pydantic_generic_metadata__")
        if type(generic) is dict and generic.get("origin") is not None:
            return Deconstruction("parametrized-model", pieces=(generic["origin"], generic["args"]))
        if local_is_structure:
            return class_structure(cls)
        raise refuse("class", module, name, reason)

    return rule


def _plan_function(cls: type, options: Options) -> Rule:
    return by_name(function_structure if options.lenient else None)


def _plan_cached_function(cls: type, options: Options) -> Rule:
    named = by_name(cached_function_structure if options.lenient else None)

    def rule(function: Any) -> Deconstruction:
        # A partial or a callable object has no name for the wrapper to take over. What it wraps is enough.
        return named(function) if claimed_name(function)[1] else cached_function_structure(function)

    return rule


def by_name(take_apart: Callable[[Any], Deconstruction] | None) -> Rule:
    """Return the rule for functions; `take_apart` handles those that cannot be found by name, unless they are to be
    rejected."""

    def rule(function: Any) -> Deconstruction:
        module, name = claimed_name(function)
        reason = resolves(function, module, name)
        if reason is None:
            return reference("function", module, name)
        if take_apart is not None:
            return take_apart(function)
        raise refuse("function", module, name, reason)

    return rule


def _plan_module(cls: type, options: Options) -> Rule:
    def rule(module: types.ModuleType) -> Deconstruction:
        content = module.__dict__
        name = content.get("__name__")
        if type(name) is str and sys.modules.get(name) is module:
            return EmptyDeconstruction("module", encode_names((home_of(name),)))
        if options.lenient:
            public = {key: value for key, value in content.items() if type(key) is str and not key.startswith("__")}
            return Deconstruction("module-structure", encode_names((str(name),)), (public,), ("",))
        reason = "sys.modules has another module under that name, or none"
        raise UnfingerprintableError(
            f"cannot fingerprint the module {name!r} by its name: {reason}; {_LENIENT_ADVICE}"
        )

    return rule


def _fixed(rule: Callable[[Any], Deconstruction]) -> Planner:
    return lambda cls, options: rule


PLANNERS: Final[dict[type, Planner]] = {
    type: _plan_type,
    types.FunctionType: _plan_function,
    functools._lru_cache_wrapper: _plan_cached_function,
    types.ModuleType: _plan_module,
    types.CodeType: _fixed(code_structure),
    types.CellType: _fixed(cell_structure),
}
