"""Options of Numba's decorators, as options of ours; loaded on first use.

What Samovar always does is accepted. What it does elsewhere, or not at all, is an error that says what to write.
"""

from __future__ import annotations

from samovar.errors import SamovarTypeError
from samovar.language.unknown_keyword import unknown_keyword

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Option → the values that change nothing.
_HARMLESS: dict[str, tuple[Any, ...]] = {
    "boundscheck": (False, None),
    "cache": (True,),
    "debug": (False,),
    "error_model": ("numpy",),
    "fastmath": (True,),
    "forceobj": (False,),
    "inline": ("always", "never"),
    "looplift": (True, False),
    "nogil": (True, False),
    "nopython": (True,),
    "parallel": (True, False),
}


def serial_in_numba(decorator: Any, given: dict[str, Any], serial: bool) -> bool:
    """Whether a kernel with these options of Numba is serial; an error for those that a decorator of ours does not have.

    Without `parallel`, our own option decides; `parallel=False` is `serial=True`.
    """
    for name, value in given.items():
        harmless = _HARMLESS.get(name, ())
        if not any(value is each or (isinstance(each, str) and value == each) for each in harmless):
            raise unknown_keyword(decorator.__wrapped__, (name,), value) or SamovarTypeError(f"unknown option {name!r}")
    parallel = given.get("parallel")
    if parallel and serial:
        raise SamovarTypeError("`parallel=True` and `serial=True` are mutually exclusive: keep one of them")
    return serial or parallel is False
