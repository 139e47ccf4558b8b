"""Which names of a function are variables and which are values, decided from its source before staging."""

from __future__ import annotations

import ast

from samovar.frontend.context import KernelContext
from samovar.frontend.stager import Stager
from samovar.frontend.syntax import NamesUsed, names_used
from samovar.lens import FunctionRef


def names_of(context: KernelContext, function: FunctionRef, definition: ast.FunctionDef) -> NamesUsed:
    """The uses of names in a function, computed once."""
    found = context.names.get(function.identity)
    if found is None:
        found = context.names[function.identity] = names_used(definition.body)
    return found


def classify_names(stager: Stager, definition: ast.FunctionDef) -> None:
    """Find the names that a function assigns; those assigned in one place only are values, not variables."""
    used = stager.used = names_of(stager.context, stager.function, definition)
    variables = stager.context.decisions.variables.get(stager.function.identity, set())
    changed = used.updated | used.changed_by_element | variables
    stager.once = {name for name, count in used.stored.items() if count == 1 and name not in changed}
