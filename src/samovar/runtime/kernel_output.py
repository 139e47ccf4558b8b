"""The output of a launch: prints of a kernel, and the exception for a recorded failure."""

from __future__ import annotations

import struct

from samovar.artifact import PRINTF, Frame, Hole, Site
from samovar.errors import SamovarAssertionError, SamovarError, SamovarIndexError, SamovarRuntimeError, at, marked_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


#: The status that native code reports for a data race.
RACES = -3
#: The same for sections.
SECTIONS = -4

#: The exception for a failure, by the kind of its site; a run-time error for all other kinds.
_ERRORS: dict[str, type[SamovarRuntimeError]] = {"assertion": SamovarAssertionError, "bounds": SamovarIndexError}


class KernelOutput:
    """The sites of a kernel, by number."""

    __slots__ = ("sites",)

    def __init__(self, sites: Sequence[Site]) -> None:
        self.sites = tuple(sites)

    def speak(self, records: list[tuple[int, tuple[bytes, ...]]]) -> None:
        """Print the output of a kernel, in order."""
        print("".join(self.text(site, values) for site, values in records), end="")

    def fail(self, site: int, values: Any) -> SamovarError:
        """The exception for a failure, from the values of its site, or from the findings of the race detector."""
        if site == RACES:
            from samovar.runtime.races import race_error

            return race_error(self.sites, values)
        if site == SECTIONS:
            from samovar.runtime.races import section_error

            return section_error(self.sites, values)
        place = self.sites[site]
        frame, *callers = place.frames
        kernel = place.frames[-1].function
        said = self.text(site, values)
        if place.kind == "view":
            return SamovarAssertionError(f"{said}\n{call_stack(place.frames)}")
        error_class = _ERRORS.get(place.kind, SamovarRuntimeError)
        message = f"{kernel}: assertion failed: {said}" if place.kind == "assertion" else f"{kernel}: {said}"
        if frame.line == 0:  # the line is unknown: it is not part of the kernel's key
            return error_class(message)
        source = _Lines(frame.file, frame.function)
        span = _Span(frame.line, place.columns)
        # Edited source may have the same key: the code may be the same.
        if place.columns is not None and marked_text(source.lines, frame.line, *place.columns[:2]) != place.columns[2]:
            span = _Span(frame.line, None)
        return error_class(at(source, span, message, None, callers))

    def text(self, site: int, values: tuple[bytes, ...]) -> str:
        """The message of a site, with its holes filled by Python's own formatting."""
        place = self.sites[site]
        numbers = [
            struct.unpack_from(f"<{dtype.format}", raw)[0] for dtype, raw in zip(place.types, values, strict=True)
        ]
        return "".join(_filled(part, numbers) if isinstance(part, Hole) else part for part in place.parts)


def _filled(hole: Hole, numbers: list[Any]) -> str:
    value = numbers[hole.operand]
    if hole.conversion == PRINTF:
        return str(hole.format % value)
    converted = {"": value, "r": repr(value), "s": str(value), "a": ascii(value)}[hole.conversion.removeprefix("!")]
    return format(converted, hole.format)


def call_stack(frames: Sequence[Frame]) -> str:
    """The calls that led to a place, the kernel first. Files with equal names are distinguished by their folders."""
    files = {frame.file for frame in frames}
    lines = ["Callstack:"]
    for depth, frame in enumerate(reversed(frames)):
        folder, _, name = frame.file.rpartition("/")
        while folder and any(other != frame.file and other.endswith(f"/{name}") for other in files):
            folder, _, above = folder.rpartition("/")
            name = f"{above}/{name}"
        place = f"{name}:{frame.line}" if frame.line else name  # 0: unknown, or the kernel may be older than the file
        lines.append(f"{'  ' * depth}{frame.function} ({place})")
    return "\n".join(lines)


class _Span:
    """A part of a line, with the attribute names of syntax trees."""

    def __init__(self, line: int, columns: tuple[int, int, str] | None) -> None:
        begin, end = (None, -1) if columns is None else columns[:2]
        self.lineno, self.col_offset = line, begin
        self.end_lineno, self.end_col_offset = line if end >= 0 else 0, end


class _Lines:
    """The source around a failure, read on demand."""

    def __init__(self, file: str, name: str) -> None:
        self.file = file
        self.name = name

    @property
    def lines(self) -> list[str]:
        from samovar.lens import named_lines

        return named_lines(self.file)
