"""Import hooks for modules of another library: as `samovar.compat.<library>…`, and after `install` under its own name."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from samovar.compat.peers import PEERS, Peer
from samovar.errors import SamovarError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_HOME = "samovar.compat."


def install(package: str) -> None:
    """Make Samovar importable as another library in this process: `import quadrants`, `from quadrants.lang import …`.

    Call it before the first import of the library itself. `package` is "quadrants" or "taichi".

    >>> import samovar.compat
    >>> samovar.compat.install("quadrants")
    >>> import quadrants as qd
    >>> qd.i32
    i32
    """
    peer = PEERS.get(package)
    if peer is None:
        raise SamovarError(f"install takes {' or '.join(map(repr, PEERS))}, not {package!r}")
    if any(isinstance(finder, _Installed) and finder.peer == peer for finder in sys.meta_path):
        return
    present = sys.modules.get(package)
    if present is not None:
        raise SamovarError(
            f"{package} was imported before samovar.compat.install({package!r})\n"
            f"  help: call it first, or run the program with `samovar run --as {package}`"
        )
    # Before the path finder: the library itself may be installed as well.
    sys.meta_path.insert(0, _Installed(peer))


class _Submodules:
    """Finds submodules of a library, which are tables instead of files."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith(_HOME):
            return None
        package, _, inner = name.removeprefix(_HOME).partition(".")
        if package not in PEERS or not inner:
            return None
        from samovar.compat.module_tables import is_module, is_package

        if not is_module(PEERS[package], inner):
            return None
        return ModuleSpec(name, self, is_package=is_package(PEERS[package], inner))  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Create a module the usual way."""

    def exec_module(self, module: ModuleType) -> None:
        from samovar.compat.module_tables import fill

        package, _, inner = module.__name__.removeprefix(_HOME).partition(".")
        fill(vars(module), PEERS[package], inner)


class _Installed:
    """Finds the modules under the library's own name. They are the same objects."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name.partition(".")[0] != self.peer.package:
            return None
        inner = name.partition(".")[2]
        from samovar.compat.module_tables import is_module

        if inner.partition(".")[0] == "examples":
            return self._example(inner)
        if inner and not is_module(self.peer, inner):
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def _example(self, inner: str) -> ModuleSpec | None:
        """Find an example program of the library in its own files, if it is installed."""
        library = PathFinder.find_spec(self.peer.package)
        for place in (library.submodule_search_locations or ()) if library is not None else ():
            *folders, _ = inner.split(".")
            found = PathFinder.find_spec(f"{self.peer.package}.{inner}", ["/".join((place, *folders))])
            if found is not None:
                return found
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(_HOME + spec.name)
        # Python sets the spec of the other name on the module; `exec_module` restores the original.
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


sys.meta_path.append(_Submodules())
