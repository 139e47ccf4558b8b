"""The toolchain fingerprint (`salt`): everything about this installation and machine that compiled code depends on.

It is part of every key, so that a process never finds an artifact that it could not have compiled itself.
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
    """Return the toolchain fingerprint in readable form. The version can be overridden at any time; the rest is determined
    once."""
    version = build_cache_version_id()
    if version not in _parts:
        _parts[version] = _determined(version)
    return dict(_parts[version])


def _determined(version: str) -> dict[str, str]:
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
    """Return the toolchain fingerprint as a part of keys."""
    version = build_cache_version_id()
    found = _known.get(version)
    if found is None:
        found = _known[version] = digest([tuple(salt_parts().items())])
    return found


#: The libraries that backends compile with, as their `salt` lists them. Repeated here because a process that compiles
#: nothing does not load backends.
LIBRARIES = ("llvmlite",)

_libraries: dict[str, tuple[str, bytes] | None] = {}


def installed_library(name: str) -> tuple[str, bytes] | None:
    """Return the directory of a library, without importing it, and the text of its version; None if it is not in a
    directory. Searched once: the fingerprint and later imports have to refer to the same installation."""
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
    """Return the version of a library, such as llvmlite, which contains LLVM."""
    found = installed_library(name)
    return "none" if found is None else digest([found[1]])[:16]


def _c_library_version() -> str:
    """Return the version of the C library, which determines the available vector functions."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, ValueError, OSError):
        return ""
