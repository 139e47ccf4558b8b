"""Text with placeholders, as for `str.format` and `%`: split into literal text and placeholders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from samovar._native import DType, f64
from samovar.language import is_float


@dataclass(frozen=True)
class Blank:
    """A placeholder: the number or name of its value, and the conversion and format as in an f-string."""

    key: int | str
    conversion: str = ""
    spec: str = ""
    whole: bool = False  # it truncates floats to integers


#: `%(name)-08.3f`: name, flags, width, precision and letter.
PERCENT = re.compile(
    r"%(?:\((?P<name>[^)]*)\))?(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>\.\d*)?[hlL]?(?P<letter>.)?", re.S
)
#: The letters of `%` for text, and the corresponding conversions.
TEXT = {"s": "s", "r": "r", "a": "a"}


def of_percent(text: str) -> Iterator[str | Blank]:
    """The parts of a text for `%`. Raises ValueError if it is malformed."""
    position, end = 0, 0
    for found in PERCENT.finditer(text):
        yield text[end : found.start()]
        end = found.end()
        name, flags, width, letter = found["name"], found["flags"], found["width"], found["letter"]
        if letter == "%":
            yield "%"
            continue
        if letter is None or letter not in "diouxXeEfFgGcrsa":
            raise ValueError(f"`{found[0]}` is not a valid format")
        yield Blank(position if name is None else name, *_of_letter(letter, flags, width, found["precision"] or ""))
        position += 1
    yield text[end:]


def _of_letter(letter: str, flags: str, width: str, precision: str) -> tuple[str, str, bool]:
    """The conversion, the format and whether integers are required, as in an f-string."""
    side = "<" if "-" in flags else ">"
    if letter in TEXT:
        return TEXT[letter], f"{side}{width}{precision}" if width or precision else "", False
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zeros = "0" if "0" in flags and "-" not in flags else ""
    spec = f"{side if '-' in flags else ''}{sign}{'#' if '#' in flags else ''}{zeros}{width}"
    whole = letter in "diouxXc"
    if letter in "diu":
        return "", f"{spec}d", True
    return "", f"{spec}{'' if whole else precision or '.6'}{letter}", whole


#: A format of C: flags, width, precision, length and letter.
PRINTF_SPEC = re.compile(r"(?P<start>[-+ #0]*\d*)(?P<precision>\.\d+)?(?:hh|h|ll|l|L)?(?P<letter>[a-zA-Z]?)")


def printf_spec(spec: str, dtype: DType) -> str | None:
    """The format of C for a number, `%.1f` for `.1`, as Quadrants and Taichi understand formats; None if it is another.

    Without a precision, an f64 number has 12 digits.
    """
    found = PRINTF_SPEC.fullmatch(spec)
    is_real = is_float(dtype)
    if found is None or found["letter"] not in ("", *("fFeEgG" if is_real else "diouxX")):
        return None
    precision = found["precision"] or (".12" if dtype is f64 else "")
    return f"%{found['start']}{precision}{found['letter'] or 'df'[is_real]}"


def of_braces(text: str) -> Iterator[str | Blank]:
    """The parts of a text for `str.format`. Raises ValueError if it is malformed."""
    from string import Formatter

    position = 0
    for literal, name, spec, conversion in Formatter().parse(text):
        yield literal
        if name is None:
            continue
        if "{" in (spec or ""):
            raise ValueError("a format inside a format is not supported in kernels: use an f-string")
        if name and not name.isidentifier() and not name.isdigit():
            raise ValueError(f"`{{{name}}}` selects a part of a value, which kernels do not support: pass the part")
        yield Blank(name if name.isidentifier() else int(name or position), conversion or "", spec or "")
        position += not name
