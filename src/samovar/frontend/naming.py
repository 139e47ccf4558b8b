"""Which names of a function are variables, and which are values: seen from its text, before it is staged."""

from __future__ import annotations

import ast

from samovar.frontend.stager import KernelContext, Stager
from samovar.frontend.syntax import NamesUsed, names_used
from samovar.lens import FunctionRef


def names_of(context: KernelContext, function: FunctionRef, definition: ast.FunctionDef) -> NamesUsed:
    """What a function does with names, found once."""
    found = context.names.get(function.identity)
    if found is None:
        found = context.names[function.identity] = names_used(definition.body)
    return found


def classify_names(stager: Stager, definition: ast.FunctionDef) -> None:
    """Find the names that a function assigns; those assigned at one place and by nothing else are values, not variables."""
    used = names_of(stager.context, stager.function, definition)
    stager.reads_ignored = used.reads_ignored
    stager.binds_in_expressions = used.binds_in_expressions
    stager.changed_by_element = used.changed_by_element
    changed = used.updated | used.changed_by_element | stager.context.variables.get(stager.function.identity, set())
    stager.assigned = set(used.stored)
    stager.once = {name for name, count in used.stored.items() if count == 1 and name not in changed}
