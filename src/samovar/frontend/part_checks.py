"""Run-time checks on parts of arrays: shapes that have to match, and in debug mode bounds of views and slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samovar._native import i64, u1
from samovar.artifact import Frame, Hole, Site
from samovar.frontend.scalars import constant, convert
from samovar.ir import Value
from samovar.language import do_messages_count

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager


def check_part(stager: Stager, problem: str, start: Value, count: Value, length: Value) -> None:
    """Check at run time that a slice is within its parent."""
    with stager.unwritten():
        begin, size, end = (convert(stager, each, i64) for each in (start, count, length))
        zero = constant(0, i64)
        conditions = [
            stager.emit("ge", u1, (begin, zero)),
            stager.emit("ge", u1, (size, zero)),
            stager.emit("le", u1, (begin, end)),
            stager.emit("le", u1, (size, stager.emit("sub", i64, (end, begin)))),
        ]
        fits: Value = conditions[0]
        for each in conditions[1:]:
            fits = stager.emit("and", u1, (fits, each))
    emit_check(stager, fits, problem, (", got offset=", start, ", size=", count, " (length=", length, ")."))


def without_lines(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Frames for a kernel that may come from the cache after lines have moved."""
    return tuple(Frame(frame.function, frame.file, 0) for frame in frames)


def emit_check(stager: Stager, fits: Value, problem: str, said: tuple[str | Value, ...]) -> None:
    """A check whose message has the kernel, the iteration number if there is one, and the values."""
    values: list[Value] = []
    parts: list[str | Hole] = [f"{problem}: kernel[{stager.context.lens.kernel.name}]"]
    iteration = stager.iteration()
    for part in (*(() if iteration is None else (" tid=", iteration)), *said):
        if isinstance(part, str) and isinstance(parts[-1], str):
            parts[-1] += part
        elif isinstance(part, str):
            parts.append(part)
        else:
            parts.append(Hole(len(values)))
            values.append(part)
    types = tuple(value.type for value in values if value.type is not None)
    frames = stager.call_path()
    if not do_messages_count(stager.context.lens.options):
        frames = without_lines(frames[:1])  # other calls may share the code
    stager.emit("check", None, (fits, *values), Site("view", tuple(parts), types, frames))
