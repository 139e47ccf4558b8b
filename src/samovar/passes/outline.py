"""Outlining: parallel loops become tasks, with what they take from the kernel and a plan.

What a backend is given is then complete. It renders the body as a function of the captures, the plan as code around it, and
asks nothing of the kernel. A value that serial code has computed is a number in the body: a backend does not look behind it,
so that a task can be compiled without the kernel around it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from samovar._native import DType, f32
from samovar.ir import (
    COST_UNKNOWN,
    MOST_DESCRIBED,
    SERIAL,
    SPEAKS,
    Array,
    Captured,
    Constant,
    Kernel,
    Local,
    LocalArray,
    Operation,
    ParallelFor,
    Parameter,
    Partial,
    PlainLoop,
    Plan,
    PrivateCopy,
    ReadFlag,
    Reduction,
    Task,
    Touch,
    Value,
    indices,
    memory,
    rewrite,
    sections,
    substitute,
    tasks,
    used,
    variables,
    walk,
)
from samovar.language import integer_range
from samovar.passes.borders import borders
from samovar.passes.cost import Estimator
from samovar.passes.extremes import extremes
from samovar.passes.lanes import lanes
from samovar.passes.plain_loops import element_bits

#: Trailing axes with constant bounds and this many iterations at most become loops inside a unit.
INNER_ITERATIONS = 256
#: A group is worth about this long, in nanoseconds; it has from 2^4 to 2^14 iterations.
GROUP_TIME = 2000.0
LEAST_GRAIN_LOG2, MOST_GRAIN_LOG2 = 4, 14
#: Serial code that takes longer (nanoseconds) is slow.
SLOW = 50_000.0


def outline(kernel: Kernel, fast_math: bool = False, without: str = "") -> None:
    """Make a task of each parallel loop, in place. What is outlined already stays as it is. `without` names forms of loops
    that are not used (see `samovar.language.options`)."""
    estimator = Estimator()
    for function in kernel.functions:
        estimator.function(function)
    serial = estimator.region(kernel.body, skip_tasks=True)
    kernel.slow_serial = serial.unknown or serial.nanoseconds > SLOW
    numbers = {task: number for number, task in enumerate(tasks(kernel))}

    def outlined(operation: Operation) -> Sequence[Operation]:
        if isinstance(operation, ParallelFor) and not isinstance(operation, Task):
            return [_task(operation, numbers[operation], estimator, fast_math, without)]
        return [operation]

    if numbers:
        rewrite(kernel.body, outlined)
    # Numbers of sections follow those of the tasks.
    for number, each in enumerate(sections(kernel), len(numbers)):
        parts = [estimator.region(part.body).nanoseconds for part in each.parts]
        each.number, each.cost = number, max(parts, default=0.0)


def _task(loop: ParallelFor, number: int, estimator: Estimator, fast_math: bool, without: str) -> Task:
    captures = _captures(loop)
    plan = _plan(loop, number, estimator)
    if "plain" not in without:
        plan = replace(plan, plain=_plain(loop, captures))
    if plan.plain is None and plan.dealt == len(loop.variables) and "lanes" not in without:
        plan = replace(plan, lanes=lanes(loop, fast_math))
    if plan.lanes is None and plan.dealt == len(loop.variables) and "extremes" not in without:
        plan = replace(plan, extremes=extremes(loop))
    if plan.plain is None and plan.lanes is None and plan.dealt == len(loop.variables) and "borders" not in without:
        plan = replace(plan, borders=borders(loop))
    if plan.plain is None and plan.lanes is None and "independent" not in without:
        plan = replace(plan, independent=_changes_in_place(loop))
    computed: dict[Value, Value] = {
        each: Captured(each) for each in captures if isinstance(each, Value) and not _is_at_hand(each)
    }
    if computed:
        for operation in walk(loop.body):
            substitute(operation, computed)
    return Task(loop, tuple(computed.get(each, each) if isinstance(each, Value) else each for each in captures), plan)


def _changes_in_place(loop: ParallelFor) -> bool:
    """Whether an array that a task writes is read elsewhere than where it is written (`a[i, j] -= a[i, k] * a[k, j]`).

    What an iteration finds in elements that others write is undefined, so there are none for all that counts; LLVM could
    only compare addresses before the loop, of all rows together, and finds that they overlap. Arguments that may share
    memory are left to that: nobody sees in the kernel that they do.
    """
    if loop.watched or loop.scatters:
        return False
    places: dict[Array, set[tuple[object, ...]]] = {}
    written: set[Array] = set()
    for operation in walk(loop.body):
        if operation.code in ("call", "atomic", "for", "while") or isinstance(operation, ReadFlag):
            return False
        array = memory(operation)
        if isinstance(array, Array) and operation.code != "accumulate":
            if isinstance(array, LocalArray) or not array.alone:
                return False
            places.setdefault(array, set()).add(tuple(map(_place, indices(operation))))
            if operation.code != "load":
                written.add(array)
    return any(len(places[array]) > 1 for array in written)


def _place(index: Value) -> object:
    return index.value if isinstance(index, Constant) else index


def _is_at_hand(value: Value) -> bool:
    """Whether a launch has a value before any code runs: a parameter, an array, or an extent of one."""
    return isinstance(value, (Parameter, Array)) or (isinstance(value, Operation) and value.code == "shape")


def _captures(loop: ParallelFor) -> list[Value | Local]:
    """What the body of a loop uses and does not define, in the order in which it is first used."""
    inside: set[Value | Local] = {*loop.variables, *loop.locals}
    mentioned: dict[Value | Local, None] = {}
    for operation in walk(loop.body):
        inside.add(operation)
        inside.update(variables(operation))
        if operation.code == "reserve":
            inside.add(operation.payload)
        mentioned.update(dict.fromkeys(used(operation)))
        target = _target(operation)
        if target is not None:
            mentioned[target] = None
    return [each for each in mentioned if each not in inside and not isinstance(each, Constant)]


def _target(operation: Operation) -> Array | Local | None:
    """The array or local that an operation names. What is gathered is not touched by the body."""
    payload = operation.payload
    if payload is None or operation.code == "accumulate":
        return None
    if operation.code == "shape":
        array: Array = payload[0]
        return array
    if isinstance(payload, Touch):
        return payload.target
    return memory(operation)


def _plan(loop: ParallelFor, number: int, estimator: Estimator) -> Plan:
    cost = estimator.region(loop.body)
    speaks = any(
        operation.code == "print" or (operation.code == "call" and operation.payload in estimator.printers)
        for operation in walk(loop.body)
    )
    flags = (SPEAKS if speaks else 0) | (COST_UNKNOWN if cost.unknown else 0) | (SERIAL if loop.watched else 0)
    dealt, inner_iterations = _split(loop)
    wanted = math.ceil(math.log2(GROUP_TIME / max(cost.nanoseconds, 0.1)))
    contiguous = all(scatter.array.contiguous for scatter in loop.scatters)
    return Plan(
        number=number,
        cost=cost.nanoseconds,
        flags=flags,
        dealt=dealt,
        inner_iterations=inner_iterations,
        grain_log2=min(MOST_GRAIN_LOG2, max(LEAST_GRAIN_LOG2, wanted)),
        block=loop.block if dealt == 1 and not loop.reductions else None,
        partials=tuple(_partial(reduction) for reduction in loop.reductions),
        copies=tuple(
            PrivateCopy(scatter, identity(scatter.operation, scatter.array.dtype))
            for scatter in (loop.scatters if contiguous else ())
        ),
    )


def _split(loop: ParallelFor) -> tuple[int, int]:
    """How many axes are dealt out, and how many iterations those after them have."""
    axes = loop.axes()
    dealt, iterations = len(axes), 1
    while dealt > 1:
        begin, end = axes[dealt - 1]
        if not (isinstance(begin, Constant) and isinstance(end, Constant)):
            break
        length = max(0, int(end.value) - int(begin.value))
        if iterations * length > INNER_ITERATIONS:
            break
        iterations *= length
        dealt -= 1
    return dealt, iterations


def _partial(reduction: Reduction) -> Partial:
    # Partial sums of f16 are kept in f32.
    type = f32 if reduction.type.name == "f16" else reduction.type
    return Partial(reduction, type, identity(reduction.operation, type))


def identity(operation: str, type: DType) -> bool | int | float:
    """What changes nothing: -0.0 for a sum of floats, NaN for their minimum (which prefers the number)."""
    floating = type.kind == "float"
    least, greatest = (0, 0) if floating else integer_range(type)
    if operation == "add":
        return -0.0 if floating else 0
    if operation == "mul":
        return 1.0 if floating else 1
    if operation in ("min", "max"):
        return math.nan if floating else greatest if operation == "min" else least
    ones = -1 if type.kind == "int" else greatest
    return ones if operation == "and" else 0


def _plain(loop: ParallelFor, captures: Sequence[Value | Local]) -> PlainLoop | None:
    bits = element_bits(loop)
    if bits is None:
        return None
    # A local array of the kernel is no argument, whose first element could be given instead.
    own = any(isinstance(each, LocalArray) for each in captures)
    from_first_element = loop.block is None and isinstance(loop.operands[0], Constant) and not own
    return PlainLoop(bits, from_first_element, from_first_element and _can_be_described(loop, captures))


def _can_be_described(loop: ParallelFor, captures: Sequence[Value | Local]) -> bool:
    """Whether what a plain loop takes is elements of arrays and integers of the argument block, and few of them."""
    words: set[object] = set()
    for each in captures:
        if isinstance(each, Parameter):
            if each.type is None or each.type.kind not in ("int", "uint"):
                return False
            words.add(each)
        elif isinstance(each, (Local, LocalArray)) or not _is_at_hand(each):
            return False
    extents = [each for each in captures if isinstance(each, Operation)]
    for operation in (*extents, *walk(loop.body)):
        if operation.code == "shape":
            of, axis = operation.payload
            if of.extents[axis] is None:
                words.add(operation.payload)
        elif operation.code == "reserve":
            return False
        elif isinstance(array := memory(operation), Array):
            words.add(array)
    return 0 < len(words) <= MOST_DESCRIBED
