"""The `init` of another library: Samovar's, which also reads the library's environment variables and checks its version."""

from __future__ import annotations

import os
import re

import samovar
from samovar.compat.kernel_profiler import watch
from samovar.errors import SamovarError
from samovar.runtime import options_in, say_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from samovar.compat.peers import Peer


def init_of(peer: Peer) -> Callable[..., None]:
    """Return the function `init` of a library."""

    def init(arch: Any = None, default_fp: Any = None, default_ip: Any = None, *rest: Any, **options: Any) -> None:
        given = {**dict(zip(_FURTHER, rest, strict=False)), **options}
        if given.get("require_version") is not None:
            _require(peer, str(given.pop("require_version")))
        arch = [str(each) for each in arch] if isinstance(arch, (list, tuple)) else arch if arch is None else str(arch)
        first = {"arch": arch, "default_fp": default_fp, "default_ip": default_ip}
        given |= {name: value for name, value in first.items() if value is not None}
        used = options_in(os.environ, peer.variables, given)
        # Theirs is a flag, ours a directory.
        if used.pop("dump_ir", "") == "1":
            used["dump_ir"] = given.pop("debug_dump_path", "") or used.pop("debug_dump_path", "") or _DUMPS
        samovar.init(**{**_HABITS, **used, **given})
        watch(bool({**used, **given}.get("kernel_profiler")))
        for name in used:
            say_once(f"{peer.variables}{name.upper()} is set and takes effect, as in {peer.package}")

    init.__doc__ = samovar.init.__doc__
    return init


#: Where Quadrants writes dumps.
_DUMPS = "/tmp/ir"
#: Defaults of Quadrants and Taichi.
_HABITS = {
    "shared_variables": "serial",
    "printed_numbers": "c",
    "float_bounds": "truncate",
    "wide_arguments": "wrap",
    "literal_locals": "first",
    "vector_truth": "entries",
    "nested_structs": "first",
    "missing_returns": "zero",
    "flush_denormals": True,
    "field_margin": 4096,
    "lost_gradients": "zero",
    "overwritten_values": "last",
    "rounded_halves": "away",
}
#: Positional parameters after the first three.
_FURTHER = ("_test_mode", "enable_fallback", "require_version", "print_non_pure", "src_ll_cache")


def _require(peer: Peer, text: str) -> None:
    """Check the library version that a program requires."""
    wanted = [tuple(map(int, each.split("."))) for each in re.findall(r"\d+(?:\.\d+)*", text)]
    if wanted and max(wanted) > peer.version and not re.search(r"[<!]", text):
        offered = ".".join(map(str, peer.version))
        raise SamovarError(f"init(require_version={text!r}): Samovar provides the names of {peer.package} {offered}")
