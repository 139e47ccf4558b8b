"""Unsupported names of Quadrants and Taichi: a program may import and mention them; using one raises an error with the
reason."""

from __future__ import annotations

from samovar.errors import SamovarError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

_QUANTIZED = "there are no quantized types"
_MESHES = "there are no meshes"
_MODULES = "Samovar has no ahead-of-time modules; `samovar cache export` exports compiled kernels"

#: Module → names → why they are not supported. The table for `taichi` adds Taichi's own.
_ABSENT = {
    "quadrants": {
        "": {
            "get_addr": "elements have no addresses in kernels",
            **dict.fromkeys("Mesh MeshInstance mesh_patch_idx".split(), _MESHES),
            "BitpackedFields": _QUANTIZED,
            "SNode": "use `sv.FieldsBuilder` to place fields",
        },
        "types.quant": dict.fromkeys(("fixed", "float", "int"), _QUANTIZED),
    },
    "taichi": {
        "aot": dict.fromkeys(("Module", "start_recording", "stop_recording", "export", "export_as"), _MODULES),
    },
}


def absent_names(package: str, inner: str) -> dict[str, Callable[[Any], Any]]:
    """Return placeholders for the unsupported names of a module."""
    found = dict(_ABSENT["quadrants"].get(inner, {}))
    if package == "taichi":
        found |= _ABSENT["taichi"].get(inner, {})
    where = ".".join(filter(None, (package, inner)))
    return {name: _standing_for(f"{where}.{name}", reason) for name, reason in found.items()}


def _standing_for(path: str, reason: str) -> Callable[[Any], Any]:
    name = path.rpartition(".")[2]
    if name[0].isupper():
        return lambda peer: _AbsentClass(name, (), {"__doc__": reason, "_path": path, "_reason": reason})

    def absent(*arguments: Any, **keywords: Any) -> NoReturn:
        raise SamovarError(f"{path} is not supported: {reason}")

    absent.__name__ = absent.__qualname__ = name
    return lambda peer: absent


class _AbsentClass(type):
    """A class without instances, so that programs can name it and use it with `isinstance`."""

    _path: str
    _reason: str

    def __call__(cls, *arguments: Any, **keywords: Any) -> NoReturn:
        raise SamovarError(f"{cls._path} is not supported: {cls._reason}")

    def __getattr__(cls, name: str) -> NoReturn:
        raise AttributeError(f"{cls._path}.{name}: {cls._path} is not supported: {cls._reason}")
