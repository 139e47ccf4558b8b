"""The decorator `kernel` of another library: Samovar's, with an annotation required for each parameter."""

from __future__ import annotations

import sys

from samovar._native import api_boundary
from samovar.runtime import declared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from samovar.compat.peers import Peer


def kernel_of(peer: Peer) -> Callable[..., Any]:
    """Return the decorator `kernel` of a library."""
    return kernel


@api_boundary
def kernel(fn: Any = None, *, pure: bool = False, **options: Any) -> Any:
    """Declare a kernel, see `samovar.kernel`."""
    return declared(fn, sys._getframe(1), {**options, "fastcache": pure or options.get("fastcache", False)}, True)
