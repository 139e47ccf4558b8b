"""Assignments to variables that the iterations of a parallel loop share.

`m = m + x`, `m = max(m, x)` and the like are reductions, as `m += x` is. Writing a value that is the same for every
iteration is harmless. Any other assignment is a data race (the last iteration would win) and is an error. So is reading
the variable of a reduction: iterations run concurrently, so there is no partial result.
"""

from __future__ import annotations

import ast
from typing import NoReturn

from samovar._native import u1
from samovar.errors import shown_place
from samovar.frontend.dispatch import stage
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
    """Assign a variable of the kernel inside a parallel loop."""
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
        # With the type that both promote to, it may be a reduction: then staging restarts, and the error is dropped.
        if promote(local.type, found) is not local.type:
            stager.want_type(local, found)
        refuse(stager, name, local, node)
    warn_if_lossy(stager, value, local.type, node, keeper)
    # Code that computed with the current value is not needed, and would race with other iterations.
    stager.region.operations = [each for each in stager.region.operations if each not in update.replaced]
    gather(stager, local)
    stager.emit("atomic", local.type, (update.contribution(local.type, stager.emit),), Atomic(update.operation, local))


def gather(stager: Stager, local: Local) -> None:
    """Record that the iterations of a parallel loop update a variable."""
    local.shared = True
    stager.context.sharing.gathered.setdefault(local, (int(stager.line), stager))


def check_reads(stager: Stager, region: Region) -> None:
    """Check that a parallel loop does not read a variable it reduces. `region` is its staged body."""
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
    there = f"line {line}" if updater.source.file == reader.source.file else shown_place(updater.source.file, line)
    reader.fail(
        place_of_name(reader.source.node, local.name, read),
        f"`{local.name}` is read in the parallel loop that accumulates it ({there}): its iterations run concurrently, so"
        " there is no partial result",
        "read it after the loop. If each iteration needs the previous ones, run them in order: put"
        " `sv.loop_config(serialize=True)` before the loop, or declare the kernel as `@sv.kernel(serial=True)`; for running"
        " sums of an array, use `sv.algorithms.prefix_sum`",
    )


def check_elements(stager: Stager, region: Region) -> None:
    """Report parallel loops whose iterations update one element and store what they read from it: a running sum in an
    array. Only if the element is certainly the same, and not in calls: debug mode finds the others."""
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
    """Whether a loop has at most one iteration."""
    return isinstance(begin, Constant) and isinstance(end, Constant) and end.value - begin.value <= 1


def report_element(stager: Stager, load: Operation, line: int) -> None:
    """Report such an element: an error for the kernel's own memory; a warning for arrays, which are the user's concern."""
    name, place = load.payload.name, place_of_name(stager.source.node, load.payload.name, int(load.line))
    index = ", ".join(str(each.value) if isinstance(each, Constant) else "…" for each in indices(load)) or "None"
    problem = (
        f"`{name}[{index}]` is read in the parallel loop whose iterations update it (line {line}): the value depends on the"
        " order in which they run"
    )
    advice = (
        "read it after the loop, use the result of the update (`old = sv.atomic_add(…)`), or run the iterations in order:"
        " `sv.loop_config(serialize=True)` before the loop, or `@sv.kernel(serial=True)`"
    )
    if isinstance(load.payload, LocalArray):
        stager.want_serial(name)
        stager.fail(place, problem, advice)
    stager.warn(place, problem, advice)


def is_same(one: Value, other: Value) -> bool:
    """Whether two loop-invariant indices are the same."""
    if isinstance(one, Constant) and isinstance(other, Constant):
        return one.value == other.value
    return one is other


def is_stored(load: Operation, found: dict[Value, list[Operation]]) -> bool:
    """Whether a loaded value is stored, after some arithmetic. If only tested, it may be a limit that need not be exact."""
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
    """The node where a line reads a variable, or the line number."""
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
    """`found = found or …`, `all = all and …` of a shared variable: a reduction. False for other assignments."""
    target, value = node.targets[0], node.value
    if not (len(node.targets) == 1 and isinstance(target, ast.Name) and isinstance(value, ast.BoolOp)):
        return False
    place, first = stager.names.get(target.id), value.values[0]
    if not (isinstance(place, Place) and place.is_shared(stager) and place.type is u1):
        return False
    if not (isinstance(first, ast.Name) and first.id == target.id):
        return False
    rest = value.values[1] if len(value.values) == 2 else ast.copy_location(ast.BoolOp(value.op, value.values[1:]), value)
    condition = truth(stager, stage(stager, rest), rest)
    place.update(stager, "and" if isinstance(value.op, ast.And) else "or", (condition,))
    return True


def is_invariant(stager: Stager, value: Staged) -> bool:
    """Whether a value is the same in every iteration: a constant, or computed before the loop."""
    if not value.is_run_time():
        return value.is_number()
    (scalar,) = value.ir_values()
    loop = next(loop for loop in stager.loops if loop.kind == "parallel") if stager.loops else None
    before = [] if loop is None else [binding for binding in loop.names.values() if isinstance(binding, Staged)]
    return isinstance(scalar, (Constant, Parameter)) or any(scalar in binding.ir_values() for binding in before)


def refuse(stager: Stager, name: str, local: Local, node: ast.AST) -> NoReturn:
    stager.want_serial(name)
    first = f" (line {local.line})" if local.line else ""
    stager.fail(
        node,
        f"data race on `{name}`: the iterations of a parallel loop assign it, but it is defined before the"
        f" loop{first} and shared by all of them",
        "for one value per iteration, use a name first assigned inside the loop; for a reduction, write"
        f" `{name} += x`, `{name} = max({name}, x)` or the like; or put `sv.loop_config(serialize=True)` before the loop",
    )
