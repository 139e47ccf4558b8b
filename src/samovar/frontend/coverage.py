"""Which lines of kernels and funcs run: each has a byte that its statements set, in an array that belongs to the kernel."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samovar._native import i32, u8
from samovar.ir import Array, Constant

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager


class Probes:
    """The lines of a kernel and of the funcs that it calls, numbered as they come up, and the array of their bytes."""

    def __init__(self) -> None:
        self.lines: dict[tuple[str, int], int] = {}
        self.due: list[int] = []
        #: Of its own: nobody else touches it, and all that is ever stored is the same.
        self.array = Array("lines", u8, 1, alone=True, private=True)

    def note(self, stager: Stager, statement: ast.stmt) -> None:
        """Before a statement: its line runs."""
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if is_text or stager.function.is_of_library:
            return
        if not self.lines:
            stager.context.kernel.parameters.append(self.array)
        self.due.append(self.lines.setdefault((stager.source.file, statement.lineno), len(self.lines)))
        if stager.top_level and stager.context.graph.inside:
            return  # where only loops stand: the body of the next one notes it
        with stager.unwritten():
            for number in self.due:
                stager.emit("store", None, (Constant(number, i32), Constant(1, u8)), stager.visible(self.array))
        self.due.clear()
