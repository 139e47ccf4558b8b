"""Regions and structured control flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samovar.backends.llvm.effects import EFFECTS
from samovar.backends.llvm.indices import interval, widened
from samovar.backends.llvm.memory import MEMORY
from samovar.backends.llvm.module import UNLIKELY
from samovar.backends.llvm.operations import OPERATIONS
from samovar.backends.llvm.polling import (
    FIRST_BUDGET,
    is_long,
    is_polled,
    is_steady,
    open_budget,
    piece_of,
    poll,
    use_up,
    weight_of,
)
from samovar.backends.llvm.sums import chain_of
from samovar.backends.llvm.types import greatest, least
from samovar.backends.llvm.watching import WATCHING
from samovar.backends.llvm.writer import Loop, Writer, dtype_of
from samovar.ir import (
    Constant,
    For,
    If,
    LoopVariable,
    Operation,
    Region,
    Sections,
    Task,
    Value,
    While,
)

#: A loop of more operations is not unrolled at our request.
COMPOSED_OPERATIONS = 12


def region(writer: Writer, body: Region) -> None:
    """Render a region."""
    operations(writer, body.operations)


def operations(writer: Writer, steps: Sequence[Operation]) -> None:
    """Render operations, up to the first that leaves the region."""
    values, renderings = writer.values, writer.renderings or RENDERINGS
    for operation in steps:
        result = renderings[operation.code](writer, operation)
        if result is not None:
            values[operation] = result
        if writer.terminated:
            return


def _if(writer: Writer, operation: Operation) -> None:
    end, reached = writer.label("endif"), False
    while True:
        assert isinstance(operation, If)
        otherwise = operation.orelse.operations
        then, other = writer.label("then"), writer.label("else") if otherwise else end
        writer.branch(writer.value(operation.operands[0]), then, other)
        writer.start(then)
        region(writer, operation.then)
        reached = reached or not writer.terminated or not otherwise
        writer.jump(end)
        if not otherwise:
            break
        writer.start(other)
        # A long chain of elif is nested to the right; it must not become a deep recursion.
        chained = otherwise[-1].code == "if"
        operations(writer, otherwise[:-1] if chained else otherwise)
        if not chained or writer.terminated:
            reached = reached or not writer.terminated
            writer.jump(end)
            break
        operation = otherwise[-1]
    if reached:
        writer.start(end)


def _while(writer: Writer, operation: Operation) -> None:
    assert isinstance(operation, While)
    head, body, again, end = (writer.label(name) for name in ("while", "do", "again", "endwhile"))
    if writer.polls:
        open_budget(writer)
    outer, writer.chain = writer.chain, chain_of(operation) if writer.module.fast_math else None
    writer.jump(head)
    writer.start(head)
    region(writer, operation.head)
    if not writer.terminated:
        writer.branch(writer.value(operation.condition), body, end)
        writer.start(body)
        writer.enter(again, end)
        region(writer, operation.body)
        writer.exits.pop()
        writer.jump(again)
        writer.start(again)
        if writer.polls:
            looping = writer.module.looping
            poll(writer, max(weight_of(operation.head, looping), weight_of(operation.body, looping)))
        writer.jump(head)
        writer.start(end)
    writer.chain = outer


def _for(writer: Writer, operation: Operation) -> None:
    assert isinstance(operation, For)
    variable = operation.variable
    dtype = dtype_of(variable)
    begin, end, step = operation.operands
    low, high = _loop_range(writer, variable, begin, end, step)
    signed = "s" if dtype.kind == "int" else "u"
    name = variable.name or "i"
    if isinstance(step, Constant):
        stride = int(step.value)
        if stride == 0:
            return
        if dtype.bits < 64 or stride in (1, -1):
            # A 64-bit counter cannot pass the limits of a narrower type; by single steps, no counter passes its end.
            compare = f"{signed if dtype.bits == 64 else 's'}{'lt' if stride > 0 else 'gt'}"
            first, last = widened(writer, begin), widened(writer, end)
            if is_long(operation) and not _asks(writer, operation) and _is_cut(writer, operation):
                if writer.uncut is None:
                    _in_pieces(writer, operation, (first, last, stride), compare, lambda counter: counter, (low, high))
                    return
                writer.uncut.append(operation)
            loop = writer.open_loop(name, first, last, str(stride), compare)
            _turn(writer, operation, loop, (low, high), loop.counter)
            writer.close_loop(loop, writer.module.composed_loop() if _composes(operation) else "")
            if writer.budget is not None and is_long(operation) and not _asks(writer, operation):
                use_up(writer, _positive(writer, f"sub i64 {last}, {first}" if stride > 0 else f"sub i64 {first}, {last}"))
            return
    first, stride_name = widened(writer, begin), widened(writer, step)
    count = _trip_count(writer, first, widened(writer, end), stride_name, dtype.kind == "int" or dtype.bits < 64)

    def value(counter: str) -> str:
        return writer.define(f"add i64 {first}, {writer.define(f'mul i64 {counter}, {stride_name}')}")

    asks = _asks(writer, operation)
    if not asks and _is_cut(writer, operation):
        _in_pieces(writer, operation, ("0", count, 1), "ult", value, (low, high))
        return
    loop = writer.open_loop(name, "0", count, "1", "ult")
    _turn(writer, operation, loop, (low, high), value(loop.counter))
    writer.close_loop(loop)
    if writer.budget is not None and not asks:
        use_up(writer, _positive(writer, f"add i64 {count}, 0"))


def _asks(writer: Writer, loop: For) -> bool:
    """Whether a loop asks the runtime in each iteration."""
    return is_polled(loop, writer.module.looping, writer.runs_once)


def _is_cut(writer: Writer, loop: For) -> bool:
    """Whether a long loop that does not ask is run in pieces: where that costs nothing to speak of. In a task that is the
    outermost loop of an iteration, if it is as long in each; what LLVM makes a few steps of would notice."""
    return writer.runs_once or (writer.around == len(writer.exits) and is_steady(loop) and not _composes(loop))


def _turn(writer: Writer, operation: For, loop: Loop, limits: tuple[int, int], counter: str) -> None:
    """The body of a loop that is open, and what is done between two iterations."""
    polled = _asks(writer, operation)
    again = writer.label("again")
    if polled:
        open_budget(writer)
        writer.exits[-1] = (again, loop.exit)
    writer.bind(operation.variable, counter, *limits)
    region(writer, operation.body)
    if polled:
        writer.jump(again)
        writer.start(again)
        poll(writer, weight_of(operation.body, writer.module.looping))


def _in_pieces(
    writer: Writer,
    operation: For,
    span: tuple[str, str, int],
    compare: str,
    value: Callable[[str], str],
    limits: tuple[int, int],
) -> None:
    """A long loop, piece by piece; `value` makes the variable of the counter."""
    first, last, stride = span
    name, reach = operation.variable.name or "i", stride * piece_of(operation)
    outer = writer.open_loop(f"{name}.piece", first, last, str(reach), compare)
    sign = compare[0]
    chosen, added = f"llvm.{sign}{'min' if stride > 0 else 'max'}.i64", f"llvm.{sign}add.sat.i64"
    for each in (chosen, added):
        writer.module.declare(each, f"declare i64 @{each}(i64, i64)")
    after = writer.define(f"call i64 @{added}(i64 {outer.counter}, i64 {reach})")
    end = writer.define(f"call i64 @{chosen}(i64 {after}, i64 {last})")
    inner = writer.open_loop(name, outer.counter, end, str(stride), compare)
    writer.bind(operation.variable, value(inner.counter), *limits)
    region(writer, operation.body)
    writer.close_loop(inner, writer.module.composed_loop() if _composes(operation) else "")
    # A loop of one piece does not ask: most are no longer.
    more, rest = writer.label("more"), writer.label("rest")
    writer.branch(writer.define(f"icmp {compare} i64 {after}, {last}"), more, rest, UNLIKELY)
    writer.start(more)
    poll(writer, FIRST_BUDGET)
    writer.jump(rest)
    writer.start(rest)
    writer.close_loop(outer)


def _positive(writer: Writer, expression: str) -> str:
    """A number of iterations, 0 where there is none."""
    writer.module.declare("llvm.smax.i64", "declare i64 @llvm.smax.i64(i64, i64)")
    return writer.define(f"call i64 @llvm.smax.i64(i64 {writer.define(expression)}, i64 0)")


def _composes(loop: For) -> bool:
    """Whether an iteration only adds to integers and multiplies them by constants, so that several make another such step.

    A generator of random numbers, for one: x*a + c twice is x*(a*a) + (c*a + c).
    """
    steps = loop.body.operations
    if len(steps) > COMPOSED_OPERATIONS or isinstance(loop.operands[1], Constant):
        return False
    product = False
    for step in steps:
        if step.code in ("load_local", "store_local"):
            continue
        if step.type is None or step.type.kind == "float" or step.payload is not None or loop.variable in step.operands:
            return False
        if step.code == "mul":
            product = True
            if not any(isinstance(operand, Constant) for operand in step.operands):
                return False
        elif step.code not in ("add", "sub"):
            return False
    return product


def _loop_range(writer: Writer, variable: LoopVariable, begin: Value, end: Value, step: Value) -> tuple[int, int]:
    dtype = dtype_of(variable)
    if not isinstance(step, Constant):
        return least(dtype), greatest(dtype)
    if int(step.value) > 0:
        low, high = interval(writer, begin)[0], interval(writer, end)[1] - 1
    else:
        low, high = interval(writer, end)[0] + 1, interval(writer, begin)[1]
    return low, max(low, high)


def _trip_count(writer: Writer, begin: str, end: str, step: str, signed: bool) -> str:
    """The number of iterations of range(begin, end, step), unsigned; 0 for a step of 0."""
    prefix = "s" if signed else "u"
    if signed:
        up = writer.define(f"icmp sgt i64 {step}, 0")
        negated = writer.define(f"sub i64 0, {step}")
        size = writer.define(f"select i1 {up}, i64 {step}, i64 {negated}")
        low = writer.define(f"select i1 {up}, i64 {begin}, i64 {end}")
        high = writer.define(f"select i1 {up}, i64 {end}, i64 {begin}")
    else:
        size, low, high = step, begin, end
    moves = writer.define(f"icmp ne i64 {step}, 0")
    ahead = writer.define(f"icmp {prefix}lt i64 {low}, {high}")
    some = writer.define(f"and i1 {moves}, {ahead}")
    divisor = writer.define(f"select i1 {some}, i64 {size}, i64 1")
    distance = writer.define(f"sub i64 {high}, {low}")
    before_last = writer.define(f"sub i64 {distance}, 1")
    whole = writer.define(f"udiv i64 {before_last}, {divisor}")
    count = writer.define(f"add i64 {whole}, 1")
    return writer.define(f"select i1 {some}, i64 {count}, i64 0")


def _task(writer: Writer, operation: Operation) -> None:
    assert isinstance(operation, Task)
    writer.launch(operation)


def _sections(writer: Writer, operation: Operation) -> None:
    assert isinstance(operation, Sections)
    writer.sections(operation)


def _break(writer: Writer, operation: Operation) -> None:
    writer.jump(writer.exits[-1][1])


def _continue(writer: Writer, operation: Operation) -> None:
    writer.jump(writer.exits[-1][0])


def _return(writer: Writer, operation: Operation) -> None:
    writer.give(operation)
    writer.terminated = True


RENDERINGS: dict[str, Callable[[Writer, Operation], str | None]] = {
    **OPERATIONS,
    **MEMORY,
    **EFFECTS,
    **WATCHING,
    "accumulate": lambda writer, operation: writer.accumulate(operation),
    "scatter": lambda writer, operation: writer.scatter(operation),
    "if": _if,
    "while": _while,
    "for": _for,
    "task": _task,
    "sections": _sections,
    "break": _break,
    "continue": _continue,
    "return": _return,
}
