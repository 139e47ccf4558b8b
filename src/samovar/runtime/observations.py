"""What the cache did for a kernel."""

from __future__ import annotations


class CacheObservations:
    """What the cache did when a specialisation of a kernel was last needed, and how often it did so.

    `cache_key_generated`: the kernel has a key. `cache_validated`: the answers of the present arguments lead to an artifact.
    `cache_loaded`: it was loaded. `cache_stored`: it was compiled and stored. `reason` says why one of them is false.
    `lookups`, `loads`, `compiles` and `stores` count over all calls. Launches that a specialisation in the process is there
    for ask no cache and change nothing here.
    """

    def __init__(self) -> None:
        self.lookups = 0
        self.loads = 0
        self.compiles = 0
        self.stores = 0
        self.begin()

    def begin(self) -> None:
        """Nothing is known of this lookup yet."""
        self.cache_key_generated = False
        self.cache_validated = False
        self.cache_loaded = False
        self.cache_stored = False
        self.reason = ""

    def __repr__(self) -> str:
        return f"CacheObservations({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"
