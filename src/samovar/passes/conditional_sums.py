"""Sums under a condition: `if c: total += x` in a loop becomes `total += x if c else -0.0`.

LLVM finds such sums itself, as long as what is added is one value. Of `total += a - b` it makes `(total + a) - b`, and then
does not see that the loop adds up: it stays scalar. Adding -0.0 (and subtracting 0.0) changes no number, whatever it is.

Only in innermost loops of tasks that do nothing else which only branches can do, and for terms that cost little.
"""

from __future__ import annotations

from samovar.ir import Constant, For, If, Kernel, Local, Operation, Value, While, bodies, tasks, use_counts, walk

#: What may be computed where it is not asked for, and what else there may be in the loop.
_CHEAP = frozenset(
    "add sub mul div neg abs min max fma sqrt lt le gt ge eq ne and or xor not isnan select cast bitcast load_local".split()
)
_BESIDE = _CHEAP | frozenset("load shape store_local rsqrt to_integer shift_left shift_right floor ceil trunc round".split())
#: Of more operations a branch may be cheaper.
_MOST = 16


def settle_conditional_sums(kernel: Kernel) -> None:
    """Make sums under a condition unconditional, in place."""
    everything = (operation for task in tasks(kernel) if not task.watched for operation in walk(task.body))
    loops = [operation for operation in everything if isinstance(operation, For) and _is_innermost(operation)]
    if not any(isinstance(step, If) for loop in loops for step in loop.body.operations):
        return
    uses = use_counts(bodies(kernel))
    for loop in loops:
        if not all(_adds_up(step, uses) for step in loop.body.operations if step.code not in _BESIDE):
            continue
        steps: list[Operation] = []
        for step in loop.body.operations:
            steps += _unconditional(step) if isinstance(step, If) else [step]
        loop.body.operations = steps


def _is_innermost(loop: For) -> bool:
    return not any(isinstance(each, (For, While)) for each in walk(loop.body))


def _adds_up(choice: Operation, uses: dict[Value, int]) -> bool:
    """Whether an `if` only adds floats to variables, or subtracts them."""
    if not isinstance(choice, If) or choice.orelse.operations or len(choice.then.operations) > _MOST:
        return False
    sums = _sums(choice)
    read = [step.payload for step in choice.then.operations if step.code == "load_local"]
    for step in choice.then.operations:
        if step.code == "store_local":
            total = sums.get(step.payload)
            if total is None or uses[total] != 1 or uses[total.operands[0]] != 1 or read.count(step.payload) != 1:
                return False
        elif step.code not in _CHEAP or (step.code in ("div", "sqrt") and (step.type is None or step.type.kind != "float")):
            return False
    return bool(sums)


def _sums(choice: If) -> dict[Local, Operation]:
    """The variables that are stored once, each with the sum or difference of itself and something else."""
    found: dict[Local, Operation] = {}
    stored: list[Local] = []
    for step in choice.then.operations:
        if step.code == "store_local":
            stored.append(step.payload)
            value = step.operands[0]
            if isinstance(value, Operation) and value.code in ("add", "sub") and value in choice.then.operations:
                first = value.operands[0]
                floating = value.type is not None and value.type.kind == "float" and value.type.bits > 16
                itself = isinstance(first, Operation) and first.code == "load_local" and first.payload is step.payload
                if floating and itself:
                    found[step.payload] = value
    return {local: value for local, value in found.items() if stored.count(local) == 1}


def _unconditional(choice: If) -> list[Operation]:
    steps: list[Operation] = []
    sums = set(_sums(choice).values())
    for step in choice.then.operations:
        if step in sums:
            total, term = step.operands
            assert step.type is not None
            nothing = Constant(-0.0 if step.code == "add" else 0.0, step.type)
            chosen = Operation("select", step.type, (choice.operands[0], term, nothing), None, step.line)
            chosen.origin = step.origin
            steps.append(chosen)
            step.operands = (total, chosen)
        steps.append(step)
    return steps
