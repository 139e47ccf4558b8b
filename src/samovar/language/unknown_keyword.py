"""The error for a keyword that a function of ours does not have; loaded on first use."""

from __future__ import annotations

import samovar
from samovar.errors import SamovarTypeError, did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FunctionType
    from typing import Any

_CODE_VARKEYWORDS = 8


def unknown_keyword(
    function: FunctionType, keywords: tuple[str, ...], value: Any = ...
) -> SamovarTypeError | None:
    """The error for the first keyword of a call that is not a parameter of the function; None if all are parameters, or if
    the function accepts any. With a `value`, the function has rejected the keyword itself."""
    from samovar.language import KEYWORDS_ELSEWHERE

    code = function.__code__
    known = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    unknown = next((name for name in keywords if name not in known), None)
    if unknown is None or (code.co_flags & _CODE_VARKEYWORDS and value is ...):
        return None
    known = tuple(name for name in known if name not in ("self", "cls"))
    public = getattr(getattr(samovar, function.__name__, None), "__wrapped__", None) is function
    shown = f"sv.{function.__name__}" if public else function.__qualname__
    hint = KEYWORDS_ELSEWHERE.get(f"{function.__name__} {unknown}")
    if hint and value is not ...:
        return SamovarTypeError(f"{shown} does not accept {unknown}={value!r}: {hint}")
    listed = f"\n  help: its parameters are {', '.join(known)}" if known else ""
    end = f": {hint}" if hint else did_you_mean(unknown, known)
    return SamovarTypeError(f"{shown} has no parameter {unknown!r}{end}{listed}")
