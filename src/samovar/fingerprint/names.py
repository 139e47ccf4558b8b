"""Qualified names, and whether they lead back to what bears them."""

from __future__ import annotations

import sys

from samovar.fingerprint.deconstruction import EmptyDeconstruction, encode_names
from samovar.fingerprint.inspection import MISSING, lookup

__all__ = ["reference", "resolves"]


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


def _attribute(owner: object, name: str) -> object:
    if issubclass(type(owner), type):
        found = lookup(owner, name)  # type: ignore[arg-type]
        return found.__func__ if type(found) is staticmethod else found
    try:
        return getattr(owner, name)
    except Exception:
        return MISSING
