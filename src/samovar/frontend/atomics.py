"""Atomic operations on places: elements of arrays, and variables."""

from __future__ import annotations

import ast

from samovar.frontend.assignments import stage_place
from samovar.frontend.expressions import stage
from samovar.frontend.lossy import Keeper, kept, written_place
from samovar.frontend.rules import SyntaxRule, written
from samovar.frontend.scalars import BITWISE
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.stager import Stager
from samovar.language import is_float


def atomic(code: str) -> SyntaxRule:
    parameters = "x expected desired" if code == "cas" else "x y"
    wanted = "an element, the expected and the new value" if code == "cas" else "an element and a value"

    def apply(stager: Stager, node: ast.Call) -> Staged:
        first, *others = written(stager, node, parameters, f"`atomic_{code}` takes {wanted}")
        place = stage_place(stager, first)
        return place.atomic(stager, code, tuple(stage(stager, each) for each in others), node)

    return SyntaxRule(apply)


def atomic_scalar(stager: Stager, code: str, place: Place, values: tuple[Staged, ...], node: ast.AST) -> Staged:
    """An atomic operation on a number."""
    if code in BITWISE and is_float(place.type):
        stager.fail_type(node, f"`atomic_{code}` needs integers, and this is {place.type.name}")
    local = next(iter(place.locals()), None)
    keeper = Keeper(written_place(node), f"`atomic_{code}` of", local)
    return Scalar(place.update(stager, code, tuple(kept(stager, value, place.type, node, keeper) for value in values)))
