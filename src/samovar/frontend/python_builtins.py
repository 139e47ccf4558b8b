"""Python built-ins over sequences of known length, and `divmod`."""

from __future__ import annotations

import ast

from samovar._native import u1
from samovar.frontend.operators import BINARY, binary, known_truth, truth
from samovar.frontend.rules import Call, Rule
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.matrix import MatrixValue
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.ir import Value

ADD, DIVIDE, MODULO = (BINARY[each] for each in (ast.Add, ast.FloorDiv, ast.Mod))


def elements(stager: Stager, call: Call, name: str) -> tuple[Staged, ...]:
    values = call[name].as_operand(stager, call.node)
    return tuple(item.unforced() for item in values.sequence(stager, call.nodes[name]))


def total(stager: Stager, call: Call) -> Staged:
    """`sum(values, start)`, from left to right."""
    result = call.get("start") or Static(0)
    for item in elements(stager, call, "values"):
        result = binary(stager, ADD, result, item, call.node)
    return result


def quantified(code: str, empty: bool) -> Rule:
    """`any`, `all`: all elements are evaluated first. For a matrix, they apply to its elements."""

    def apply(stager: Stager, call: Call) -> Staged:
        result: Value | None = None
        values = call["values"].unforced().as_operand(stager, call.node)
        items = values.entries(stager) if isinstance(values, MatrixValue) else elements(stager, call, "values")
        for item in items:
            known = known_truth(stager, item, call.node)
            if known is not None:
                if known is not empty:
                    return Static(not empty)
                continue
            condition = truth(stager, item, call.node)
            result = condition if result is None else stager.emit(code, u1, (result, condition))
        return Static(empty) if result is None else Scalar(result)

    return Rule(apply, "values")


def quotient_and_rest(stager: Stager, call: Call) -> Staged:
    first, second = call["x"], call["y"]
    return Items((binary(stager, DIVIDE, first, second, call.node), binary(stager, MODULO, first, second, call.node)))


INTRINSICS: dict[str, Rule] = {
    "builtins.sum": Rule(total, "values start?"),
    "builtins.any": quantified("or", False),
    "builtins.all": quantified("and", True),
    "builtins.divmod": Rule(quotient_and_rest, "x y"),
}
