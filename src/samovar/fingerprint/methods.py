"""Bound functions: by the object, and the name under which it has the function.

Pickle trusts that name. Here it has to resolve to the bound function, because anything can be bound to anything.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any, Final

from samovar import _native
from samovar.fingerprint.deconstruction import Deconstruction, Rule, encode_names
from samovar.fingerprint.deconstructor_options import Options, Planner
from samovar.fingerprint.objects import plan_reduction
from samovar.fingerprint.references import by_name
from samovar.reflection import ABSENT, bases, namespace, own

__all__ = ["PLANNERS"]


def _plan_method(cls: type, options: Options) -> Rule:
    by_reduction = plan_reduction(cls, options)

    def rule(method: types.MethodType) -> Deconstruction:
        function, owner = method.__func__, method.__self__
        if type(function) is types.FunctionType and _finds(owner, function):
            return by_reduction(method)
        return Deconstruction("method", pieces=(function, owner), labels=(".__func__", ".__self__"))

    return rule


def _finds(owner: object, function: types.FunctionType) -> bool:
    """Whether an object has the function as a method under the function's own name."""
    name = function.__name__
    if issubclass(type(owner), type):
        found = own(owner, name)
        if found is not ABSENT:
            return type(found) is classmethod and found.__func__ is function
    elif name in (_native.instance_dict(owner) or ()):
        return False
    found = own(type(owner), name)
    return found is function or (type(found) is classmethod and found.__func__ is function)


def _plan_builtin_function(cls: type, options: Options) -> Rule:
    named = by_name(None)

    def rule(function: types.BuiltinFunctionType) -> Deconstruction:
        owner = function.__self__
        if owner is None or issubclass(type(owner), types.ModuleType):
            return named(function)
        defining = [base for base, is_same in _definitions(function, owner) if is_same]
        return Deconstruction(
            "bound-builtin",
            encode_names((function.__name__,)),
            (owner, *_unless_nearest(defining[:1], owner, function.__name__)),
        )

    return rule


def _definitions(function: types.BuiltinFunctionType, owner: Any) -> Iterator[tuple[type, bool]]:
    """Yield the classes that define the name of a bound function, and whether they define this very function."""
    is_class = issubclass(type(owner), type)
    for base in bases(owner if is_class else type(owner)):
        found = namespace(base).get(function.__name__, ABSENT)
        if type(found) in (types.MethodDescriptorType, types.ClassMethodDescriptorType):
            bound = found.__get__(None, owner) if is_class else found.__get__(owner)
            # Builtin functions compare equal if they are the same C function, bound to the same object.
            yield base, type(bound) is type(function) and bound == function
        else:
            yield base, found is function


def _plan_method_wrapper(cls: type, options: Options) -> Rule:
    by_reduction = plan_reduction(cls, options)

    def rule(wrapper: types.MethodWrapperType) -> Deconstruction:
        owner, name = wrapper.__self__, wrapper.__name__
        hidden = _unless_nearest([wrapper.__objclass__], owner, name)
        if not hidden:
            return by_reduction(wrapper)
        return Deconstruction("method-wrapper", encode_names((name,)), (owner, *hidden))

    return rule


def _unless_nearest(defining: list[type], owner: Any, name: str) -> list[type]:
    """Return the class that defines the bound function, if its name resolves to something else on the object, as with
    `super`."""
    classes = bases(owner if issubclass(type(owner), type) else type(owner))
    nearest = next((base for base in classes if name in namespace(base)), None)
    return [base for base in defining if base is not nearest]


PLANNERS: Final[dict[type, Planner]] = {
    types.MethodType: _plan_method,
    types.BuiltinFunctionType: _plan_builtin_function,
    types.MethodWrapperType: _plan_method_wrapper,
}
