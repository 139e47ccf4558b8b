"""Backends: from IR to code. There is one, for LLVM.

A backend is a module with a `BACKEND` that implements `samovar.backends.protocol`, and a line in `BACKENDS`. No other
code depends on which backends exist: code that compiles or loads calls `backend()`.
"""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.backends.protocol import Backend, CannotLink, Listing, Rendered, RenderOptions, Target, Unit
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(), {"protocol": "Backend CannotLink Listing RenderOptions Rendered Target Unit"}
    )

#: The module of each backend, by name.
BACKENDS = {"llvm": "samovar.backends.llvm"}
#: The backend that compiles kernels.
CHOSEN = "llvm"


def backend(name: str = "") -> Backend:
    """The backend of that name, by default the one that compiles kernels."""
    found: Backend = __import__(BACKENDS[name or CHOSEN], fromlist=["BACKEND"]).BACKEND
    return found
