"""Stable structural fingerprints of Python objects, and steps cached by them.

The package is independent of kernels: it needs only the standard library, `samovar._native` and `samovar.reflection`.
Names are imported lazily.
"""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.fingerprint.cached_step import CachedStep, StepCache, build_cache_version_id
    from samovar.fingerprint.deconstruction import (
        Deconstruction,
        EmptyDeconstruction,
        OrderInsensitiveDeconstruction,
        metadata,
    )
    from samovar.fingerprint.differences import Difference, difference
    from samovar.fingerprint.entry_files import (
        files_in,
        is_temporary,
        make_folder,
        publish_file,
        remove_file,
        sweep_temporaries,
    )
    from samovar.fingerprint.file_cache import FileCache
    from samovar.fingerprint.fingerprinter import (
        Fingerprinter,
        lenient_fingerprinter,
        make_fingerprinter,
        stable_fingerprinter,
    )
    from samovar.fingerprint.flights import compute_once
    from samovar.fingerprint.names import by_verified_name
    from samovar.fingerprint.registry import Deconstructor, make_deconstructor
    from samovar.fingerprint.traversal import catabolize
else:
    __getattr__, _ = _lazy_exports(
        globals(),
        {
            "cached_step": "CachedStep StepCache build_cache_version_id",
            "deconstruction": "Deconstruction EmptyDeconstruction OrderInsensitiveDeconstruction metadata",
            "differences": "Difference difference",
            "entry_files": "files_in is_temporary make_folder publish_file remove_file sweep_temporaries",
            "file_cache": "FileCache",
            "fingerprinter": "Fingerprinter lenient_fingerprinter make_fingerprinter stable_fingerprinter",
            "flights": "compute_once",
            "names": "by_verified_name",
            "registry": "Deconstructor make_deconstructor",
            "traversal": "catabolize",
        },
        modules=(),
    )

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
    "by_verified_name",
    "catabolize",
    "difference",
    "lenient_fingerprinter",
    "make_deconstructor",
    "make_fingerprinter",
    "metadata",
    "stable_fingerprinter",
]


def __dir__() -> list[str]:
    return __all__  # the rest is for other packages of Samovar
