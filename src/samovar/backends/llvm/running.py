"""Running minima and maxima in vectors that begin with infinity (see `samovar.passes.extremes`)."""

from __future__ import annotations

import math
from collections.abc import Callable

from samovar._native import DType
from samovar.backends.llvm.control import region
from samovar.backends.llvm.lanes import IN_LANES, Together
from samovar.backends.llvm.memory import read, write
from samovar.backends.llvm.operations import combine
from samovar.backends.llvm.writer import Writer
from samovar.ir import Lanes, Local, LoopVariable, Operation, Partial, Reduction, Region

Accumulators = dict[Reduction, tuple[str, Partial]]


class Running(Together):
    """The lanes of a loop that keeps extremes. What varies in one of them is a variable or a partial result."""

    def __init__(self, writer: Writer, plan: Lanes, accumulators: Accumulators) -> None:
        super().__init__(writer, plan, [], accumulators)
        self.keeps_extremes = True

    def prepare(self, body: Region) -> list[tuple[str, str, DType, str]]:
        """Begin with infinity everywhere: gives each extreme, as its code, its vector, its type and where it is at last."""
        self.begin()
        found = []
        for step in body.operations:
            if step.code == "store_local":
                local: Local = step.payload
                assert isinstance(step.operands[0], Operation)
                found.append((step.operands[0].code, self.slots[local], local.type, self.writer.local(local)))
        for reduction, slot in self.sums.items():
            place, partial = self.accumulators[reduction]
            found.append((reduction.operation, slot, partial.type, place))
        self.writer.lanes = self.width
        for code, slot, dtype, _ in found:
            write(self.writer, slot, dtype, self.writer.constant(math.inf if code == "min" else -math.inf, dtype))
        self.writer.lanes = 0
        return found


def keep_extremes(
    writer: Writer,
    lanes: Lanes,
    variable: LoopVariable,
    limits: tuple[int, int],
    span: tuple[str, str],
    body: Region,
    accumulators: Accumulators,
    install: Callable[[Running | None], None],
) -> str:
    """The iterations that make whole vectors; gives where the others begin: those after them, or all of them, where it is
    not known whether there was a number."""
    first, last = span
    writer.module.declare("llvm.smax.i64", "declare i64 @llvm.smax.i64(i64, i64)")
    # What is empty may end further before its beginning than 64 bits can say.
    after = writer.define(f"call i64 @llvm.smax.i64(i64 {last}, i64 {first})")
    count = writer.define(f"sub i64 {after}, {first}")
    whole = writer.define(f"and i64 {count}, {-lanes.width}")
    end = writer.define(f"add nsw i64 {first}, {whole}")
    gathered = {step.payload: accumulators[step.payload] for step in body.operations if step.code == "accumulate"}
    running = Running(writer, lanes, gathered)
    install(running)
    kept = running.prepare(body)
    loop = writer.open_loop(f"{variable.name or 'i'}.extremes", first, end, str(lanes.width))
    outer = writer.width, writer.varying, writer.renderings
    writer.width, writer.varying, writer.renderings = lanes.width, set(lanes.varying), IN_LANES
    varying, writer.varying = writer.varying, None
    running.bind(variable, loop.counter, *limits)
    writer.varying, writer.kept = varying, frozenset(running.slots)
    region(writer, body)
    writer.kept = frozenset()
    writer.width, writer.varying, writer.renderings = outer
    writer.close_loop(loop, writer.module.small_loop(vectorise=False))
    install(None)
    unsure = ""
    for code, slot, dtype, place in kept:
        nothing = _apply(writer, lanes.width, code, slot, dtype, place)
        unsure = writer.define(f"or i1 {unsure}, {nothing}") if unsure else nothing
    return writer.define(f"select i1 {unsure}, i64 {first}, i64 {end}")


def _apply(writer: Writer, width: int, code: str, slot: str, dtype: DType, place: str) -> str:
    """Put the lanes of an extreme together; gives whether there was nothing."""
    kind = writer.kind(dtype)
    vector = writer.define(f"load <{width} x {kind}>, ptr {slot}, align {dtype.itemsize}")
    name = f"llvm.vector.reduce.f{code}.v{width}f{dtype.bits}"
    writer.module.declare(name, f"declare {kind} @{name}(<{width} x {kind}>)")
    found = writer.define(f"call nnan nsz {kind} @{name}(<{width} x {kind}> {vector})")
    nothing = writer.define(f"fcmp oeq {kind} {found}, {writer.constant(math.inf if code == 'min' else -math.inf, dtype)}")
    old = read(writer, place, dtype)
    new = combine(writer, code, dtype, old, found)
    write(writer, place, dtype, writer.define(f"select i1 {nothing}, {kind} {old}, {kind} {new}"))
    return nothing
