"""The offline cache of compiled kernels: keys, the store, and explanations of cache misses.

It has two levels. A decision tree per kernel (its key: toolchain fingerprint and code) leads from answers to the artifact
compiled for them. Below, images are cached by the LLVM text they were compiled from. Importing this package imports nothing
of the compiler.
"""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.cache.artifacts import unpacked_fills
    from samovar.cache.bundle import Bundle, BundleError
    from samovar.cache.catalog import Item, kernels
    from samovar.cache.compile_lock import CompileLock
    from samovar.cache.entry import MISREADINGS, Damaged
    from samovar.cache.eviction import prune
    from samovar.cache.explain import mismatch_of, reason
    from samovar.cache.export_import import export_bundle, import_bundle, incompatibility
    from samovar.cache.image_cache import CodeCache, code_cache
    from samovar.cache.kernel_cache import Library, Record, StoredTree, artifact_key, open_library
    from samovar.cache.leaves import StoredLeaf, leaf_entries, opened_leaf
    from samovar.cache.salt import LIBRARIES, base_parts, installed_library, salt_parts
    from samovar.cache.similar_kernels import Comparison, comparisons
    from samovar.cache.statistics import Statistics, read_statistics, write_statistics
    from samovar.cache.store import KINDS, Store, directory_of
    from samovar.cache.trust import distrust, untrusted_folder, untrusted_parent
    from samovar.cache.tuning import read_choice, write_choice
    from samovar.cache.verification import Verification
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "artifacts": "unpacked_fills",
            "bundle": "Bundle BundleError",
            "catalog": "Item kernels",
            "tuning": "read_choice write_choice",
            "image_cache": "CodeCache code_cache",
            "compile_lock": "CompileLock",
            "entry": "Damaged MISREADINGS",
            "export_import": "export_bundle import_bundle incompatibility",
            "explain": "mismatch_of reason",
            "kernel_cache": "Library Record StoredTree artifact_key open_library",
            "eviction": "prune",
            "leaves": "StoredLeaf leaf_entries opened_leaf",
            "salt": "LIBRARIES base_parts installed_library salt_parts",
            "similar_kernels": "Comparison comparisons",
            "statistics": "Statistics read_statistics write_statistics",
            "store": "KINDS Store directory_of",
            "trust": "distrust untrusted_folder untrusted_parent",
            "verification": "Verification",
        },
    )
