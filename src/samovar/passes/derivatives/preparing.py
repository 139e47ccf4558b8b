"""The normal form for differentiation: no calls, no jumps, and no updates other than sums."""

from __future__ import annotations

from samovar.ir import (
    Array,
    Builder,
    Checkpoint,
    DoWhile,
    Facts,
    Kernel,
    Local,
    Operation,
    ParallelFor,
    Region,
    Sections,
    Value,
    While,
    indices,
    memory,
    regions,
    substitute,
    use_counts,
    walk,
)
from samovar.passes.derivatives.activity import NotDifferentiable
from samovar.passes.derivatives.common_subexpressions import join_common
from samovar.passes.derivatives.structured import straighten
from samovar.passes.derivatives.winners import choose_winners
from samovar.passes.ownership import demote_owned, demote_serial
from samovar.passes.random_numbers import assign_random_streams


def prepare(kernel: Kernel, redraws: bool = True, without: str = "") -> None:
    """Bring a kernel into the normal form. With `redraws`, its random numbers are functions of the launch's key. Values that
    are computed twice stay so if `without` names "forward"."""
    for operation in walk(kernel.body):
        if isinstance(operation, (DoWhile, Checkpoint, Sections)):
            raise NotDifferentiable(
                operation, "the gradient of a graph needs what its iterations overwrite",
                "record the launch with `sv.ad.Tape`, which launches the graph part by part",
            )
    if redraws:
        assign_random_streams(kernel)
    straighten(kernel)
    _hoist_loads(kernel)
    demote_serial(kernel)
    demote_owned(Facts.of(kernel))
    _expand_updates(kernel.body)
    choose_winners(kernel)
    if "forward" not in without.split():
        join_common(kernel.body)


def _hoist_loads(kernel: Kernel) -> None:
    """Load variables of the kernel before the tasks that use them."""
    result: list[Operation] = []
    for operation in kernel.body.operations:
        if isinstance(operation, ParallelFor):
            own = set(kernel.locals)
            written = {memory(each) for each in walk(operation.body) if each.code != "load_local"}
            replaced: dict[Value, Value] = {}
            before: dict[Local, Operation] = {}
            for each in walk(operation.body):
                if each.code == "load_local" and each.payload in own and each.payload not in written:
                    if each.payload not in before:
                        before[each.payload] = Operation("load_local", each.type, (), each.payload, each.line)
                    replaced[each] = before[each.payload]
            result += before.values()
            for each in walk(operation.body):
                substitute(each, replaced)
        result.append(operation)
    kernel.body.operations = result


_STEPS = ("add", "sub", "mul", "div", "min", "max", "pow", "mod", "floordiv", "and", "or", "xor")


def _expand_updates(region: Region) -> None:
    """Expand updates that no other iteration interferes with to loads and stores. Sums whose old value is unused stay."""
    replaced: dict[Value, Value] = {}
    uses = use_counts([region])

    def expanded(operation: Operation) -> list[Operation]:
        payload = operation.payload
        if operation.code != "update" or not isinstance(payload.target, Array):
            return [operation]
        if payload.operation in ("add", "sub") and not uses[operation]:
            return [operation]
        build = Builder(operation.line, operation.origin)
        place, value, target = indices(operation), operation.operands[-1], payload.target
        old = build.make("load", target.dtype, *place, payload=target)
        if payload.operation == "exchange":
            new: Value = value
        elif payload.operation in _STEPS:
            new = build.make(payload.operation, target.dtype, old, value)
        else:
            return [operation]
        build.make("store", None, *place, new, payload=target)
        replaced[operation] = old
        return build.operations

    def visit(region: Region) -> None:
        result: list[Operation] = []
        for operation in region.operations:
            substitute(operation, replaced)
            for inner in regions(operation):
                visit(inner)
            result += expanded(operation)
        region.operations = result

    visit(region)
    for operation in walk(region):
        if isinstance(operation, While):
            substitute(operation, replaced)
