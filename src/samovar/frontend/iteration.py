"""The functions that make something to loop over: `range`, `ndrange`, `grouped`, and the compile-time iterators."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from samovar.frontend.arithmetic import number, plain
from samovar.frontend.expressions import as_items, sequence, stage
from samovar.frontend.loops import as_space
from samovar.frontend.staged import Axis, Items, Space, Staged, Static
from samovar.frontend.stager import Stager

Rule = Callable[[Stager, ast.Call], Staged]


def make_range(stager: Stager, node: ast.Call) -> Staged:
    values = [plain(stage(stager, argument)) for argument in node.args]
    if node.keywords or not 1 <= len(values) <= 3:
        stager.fail_type(node, f"`range` takes 1 to 3 arguments, got {len(values) + len(node.keywords)}")
    if len(values) == 1:
        return Space((Axis(Static(0), values[0]),))
    step = values[2] if len(values) == 3 and number(values[2]) != 1 else None
    return Space((Axis(values[0], values[1]),), step)


def make_ndrange(stager: Stager, node: ast.Call) -> Staged:
    """`ndrange(n, (a, b), …, axes=(1, 0))`."""
    axes: list[Axis] = []
    for argument in node.args:
        elements = [argument]
        if isinstance(argument, ast.Starred):
            bounds = list(sequence(stager, stage(stager, argument.value), argument))
        else:
            bounds = [stage(stager, element) for element in elements]
        for bound in bounds:
            axes.append(make_axis(stager, as_items(stager, plain(bound)), argument))
    order: tuple[int, ...] | None = None
    for keyword in node.keywords:
        if keyword.arg != "axes":
            stager.fail_type(node, f"`ndrange` has no parameter `{keyword.arg}`")
        order = tuple(int(number(item) or 0) for item in sequence(stager, stage(stager, keyword.value), keyword.value))
        if sorted(order) != list(range(len(axes))):
            stager.fail_type(node, f"`axes` must name each of the {len(axes)} axes once, from 0")
    return Space(tuple(axes), order=order, tuple_of_axes=len(axes) != 1)


def make_axis(stager: Stager, bound: Staged, node: ast.AST) -> Axis:
    if not isinstance(bound, Items):
        return Axis(Static(0), bound)
    if len(bound.items) != 2:
        stager.fail_type(node, "an axis of `ndrange` is an extent or a pair (begin, end)")
    return Axis(*bound.items)


def make_grouped(stager: Stager, node: ast.Call) -> Staged:
    if len(node.args) != 1 or node.keywords:
        stager.fail_type(node, "`grouped` takes an `ndrange` or an array")
    return replace(as_space(stager, plain(stage(stager, node.args[0])), node), grouped=True)


def compile_time(function: Callable[..., list[tuple[Staged, ...]]]) -> Rule:
    """An iterator over compile-time sequences, for use inside `static`."""

    def rule(stager: Stager, node: ast.Call) -> Staged:
        columns = [sequence(stager, stage(stager, argument), argument) for argument in node.args]
        return Items(tuple(Items(row) for row in function(*columns)))

    return rule


def make_sequence(is_list: bool) -> Rule:
    """`tuple(x)`, `list(x)`."""

    def rule(stager: Stager, node: ast.Call) -> Staged:
        items = sequence(stager, stage(stager, node.args[0]), node) if len(node.args) == 1 else ()
        return Items(items, is_list=is_list)

    return rule


def make_reversed(stager: Stager, node: ast.Call) -> Staged:
    (argument,) = node.args
    return Items(tuple(reversed(sequence(stager, stage(stager, argument), argument))))


INTRINSICS: dict[str, Rule] = {
    "builtins.range": make_range,
    "samovar.ndrange": make_ndrange,
    "samovar.grouped": make_grouped,
    "builtins.enumerate": compile_time(lambda items: [(Static(position), item) for position, item in enumerate(items)]),
    "builtins.zip": compile_time(lambda *columns: list(zip(*columns, strict=False))),
    "builtins.tuple": make_sequence(is_list=False),
    "builtins.list": make_sequence(is_list=True),
    "builtins.reversed": make_reversed,
}
