"""Assignments to variables that the iterations of a parallel loop share.

`m = m + x`, `m = max(m, x)` and the like are reductions, as `m += x` is. Writing what is the same for every iteration does
no harm. Anything else would leave the variable with the value of whichever iteration came last, and is refused.
"""

from __future__ import annotations

import ast
from typing import NoReturn

from samovar._native import u1
from samovar.frontend.operators import truth
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.stager import Stager
from samovar.ir import Atomic, Constant, Local, Parameter, update_of


def assign_shared(stager: Stager, name: str, local: Local, value: Staged, node: ast.AST) -> None:
    """Assign a variable of the kernel inside of a parallel loop."""
    local.shared = True
    if is_invariant(stager, value):
        stager.emit("store_local", None, (value.as_stored(stager, local.type, node),), local)
        return
    update = None
    if value.is_run_time():
        update = update_of(value.scalar(stager, node), local.type, lambda each: each.payload is local)
    if update is None:
        refuse(stager, name, local, node)
    # What was computed with the present value is not needed, and would look at it while others change it.
    stager.region.operations = [each for each in stager.region.operations if each not in update.replaced]
    stager.emit("atomic", local.type, (update.contribution(local.type, stager.emit),), Atomic(update.operation, local))


def assign_condition(stager: Stager, node: ast.Assign) -> bool:
    """`found = found or …`, `all = all and …` of a shared variable: a reduction. False for every other assignment."""
    target, value = node.targets[0], node.value
    if not (len(node.targets) == 1 and isinstance(target, ast.Name) and isinstance(value, ast.BoolOp)):
        return False
    place, first = stager.names.get(target.id), value.values[0]
    if not (isinstance(place, Place) and place.is_shared(stager) and place.type is u1):
        return False
    if not (isinstance(first, ast.Name) and first.id == target.id):
        return False
    from samovar.frontend.expressions import stage

    rest = value.values[1] if len(value.values) == 2 else ast.copy_location(ast.BoolOp(value.op, value.values[1:]), value)
    condition = truth(stager, stage(stager, rest), rest)
    place.update(stager, "and" if isinstance(value.op, ast.And) else "or", (condition,))
    return True


def is_invariant(stager: Stager, value: Staged) -> bool:
    """Is a value the same in every iteration, because it is a constant or was there before the loop?"""
    if not value.is_run_time():
        return value.is_number()
    (scalar,) = value.ir_values()
    loop = next(loop for loop in stager.loops if loop.kind == "parallel") if stager.loops else None
    before = [] if loop is None else [meaning for meaning in loop.names.values() if isinstance(meaning, Staged)]
    return isinstance(scalar, (Constant, Parameter)) or any(scalar in meaning.ir_values() for meaning in before)


def refuse(stager: Stager, name: str, local: Local, node: ast.AST) -> NoReturn:
    stager.want_serial(name)
    first = f" (line {local.line})" if local.line else ""
    stager.fail(
        node,
        f"`{name}` is assigned by the iterations of a parallel loop, which run at the same time: it gets a value before the"
        f" loop{first}, so all of them share it",
        "for one value per iteration use a name that is first assigned inside of the loop; to gather one, write"
        f" `{name} += x`, `{name} = max({name}, x)` and the like; or put `sv.loop_config(serialize=True)` before the loop",
    )
