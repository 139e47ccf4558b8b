"""Assignments to variables that the iterations of a parallel loop share.

`m = m + x`, `m = max(m, x)` and the like are reductions, as `m += x` is. Writing what is the same for every iteration does
no harm. Anything else would leave the variable with the value of whichever iteration came last, and is refused. So is
reading what the loop gathers: iterations run at the same time, so that there is no sum so far.
"""

from __future__ import annotations

import ast
from typing import NoReturn

from samovar._native import u1
from samovar.frontend.lossy import Keeper, kept, warn_if_lossy
from samovar.frontend.operators import truth
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.stager import Stager
from samovar.ir import (
    OPCODES,
    Array,
    Atomic,
    Constant,
    For,
    Local,
    LocalArray,
    Operation,
    Parameter,
    Region,
    Value,
    indices,
    memory,
    update_of,
    used,
    users,
    walk,
)
from samovar.language import promote


def assign_shared(stager: Stager, name: str, local: Local, value: Staged, node: ast.AST) -> None:
    """Assign a variable of the kernel inside of a parallel loop."""
    local.shared = True
    keeper = Keeper(f"`{name}`", "assigning", local)
    if is_invariant(stager, value):
        stager.emit("store_local", None, (kept(stager, value, local.type, node, keeper),), local)
        return
    update = None
    if value.is_run_time():
        update = update_of(value.scalar(stager, node), local.type, lambda each: each.payload is local)
    if update is None:
        found = value.type(stager, node) if value.is_run_time() else local.type
        # With the type that both meet in, it may be one: then staging begins again, and the error is forgotten.
        if promote(local.type, found) is not local.type:
            stager.want_type(local, found)
        refuse(stager, name, local, node)
    warn_if_lossy(stager, value, local.type, node, keeper)
    # What was computed with the present value is not needed, and would look at it while others change it.
    stager.region.operations = [each for each in stager.region.operations if each not in update.replaced]
    gather(stager, local)
    stager.emit("atomic", local.type, (update.contribution(local.type, stager.emit),), Atomic(update.operation, local))


def gather(stager: Stager, local: Local) -> None:
    """The iterations of a parallel loop update a variable."""
    local.shared = True
    stager.context.sharing.gathered.setdefault(local, (int(stager.line), stager))


def check_reads(stager: Stager, region: Region) -> None:
    """A variable that a parallel loop gathers cannot be read in it. `region` is its body, which has been staged."""
    check_elements(stager, region)
    sharing = stager.context.sharing
    if not any(load.payload in sharing.gathered for load, _ in sharing.reads):
        return
    needed = {value for operation in walk(region) for value in used(operation)}
    for load, reader in sharing.reads:
        if load.payload in sharing.gathered and load in needed:
            refuse_read(stager, load.payload, int(load.line), reader)


def refuse_read(stager: Stager, local: Local, read: int, reader: Stager) -> NoReturn:
    stager.want_serial(local.name)
    line, updater = stager.context.sharing.gathered[local]
    there = f"line {line}" if updater.source.file == reader.source.file else f"{updater.source.file}:{line}"
    reader.fail(
        place_of_name(reader.source.node, local.name, read),
        f"`{local.name}` is read in the parallel loop that gathers it ({there}): its iterations run at the same time, so"
        " there is no value so far",
        "read it after the loop. Where each iteration needs those before it, run them in order: put"
        " `sv.loop_config(serialize=True)` before the loop, or declare the kernel as `@sv.kernel(serial=True)`; running sums"
        " of an array are `sv.algorithms.prefix_sum`",
    )


def check_elements(stager: Stager, region: Region) -> None:
    """Report where the iterations of a parallel loop update one element and store what they read from it: a running sum in
    an array. Only where it is certain that the element is the same, and not in calls: debug mode finds the others."""
    if all(is_single(begin, end) for _, begin, end in stager.task or ()):
        return
    updates: dict[Array, list[Operation]] = {}
    for operation in walk(region):
        if operation.code == "atomic" and isinstance(target := memory(operation), Array) and not target.private:
            updates.setdefault(target, []).append(operation)
    if not updates:
        return
    inside: set[Value] = {variable for variable, _, _ in stager.task or ()}
    for operation in walk(region):
        inside.add(operation)
        if isinstance(operation, For):
            inside.add(operation.variable)
    found = users([region])
    for load in walk(region):
        if load.code != "load" or load.payload not in updates or not inside.isdisjoint(indices(load)):
            continue
        same = [each for each in updates[load.payload] if all(map(is_same, indices(each), indices(load)))]
        if same and is_stored(load, found):
            report_element(stager, load, int(same[0].line))


def is_single(begin: Value, end: Value) -> bool:
    """Has a loop one iteration at most?"""
    return isinstance(begin, Constant) and isinstance(end, Constant) and end.value - begin.value <= 1


def report_element(stager: Stager, load: Operation, line: int) -> None:
    """Memory of the kernel's own is a variable; arrays are the program's to keep apart, so that there is a warning."""
    name, place = load.payload.name, place_of_name(stager.source.node, load.payload.name, int(load.line))
    index = ", ".join(str(each.value) if isinstance(each, Constant) else "…" for each in indices(load)) or "None"
    problem = (
        f"`{name}[{index}]` is read in the parallel loop whose iterations update it (line {line}): what is read depends on"
        " which of them came first"
    )
    advice = (
        "read it after the loop, use what the update gives back (`old = sv.atomic_add(…)`), or run the iterations in order:"
        " `sv.loop_config(serialize=True)` before the loop, or `@sv.kernel(serial=True)`"
    )
    if isinstance(load.payload, LocalArray):
        stager.want_serial(name)
        stager.fail(place, problem, advice)
    stager.warn(place, problem, advice)


def is_same(one: Value, other: Value) -> bool:
    """Are two indices, which are the same for all iterations, the same?"""
    if isinstance(one, Constant) and isinstance(other, Constant):
        return one.value == other.value
    return one is other


def is_stored(load: Operation, found: dict[Value, list[Operation]]) -> bool:
    """Is what was read stored, after some arithmetic? As a condition alone it may be a limit that need not be exact."""
    pending, seen = [load], {load}
    while pending:
        for user in found.get(pending.pop(), []):
            if user.code in ("store", "store_local", "atomic"):
                return True
            if user not in seen and OPCODES[user.code].effect == "pure":
                seen.add(user)
                pending.append(user)
    return False


def place_of_name(function: ast.AST, name: str, line: int) -> ast.AST:
    """Where a line reads a variable, or its number."""
    base, nodes = name.partition(".")[0], list(ast.walk(function))
    owners = [each for each in nodes if isinstance(each, (ast.Subscript, ast.Attribute))]
    changed = {each.value for each in owners if not isinstance(each.ctx, ast.Load)}  # `o` in `o[i] = …`
    names = [each for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each not in changed]
    for each in names:
        if (each.id, each.lineno) == (base, line):
            return each
    statements = [each for each in nodes if isinstance(each, ast.stmt) and each.lineno <= line]
    return max(statements, key=lambda each: (each.lineno, each.col_offset), default=function)


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
