"""The toolchain fingerprint (`salt`): everything about this installation and machine that compiled code depends on.

It is part of every key, so that a process never finds an artifact that it could not have compiled itself.
"""

from __future__ import annotations

import os
import sys
from _frozen_importlib_external import MAGIC_NUMBER

from samovar import _native
from samovar.cache.entry import FORMAT
from samovar.language import options_in_force
from samovar.lens import digest
from samovar.version import build_cache_version_id

_parts: dict[tuple[str, str], dict[str, str]] = {}
#: The parts that depend on the target.
_OF_TARGET = ("cpu", "cpu features")


def salt_parts(target: str | None = None) -> dict[str, str]:
    """Return the toolchain fingerprint for a target, by default that of the options, in readable form. The version can be
    overridden at any time; the rest is determined once."""
    chosen = build_cache_version_id(), options_in_force().target if target is None else target
    if chosen not in _parts:
        _parts[chosen] = _determined(*chosen)
    return dict(_parts[chosen])


def base_parts() -> dict[str, str]:
    """Return the part of the toolchain fingerprint that all targets share."""
    return {name: value for name, value in salt_parts().items() if name not in _OF_TARGET}


def _determined(version: str, target: str) -> dict[str, str]:
    if target:
        from samovar.language import target_processor

        cpu, features = target_processor(target)
    else:
        cpu, features = _native.cpu_name(), _native.cpu_features()
    return {
        "format": str(FORMAT),
        "samovar": version,
        "native": str(_native.ABI),
        **{name: _library_version(name) for name in LIBRARIES},
        "python": f"{sys.implementation.cache_tag} {MAGIC_NUMBER.hex()}",
        "system": f"{sys.platform} {os.uname().machine} {_c_library_version()}",
        "cpu": cpu,
        "cpu features": " ".join(sorted(name for name, there in features.items() if there)),
    }


_known: dict[tuple[str, str], str] = {}


def salt(target: str | None = None) -> str:
    """Return the toolchain fingerprint for a target, by default that of the options, as a part of keys."""
    chosen = build_cache_version_id(), options_in_force().target if target is None else target
    found = _known.get(chosen)
    if found is None:
        found = _known[chosen] = digest([tuple(salt_parts(chosen[1]).items())])
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
