"""Looking through syntax trees: a compile does so several times for each function, and `ast.walk` takes its time."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


def owner_name(node: ast.expr) -> str | None:
    """The name `v` in `v[0]`, `v.x` and `v[i].x`."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


#: The method that changes what it is called on.
FILL = "fill"


def changed_owner(node: ast.AST) -> str | None:
    """The name of which an element or member is assigned, or which is filled."""
    if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
        return owner_name(node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == FILL:
        return owner_name(node.func)
    return None


#: Fields that hold no node which anybody looks for: names, and what every context and operator is one shared node of.
_NO_NODES = frozenset("ctx op ops id attr type_comment kind conversion level is_async simple".split())

#: Class of a node → the fields that lead to what is below it.
_below: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: ()}


def walk(*nodes: ast.AST) -> list[ast.AST]:
    """Nodes and everything below them, in the order of `ast.walk`, but for operators and contexts.

    Only the declared fields lead to what is below. Libraries that render tracebacks hang a `parent` on nodes, and CPython
    shares the nodes of operators between all trees: by way of their other attributes, a tree is a circle.

    >>> import ast
    >>> tree = ast.parse("x = f(1, [-y])")
    >>> walk(tree) == [each for each in ast.walk(tree) if not isinstance(each, (ast.expr_context, ast.unaryop))]
    True
    """
    found = [*nodes]
    for each in found:  # which grows meanwhile
        fields = _below.get(each.__class__)
        if fields is None:
            fields = _below[each.__class__] = tuple(name for name in each._fields if name not in _NO_NODES)
        for name in fields:
            child = getattr(each, name, None)
            if child.__class__ is list:
                found += [item for item in child if isinstance(item, ast.AST)]
            elif isinstance(child, ast.AST):
                found.append(child)
    return found


#: A name for what is not needed. Where nothing reads it, what is assigned to it may be anything.
IGNORED = "_"


@dataclass
class NamesUsed:
    """What statements do with names, found in one walk."""

    #: How often each name is assigned; those of comprehensions are their own.
    stored: Counter[str] = field(default_factory=Counter)
    #: Names that are assigned, or elements of which are; loop variables excepted.
    assigned: set[str] = field(default_factory=set)
    #: Names of which elements or members are assigned.
    changed_by_element: set[str] = field(default_factory=set)
    #: Names that are read and written, or written where it may not be reached.
    updated: set[str] = field(default_factory=set)
    binds_in_expressions: bool = False
    reads_ignored: bool = False


def names_used(body: Iterable[ast.AST]) -> NamesUsed:
    """What statements do with names."""
    used = NamesUsed()
    own: set[ast.AST] = set()  # the targets of comprehensions
    of_loops: set[ast.AST] = set()
    for node in walk(*body):
        if isinstance(node, ast.Name):
            is_stored = isinstance(node.ctx, ast.Store)
            if is_stored and node not in of_loops and node not in own:
                used.assigned.add(node.id)
            if is_stored and node not in own:
                used.stored[node.id] += 1
            elif node.id == IGNORED:
                used.reads_ignored = True
        elif isinstance(node, ast.For):
            of_loops.update(walk(node.target))
        elif isinstance(node, ast.comprehension):
            own.update(walk(node.target))
        elif (owner := changed_owner(node)) is not None:
            used.changed_by_element.add(owner)
        elif isinstance(node, (ast.AugAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name):
            used.updated.add(node.target.id)
            used.binds_in_expressions |= isinstance(node, ast.NamedExpr)
    used.assigned |= used.changed_by_element
    return used


def passed_names(definition: ast.AST) -> set[str]:
    """Names that a function passes to calls as they are."""
    calls = [node for node in walk(definition) if isinstance(node, ast.Call)]
    arguments = [argument for call in calls for argument in (*call.args, *(keyword.value for keyword in call.keywords))]
    return {argument.id for argument in arguments if isinstance(argument, ast.Name)}
