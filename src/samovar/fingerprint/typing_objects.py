"""Type variables, new types and type aliases: by name, or by their definition.

They pickle by name alone. Those of a function or a generic class have no name that another process could find.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any, Final

from samovar.fingerprint.deconstruction import UNSET, Deconstruction, Rule, encode_names
from samovar.fingerprint.deconstructor_options import Options, Planner
from samovar.fingerprint.names import home_of, reference, resolves
from samovar.fingerprint.references import refuse
from samovar.reflection import qualified_name, unqualified_name

__all__ = ["PLANNERS"]


def _by_name_or(take_apart: Callable[[Any, str, str], Deconstruction]) -> Planner:
    def plan(cls: type, options: Options) -> Rule:
        def rule(value: Any) -> Deconstruction:
            module = value.__module__ if type(value.__module__) is str else ""
            name = getattr(value, "__qualname__", None) or value.__name__
            reason = resolves(value, module, name)
            if reason is None:
                return reference("name", module, name)
            if options.lenient:
                return take_apart(value, home_of(module), name)
            raise refuse(unqualified_name(cls), module, name, reason)

        return rule

    return plan


def _parameter(parameter: Any, module: str, name: str) -> Deconstruction:
    """A type variable of any kind. Features that this version of Python lacks count as not given."""
    flags = ("covariant", "contravariant", "infer_variance")
    given = (flag for flag in flags if getattr(parameter, f"__{flag}__", False))
    default = getattr(parameter, "__default__", UNSET)
    return Deconstruction(
        "type-parameter",
        encode_names((unqualified_name(type(parameter)), module, name, *given)),
        (
            getattr(parameter, "__bound__", None),
            getattr(parameter, "__constraints__", ()),
            UNSET if qualified_name(type(default))[1] == "NoDefaultType" else default,
        ),
        (".__bound__", ".__constraints__", ".__default__"),
    )


def _new_type(new_type: Any, module: str, name: str) -> Deconstruction:
    return Deconstruction(
        "NewType", encode_names((module, name)), (new_type.__supertype__,), (".__supertype__",)
    )


def _alias(alias: Any, module: str, name: str) -> Deconstruction:
    return Deconstruction(
        "TypeAliasType",
        encode_names((module, name)),
        (alias.__type_params__, alias.__value__),
        (".__type_params__", ".__value__"),
    )


def _part_of_parameter(cls: type, options: Options) -> Rule:
    """`P.args` and `P.kwargs` of a parameter specification."""
    return lambda part: Deconstruction(unqualified_name(cls), pieces=(part.__origin__,), labels=(".__origin__",))


_RULES: Final[dict[str, Planner]] = {
    "TypeVar": _by_name_or(_parameter),
    "ParamSpec": _by_name_or(_parameter),
    "TypeVarTuple": _by_name_or(_parameter),
    "ParamSpecArgs": _part_of_parameter,
    "ParamSpecKwargs": _part_of_parameter,
    "NewType": _by_name_or(_new_type),
    "TypeAliasType": _by_name_or(_alias),
}

#: Some are newer than the oldest supported version of Python.
PLANNERS: Final[dict[type, Planner]] = {
    getattr(typing, name): planner for name, planner in _RULES.items() if hasattr(typing, name)
}
