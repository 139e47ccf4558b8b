"""The version that is part of every cache key, so that no entry outlives the code that made it.

A warm start reads it as well, so nothing costly is imported here.
"""

from __future__ import annotations

import os

import samovar
from samovar._native import BUILD, plain_digest

__all__ = ["build_cache_version_id"]

#: Set to share entries between versions, or to separate them.
ENVIRONMENT_VARIABLE = "SAMOVAR_BUILD_CACHE_VERSION_ID"
_INSTALLED = ("site-packages", "dist-packages")
_known: list[str] = []


def build_cache_version_id() -> str:
    """The version of Samovar with a digest of the sources it was built from, or `SAMOVAR_BUILD_CACHE_VERSION_ID` if set.

    In an editable installation the sources change without a new build, so a digest of their sizes and times is used.

    >>> import os
    >>> from samovar.fingerprint import build_cache_version_id
    >>> os.environ["SAMOVAR_BUILD_CACHE_VERSION_ID"] = "nightly"
    >>> build_cache_version_id()
    'nightly'
    >>> del os.environ["SAMOVAR_BUILD_CACHE_VERSION_ID"]
    """
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    if chosen:
        return chosen
    if not _known:
        _known.append(_installed_version())
    return _known[0]


def _installed_version() -> str:
    package = os.path.dirname(os.path.abspath(samovar.__file__))
    if os.path.basename(os.path.dirname(package)) in _INSTALLED:
        return f"{samovar.__version__}+{BUILD}"
    return f"{samovar.__version__}+{_tree_digest(package)}"


def _tree_digest(package: str) -> str:
    """A digest, over all files of the package, of what Python uses to decide whether a module has changed."""
    found = []
    pending = [package]
    while pending:
        directory = pending.pop()
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        pending.append(entry.path)
                elif entry.name.endswith((".py", ".so")):
                    status = entry.stat()
                    found.append((entry.path[len(package) :], status.st_size, status.st_mtime_ns))
    return plain_digest(tuple(sorted(found)))
