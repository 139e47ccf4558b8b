"""The version that salts every key of a cached step, so that no entry outlives the code that made it."""

from __future__ import annotations

import functools
import hashlib
import os

__all__ = ["build_cache_version_id"]

#: Set to force entries to be shared between versions, or to be separated.
ENVIRONMENT_VARIABLE = "SAMOVAR_BUILD_CACHE_VERSION_ID"


def build_cache_version_id() -> str:
    """The version of Samovar, or what `SAMOVAR_BUILD_CACHE_VERSION_ID` says instead.

    In an editable installation the sources change while the version stays, so a digest of them is added.

    >>> import os
    >>> from samovar.fingerprint import build_cache_version_id
    >>> os.environ["SAMOVAR_BUILD_CACHE_VERSION_ID"] = "nightly"
    >>> build_cache_version_id()
    'nightly'
    >>> del os.environ["SAMOVAR_BUILD_CACHE_VERSION_ID"]
    """
    return os.environ.get(ENVIRONMENT_VARIABLE) or _installed_version()


@functools.cache
def _installed_version() -> str:
    # Imported late: it costs more than the rest of the room, and only cached steps need it.
    import importlib.metadata
    import json

    try:
        distribution = importlib.metadata.distribution("samovar")
    except importlib.metadata.PackageNotFoundError:
        return f"source+{_package_digest()}"
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        return f"{distribution.version}+{_package_digest()}"
    return distribution.version


def _package_digest() -> str:
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    digest = hashlib.blake2b(digest_size=16)
    for directory, subdirectories, names in os.walk(root):
        subdirectories.sort()
        for name in sorted(names):
            if name.endswith((".py", ".c", ".h")):
                path = os.path.join(directory, name)
                with open(path, "rb") as file:
                    content = hashlib.blake2b(file.read()).digest()
                digest.update(os.path.relpath(path, root).encode("utf-8", "surrogateescape") + b"\0" + content)
    return digest.hexdigest()
