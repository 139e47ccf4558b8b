"""Which names of a function are variables, and which are values: seen from its text, before it is staged."""

from __future__ import annotations

import ast
from collections import Counter

from samovar.frontend.stager import Stager
from samovar.frontend.syntax import changed_owner, walk

#: A name for what is not needed. Where nothing reads it, what is assigned to it may be anything.
IGNORED = "_"


def classify_names(stager: Stager, definition: ast.FunctionDef) -> None:
    """Find the names that a function assigns; those assigned at one place and by nothing else are values, not variables."""
    counts: Counter[str] = Counter()
    changed: Counter[str] = Counter()
    own: set[ast.AST] = set()
    for node in walk(definition):
        if isinstance(node, ast.comprehension):
            own.update(walk(node.target))  # a comprehension has names of its own
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in own:
            counts[node.id] += 1
        elif isinstance(node, ast.Name) and node.id == IGNORED:
            stager.reads_ignored = True
        elif (owner := changed_owner(node)) is not None:
            stager.changed_by_element.add(owner)
        elif isinstance(node, (ast.AugAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name):
            changed[node.target.id] += 1  # read and written, or written where it may not be reached
            stager.binds_in_expressions |= isinstance(node, ast.NamedExpr)
    changed.update(stager.changed_by_element)
    changed.update(stager.context.variables.get(stager.function.identity, ()))
    stager.assigned = set(counts)
    stager.once = {name for name, count in counts.items() if count == 1 and name not in changed}
