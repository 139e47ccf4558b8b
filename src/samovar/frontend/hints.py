"""Hints in kernels: most of them are read and leave nothing behind."""

from __future__ import annotations

import ast

from samovar.frontend.assignments import stage_place
from samovar.frontend.rules import Call, Rule, SyntaxRule, written
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.language import is_float


def nothing(stager: Stager, call: Call) -> Staged:
    return Static(None)


def assumed(stager: Stager, call: Call) -> Staged:
    return call["val"]


def volatile_load(stager: Stager, node: ast.Call) -> Staged:
    """A change that leaves the element as it is: no pass may leave it out, put two together or move it out of a loop."""
    place = stage_place(stager, *written(stager, node, "target", "`volatile_load` takes an element of an array"))
    if is_float(place.type):
        return place.atomic(stager, "add", (Static(-0.0),), node)
    return place.atomic(stager, "or", (Static(0),), node)


def needs_gpu(stager: Stager, name: str, node: ast.AST) -> Staged:
    """What the threads of a GPU do together."""
    stager.fail(
        node,
        f"`sv.{name.removeprefix('samovar.')}` is for the threads of a GPU, and this kernel is compiled for the CPU",
        "choose another way where `sv.static` knows that there is no GPU",
    )


INTRINSICS: dict[str, Rule | SyntaxRule] = {
    **{
        f"samovar.{name}": Rule(nothing, "*fields")
        for name in ("block_local", "cache_read_only", "mesh_local", "no_activate", "stop_grad")
    },
    "samovar.assume_in_range": Rule(assumed, "val base low high"),
    "samovar.volatile_load": SyntaxRule(volatile_load),
}
