"""Looking through syntax trees: a compile does so several times for each function, and `ast.walk` takes its time."""

from __future__ import annotations

import ast


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


def walk(node: ast.AST) -> list[ast.AST]:
    """A node and everything below it, in the order of `ast.walk`.

    Only the declared fields lead to what is below. Libraries that render tracebacks hang a `parent` on nodes, and CPython
    shares the nodes of operators between all trees: by way of their other attributes, a tree is a circle.

    >>> import ast
    >>> tree = ast.parse("x = f(1, [y])")
    >>> walk(tree) == list(ast.walk(tree))
    True
    """
    found = [node]
    for each in found:  # which grows meanwhile
        for name in each._fields:
            child = getattr(each, name, None)
            if isinstance(child, ast.AST):
                found.append(child)
            elif isinstance(child, list):
                found += [item for item in child if isinstance(item, ast.AST)]
    return found


def passed_names(definition: ast.AST) -> set[str]:
    """Names that a function passes to calls as they are."""
    calls = [node for node in walk(definition) if isinstance(node, ast.Call)]
    arguments = [argument for call in calls for argument in (*call.args, *(keyword.value for keyword in call.keywords))]
    return {argument.id for argument in arguments if isinstance(argument, ast.Name)}
