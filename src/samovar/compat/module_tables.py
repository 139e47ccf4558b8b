"""The modules of Quadrants and Taichi as tables: which names a module has, and where their values come from.

Most values are Samovar's own, under the same name. `own_names` lists those with other names, and internals that programs
access (`lang.impl.get_runtime()`).
"""

from __future__ import annotations

import builtins
from importlib import import_module

import samovar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from samovar.compat.peers import Peer

#: Module of the library → where its names are found in Samovar: a chain of attributes from the package.
_PLACES = {
    "": "",
    "ad": "ad",
    "algorithms": "algorithms",
    "experimental": "",
    "graph": "graph",
    "interop": "interop",
    "lang": "",
    "linalg": "linalg",
    "linalg.matrixfree_cg": "linalg",
    "linalg.sparse_cg": "linalg",
    "linalg.sparse_matrix": "linalg",
    "linalg.sparse_solver": "linalg",
    "math": "math",
    "math.mathimpl": "math",
    "profiler": "profiler",
    "profiler.kernel_metrics": "profiler",
    "profiler.kernel_profiler": "profiler",
    "profiler.memory_profiler": "profiler",
    "profiler.scoped_profiler": "profiler",
    "simt": "simt",
    "simt.block": "simt.block",
    "simt.grid": "simt.grid",
    "simt.subgroup": "simt.subgroup",
    "simt.warp": "simt.warp",
    "sparse": "sparse",
    "tools": "tools",
    "tools.np2ply": "tools",
    "tools.vtk": "tools",
    "types": "types",
    "types.annotations": "types",
    "types.buffer_view_type": "types",
    "types.compound_types": "types",
    "types.enums": "",
    "types.ndarray_type": "types",
    "types.primitive_types": "types",
    "types.quant": "types.quant",
    "types.utils": "types",
    "_funcs": "",
    "_kernels": "",
    "_lib": "",
    "_lib.core": "",
    "_lib.core.quadrants_python": "",
    "_tensor": "",
    "_tensor_wrapper": "",
    "_lib.utils": "",
    "_logging": "",
    "_test_tools": "",
    "_test_tools.dataclass_test_tools": "",
    "_test_tools.load_kernel_string": "",
    "_test_tools.textwrap2": "",
    "_test_tools.warnings_helper": "",
    "_snode": "",
    "_snode.fields_builder": "",
    "_snode.snode_tree": "",
    **{
        f"lang.{name}": ""
        for name in (
            "_fast_caching", "_ndarray", "_ndrange", "_perf_dispatch", "_template_mapper", "any_array", "buffer_view",
            "checkpoint", "common_ops", "enums", "exception", "expr", "field", "func", "graph_status", "impl",
            "intrinsics", "kernel", "kernel_arguments", "kernel_impl", "matrix", "matrix_ops", "mesh", "misc", "ops",
            "runtime_ops", "snode", "stream", "struct", "util",
        )
    },
    "lang.simt": "simt",
    "lang.simt.block": "simt.block",
    "lang.simt.grid": "simt.grid",
    "lang.simt.subgroup": "simt.subgroup",
    "lang.simt.warp": "simt.warp",
}  # fmt: skip
#: Modules that Taichi has and Quadrants does not.
_OF_TAICHI = {
    "aot": "",
    "tools.image": "tools",
    "tools.video": "tools",
    "types.texture_type": "types",
    "ui": "",
    "ui.gui": "",
}


def _places(peer: Peer) -> dict[str, str]:
    return {**_PLACES, **_OF_TAICHI} if peer.package == "taichi" else _PLACES


def is_module(peer: Peer, inner: str) -> bool:
    """Whether a library has a module with this path below the package."""
    return inner in _places(peer)


def is_package(peer: Peer, inner: str) -> bool:
    """Whether a module has submodules."""
    return any(each.startswith(f"{inner}.") for each in _places(peer))


def children(peer: Peer, inner: str) -> set[str]:
    """Return the names of the direct submodules of a module, or of the package."""
    below = f"{inner}." if inner else ""
    return {
        each.removeprefix(below).partition(".")[0] for each in _places(peer) if each.startswith(below) and each != inner
    } - {""}


def fill(namespace: dict[str, Any], peer: Peer, inner: str = "") -> None:
    """Turn a namespace into that of a library's module: names are resolved on first use."""
    own = f"samovar.compat.{peer.package}{'.' if inner else ''}{inner}"
    inside = children(peer, inner)
    if inside:
        namespace.setdefault("__path__", [])
    # Programs may assign to it, as to a module loaded from a file.
    namespace.setdefault("__builtins__", vars(builtins))
    if not inner:
        namespace["__version__"] = peer.version
        namespace["__version_str__"] = ".".join(map(str, peer.version))

    def get(name: str) -> Any:
        if name in inside:
            return import_module(f"{own}.{name}")
        if name == "cfg" and not inner:  # never cached: it changes with `init`
            from samovar.compat.process_state import current_configuration

            return current_configuration()
        if name == "__all__":  # for `from quadrants.math import *`
            return names()
        value = namespace[name] = _value(peer, inner, name)
        return value

    def names() -> list[str]:
        from samovar.compat.own_names import own_names

        place = _place(_places(peer)[inner])
        found = {*inside, *own_names(peer, inner), *(() if place is None else getattr(place, "__all__", dir(place)))}
        return sorted(name for name in found if not name.startswith("_"))

    namespace["__getattr__"], namespace["__dir__"] = get, names


def _value(peer: Peer, inner: str, name: str) -> Any:
    from samovar.compat.own_names import own_names

    found = own_names(peer, inner).get(name)
    if found is not None:
        return found(peer)
    place = None if name.startswith("_") else _place(_places(peer)[inner])
    if place is None or not hasattr(place, name):
        raise AttributeError(f"module {'.'.join(filter(None, (peer.package, inner)))!r} has no attribute {name!r}")
    return getattr(place, name)


def _place(path: str) -> ModuleType | None:
    """Return where Samovar has the names, or None."""
    found: Any = samovar
    for part in filter(None, path.split(".")):
        found = getattr(found, part, None)
    return found  # type: ignore[no-any-return]
