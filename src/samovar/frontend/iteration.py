"""Functions that create iterables: `range`, `ndrange`, `grouped`, and the compile-time iterators."""

from __future__ import annotations

import ast
from math import isfinite

from samovar._native import i32
from samovar.frontend.context import Reconsider
from samovar.frontend.dispatch import call_value
from samovar.frontend.mathematics import extremum
from samovar.frontend.rules import Call, Rule, bind
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.node import Node, Parent
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.space import Axis, Counted, Space
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.language import is_float
from samovar.lens import Kind


def make_range(stager: Stager, call: Call) -> Staged:
    values = call.values
    if not 1 <= len(values) <= 3:
        stager.fail_type(call.node, f"`range` takes 1 to 3 arguments, got {len(values)}")
    if len(values) < 3 and not stager.static_depth:
        values = tuple(whole_bound(stager, value, call.node) for value in values)
    if len(values) == 1:
        return Space((Axis(Static(0), values[0]),))
    step = values[2] if len(values) == 3 and values[2].number() != 1 else None
    return Space((Axis(values[0], values[1]),), step)


def make_prange(stager: Stager, call: Call) -> Staged:
    """`prange`: a range that is parallel in a kernel whose other loops are serial."""
    space = make_range(stager, call)
    assert isinstance(space, Space)
    if not stager.context.decisions.marks_parallel:
        stager.context.decisions.marks_parallel = True
        raise Reconsider
    space.is_marked = True
    return space


def whole_bound(stager: Stager, bound: Staged, node: ast.AST) -> Staged:
    """A bound; truncated if it is a float and such bounds are allowed. Otherwise the loop rejects it."""
    if not (bound.is_number() and is_float(bound.type(stager, node))):
        return bound
    if stager.context.lens.options.float_bounds != "truncate":
        return bound
    stager.warn(node, "a bound of this `range` is a float and is truncated")
    known = bound.number()
    return Static(int(known)) if known is not None and isfinite(known) else Scalar(bound.as_type(stager, i32, node))


def make_ndrange(stager: Stager, call: Call) -> Staged:
    """`ndrange(n, (a, b), …, axes=(1, 0))`."""
    axes = [
        make_axis(stager, bound.as_operand(stager, call.nodes[name]), call.nodes[name])
        for name, bound in call.arguments.items()
        if name != "axes"
    ]
    wanted = call.get("axes")
    if wanted is None or wanted.is_none():
        return Space(tuple(axes), tuple_of_axes=len(axes) != 1)
    items = wanted.sequence(stager, call.nodes["axes"])
    order = tuple(int(item.unforced().number() or 0) for item in items)
    if sorted(order) != list(range(len(axes))):
        stager.fail_type(call.node, f"`axes` must be a permutation of the {len(axes)} dimensions, from 0")
    return Space(tuple(axes), order=order, tuple_of_axes=len(axes) != 1)


def make_axis(stager: Stager, bound: Staged, node: ast.AST) -> Axis:
    if not isinstance(bound, Items):
        return Axis(Static(0), bound)
    if len(bound.items) != 2:
        stager.fail_type(node, "an argument of `ndrange` must be an extent or a pair (begin, end)")
    return Axis(*bound.items)


def make_grouped(stager: Stager, call: Call) -> Staged:
    return call["x"].space(stager, call.node).as_grouped()


@call_value.register(Parent)
def call_parent(parent: Parent, stager: Stager, node: ast.Call) -> Staged:
    """`x.parent(n)`: the n-th node above."""
    given = bind(stager, node, "n?").get("n")
    count = 1 if given is None else given.number()
    if not isinstance(count, int) or count < 0:
        stager.fail_type(node, "`parent` takes a number of levels that is known at compile time")
    ref = parent.ref
    for _ in range(count):
        ref = ref.attribute("above")
    if ref.kind() is not Kind.OBJECT:
        stager.fail_type(node, f"`{ast.unparse(node)}`: there are fewer nodes above this field")
    return Node(ref)


# --- compile-time iterators, for use inside `static`


def elements(stager: Stager, call: Call, name: str) -> tuple[Staged, ...]:
    return call[name].sequence(stager, call.nodes[name])


def make_enumerate(stager: Stager, call: Call) -> Staged:
    start = call["start"].number() if "start" in call.arguments else 0
    if not isinstance(start, int):
        stager.fail_type(call.node, "the `start` of `enumerate` must be an integer known at compile time")
    counted = None if stager.static_depth else call["items"].counted(stager, call.nodes["items"])
    if counted is not None:
        places = Space((Axis(Static(start), counted.count),)).counted(stager, call.node)
        return Space((Axis(Static(0), counted.count),), columns=(Counted(counted.count, places.element), counted))
    items = enumerate(elements(stager, call, "items"), start)
    return Items(tuple(Items((Static(position), item)) for position, item in items))


def make_zip(stager: Stager, call: Call) -> Staged:
    given = [value for name, value in call.arguments.items() if name != "strict"]
    is_strict = call["strict"].truth(stager) if "strict" in call.arguments else False
    if given and not stager.static_depth and is_strict is False:
        counted = [value.counted(stager, call.node) for value in given]
        found = tuple(each for each in counted if each is not None)
        if len(found) == len(given):
            named = {f"*values{position}": each.count for position, each in enumerate(found)}
            least = extremum("min").applied(stager, Call(call.node, named, {}))
            return Space((Axis(Static(0), least),), columns=found)
    columns = [elements(stager, call, name) for name in call.arguments if name != "strict"]
    if is_strict is None:
        stager.fail_type(call.node, "the `strict` of `zip` must be known at compile time")
    if is_strict and len({len(column) for column in columns}) > 1:
        lengths = ", ".join(str(len(column)) for column in columns)
        stager.fail_type(call.node, f"`zip(strict=True)` requires equal lengths, got {lengths} elements")
    return Items(tuple(Items(row) for row in zip(*columns, strict=False)))


def make_tuple(stager: Stager, call: Call) -> Staged:
    return Items(elements(stager, call, "items") if call.arguments else ())


def make_list(stager: Stager, call: Call) -> Staged:
    return Items(elements(stager, call, "items") if call.arguments else (), is_list=True)


def make_reversed(stager: Stager, call: Call) -> Staged:
    run_time = call["items"].backwards(stager, call.node)
    if run_time is not None:
        return run_time
    return Items(tuple(reversed(elements(stager, call, "items"))))


INTRINSICS: dict[str, Rule] = {
    "builtins.range": Rule(make_range, "*bounds", refusal="`range` takes 1 to 3 arguments, got {count}"),
    "samovar.prange": Rule(make_prange, "*bounds", refusal="`prange` takes 1 to 3 arguments, got {count}"),
    "samovar.ndrange": Rule(make_ndrange, "*bounds axes?", refusal="`ndrange` has no parameter `{keyword}`"),
    "samovar.grouped": Rule(make_grouped, "x", refusal="`grouped` takes an `ndrange` or an array"),
    "builtins.enumerate": Rule(make_enumerate, "items start?"),
    "builtins.zip": Rule(make_zip, "*columns strict?"),
    "builtins.tuple": Rule(make_tuple, "items?"),
    "builtins.list": Rule(make_list, "items?"),
    "builtins.reversed": Rule(make_reversed, "items"),
}
