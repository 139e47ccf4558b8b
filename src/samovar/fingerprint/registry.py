"""Which rule applies to which class.

A rule is found by walking the MRO: the nearest class that has one wins, whether the rule is built in or an override.
Abstract base classes that a class is only registered with come after all real bases. Anything else goes to the fallbacks,
newest first, and then to the rule of last resort.
"""

from __future__ import annotations

import abc
import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from samovar import _native
from samovar.fingerprint import containers, methods, objects, references, typing_objects
from samovar.fingerprint.declared_fields import FieldsRule, declared_names, declares_fields
from samovar.fingerprint.deconstruction import Deconstruction, EmptyDeconstruction, OrderInsensitiveDeconstruction, Rule
from samovar.fingerprint.deconstructor_options import ArrayPolicy, Options, Planner, check_array_policy, field_table
from samovar.fingerprint.identities import HeldArrays, is_array_type
from samovar.fingerprint.recognized import claims_to_be_known, recognize
from samovar.fingerprint.state import StateRule
from samovar.fingerprint.vocabulary import WALK_LEVEL
from samovar.reflection import bases, unqualified_name

__all__ = ["Deconstructor", "make_deconstructor"]

#: A rule for objects without one: returns a deconstruction, or `NotImplemented` to defer to the next fallback.
Fallback = Callable[[Any], Any]

_PLANNERS: Final[dict[int, Planner]] = {
    id(cls): planner
    for table in (
        containers.PLANNERS,
        methods.PLANNERS,
        objects.PLANNERS,
        references.PLANNERS,
        typing_objects.PLANNERS,
    )
    for cls, planner in table.items()
}

#: Rules that can describe themselves to the native traversal, which then does not call them.
_NATIVE_RULES: Final = (FieldsRule, StateRule, containers.ExtendedRule, objects.PlainRule)


class Deconstructor:
    """Takes any object one level apart. Created by `make_deconstructor`, and immutable.

    >>> from samovar.fingerprint import make_deconstructor
    >>> make_deconstructor()([1, "a"])
    Deconstruction(tag='list', payload=b'', pieces=(1, 'a'), labels=None)
    """

    def __init__(
        self, overrides: tuple[tuple[type, Rule], ...], fallbacks: tuple[Fallback, ...], options: Options
    ) -> None:
        self.overrides = overrides
        self.fallbacks = fallbacks
        self.options = options
        # Keyed by address: a class may be unhashable. The overrides keep the classes alive.
        self._overrides = {id(cls): rule for cls, rule in overrides}
        self._abstract = tuple(cls for cls, _ in overrides if issubclass(type(cls), abc.ABCMeta))
        #: Names of fields that were not checked yet: they may belong to subclasses that are defined later.
        self._unchecked = [*(("skip", *each) for each in options.skip), *(("ordered", *each) for each in options.ordered)]
        self.plans = _native.FingerprintPlans(
            self.native_plan,
            # A class can be registered with an abstract one at any time, which leaves no trace in the class.
            not self._abstract,
            Deconstruction,
            EmptyDeconstruction,
            OrderInsensitiveDeconstruction,
        )

    def __call__(self, value: object) -> Deconstruction:
        return self.rule_for(type(value))(value)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Deconstructor, (self.overrides, self.fallbacks, self.options))

    def rule_for(self, cls: type) -> Rule:
        """Return the rule for instances of a class."""
        if self._unchecked:
            self._check_names(cls)
        claimants: list[type] = []
        for base in _dispatch_order(cls):
            rule = self._overrides.get(id(base))
            if rule is None:
                planner = _PLANNERS.get(id(base)) or recognize(base)
                rule = None if planner is None else planner(cls, self.options)
            if rule is not None:
                return self._unless_recognized(claimants, rule)
            if claims_to_be_known(base):
                claimants.append(base)
        rule = self._rule_by_registration(cls) or self._rule_of_last_resort(cls)
        return self._unless_recognized(claimants, rule)

    def _check_names(self, cls: type) -> None:
        """Warn about names of fields that do not exist when the first object of their class is seen. Plain attributes cannot
        be checked.
        """
        mro = bases(cls)
        due = [entry for entry in self._unchecked if declares_fields(cls) and any(base is entry[1] for base in mro)]
        self._unchecked = [entry for entry in self._unchecked if not any(entry is each for each in due)]
        for argument, owner, names in due:
            declaring = filter(declares_fields, _with_subclasses(owner))
            declared = frozenset().union(*map(declared_names, declaring))
            unknown = sorted(names - declared) if declares_fields(owner) else []
            if unknown:
                from difflib import get_close_matches
                from warnings import warn

                close = [match for name in unknown for match in get_close_matches(name, declared, 1)]
                warn(
                    f"{argument}={{{unqualified_name(owner)}: …}} names {', '.join(unknown)}, but neither "
                    f"{unqualified_name(owner)} nor a subclass of it has such a field so far"
                    + (f"; did you mean {', '.join(close)}?" if close else ""),
                    stacklevel=2,
                )

    def remembering(self) -> Callable[[Any], Deconstruction]:
        """Return a version for one traversal, which looks up the rule of each class once."""
        rules: dict[int, tuple[type, Rule]] = {}

        def deconstruct(value: object) -> Deconstruction:
            cls = type(value)
            found = rules.get(id(cls))
            if found is None:
                found = rules.setdefault(id(cls), (cls, self.rule_for(cls)))
            return found[1](value)

        return deconstruct

    def native_plan(self, cls: type) -> int | tuple[Any, ...] | Rule:
        """Return the native traversal's plan for a class: a number for rules that it implements, a description that starts
        with a number, or a rule to call.
        """
        if issubclass(cls, Deconstruction):
            return WALK_LEVEL
        rule = self.rule_for(cls)
        if isinstance(rule, _NATIVE_RULES):
            return rule.native_plan(cls) or rule
        walk = containers.native_walk(cls, rule)
        return rule if walk is None else walk

    def _unless_recognized(self, claimants: list[type], otherwise: Rule) -> Rule:
        """A rule that checks at each call whether a class's module now has it under the name that it claims."""
        if not claimants:
            return otherwise

        def rule(value: object) -> Deconstruction:
            for claimant in claimants:
                planner = recognize(claimant)
                if planner is not None:
                    return planner(type(value), self.options)(value)
            return otherwise(value)

        return rule

    def _rule_by_registration(self, cls: type) -> Rule | None:
        matches = [base for base in self._abstract if issubclass(cls, base)]
        nearest = [
            base for base in matches if not any(other is not base and base in bases(other) for other in matches)
        ]
        if len(nearest) > 1:
            names = " and ".join(unqualified_name(base) for base in nearest)
            raise TypeError(
                f"the rules for {names} both apply to {unqualified_name(cls)}; add one for {unqualified_name(cls)} itself"
            )
        return self._overrides[id(nearest[0])] if nearest else None

    def _rule_of_last_resort(self, cls: type) -> Rule:
        identities = self.options.array_identities
        if identities is not None and is_array_type(cls):
            last: Rule = identities
        else:
            last = objects.plan_object(cls, self.options)
        fallbacks = self.fallbacks
        if not fallbacks:
            return last

        def rule(value: object) -> Deconstruction:
            for fallback in fallbacks:
                level = fallback(value)
                if level is not NotImplemented:
                    return level  # type: ignore[no-any-return]
            return last(value)

        return rule


