"""A lens on a plain function, for the tests of this room."""

from __future__ import annotations

import sys
from typing import Any

from samovar.language.annotations import signature_of
from samovar.language.options import Options
from samovar.lens import Lens, Mismatch, Trace, replay


def look(function: Any, options: Options | None = None, **arguments: Any) -> Lens:
    return Lens(function, arguments, signature_of(function, sys._getframe(1), {}), options or Options())


def again(trace: Trace, function: Any, options: Options | None = None, **arguments: Any) -> Mismatch | None:
    signature = signature_of(function, sys._getframe(1), {})
    return replay(trace, function, arguments, signature, options or Options())


def asked(lens: Lens) -> list[tuple[str, str]]:
    """What was asked, without the questions about the kernel itself and the options."""
    return [(str(each.path), each.question) for each in lens.trace if each.path.step not in ("kernel", "options")]
