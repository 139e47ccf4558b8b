"""Expressions: one rule per kind of AST node, looked up in a table.

A rule stages the parts, and asks them for the rest: what an attribute, an operator or a call means is known by the kinds.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from samovar.frontend.members import advice_for_member, run_time_member
from samovar.frontend.operators import BINARY, UNARY, binary, known_truth, negate
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.forced import Forced
from samovar.frontend.staged.items import Items, Slice
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Meaning, Stager
from samovar.frontend.syntax import FILL, walk

Rule = Callable[[Stager, Any], Staged]


def stage(stager: Stager, node: ast.expr) -> Staged:
    """The staged value of an expression."""
    staged = stage_marked(stager, node)
    return staged.unforced() if staged.is_forced else staged


def stage_marked(stager: Stager, node: ast.expr) -> Staged:
    """The staged value of an expression; the mark of `static(...)` is still on it."""
    rule = EXPRESSIONS.get(node.__class__)
    if rule is None:
        name, advice = REFUSED.get(node.__class__, (node.__class__.__name__, None))
        stager.fail(node, f"{name} is not available in kernels", advice)
    if not stager.context.by_call_path:
        return rule(stager, node)
    with stager.at(node):
        return rule(stager, node)


def stage_constant(stager: Stager, node: ast.Constant) -> Staged:
    if isinstance(node.value, (bytes, complex)) or node.value is Ellipsis:
        name = node.value.__class__.__name__
        advice = "a complex number is a vector of two: see `sv.math.cmul` and its like" if name == "complex" else None
        stager.fail(node, f"a literal of type {name} is not available in kernels", advice)
    return Static(node.value)


def stage_name(stager: Stager, node: ast.Name) -> Staged:
    return stager.load(node.id, node)


def stage_binary(stager: Stager, node: ast.BinOp) -> Staged:
    left = stage(stager, node.left)
    if left.is_in_memory() and changes_something(node.right):
        left = left.settled(stager, node)
    right = stage(stager, node.right)
    return binary(stager, BINARY[node.op.__class__], left.as_operand(stager, node), right.as_operand(stager, node), node)


def changes_something(node: ast.expr) -> bool:
    """May evaluating an expression change a variable: by `:=`, or in a func that takes it by reference?"""
    return any(isinstance(each, (ast.Call, ast.NamedExpr)) for each in walk(node))


def stage_unary(stager: Stager, node: ast.UnaryOp) -> Staged:
    if isinstance(node.op, ast.Not):
        return negate(stager, stage_marked(stager, node.operand), node)
    operand = stage(stager, node.operand)
    return operand.unary(stager, UNARY[node.op.__class__], node)


def stage_compare(stager: Stager, node: ast.Compare) -> Staged:
    from samovar.frontend import comparisons

    return comparisons.stage_compare(stager, node)


def stage_logic(stager: Stager, node: ast.BoolOp) -> Staged:
    from samovar.frontend import conditions

    return conditions.stage_logic(stager, node)


def stage_conditional(stager: Stager, node: ast.IfExp) -> Staged:
    from samovar.frontend import conditions

    return conditions.stage_conditional(stager, node)


def stage_fstring(stager: Stager, node: ast.JoinedStr) -> Staged:
    from samovar.frontend import formatting

    return formatting.stage_fstring(stager, node)


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
    """Do something for each element of a comprehension, with its names bound."""
    names = dict(stager.names)
    generate(stager, node, 0, action)
    stager.names = names


def generate(
    stager: Stager, node: ast.ListComp | ast.GeneratorExp | ast.DictComp, position: int, action: Callable[[], None]
) -> None:
    """The loops of a comprehension from one of them on."""
    from samovar.frontend.loops import bind_target

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
    """`{key: value, **other}`, with keys that are known at compile time."""
    from samovar.frontend.staged.table import Table

    entries: list[tuple[Staged, Staged]] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            entries.append((stage(stager, key), stage(stager, value)))
            continue
        other = stage(stager, value)
        if not isinstance(other, Table):
            stager.fail_type(value, f"`**` in a dict takes a dict of the kernel, not {other.describe()}")
        entries.extend(other.entries.values())
    return table_of(stager, entries, node)


def stage_table_comprehension(stager: Stager, node: ast.DictComp) -> Staged:
    """A dict built at compile time: `{name: x for name in ("a", "b")}`."""
    entries: list[tuple[Staged, Staged]] = []
    for_each(stager, node, lambda: entries.append((stage(stager, node.key), stage(stager, node.value))))
    return table_of(stager, entries, node)


def table_of(stager: Stager, entries: list[tuple[Staged, Staged]], node: ast.AST) -> Staged:
    from samovar.frontend.staged.table import Table, key_value

    return Table({key_value(stager, key, node): (key, value) for key, value in entries})


def stage_attribute(stager: Stager, node: ast.Attribute) -> Staged:
    return stage_owner(stager, node.value).attribute(stager, node.attr, node)


def stage_owner(stager: Stager, node: ast.expr) -> Meaning:
    """What an attribute is read from. Of a struct that is a variable or an element of an array, only that one is read."""
    from samovar.frontend.assignments import stage_target

    if isinstance(node, ast.Name):
        meaning = stager.names.get(node.id)
        return stager.load(node.id, node) if meaning is None else meaning
    if isinstance(node, ast.Subscript):
        owner = stage_target(stager, node.value)
        return owner.part_at(stager, stage_index(stager, node.slice), node)
    if isinstance(node, ast.Attribute):
        return stage_owner(stager, node.value).part_named(stager, node.attr, node)
    return stage(stager, node)


def stage_subscript(stager: Stager, node: ast.Subscript) -> Staged:
    from samovar.frontend.assignments import stage_target

    owner = stage_target(stager, node.value)
    index = stage_index(stager, node.slice)
    place = owner.element(stager, index, node) if isinstance(owner, Place) else None
    # Of a variable or an element of an array, only what is asked for is read.
    return owner.load(stager).subscript(stager, index, node) if place is None else place.load(stager)


def stage_index(stager: Stager, node: ast.expr) -> Staged:
    """What stands between brackets: an index, several of them, a slice."""
    if isinstance(node, ast.Slice):
        lower, upper, step = (
            Static(None) if part is None else stage(stager, part) for part in (node.lower, node.upper, node.step)
        )
        return Slice(lower, upper, step)
    if isinstance(node, ast.Tuple) and any(isinstance(element, ast.Slice) for element in node.elts):
        return Items(tuple(stage_index(stager, element) for element in node.elts))
    return stage(stager, node)


def stage_walrus(stager: Stager, node: ast.NamedExpr) -> Staged:
    from samovar.frontend.assignments import assign_name

    assign_name(stager, node.target, stage_marked(stager, node.value))
    return stager.load(node.target.id, node)


def stage_call(stager: Stager, node: ast.Call) -> Staged:
    if isinstance(node.func, ast.Attribute) and node.func.attr == FILL:
        return stage_fill(stager, node, node.func)
    return stage(stager, node.func).call(stager, node)


def stage_fill(stager: Stager, node: ast.Call, function: ast.Attribute) -> Staged:
    """`a.fill(x)`, of an array, or of a vector or matrix that can be assigned."""
    from samovar.frontend.assignments import stage_target

    owner = stage_target(stager, function.value)
    if not isinstance(owner, Place) or not owner.has_entries():
        return owner.load(stager).attribute(stager, FILL, function).call(stager, node)
    owner.store(stager, filled_with(stager, node), node)
    return Static(None)


def filled_with(stager: Stager, node: ast.Call, other: str = "") -> Staged:
    """The number that `fill` is given, or an `other` value that elements may be."""
    if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
        stager.fail(node, "`fill` takes one value", "write `a.fill(0)`")
    from samovar.frontend.staged.matrix import as_matrix

    value = stage(stager, node.args[0]).as_operand(stager, node.args[0])
    if not (value.is_number() or (other and as_matrix(stager, value, node.args[0]) is not None)):
        wanted = f"a number or {other}" if other else "a number"
        stager.fail_type(node.args[0], f"`fill` takes {wanted}, got {value.describe()}")
    return value


def force(stager: Stager, node: ast.expr) -> Forced:
    """The value of `static(expr)`: everything in it is evaluated at compile time."""
    stager.static_depth += 1
    try:
        staged = stage(stager, node)
    finally:
        stager.static_depth -= 1
    known = staged.known_array(stager)
    if known is not None:
        return Forced(known)
    if staged.is_unrolled_by_static():
        return Forced(staged.kept(stager, node))
    member = run_time_member(stager, staged)
    if member is not None or staged.is_run_time():
        stager.fail(
            node,
            "`static` needs a value that is known at compile time, and this is only known at run time",
            "use a captured constant or a parameter annotated with `sv.Template`"
            if member is None
            else advice_for_member(member),
        )
    return Forced(staged)


EXPRESSIONS: dict[type[ast.expr], Rule] = {
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

REFUSED: dict[type[ast.expr], tuple[str, str | None]] = {
    ast.Lambda: ("`lambda`", "write a `@sv.func` outside of the kernel and call it"),
    ast.Set: ("a set", "use a tuple"),
    ast.SetComp: ("a set comprehension", "use a list comprehension over `static(...)`"),
    ast.Yield: ("`yield`", "write results into an array"),
    ast.YieldFrom: ("`yield from`", "write results into an array"),
    ast.Await: ("`await`", None),
    ast.Starred: ("`*` here", "unpack only into a tuple or into a call"),
}
