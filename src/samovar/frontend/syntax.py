"""Analysis of syntax trees: how a function uses names."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from samovar._native import tree_nodes


def owner_name(node: ast.expr) -> str | None:
    """The name `v` in `v[0]`, `v.x` and `v[i].x`."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


#: The method that modifies the object it is called on.
FILL = "fill"


def changed_owner(node: ast.AST) -> str | None:
    """The name whose element or member is assigned, or which is filled."""
    if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
        return owner_name(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == FILL:
        return owner_name(node.func)
    return None


def name_updated_by(call: ast.Call) -> str | None:
    """The name that `sv.atomic_max(x, …)` updates, recognized by its spelling: any name may be a variable."""
    function = getattr(call.func, "attr", getattr(call.func, "id", ""))
    first = call.args[0] if call.args else None
    return first.id if isinstance(first, ast.Name) and function.startswith("atomic_") else None


def walk(*nodes: ast.AST) -> list[ast.AST]:
    """Nodes and all their descendants, in the order of `ast.walk`, except operators and contexts.

    >>> import ast
    >>> tree = ast.parse("x = f(1, [-y])")
    >>> walk(tree) == [each for each in ast.walk(tree) if not isinstance(each, (ast.expr_context, ast.unaryop))]
    True
    """
    return tree_nodes(nodes)


#: The name for unused values. If it is never read, anything may be assigned to it.
IGNORED = "_"


@dataclass
class NamesUsed:
    """The uses of names in statements, found in one walk."""

    #: How often each name is assigned; targets of comprehensions are separate.
    stored: Counter[str] = field(default_factory=Counter)
    #: Names that are assigned, or whose elements are; except loop variables.
    assigned: set[str] = field(default_factory=set)
    #: Names whose elements or members are assigned.
    changed_by_element: set[str] = field(default_factory=set)
    #: Names that are read and written, or written in code that may not run.
    updated: set[str] = field(default_factory=set)
    binds_in_expressions: bool = False
    reads_ignored: bool = False


#: The node classes that involve names.
_WITH_NAMES = frozenset(
    (ast.Name, ast.For, ast.comprehension, ast.Subscript, ast.Attribute, ast.Call, ast.AugAssign, ast.NamedExpr)
)


def names_used(body: Iterable[ast.AST]) -> NamesUsed:
    """The uses of names in statements."""
    used = NamesUsed()
    own: set[ast.AST] = set()  # the targets of comprehensions
    of_loops: set[ast.AST] = set()
    for node in tree_nodes(body, _WITH_NAMES, ast.Store):
        if isinstance(node, ast.Name):
            if node in own:
                used.reads_ignored |= node.id == IGNORED
                continue
            used.stored[node.id] += 1
            if node not in of_loops:
                used.assigned.add(node.id)
        elif isinstance(node, ast.For):
            of_loops.update(walk(node.target))
        elif isinstance(node, ast.comprehension):
            own.update(walk(node.target))
        elif (owner := changed_owner(node)) is not None:
            used.changed_by_element.add(owner)
        elif isinstance(node, (ast.AugAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name):
            used.updated.add(node.target.id)
            used.binds_in_expressions |= isinstance(node, ast.NamedExpr)
        elif isinstance(node, ast.Call) and (name := name_updated_by(node)) is not None:
            used.updated.add(name)
    if IGNORED in used.stored:
        names = [node for node in walk(*body) if isinstance(node, ast.Name) and node.id == IGNORED]
        used.reads_ignored |= not all(isinstance(name.ctx, ast.Store) for name in names)
    used.assigned |= used.changed_by_element
    return used


def passed_names(definition: ast.AST) -> set[str]:
    """Names that a function passes to calls unchanged."""
    calls = [node for node in walk(definition) if isinstance(node, ast.Call)]
    arguments = [argument for call in calls for argument in (*call.args, *(keyword.value for keyword in call.keywords))]
    return {argument.id for argument in arguments if isinstance(argument, ast.Name)}


def changes_something(node: ast.expr) -> bool:
    """Whether evaluating an expression may modify a variable: by `:=`, or in a func that takes it by reference."""
    return any(isinstance(each, (ast.Call, ast.NamedExpr)) for each in walk(node))
