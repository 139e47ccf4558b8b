"""Regions and structured control flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samovar.backends.llvm.effects import EFFECTS
from samovar.backends.llvm.indices import interval, widened
from samovar.backends.llvm.memory import MEMORY
from samovar.backends.llvm.module import UNLIKELY
from samovar.backends.llvm.operations import OPERATIONS
from samovar.backends.llvm.polling import (
    FIRST_PIECE,
    ask,
    is_cut,
    open_budget,
    open_state,
    piece_of,
    poll,
    stands_twice,
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
    walk,
)

#: A loop of more operations is not unrolled at our request.
COMPOSED_OPERATIONS = 12
#: A loop with a step as far as this counts its iterations, so that no product of a step and a piece overflows.
FARTHEST_STEP = 1 << 31
#: A loop of more operations does not stand twice in the code.
SHORT_OPERATIONS = 24
#: LLVM is likely to unroll a loop of so many iterations, and not to make vectors of them.
UNROLLED = 8
#: Four vectors of 512 bits: what a loop in shorter rows never has together.
SHORT_BITS = 2048
_SUMS = frozenset(("add", "sub", "and", "or", "xor"))
#: What a loop of sums has beside operations on numbers.
_STRAIGHT = frozenset(("load", "load_local", "store_local", "shape"))


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
    fuses = writer.module.fast_math and "fused" not in writer.module.program.without
    outer, writer.chain = writer.chain, chain_of(operation) if fuses else None
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
    if isinstance(step, Constant):
        stride = int(step.value)
        if stride == 0:
            return
        if abs(stride) < FARTHEST_STEP and (dtype.bits < 64 or stride in (1, -1)):
            # A 64-bit counter cannot pass the limits of a narrower type; by single steps, no counter passes its end.
            compare = f"{signed if dtype.bits == 64 else 's'}{'lt' if stride > 0 else 'gt'}"
            span = widened(writer, begin), widened(writer, end), stride
            _counted(writer, operation, span, compare, lambda counter: counter, (low, high))
            return
    first, stride_name = widened(writer, begin), widened(writer, step)
    count = _trip_count(writer, first, widened(writer, end), stride_name, dtype.kind == "int" or dtype.bits < 64)

    def value(counter: str) -> str:
        return writer.define(f"add i64 {first}, {writer.define(f'mul i64 {counter}, {stride_name}')}")

    _counted(writer, operation, ("0", count, 1), "ult", value, (low, high))


def _counted(
    writer: Writer,
    operation: For,
    span: tuple[str, str, int],
    compare: str,
    value: Callable[[str], str],
    limits: tuple[int, int],
) -> None:
    """A loop over a counter, of which `value` makes the variable: whole, in pieces, or whichever is right when it begins."""
    first, last, stride = span
    if not is_cut(writer, operation):
        _whole(writer, operation, span, compare, value, limits)
        return
    length = piece_of(operation, writer.module.looping)
    runs_long = writer.runs_once or operation in writer.lengthy
    if length is None or runs_long or writer.width or not stands_twice(operation.body):
        _in_pieces(writer, operation, span, compare, value, limits, length)
        return
    short, long, done = writer.label("short"), writer.label("long"), writer.label("done")
    # If this wraps around, the loop runs in the other form, which is right as well.
    distance = writer.define(f"sub i64 {last}, {first}" if stride > 0 else f"sub i64 {first}, {last}")
    writer.branch(writer.define(f"icmp sgt i64 {distance}, {abs(stride) * length}"), long, short, UNLIKELY)
    writer.start(short)
    _whole(writer, operation, span, compare, value, limits)
    writer.jump(done)
    writer.start(long)
    _in_pieces(writer, operation, span, compare, value, limits, length)
    writer.jump(done)
    writer.start(done)


def _whole(
    writer: Writer,
    operation: For,
    span: tuple[str, str, int],
    compare: str,
    value: Callable[[str], str],
    limits: tuple[int, int],
) -> None:
    first, last, stride = span
    if stride == 1 and compare == "slt":
        rest = writer.running_extremes(operation, (first, last), limits)
        if rest is not None:
            first = rest
        elif "short" not in writer.module.program.without and (few := _short_length(writer, operation)) is not None:
            _in_two_forms(writer, operation, (first, last), limits, few)
            return
    loop = writer.open_loop(operation.variable.name or "i", first, last, str(stride), compare)
    _turn(writer, operation, loop, limits, value(loop.counter))


def _short_length(writer: Writer, loop: For) -> int | None:
    """How many iterations are few for a loop inside of a task that adds up elements along a row; None for any other.

    LLVM works on four vectors by turns, so that sums need not wait for each other, and never gets to do that in a row that
    is shorter than all four: what is left over is done in small vectors, or one by one.
    """
    if writer.runs_once or writer.varying is not None or isinstance(loop.operands[1], Constant):
        return None
    steps = loop.body.operations
    if len(steps) > SHORT_OPERATIONS or _composes(loop):
        return None
    loads = [step for step in steps if step.code == "load" and step.operands and step.operands[-1] is loop.variable]
    if not loads or any(step.code not in _STRAIGHT and step.code not in OPERATIONS for step in steps):
        return None
    sums = {step.payload: step.operands[0] for step in steps if step.code == "store_local"}
    carried = sums.keys() & {step.payload for step in steps if step.code == "load_local"}
    if not carried or any(local.type.kind == "float" and not writer.module.fast_math for local in carried):
        return None
    # Not extremes: with a mark, LLVM ends with an assertion in some of them (see `samovar.backends.llvm.extremes`).
    if any(not isinstance(value, Operation) or value.code not in _SUMS for value in sums.values()):
        return None
    return SHORT_BITS // max(int(step.payload.dtype.bits) for step in loads)


def _in_two_forms(writer: Writer, operation: For, span: tuple[str, str], limits: tuple[int, int], few: int) -> None:
    """A loop in one vector at a time if it is short, and as LLVM would have it if it is not."""
    first, last = span
    name = operation.variable.name or "i"
    short, long, end = writer.label("few"), writer.label("many"), writer.label("summed")
    # If this wraps around, the loop runs in the other form, which is right as well.
    is_short = writer.define(f"icmp slt i64 {writer.define(f'sub i64 {last}, {first}')}, {few}")
    writer.branch(is_short, short, long)
    for label, mark in ((short, writer.module.short_loop()), (long, "")):
        writer.start(label)
        loop = writer.open_loop(name, first, last)
        _turn(writer, operation, loop, limits, loop.counter, mark)
        writer.jump(end)
    writer.start(end)


def _turn(writer: Writer, operation: For, loop: Loop, limits: tuple[int, int], counter: str, mark: str = "") -> None:
    """The body of a loop that is open, and the end of the loop, with a mark for LLVM."""
    writer.bind(operation.variable, counter, *limits)
    region(writer, operation.body)
    if "composed" not in writer.module.program.without and _composes(operation):
        mark = writer.module.composed_loop()
    elif not mark and _becomes_vectors(operation):
        mark = writer.module.inner_loop()
    writer.close_loop(loop, mark)


def _becomes_vectors(loop: For) -> bool:
    """Whether LLVM is likely to look for vectors in a loop: it is an innermost one, and not so short that it is unrolled."""
    begin, end, _ = loop.operands
    if isinstance(begin, Constant) and isinstance(end, Constant) and abs(int(end.value) - int(begin.value)) <= UNROLLED:
        return False
    return not any(isinstance(each, (For, While)) for each in walk(loop.body))


def _in_pieces(
    writer: Writer,
    operation: For,
    span: tuple[str, str, int],
    compare: str,
    value: Callable[[str], str],
    limits: tuple[int, int],
    length: int | None,
) -> None:
    """A loop in pieces of a length, or of what the runtime gives. A loop of one piece does not ask: most are no longer."""
    (first, last, stride), sign = span, compare[0]
    memory = open_state(writer, FIRST_PIECE if length is None else length)
    moved = "add" if stride > 0 else "sub"
    nearer = f"llvm.{sign}{'min' if stride > 0 else 'max'}.i64"
    writer.module.declare(nearer, f"declare i64 @{nearer}(i64, i64)")
    piece, done, start, before = writer.label("piece"), writer.label("pieces"), writer.name("start"), writer.block
    writer.jump(piece)
    writer.start(piece)
    place = len(writer.lines)
    reach = str(abs(stride) * length) if length is not None else _times(writer, f"load i64, ptr {memory[0]}", abs(stride))
    if dtype_of(operation.variable).bits < 64:
        after = writer.define(f"{moved} nsw i64 {start}, {reach}")  # what counts in fewer bits stays far from the last of 64
    else:
        saturating = f"llvm.{sign}{moved}.sat.i64"
        writer.module.declare(saturating, f"declare i64 @{saturating}(i64, i64)")
        after = writer.define(f"call i64 @{saturating}(i64 {start}, i64 {reach})")
    end = writer.define(f"call i64 @{nearer}(i64 {after}, i64 {last})")
    loop = writer.open_loop(operation.variable.name or "i", start, end, str(stride), compare)
    writer.exits[-1] = loop.latch, done  # what leaves the loop leaves all of its pieces
    _turn(writer, operation, loop, limits, value(loop.counter))
    more = ask(writer, writer.define(f"icmp {compare} i64 {after}, {last}"), memory, done, piece)
    writer.lines.insert(place, f"  {start} = phi i64 [ {first}, %{before} ], [ {after}, %{more} ]")
    writer.start(done)


def _times(writer: Writer, number: str, factor: int) -> str:
    found = writer.define(number)
    return found if factor == 1 else writer.define(f"mul i64 {found}, {factor}")


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
