"""Programs written for Quadrants or Taichi: their names, bound to Samovar's.

`import samovar.compat.quadrants as qd` is the only change that a program needs. `install("quadrants")` needs none: from then
on `import quadrants` finds the same module, in the program and in the libraries that it uses.
"""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.compat.importing import install
    from samovar.compat.peers import PEERS
else:
    __getattr__, __dir__ = _lazy_exports(globals(), {"importing": "install", "peers": "PEERS"})
