"""Assignments to variables that the iterations of a parallel loop share.

`m = m + x`, `m = max(m, x)` and the like are reductions, as `m += x` is. Writing what is the same for every iteration does
no harm. Anything else would leave the variable with the value of whichever iteration came last, and is refused.
"""

from __future__ import annotations

import ast
from typing import NoReturn

from samovar._native import u1
from samovar.frontend.arithmetic import as_stored, number, truth
from samovar.frontend.staged import Staged
from samovar.frontend.stager import Stager
from samovar.ir import Atomic, Constant, Local, Parameter, Value, update_of


def assign_shared(stager: Stager, target: ast.Name, local: Local, value: Staged) -> None:
    """Assign a variable of the kernel inside of a parallel loop."""
    local.shared = True
    if is_invariant(stager, value):
        stager.emit("store_local", None, (as_stored(stager, value, local.type, target),), local)
        return
    update = update_of(value, local.type, lambda each: each.payload is local) if isinstance(value, Value) else None
    if update is None:
        refuse(stager, target, local)
    # What was computed with the present value is not needed, and would look at it while others change it.
    stager.region.operations = [each for each in stager.region.operations if each not in update.replaced]
    stager.emit("atomic", local.type, (update.contribution(local.type, stager.emit),), Atomic(update.operation, local))


def assign_condition(stager: Stager, node: ast.Assign) -> bool:
    """`found = found or …`, `all = all and …` of a shared variable: a reduction. False for every other assignment."""
    target, value = node.targets[0], node.value
    if not (len(node.targets) == 1 and isinstance(target, ast.Name) and isinstance(value, ast.BoolOp)):
        return False
    local, first = stager.names.get(target.id), value.values[0]
    if not (isinstance(local, Local) and local in stager.outer_locals and local.type is u1):
        return False
    if not (isinstance(first, ast.Name) and first.id == target.id):
        return False
    from samovar.frontend.expressions import stage

    rest = value.values[1] if len(value.values) == 2 else ast.copy_location(ast.BoolOp(value.op, value.values[1:]), value)
    condition = truth(stager, stage(stager, rest), rest)
    local.shared = True
    stager.emit("atomic", u1, (condition,), Atomic("and" if isinstance(value.op, ast.And) else "or", local))
    return True


def is_invariant(stager: Stager, value: Staged) -> bool:
    """Is a value the same in every iteration, because it is a constant or was there before the loop?"""
    if isinstance(value, (Constant, Parameter)) or number(value) is not None:
        return True
    loop = next(loop for loop in stager.loops if loop.kind == "parallel") if stager.loops else None
    return loop is not None and isinstance(value, Value) and any(value is before for before in loop.names.values())


def refuse(stager: Stager, target: ast.Name, local: Local) -> NoReturn:
    name = target.id
    first = f" (line {local.line})" if local.line else ""
    stager.fail(
        target,
        f"`{name}` is assigned by the iterations of a parallel loop, which run at the same time: it gets a value before the"
        f" loop{first}, so all of them share it",
        "for one value per iteration use a name that is first assigned inside of the loop; to gather one, write"
        f" `{name} += x`, `{name} = max({name}, x)` and the like; or put `sv.loop_config(serialize=True)` before the loop",
    )
