"""`sv.BufferView(array, offset, size)` in a kernel."""

from __future__ import annotations

from samovar.frontend.rules import Call, Rule
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.view import CONSTRUCTION, bound
from samovar.frontend.stager import Stager


def construct(stager: Stager, call: Call) -> Staged:
    """A part of an array that a kernel has."""
    whole = call["arr"].as_view(stager, call.nodes["arr"])
    offset, size = (bound(stager, whole, call[name], call.nodes[name]) for name in ("offset", "size"))
    return whole.part(stager, offset, size, CONSTRUCTION)


INTRINSICS = {"samovar.BufferView": Rule(construct, "arr offset size")}
