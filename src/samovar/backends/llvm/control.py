"""Regions and structured control flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from samovar.backends.llvm.cells import CELLS
from samovar.backends.llvm.effects import EFFECTS
from samovar.backends.llvm.indices import widened
from samovar.backends.llvm.memory import MEMORY
from samovar.backends.llvm.module import UNLIKELY
from samovar.backends.llvm.operations import OPERATIONS
from samovar.backends.llvm.polling import POLLING
from samovar.backends.llvm.race_checks import WATCHING
from samovar.backends.llvm.source_lines import mark_lines
from samovar.backends.llvm.writer import Writer
from samovar.ir import Constant, For, If, Operation, Region, While, dtype_of

#: A loop with a larger step uses a trip count, so that no counter overflows.
FARTHEST_STEP = 1 << 31


def region(writer: Writer, body: Region) -> None:
    """Render a region."""
    operations(writer, body.operations)


def operations(writer: Writer, steps: Sequence[Operation]) -> None:
    """Render operations, up to the first that leaves the region."""
    values, marks = writer.values, writer.marks_lines
    for operation in steps:
        result = _marked(writer, operation) if marks else RENDERINGS[operation.code](writer, operation)
        if result is not None:
            values[operation] = result
        if writer.terminated:
            return


def _marked(writer: Writer, operation: Operation) -> str | None:
    """Render an operation, and mark what it has written with its line of the program."""
    written = [(lines, len(lines)) for lines in (writer.prologue, writer.lines, writer.cold)]
    result = RENDERINGS[operation.code](writer, operation)
    for lines, begin in written:
        mark_lines(lines, begin, operation.line)
    return result


def _if(writer: Writer, operation: If) -> None:
    end, reached = writer.label("endif"), False
    while True:
        otherwise = operation.orelse.operations
        then, other = writer.label("then"), writer.label("else") if otherwise else end
        weights = UNLIKELY if operation.unlikely else ""
        writer.branch(writer.value(operation.operands[0]), then, other, weights)
        writer.start(then)
        region(writer, operation.then)
        reached = reached or not writer.terminated or not otherwise
        writer.jump(end)
        if not otherwise:
            break
        writer.start(other)
        # A long elif chain is nested to the right; it must not become a deep recursion.
        following = otherwise[-1]
        chained = isinstance(following, If)
        operations(writer, otherwise[:-1] if chained else otherwise)
        if not isinstance(following, If) or writer.terminated:
            reached = reached or not writer.terminated
            writer.jump(end)
            break
        operation = following
    if reached:
        writer.start(end)


def _while(writer: Writer, operation: While) -> None:
    head, body, again, end = (writer.label(name) for name in ("while", "do", "again", "endwhile"))
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
        writer.jump(head)
        writer.start(end)


def _for(writer: Writer, operation: For) -> None:
    variable = operation.variable
    dtype = dtype_of(variable)
    begin, end, step = operation.operands
    signed = "s" if dtype_of(begin).kind == "int" else "u"
    if isinstance(step, Constant):
        stride = int(step.value)
        if stride == 0:
            return
        if abs(stride) < FARTHEST_STEP and (dtype.bits < 64 or stride in (1, -1)):
            # A 64-bit counter cannot exceed the limits of a narrower type; with unit steps, no counter exceeds its end.
            compare = f"{signed if dtype.bits == 64 else 's'}{'lt' if stride > 0 else 'gt'}"
            span = widened(writer, begin), widened(writer, end), stride
            _counted(writer, operation, span, compare, lambda counter: counter)
            return
    first, stride_name = widened(writer, begin), widened(writer, step)
    count = _trip_count(writer, first, widened(writer, end), stride_name, signed == "s" or dtype.bits < 64)

    def value(counter: str) -> str:
        return writer.define(f"add i64 {first}, {writer.define(f'mul i64 {counter}, {stride_name}')}")

    _counted(writer, operation, ("0", count, 1), "ult", value)


def _counted(
    writer: Writer, operation: For, span: tuple[str, str, int], compare: str, value: Callable[[str], str]
) -> None:
    """A loop over a counter; `value` computes the variable from it."""
    first, last, stride = span
    around, group = writer.independent, ""
    if operation.hints.independent:
        group = writer.module.access_group()
        writer.independent = f", !llvm.access.group {group}"
    loop = writer.open_loop(operation.variable.name or "i", first, last, str(stride), compare)
    writer.bind(operation.variable, value(loop.counter), writer.module.program.affine.range(operation.variable)[0])
    region(writer, operation.body)
    writer.independent = around
    writer.close_loop(loop, operation.hints, group)
    del writer.counters[operation.variable]


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


def _break(writer: Writer, operation: Operation) -> None:
    writer.jump(writer.exits[-1][1])


def _continue(writer: Writer, operation: Operation) -> None:
    writer.jump(writer.exits[-1][0])


def _return(writer: Writer, operation: Operation) -> None:
    writer.give(operation)
    writer.terminated = True


RENDERINGS: dict[str, Callable[[Writer, Any], str | None]] = {
    **OPERATIONS,
    **MEMORY,
    **EFFECTS,
    **WATCHING,
    **POLLING,
    **CELLS,
    "if": _if,
    "while": _while,
    "for": _for,
    "task": lambda writer, task: writer.launch(task),
    "sections": lambda writer, sections: writer.sections(sections),
    "break": _break,
    "continue": _continue,
    "return": _return,
}
