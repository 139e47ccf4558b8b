"""Line coverage of kernels and funcs: each line has a byte that its statements set, in an array of the kernel."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samovar._native import i32, u8
from samovar.ir import Array, Constant

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager


class Probes:
    """The lines of a kernel and the funcs it calls, numbered in order of appearance, and the array of their bytes."""

    def __init__(self) -> None:
        self.lines: dict[tuple[str, int], int] = {}
        self.due: list[int] = []
        #: It does not alias, and all stores write the same value.
        self.array = Array("lines", u8, 1, alone=True, private=True)

    def note(self, stager: Stager, statement: ast.stmt) -> None:
        """Record, before a statement, that its line runs."""
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if is_text or stager.function.is_of_library:
            return
        if not self.lines:
            stager.context.kernel.parameters.append(self.array)
        self.due.append(self.lines.setdefault((stager.source.file, statement.lineno), len(self.lines)))
        if stager.top_level and stager.context.graph.inside:
            return  # only loops can be here: the body of the next one records it
        with stager.unwritten():
            for number in self.due:
                stager.emit("store", None, (Constant(number, i32), Constant(1, u8)), stager.visible(self.array))
        self.due.clear()
