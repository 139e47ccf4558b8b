"""Graph nodes: operations between the tasks of a kernel declared with `graph=True`.

A loop over a flag is a `While` whose whole body is its head, so every pass that handles `While` handles it. A checkpoint is
a node until `samovar.passes.checkpoints` expands it to branches. Sections are regions that run in parallel.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from samovar._native import i32
from samovar.ir.structure import Region, While
from samovar.ir.values import Array, Local, Operation, Value


class ReadFlag(Operation):
    """The value of a flag, a 0-D i32 array: a volatile `load`."""

    __slots__ = ()

    def __init__(self, flag: Array, line: int = 0) -> None:
        super().__init__("load", i32, (), flag, line)


class DoWhile(While):
    """`while do_while(flag)`: the head is repeated and ends with the condition; the body is empty.

    `flag` and `limit` (the maximum number of iterations, None if unlimited) are kept as written, for drawing the graph.
    """

    __slots__ = ("flag", "limit")

    def __init__(self, head: Region, condition: Value, flag: Array, limit: int | None, line: int = 0) -> None:
        super().__init__(head, condition, Region(), line)
        self.flag = flag
        self.limit = limit


class Checkpoint(Operation):
    """`with checkpoint(label, yield_on=flag)`: a point where a launch can resume. The code that may stop it follows the
    node.

    `number` counts the checkpoints of a kernel from 1, `label` is the user's name for it.
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
    """One of the regions of `Sections`. It reads the kernel's variables unless it has its own copy."""

    body: Region
    locals: list[Local] = field(default_factory=list)
    line: int = 0


class Sections(Operation):
    """`with parallel_context()`: sections that run in parallel. All of them have finished when it ends.

    A section may contain what a kernel may contain, except checkpoints, returns and sections. `number` and `cost` (an
    estimate in nanoseconds per section) are passed to the runtime, as those of a task; `samovar.passes.outline` sets them.
    `race_checked` sections run one after the other.
    """

    __slots__ = ("cost", "number", "parts", "race_checked")

    def __init__(self, parts: list[Section], line: int = 0) -> None:
        super().__init__("sections", None, (), None, line)
        self.parts = parts
        self.number = -1
        self.cost = 0.0
        self.race_checked = False
