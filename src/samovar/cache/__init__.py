"""Keeping compiled kernels: keys, the store, and what is known about why something was compiled.

Two levels. A decision tree per kernel (salt and code → what to ask) leads to the artifact of a kernel and its answers. Below
them, images are kept by what LLVM was given. Importing this room imports nothing of the compiler.
"""

from __future__ import annotations

from samovar import _door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.cache.artifacts import unpacked_fills
    from samovar.cache.bundle import Bundle, BundleError
    from samovar.cache.catalogue import Item, kernels
    from samovar.cache.choices import read_choice, write_choice
    from samovar.cache.code import CodeCache, code_cache
    from samovar.cache.compile_lock import CompileLock
    from samovar.cache.entry import MISREADINGS
    from samovar.cache.exchange import export_bundle, import_bundle, refusal
    from samovar.cache.explain import mismatch_of, reason
    from samovar.cache.library import Library, Record, StoredTree, artifact_key, open_library
    from samovar.cache.pruning import prune
    from samovar.cache.salt import LIBRARIES, installed_library, salt_parts
    from samovar.cache.similar_kernels import Comparison, comparisons
    from samovar.cache.statistics import Statistics, read_statistics, write_statistics
    from samovar.cache.store import KINDS, Store, directory_of
    from samovar.cache.trust import refused_folder, refused_parent
    from samovar.cache.verification import Verification
else:
    __getattr__, __dir__ = _door(
        globals(),
        {
            "artifacts": "unpacked_fills",
            "bundle": "Bundle BundleError",
            "catalogue": "Item kernels",
            "choices": "read_choice write_choice",
            "code": "CodeCache code_cache",
            "compile_lock": "CompileLock",
            "entry": "MISREADINGS",
            "exchange": "export_bundle import_bundle refusal",
            "explain": "mismatch_of reason",
            "library": "Library Record StoredTree artifact_key open_library",
            "pruning": "prune",
            "salt": "LIBRARIES installed_library salt_parts",
            "similar_kernels": "Comparison comparisons",
            "statistics": "Statistics read_statistics write_statistics",
            "store": "KINDS Store directory_of",
            "trust": "refused_folder refused_parent",
            "verification": "Verification",
        },
    )
