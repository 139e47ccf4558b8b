"""`sv.BufferView(array, offset, size)` and `subview` in a kernel."""

from __future__ import annotations

import ast

from samovar.frontend.dispatch import call_value, stage
from samovar.frontend.rules import Call, Rule
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.view import CONSTRUCTION, Cutting, bound
from samovar.frontend.stager import Stager


def construct(stager: Stager, call: Call) -> Staged:
    """A slice of an array, made in a kernel."""
    whole = call["arr"].as_view(stager, call.nodes["arr"])
    offset, size = (bound(stager, whole, call[name], call.nodes[name]) for name in ("offset", "size"))
    return whole.part(stager, offset, size, CONSTRUCTION)


@call_value.register(Cutting)
def cut(value: Cutting, stager: Stager, node: ast.Call) -> Staged:
    """`v.subview(offset, size)`."""
    names = ("offset", "size")
    given: dict[str, ast.expr] = dict(zip(names, node.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg in names}
    if len(given) != 2 or len(node.args) + len(node.keywords) != 2:
        stager.fail(node, "`subview` takes an offset and a size", "write `v.subview(offset, size)`")
    start, count = (bound(stager, value.view, stage(stager, given[name]), given[name]) for name in names)
    return value.view.part(stager, start, count)


INTRINSICS = {"samovar.BufferView": Rule(construct, "arr offset size")}
