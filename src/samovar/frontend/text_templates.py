"""Text with places for values, as `str.format` and `%` write it: cut into literal text and what goes in between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Blank:
    """A place for a value: a number or a name says which, and the rest is what an f-string would have there."""

    key: int | str
    conversion: str = ""
    form: str = ""
    whole: bool = False  # it takes whole numbers, and cuts off the fraction of others


#: `%(name)-08.3f`: a name, flags, width, precision and a letter.
PERCENT = re.compile(
    r"%(?:\((?P<name>[^)]*)\))?(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>\.\d*)?[hlL]?(?P<letter>.)?", re.S
)
#: The letters of `%` whose values are text, and the conversions that stand for them.
TEXT = {"s": "s", "r": "r", "a": "a"}


def of_percent(text: str) -> Iterator[str | Blank]:
    """The parts of a text for `%`. A ValueError says what is wrong with it."""
    position, end = 0, 0
    for found in PERCENT.finditer(text):
        yield text[end : found.start()]
        end = found.end()
        name, flags, width, letter = found["name"], found["flags"], found["width"], found["letter"]
        if letter == "%":
            yield "%"
            continue
        if letter is None or letter not in "diouxXeEfFgGcrsa":
            raise ValueError(f"`{found[0]}` is no format")
        yield Blank(position if name is None else name, *_of_letter(letter, flags, width, found["precision"] or ""))
        position += 1
    yield text[end:]


def _of_letter(letter: str, flags: str, width: str, precision: str) -> tuple[str, str, bool]:
    """Conversion, format and whether whole numbers are wanted, as an f-string says it."""
    side = "<" if "-" in flags else ">"
    if letter in TEXT:
        return TEXT[letter], f"{side}{width}{precision}" if width or precision else "", False
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zeros = "0" if "0" in flags and "-" not in flags else ""
    form = f"{side if '-' in flags else ''}{sign}{'#' if '#' in flags else ''}{zeros}{width}"
    whole = letter in "diouxXc"
    if letter in "diu":
        return "", f"{form}d", True
    return "", f"{form}{'' if whole else precision}{letter}", whole


def of_braces(text: str) -> Iterator[str | Blank]:
    """The parts of a text for `str.format`. A ValueError says what is wrong with it."""
    from string import Formatter

    position = 0
    for literal, name, form, conversion in Formatter().parse(text):
        yield literal
        if name is None:
            continue
        if "{" in (form or ""):
            raise ValueError("a format inside of a format is not available in kernels: use an f-string")
        if name and not name.isidentifier() and not name.isdigit():
            raise ValueError(f"`{{{name}}}` takes a part of a value, which kernels do not have: give the part itself")
        yield Blank(name if name.isidentifier() else int(name or position), conversion or "", form or "")
        position += not name
