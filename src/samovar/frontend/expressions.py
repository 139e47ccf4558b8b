"""Expressions: one rule per kind of AST node, looked up in a table.

A rule stages the parts and delegates the rest: the kinds know what an attribute, an operator or a call means.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from samovar.frontend.assignments import assign_name
from samovar.frontend.comparisons import stage_compare
from samovar.frontend.conditions import stage_conditional, stage_logic
from samovar.frontend.dispatch import EXPRESSIONS, call_value, refusal, stage, stage_marked
from samovar.frontend.filling import stage_fill
from samovar.frontend.formatting import stage_fstring
from samovar.frontend.loops import bind_target
from samovar.frontend.operators import BINARY, UNARY, binary, known_truth, negate
from samovar.frontend.places import stage_index, stage_owner, stage_target
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.complex import static
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.table import Table, key_value
from samovar.frontend.stager import Stager
from samovar.frontend.syntax import FILL, changes_something


def stage_constant(stager: Stager, node: ast.Constant) -> Staged:
    if isinstance(node.value, bytes) or node.value is Ellipsis:
        name = node.value.__class__.__name__
        stager.fail(node, f"a literal of type {name} is not supported in kernels")
    return static(node.value) if isinstance(node.value, complex) else Static(node.value)


def stage_name(stager: Stager, node: ast.Name) -> Staged:
    return stager.load(node.id, node)


def stage_binary(stager: Stager, node: ast.BinOp) -> Staged:
    left = stage(stager, node.left)
    if left.is_in_memory() and changes_something(node.right):
        left = left.current(stager, node)
    right = stage(stager, node.right)
    return binary(stager, BINARY[node.op.__class__], left.as_operand(stager, node), right.as_operand(stager, node), node)


def stage_unary(stager: Stager, node: ast.UnaryOp) -> Staged:
    if isinstance(node.op, ast.Not):
        return negate(stager, stage_marked(stager, node.operand), node)
    operand = stage(stager, node.operand)
    return operand.unary(stager, UNARY[node.op.__class__], node)


def stage_items(stager: Stager, node: ast.Tuple | ast.List) -> Staged:
    items: list[Staged] = []
    for element in node.elts:
        if isinstance(element, ast.Starred):
            items.extend(stage(stager, element.value).sequence(stager, element))
        else:
            items.append(stage_marked(stager, element))
    return Items(tuple(items), is_list=isinstance(node, ast.List))


def stage_comprehension(stager: Stager, node: ast.ListComp | ast.GeneratorExp) -> Staged:
    """A list built at compile time: `[a[i] for i in static(range(3))]`."""
    results: list[Staged] = []
    for_each(stager, node, lambda: results.append(stage_marked(stager, node.elt)))
    return Items(tuple(results), is_list=isinstance(node, ast.ListComp))


def for_each(
    stager: Stager, node: ast.ListComp | ast.GeneratorExp | ast.DictComp, action: Callable[[], None]
) -> None:
    """Apply a function to each element of a comprehension, with its names bound."""
    names = dict(stager.names)
    generate(stager, node, 0, action)
    stager.names = names


def generate(
    stager: Stager, node: ast.ListComp | ast.GeneratorExp | ast.DictComp, position: int, action: Callable[[], None]
) -> None:
    """The loops of a comprehension from a position on."""
    if position == len(node.generators):
        action()
        return
    generator = node.generators[position]
    for item in stage(stager, generator.iter).sequence(stager, generator.iter):
        bind_target(stager, generator.target, item)
        kept = [known_truth(stager, stage_marked(stager, test), test) for test in generator.ifs]
        if None in kept:
            stager.fail(node, "the condition of a comprehension must be known at compile time")
        if all(kept):
            generate(stager, node, position + 1, action)


def stage_table(stager: Stager, node: ast.Dict) -> Staged:
    """`{key: value, **other}`, with compile-time keys."""
    entries: list[tuple[Staged, Staged]] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            entries.append((stage(stager, key), stage(stager, value)))
            continue
        other = stage(stager, value)
        if not isinstance(other, Table):
            stager.fail_type(value, f"`**` in a dict requires a dict of the kernel, not {other.describe()}")
        entries.extend(other.entries.values())
    return table_of(stager, entries, node)


def stage_table_comprehension(stager: Stager, node: ast.DictComp) -> Staged:
    """A dict built at compile time: `{name: x for name in ("a", "b")}`."""
    entries: list[tuple[Staged, Staged]] = []
    for_each(stager, node, lambda: entries.append((stage(stager, node.key), stage(stager, node.value))))
    return table_of(stager, entries, node)


def table_of(stager: Stager, entries: list[tuple[Staged, Staged]], node: ast.AST) -> Staged:
    return Table({key_value(stager, key, node): (key, value) for key, value in entries})


def stage_attribute(stager: Stager, node: ast.Attribute) -> Staged:
    return stage_owner(stager, node.value).attribute(stager, node.attr, node)


def stage_subscript(stager: Stager, node: ast.Subscript) -> Staged:
    owner = stage_target(stager, node.value)
    index = stage_index(stager, node.slice)
    place = owner.element(stager, index, node) if isinstance(owner, Place) else None
    # For a variable or an array element, only the selected part is read.
    return owner.load(stager).subscript(stager, index, node) if place is None else place.load(stager)


def stage_walrus(stager: Stager, node: ast.NamedExpr) -> Staged:
    assign_name(stager, node.target, stage_marked(stager, node.value))
    return stager.load(node.target.id, node)


def stage_call(stager: Stager, node: ast.Call) -> Staged:
    if isinstance(node.func, ast.Attribute) and node.func.attr == FILL:
        return stage_fill(stager, node, node.func)
    return call_value(stage(stager, node.func), stager, node)


EXPRESSIONS |= {
    ast.Constant: stage_constant,
    ast.Name: stage_name,
    ast.BinOp: stage_binary,
    ast.UnaryOp: stage_unary,
    ast.Compare: stage_compare,
    ast.BoolOp: stage_logic,
    ast.IfExp: stage_conditional,
    ast.Tuple: stage_items,
    ast.List: stage_items,
    ast.ListComp: stage_comprehension,
    ast.GeneratorExp: stage_comprehension,
    ast.Dict: stage_table,
    ast.DictComp: stage_table_comprehension,
    ast.Attribute: stage_attribute,
    ast.Subscript: stage_subscript,
    ast.Call: stage_call,
    ast.NamedExpr: stage_walrus,
    ast.JoinedStr: stage_fstring,
}

EXPRESSIONS |= {
    ast.Lambda: refusal("`lambda`", "define a `@sv.func` outside the kernel and call it"),
    ast.Set: refusal("a set", "use a tuple"),
    ast.SetComp: refusal("a set comprehension", "use a list comprehension over `static(...)`"),
    ast.Yield: refusal("`yield`", "write results into an array"),
    ast.YieldFrom: refusal("`yield from`", "write results into an array"),
    ast.Await: refusal("`await`", None),
    ast.Starred: refusal("`*` here", "unpack only into a tuple or into a call"),
}