def make_deconstructor(
    overrides: Mapping[type, Rule] | None = None,
    *,
    base: Deconstructor | None = None,
    fallback: Fallback | None = None,
    lenient: bool | None = None,
    skip: Mapping[type, Iterable[str]] | None = None,
    ordered: Mapping[type, Iterable[str]] | None = None,
    arrays: ArrayPolicy | None = None,
) -> Deconstructor:
    """Create a deconstructor with your own rules on top of those of `base`, by default the built-in ones.

    - `overrides`: rules per class. They also apply to its subclasses, unless one of those has a nearer rule.
    - `fallback`: called for objects of classes without a rule, before fields and pickling are tried. It returns
      `NotImplemented` to defer to the fallbacks of `base`.
    - `lenient`: take types, functions and modules apart that cannot be found by name, instead of rejecting them.
    - `skip`: names of fields per class that do not count and are not read, including in subclasses that are defined
      later. A name that no class has when the first object is seen raises a warning.
    - `ordered`: names of fields per class that hold a mapping whose order counts.
    - `arrays`: `"content"`, or `"identity"` for keys that are used only inside the process; the arrays are then held.

    >>> import dataclasses
    >>> from samovar.fingerprint import make_deconstructor, make_fingerprinter
    >>> @dataclasses.dataclass(frozen=True)
    ... class Node:
    ...     name: str
    ...     line: int
    >>> moved = make_fingerprinter(make_deconstructor(lenient=True, skip={Node: ["line"]}))
    >>> moved(Node("x", 1)) == moved(Node("x", 7))
    True
    """
    inherited = base.options if base is not None else Options()
    if arrays is not None:
        check_array_policy(arrays)
        identities = HeldArrays() if arrays == "identity" else None
    else:
        identities = inherited.array_identities
    options = Options(
        lenient=inherited.lenient if lenient is None else lenient,
        skip=field_table("skip", skip) + inherited.skip,
        ordered=field_table("ordered", ordered) + inherited.ordered,
        array_identities=identities,
    )
    rules = {id(cls): (cls, rule) for cls, rule in (base.overrides if base is not None else ())}
    for cls, rule in (overrides or {}).items():
        if not issubclass(type(cls), type) or not callable(rule):
            raise TypeError(f"overrides maps classes to callables, not {cls!r} to {rule!r}")
        if cls is object:
            raise TypeError("a rule for object would hide all others: pass it as the fallback")
        rules[id(cls)] = (cls, rule)
    inherited_fallbacks = base.fallbacks if base is not None else ()
    fallbacks = inherited_fallbacks if fallback is None else (fallback, *inherited_fallbacks)
    return Deconstructor(tuple(rules.values()), fallbacks, options)


def _with_subclasses(cls: type) -> Iterable[type]:
    found: dict[int, type] = {}
    pending = [cls]
    while pending:
        known = pending.pop()
        if id(known) not in found:
            found[id(known)] = known
            # Not through the class, whose metaclass may do anything.
            pending.extend(type.__subclasses__(known))
    return found.values()


def _dispatch_order(cls: type) -> Iterable[type]:
    mro = bases(cls)[:-1]
    if not issubclass(type(cls), enum.EnumMeta):
        return mro
    # The value type that an enumeration mixes in precedes Enum in its MRO, but must not decide.
    return sorted(mro, key=lambda base: not issubclass(base, enum.Enum))
