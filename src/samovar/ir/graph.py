"""Nodes of a graph: what stands between the tasks of a kernel that is declared with `graph=True`.

A loop over a flag is a `While` whose whole body is its head, so every pass that knows `While` knows it. A checkpoint is a
node until `samovar.passes.checkpoints` has written it in branches. Sections are regions that run side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from samovar._native import i32
from samovar.ir.structure import Region, While
from samovar.ir.values import Array, Local, Operation, Value


class ReadFlag(Operation):
    """The value of a flag, an i32 array of rank 0: a `load` that looks at memory each time, whoever has written there."""

    __slots__ = ()

    def __init__(self, flag: Array, line: int = 0) -> None:
        super().__init__("load", i32, (), flag, line)


class DoWhile(While):
    """`while do_while(flag)`: the head is what is repeated, and ends with the condition; the body is empty.

    `flag` and `limit` (the most iterations, None for any number) are what was written, for who draws the graph.
    """

    __slots__ = ("flag", "limit")

    def __init__(self, head: Region, condition: Value, flag: Array, limit: int | None, line: int = 0) -> None:
        super().__init__(head, condition, Region(), line)
        self.flag = flag
        self.limit = limit


class Checkpoint(Operation):
    """`with checkpoint(label, yield_on=flag)`: a place where a launch can begin. What may end it there follows the node.

    `number` counts the checkpoints of a kernel from 1, `label` is what the user calls it.
    """

    __slots__ = ("body", "flag", "label", "number")

    def __init__(self, number: int, label: str, flag: Array, body: Region, line: int = 0) -> None:
        super().__init__("checkpoint", None, (), None, line)
        self.number = number
        self.label = label
        self.flag = flag
        self.body = body


@dataclass(eq=False)
class Section:
    """One of the parts of `Sections`. Of the kernel's variables it reads those that it has not got itself."""

    body: Region
    locals: list[Local] = field(default_factory=list)
    line: int = 0


class Sections(Operation):
    """`with parallel_context()`: parts that run side by side. All of them are done after it.

    A part may hold what a kernel may hold, but for checkpoints, returns and sections. `number` and `cost` (nanoseconds of a
    part, a guess) are told to the runtime, as those of a task; `samovar.passes.outline` finds them. Parts that are
    `watched` run one after the other.
    """

    __slots__ = ("cost", "number", "parts", "watched")

    def __init__(self, parts: list[Section], line: int = 0) -> None:
        super().__init__("sections", None, (), None, line)
        self.parts = parts
        self.number = -1
        self.cost = 0.0
        self.watched = False
