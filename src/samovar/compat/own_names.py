"""Names that differ from Samovar's, and internals that programs access: module → name → factory of the value.

A name under `lang` is found in every module of it, because its place has changed between versions of the library.
"""

from __future__ import annotations

from functools import cache

import samovar
from samovar.compat import (
    architectures,
    argument_packs,
    kernel_profiler,
    launch_lists,
    log_functions,
    process_state,
    sparse_grids,
    type_conversions,
    view_types,
)
from samovar.compat.absent_names import absent_names
from samovar.compat.initializing import init_of
from samovar.compat.kernel_decorator import kernel_of
from samovar.compat.peer_test_tools import MODULES as TEST_TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from samovar.compat.peers import Peer

    Names = dict[str, Callable[[Peer], Any]]

_ERRORS = ("Assertion", "Compilation", "Name", "Runtime", "RuntimeType", "Syntax", "Type")


@cache
def own_names(peer: Peer, inner: str) -> Names:
    """Return the names of a module that Samovar does not have under the same name."""
    found: Names = {}
    if not inner or inner.startswith("lang"):
        found |= {f"{peer.title}{kind}Error": _samovar(f"Samovar{kind}Error") for kind in _ERRORS}
        found |= {"init": init_of, "kernel": kernel_of}
        found |= {name: _constant(value) for name, value in architectures.VALUES.items()}
        found[f"{peer.title}IndexError"] = _samovar("SamovarAxesError")
        found["Format"] = _of_textures("Format")
        found["deactivate_all_snodes"] = lambda peer: samovar.root.deactivate_all
    if inner.startswith("lang"):
        found |= {name: _constant(value) for name, value in process_state.NAMES.items()}
        found |= {name: _constant(value) for name, value in architectures.NAMES.items()}
        found |= {f"Py{peer.title}": _constant(process_state.Runtime), "pytaichi": _constant(process_state.runtime)}
        found |= {name: _constant(value) for name, value in type_conversions.NAMES.items()}
        found |= {name.replace("samovar", peer.package): _constant(value) for name, value in type_conversions.TITLED.items()}
    if inner in ("lang", "lang.misc"):
        found["is_extension_supported"] = _constant(samovar.extension.is_supported)
    if inner.partition(".")[0] == "sparse":
        found |= {name: _constant(value) for name, value in sparse_grids.NAMES.items()}
    if inner in ("types", "types.buffer_view_type"):
        found["BufferViewType"] = _constant(view_types.BufferViewType)
    if inner == "types.primitive_types":
        found |= {name: _constant(value) for name, value in type_conversions.GROUPS.items()}
    if inner == "_logging":
        found |= {name: _constant(value) for name, value in log_functions.NAMES.items()}
    if inner.partition(".")[0] == "_lib":
        found |= {name: _constant(value) for name, value in (process_state.CORE | architectures.CORE).items()}
        found |= {f"get_version_{part}": _version(place) for place, part in enumerate(("major", "minor", "patch"))}
    if inner.partition(".")[0] == "profiler":
        found |= {name: _constant(value) for name, value in kernel_profiler.NAMES.items()}
    if inner == "types.enums":
        found |= {name: _constant(value) for name, value in architectures.ENUMERATIONS.items()}
    if inner.partition(".")[0] == "_test_tools":
        found |= {name: _constant(value) for name, value in TEST_TOOLS[inner.partition(".")[2]].items()}
    if peer.package == "taichi":
        if inner == "graph":
            found |= {name: _constant(value) for name, value in launch_lists.NAMES.items()}
        found |= {name: _drawing(name) for name in _DRAWING.get(inner, ())}
        if not inner or inner.startswith("lang"):
            found["Texture"] = _of_textures("Texture")
            found["ArgPack"] = _constant(argument_packs.ArgPack)
        if inner in ("types", "lang.argpack"):
            found["argpack"] = _constant(argument_packs.argpack)
        if inner in ("types", "types.texture_type"):
            found |= {name: _of_textures(name) for name in ("RWTextureType", "TextureType", "rw_texture", "texture")}
    return {**absent_names(peer.package, inner), **found}


#: Names for drawing, which import NumPy on first use.
_IMAGE_TOOLS = ("imdisplay", "imread", "imresize", "imshow", "imwrite")
_WINDOWS = tuple(
    "ALT BACKSPACE CAPSLOCK CTRL Camera Canvas DOWN ESCAPE Gui LEFT LMB MMB PRESS ProjectionMode RELEASE RETURN RIGHT RMB "
    "SHIFT SPACE Scene TAB UP Window check_ggui_availability make_camera".split()
)
_DRAWING = {
    "": ("GUI", "hex_to_rgb", "rgb_to_hex"),
    "tools": (*_IMAGE_TOOLS, "VideoManager"),
    "tools.image": _IMAGE_TOOLS,
    "tools.video": ("VideoManager",),
    "ui": (*_WINDOWS, "GUI"),
    "ui.gui": ("GUI",),
}


def _drawing(name: str) -> Callable[[Peer], Any]:
    def found(peer: Peer) -> Any:
        from samovar.compat import drawing

        if name in _IMAGE_TOOLS:
            return drawing.IMAGE_TOOLS[name]
        if name == "GUI":
            return samovar.ui.GUI
        return drawing.WINDOW_NAMES[name] if name in _WINDOWS else getattr(drawing, name)

    return found


def _of_textures(name: str) -> Callable[[Peer], Any]:
    def found(peer: Peer) -> Any:
        from samovar.compat import textures

        return textures.NAMES[name]

    return found


def _version(place: int) -> Callable[[Peer], Any]:
    return lambda peer: lambda: peer.version[place]


def _samovar(name: str) -> Callable[[Peer], Any]:
    return lambda peer: getattr(samovar, name)


def _constant(value: Any) -> Callable[[Peer], Any]:
    return lambda peer: value
