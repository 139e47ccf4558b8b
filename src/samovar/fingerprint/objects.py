"""Enumerations, namespaces, plain objects, and everything else that can be pickled.

`__reduce_ex__` is called with one fixed protocol, after `copyreg.dispatch_table`, as pickle does. An object whose class
leaves pickling to `object` is read directly, so that its attributes have names.
"""

from __future__ import annotations

import copyreg
import enum
import types
from dataclasses import dataclass
from typing import Any, Final

from samovar.fingerprint.code_structure import class_structure
from samovar.fingerprint.declared_fields import plan_fields
from samovar.fingerprint.deconstruction import Deconstruction, Rule, UnfingerprintableError, encode_names
from samovar.fingerprint.deconstructor_options import Options, Planner
from samovar.fingerprint.names import by_verified_name, claimed_name, resolves
from samovar.fingerprint.state import StateRule
from samovar.reflection import ABSENT, bases, class_name, has_hidden_state, namespace, own, qualified_name

__all__ = ["PLANNERS", "PlainRule", "plan_namespace", "plan_object", "plan_reduction"]

#: Later protocols return out-of-band buffers, earlier ones support fewer ways to create an object.
_PROTOCOL: Final = 4

_PICKLING_HOOKS: Final = ("__reduce_ex__", "__reduce__", "__getstate__", "__getnewargs_ex__", "__getnewargs__")

_REDUCTION_LABELS: Final = (".__reduce__", ".__args__", "", ".__list__", ".__dict__", ".__setstate__")


@dataclass(frozen=True, slots=True)
class PlainRule:
    """The rule for objects that leave pickling to `object`, unless a reducer is registered for their class."""

    by_state: StateRule

    def __call__(self, instance: object) -> Deconstruction:
        is_free = _has_no_reducer(type(instance))
        return self.by_state(instance) if is_free else _reduce(instance, self.by_state.skipped)

    def native_plan(self, cls: type) -> tuple[Any, ...] | None:
        """Return the plan for the native traversal, or `None` if it has to call the rule."""
        plan = self.by_state.native_plan(cls, _has_no_reducer)
        return plan and (*plan[:-2], self, plan[-1])


def plan_object(cls: type, options: Options) -> Rule:
    """Return the rule of last resort: declared fields, plain attributes, pickling."""
    fields_rule = plan_fields(cls, options)
    if fields_rule is not None:
        return fields_rule
    if _is_plain(cls):
        return PlainRule(StateRule.of("object", cls, object, options))
    return plan_reduction(cls, options)


def plan_namespace(cls: type, options: Options) -> Rule:
    """Return the rule for namespaces, which count by content. A class that cannot be found by name is itself taken apart."""
    by_state = StateRule.of("namespace", cls, object, options)

    def rule(namespace: object) -> Deconstruction:
        owner = type(namespace)
        level = by_state(namespace)
        if resolves(owner, *qualified_name(owner)) is None:
            return level
        return Deconstruction(level.tag, level.payload, (class_structure(owner), *level.pieces[1:]), level.labels)

    return rule


def plan_reduction(cls: type, options: Options) -> Rule:
    """Return a rule for what pickle would store: a function, its arguments and a state."""
    skipped = options.skipped_names(cls)
    return _reduce if not skipped else lambda instance: _reduce(instance, skipped)


def _is_plain(cls: type) -> bool:
    """Whether pickling is left to `object`, and the `__dict__` and the slots hold all of the state."""
    inherited = all(own(cls, name) is namespace(object).get(name, ABSENT) for name in _PICKLING_HOOKS)
    return inherited and not has_hidden_state(cls, object)


def _registered_reducer(cls: type) -> Any:
    table = copyreg.dispatch_table
    if all(own(type(cls), name) is namespace(object)[name] for name in ("__hash__", "__eq__")):
        return table.get(cls)
    # The metaclass may override equality arbitrarily.
    return next((reducer for key, reducer in list(table.items()) if key is cls), None)


def _has_no_reducer(cls: type) -> bool:
    return _registered_reducer(cls) is None


def _reduce(instance: object, skipped: frozenset[str] = frozenset()) -> Deconstruction:
    cls = type(instance)
    reducer = _registered_reducer(cls)
    try:
        if reducer is not None:
            reduced = reducer(instance)
        else:
            reduced = own(cls, "__reduce_ex__").__get__(instance, cls)(_PROTOCOL)
    except (UnfingerprintableError, MemoryError, RecursionError):
        raise
    except Exception as error:
        raise UnfingerprintableError(
            f"cannot fingerprint an object of type {class_name(type(instance))}: {error}; "
            "exclude it with metadata(fingerprint=False), or pass a rule for its type to make_deconstructor"
        ) from error
    if type(reduced) is str:
        return _named(instance, reduced)
    if type(reduced) is not tuple or not 2 <= len(reduced) <= 6:
        message = f"its __reduce_ex__ returned an object of type {class_name(type(reduced))}"
        raise UnfingerprintableError(f"cannot fingerprint an object of type {class_name(type(instance))}: {message}")
    function, arguments, state, list_items, dict_items, state_setter = (*reduced, None, None, None, None)[:6]
    pieces = (
        function,
        arguments,
        _without(state, skipped) if skipped else state,
        None if list_items is None else tuple(list_items),
        None if dict_items is None else tuple(dict_items),
        state_setter,
    )
    return Deconstruction("reduced", pieces=pieces, labels=_REDUCTION_LABELS)


def _without(state: object, skipped: frozenset[str]) -> object:
    """Return the state without these attributes: a dictionary, or a pair of them for the `__dict__` and the slots."""
    if type(state) is tuple and len(state) == 2:
        return tuple(_without(part, skipped) for part in state)
    if type(state) is not dict:
        return state
    return {name: value for name, value in state.items() if type(name) is not str or name not in skipped}


def _named(instance: object, name: str) -> Deconstruction:
    """An object that pickles by name alone: in its own module or, as ufuncs do, in that of its type."""
    of_type = qualified_name(type(instance))[0]
    modules = [module for module in (claimed_name(instance)[0], of_type, of_type.partition(".")[0]) if module]
    found = [module for module in modules if resolves(instance, module, name) is None]
    return by_verified_name(instance, module=(found + modules + [""])[0], name=name)


def _plan_enum(cls: type, options: Options) -> Rule:
    return _flag_member if any(base is enum.Flag for base in bases(cls)) else _enum_member


def _enum_member(member: enum.Enum) -> Deconstruction:
    return Deconstruction(
        "enum", encode_names((member._name_,)), (type(member), member._value_), (".__class__", ".value")
    )


def _flag_member(member: enum.Flag) -> Deconstruction:
    # The name of a combination varies between versions of Python, and some have none.
    return Deconstruction("flag", pieces=(type(member), member._value_), labels=(".__class__", ".value"))


PLANNERS: Final[dict[type, Planner]] = {
    enum.Enum: _plan_enum,
    types.SimpleNamespace: plan_namespace,
}
