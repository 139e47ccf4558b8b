"""The salt: everything about this installation and this machine that compiled code depends on.

It is part of every key, so that an artifact is never found by a process that could not have made it.
"""

from __future__ import annotations

import os
import sys
from _frozen_importlib_external import MAGIC_NUMBER

from samovar import _native
from samovar.cache.entry import FORMAT
from samovar.lens import digest
from samovar.version import build_cache_version_id

_parts: dict[str, dict[str, str]] = {}


def salt_parts() -> dict[str, str]:
    """The salt in readable form. The version can be overridden at any time; the rest is found out once."""
    version = build_cache_version_id()
    if version not in _parts:
        _parts[version] = _found_out(version)
    return dict(_parts[version])


def _found_out(version: str) -> dict[str, str]:
    features = _native.cpu_features()
    return {
        "format": str(FORMAT),
        "samovar": version,
        "native": str(_native.ABI),
        **{name: _library_version(name) for name in LIBRARIES},
        "python": f"{sys.implementation.cache_tag} {MAGIC_NUMBER.hex()}",
        "system": f"{sys.platform} {os.uname().machine} {_c_library_version()}",
        "cpu": _native.cpu_name(),
        "cpu features": " ".join(sorted(name for name, there in features.items() if there)),
    }


_known: dict[str, str] = {}


def salt() -> str:
    """The salt as a part of keys."""
    version = build_cache_version_id()
    found = _known.get(version)
    if found is None:
        found = _known[version] = digest([tuple(salt_parts().items())])
    return found


#: What backends compile with: what their `salt` says. It is said here again because a process that compiles nothing does not
#: load them.
LIBRARIES = ("llvmlite",)

_libraries: dict[str, tuple[str, bytes] | None] = {}


def installed_library(name: str) -> tuple[str, bytes] | None:
    """The directory in which a library is found, without importing it, and the text of its version; None if it is not in a
    directory. Looked for once: the salt and whoever imports it have to mean the same."""
    if name not in _libraries:
        _libraries[name] = _found_in_path(name)
    return _libraries[name]


def _found_in_path(name: str) -> tuple[str, bytes] | None:
    for directory in sys.path:
        try:
            with open(os.path.join(directory, name, "_version.py"), "rb") as file:
                return os.path.abspath(directory), file.read()
        except OSError:
            continue
    return None


def _library_version(name: str) -> str:
    """The version of a library: of llvmlite, which brings LLVM."""
    found = installed_library(name)
    return "none" if found is None else digest([found[1]])[:16]


def _c_library_version() -> str:
    """The C library decides which vector functions may be called."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, ValueError, OSError):
        return ""
