"""What a peer calls otherwise, and what its programs reach for inside of it: module → name → what gives the value.

A name that stands under `lang` is found in every module of it: where a peer keeps it has changed between its versions.
"""

from __future__ import annotations

from functools import cache

import samovar
from samovar.compat import log_functions, process_state, type_conversions
from samovar.compat.absent_names import absent_names
from samovar.compat.initialising import init_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from samovar.compat.peers import Peer

    Names = dict[str, Callable[[Peer], Any]]

_ERRORS = ("Assertion", "Compilation", "Index", "Name", "Runtime", "RuntimeType", "Syntax", "Type")


@cache
def own_names(peer: Peer, inner: str) -> Names:
    """The names of a module that do not stand under the same name in Samovar."""
    found: Names = {}
    if not inner or inner.startswith("lang"):
        found |= {f"{peer.title}{kind}Error": _samovar(f"Samovar{kind}Error") for kind in _ERRORS}
        found |= {"init": init_of}
    if inner.startswith("lang"):
        found |= {name: _constant(value) for name, value in process_state.NAMES.items()}
        found |= {f"Py{peer.title}": _constant(process_state.Runtime), "pytaichi": _constant(process_state.runtime)}
        found |= {name: _constant(value) for name, value in type_conversions.NAMES.items()}
        found |= {name.replace("samovar", peer.package): _constant(value) for name, value in type_conversions.TITLED.items()}
    if inner == "ad":
        found["no_grad"] = _constant(_unchanged)
    if inner in ("lang", "lang.misc"):
        found["is_extension_supported"] = _constant(samovar.extension.is_supported)
    if inner == "types.primitive_types":
        found |= {name: _constant(value) for name, value in type_conversions.GROUPS.items()}
    if inner == "_logging":
        found |= {name: _constant(value) for name, value in log_functions.NAMES.items()}
    if inner in ("_lib", "_lib.core"):
        found |= {name: _constant(value) for name, value in process_state.CORE.items()}
    return {**absent_names(peer.package, inner), **found}


def _unchanged(function: Any) -> Any:
    """What takes no derivatives of a function: there are none."""
    return function


def _samovar(name: str) -> Callable[[Peer], Any]:
    return lambda peer: getattr(samovar, name)


def _constant(value: Any) -> Callable[[Peer], Any]:
    return lambda peer: value
