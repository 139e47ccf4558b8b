"""Stable structural fingerprints of Python objects, and steps cached by them.

The room stands on its own: it needs the standard library and `samovar._native`, and knows nothing of kernels.
"""

from samovar.fingerprint.cached_step import CachedStep
from samovar.fingerprint.deconstruction import (
    Deconstruction,
    EmptyDeconstruction,
    OrderInsensitiveDeconstruction,
    metadata,
)
from samovar.fingerprint.differences import Difference, difference
from samovar.fingerprint.file_cache import FileCache
from samovar.fingerprint.fingerprinter import (
    Fingerprinter,
    lenient_fingerprinter,
    make_fingerprinter,
    stable_fingerprinter,
)
from samovar.fingerprint.registry import Deconstructor, make_deconstructor
from samovar.fingerprint.traversal import catabolize
from samovar.fingerprint.version import build_cache_version_id

__all__ = [
    "CachedStep",
    "Deconstruction",
    "Deconstructor",
    "Difference",
    "EmptyDeconstruction",
    "FileCache",
    "Fingerprinter",
    "OrderInsensitiveDeconstruction",
    "build_cache_version_id",
    "catabolize",
    "difference",
    "lenient_fingerprinter",
    "make_deconstructor",
    "make_fingerprinter",
    "metadata",
    "stable_fingerprinter",
]
