"""Counter-based random numbers, so that they do not depend on the thread that computes them.

The frontend writes `random`, a uniform number. First, these are assigned to streams: a kernel takes one number per launch
from the runtime, its `key`, and each draw becomes `uniform` of a counter. That comes before all other passes, so that the
numbers do not depend on them, and derivatives can draw them again. Later, `uniform` is expanded to arithmetic: SplitMix64
(Steele, Lea and Flood, 2014). Number n of the stream with key k is mix(k + (n + 1) * gamma) modulo 2^64, where mix is the
finalizer with the constants of Stafford's variant 13. There is a stream for

- each iteration of a task, whose key is mix(key of the launch + number of the task + index of the iteration * gamma): mix
  and the odd gamma are bijections, so no two iterations of a task have one key;
- each call of a func that draws, whose key is the counter of the caller's stream times an odd number without small
  multiples, so that streams of calls do not meet;
- the serial code of a kernel, whose key is that of the launch.

So the numbers of a launch depend only on its key, and not on threads, chunks or vectors. The counter of a stream is a local,
which LLVM turns into constants if a loop has no branches: such a loop can be vectorized.
"""

from __future__ import annotations

from samovar._native import DType, f32, u1, u64
from samovar.ir import (
    Builder,
    Constant,
    Function,
    Kernel,
    Local,
    Operation,
    ParallelFor,
    Parameter,
    Region,
    Value,
    bodies,
    rewrite,
    tasks,
    walk,
)

GAMMA = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_CALL = 0xD1342543DE82EF95
_MASK = (1 << 64) - 1
#: Digits of a float, by its size.
_DIGITS = {16: 11, 32: 24, 64: 53}


def assign_random_streams(kernel: Kernel) -> None:
    """Turn draws into functions of counters, in place."""
    drawing: set[Function] = set()
    for function in kernel.functions:  # callees first
        if _draws(function.body, drawing):
            drawing.add(function)
            stream = Parameter("stream", u64)
            function.parameters.append(stream)
            _Stream(function.locals, drawing).write(function.body, [], stream)
    loops = [task for task in tasks(kernel) if _draws(task.body, drawing)]
    if not loops and not _draws(kernel.body, drawing):
        return
    launch = Operation("key", u64)
    for number, task in enumerate(loops):
        build = Builder()
        key = _mixed(build, _iteration(build, task, build.make("add", u64, launch, Constant(mixed(number + 1), u64))))
        _Stream(task.locals, drawing).write(task.body, build.operations, key)
    _Stream(kernel.locals, drawing).write(kernel.body, [launch], launch)


def expand_random_numbers(kernel: Kernel) -> None:
    """Expand functions of counters to arithmetic, in place."""
    for body in bodies(kernel):
        if not any(each.code == "uniform" for each in walk(body)):
            continue
        replacements: dict[Value, Value] = {}

        def expand(operation: Operation, replacements: dict[Value, Value] = replacements) -> list[Operation]:
            if operation.code != "uniform":
                return [operation]
            build = Builder()
            replacements[operation] = _number(build, operation.operands[0], operation.type)
            return build.operations

        rewrite(body, expand, replacements)


def _draws(body: Region, drawing: set[Function]) -> bool:
    return any(_is_draw(operation, drawing) for operation in walk(body))


def _is_draw(operation: Operation, drawing: set[Function]) -> bool:
    return operation.code == "random" or (operation.code == "call" and operation.payload in drawing)


def _iteration(build: Builder, task: ParallelFor, start: Value) -> Value:
    """The counter of an iteration, starting at `start`: a number unique in the task, times gamma."""
    number: Value | None = None
    for variable, (begin, end) in zip(task.variables, task.axes(), strict=True):
        own = build.cast(variable, u64)
        if number is not None:
            length = build.make("sub", u64, build.cast(end, u64), build.cast(begin, u64))
            own = build.make("add", u64, build.make("mul", u64, number, length), own)
        number = own
    assert number is not None
    return build.make("add", u64, start, build.make("mul", u64, number, Constant(GAMMA, u64)))


def _mixed(build: Builder, value: Value) -> Value:
    for shift, factor in ((30, _FIRST), (27, _SECOND)):
        value = build.make("xor", u64, value, build.make("shift_right", u64, value, Constant(shift, u64)))
        value = build.make("mul", u64, value, Constant(factor, u64))
    return build.make("xor", u64, value, build.make("shift_right", u64, value, Constant(31, u64)))


def mixed(number: int) -> int:
    """The finalizer, at compile time."""
    for shift, factor in ((30, _FIRST), (27, _SECOND)):
        number = ((number ^ (number >> shift)) * factor) & _MASK
    return number ^ (number >> 31)


class _Stream:
    """The stream of a body, excluding the tasks inside it."""

    def __init__(self, locals: list[Local], drawing: set[Function]) -> None:
        self._locals = locals
        self._drawing = drawing
        self._counter = Local("draws", u64)

    def write(self, body: Region, before: list[Operation], key: Value) -> None:
        """Replace the draws in a body. `before` computes the key."""
        replacements: dict[Value, Value] = {}

        def expand(operation: Operation) -> list[Operation]:
            build = Builder()
            if operation.code == "random":
                replacements[operation] = build.make("uniform", operation.type, self._next(build))
                return build.operations
            if _is_draw(operation, self._drawing):
                operation.operands = (*operation.operands, build.make("mul", u64, self._next(build), Constant(_CALL, u64)))
            return [*build.operations, operation]

        rewrite(body, expand, replacements, enters=lambda each: not isinstance(each, ParallelFor))
        start: list[Operation] = []
        if any(operation.payload is self._counter for operation in walk(body)):
            # The counter holds the last number; the next one is gamma further.
            start = [self._counter.store(key)]
            self._locals.append(self._counter)
        body.operations[:0] = [*before, *start]

    def _next(self, build: Builder) -> Value:
        counter = build.make("add", u64, build.get(self._counter), Constant(GAMMA, u64))
        build.set(self._counter, counter)
        return counter


def _number(build: Builder, counter: Value, type: DType | None) -> Value:
    """The number of a type that belongs to a counter."""
    bits = _mixed(build, counter)
    if type is None or type is u64:
        return bits
    if type.kind != "float":
        # The low bits. A cast to u1 would test for nonzero.
        return build.cast(build.make("and", u64, bits, Constant(1, u64)) if type is u1 else bits, type)
    # As many bits as the type has below one, so that every value in [0, 1) is reached but 1 is not.
    digits = _DIGITS[type.bits]
    number: Value = build.make("shift_right", u64, bits, Constant(64 - digits, u64))
    for each in (f32, type) if type.bits == 16 else (type,):
        number = build.cast(number, each)
    return build.exact("mul", type, number, Constant(2.0**-digits, type))
