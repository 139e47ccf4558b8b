"""Backends: from the IR to code. There is one, for LLVM.

A backend is a module with a `BACKEND` in it that does what `samovar.backends.protocol` says, and a line in `BACKENDS`.
Nobody else knows which ones there are: who compiles or loads asks for `backend()`.
"""

from __future__ import annotations

from samovar import _door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.backends.protocol import Backend, CannotLink, Rendered, RenderOptions, Target, Unit
else:
    __getattr__, __dir__ = _door(globals(), {"protocol": "Backend CannotLink RenderOptions Rendered Target Unit"})

#: The modules of the backends, by name.
BACKENDS = {"llvm": "samovar.backends.llvm"}
#: The one that kernels are compiled with.
CHOSEN = "llvm"


def backend(name: str = "") -> Backend:
    """The backend of a name, or the one that kernels are compiled with."""
    found: Backend = __import__(BACKENDS[name or CHOSEN], fromlist=["BACKEND"]).BACKEND
    return found
