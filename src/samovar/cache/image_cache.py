"""Images by LLVM text: caches the last step of the compiler, which skips LLVM where only Python code changed."""

from __future__ import annotations

from samovar.cache.entry import Damaged, sealed, unsealed
from samovar.cache.salt import salt
from samovar.lens import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.cache.store import Store


class CodeCache:
    """The results of a `CachedStep`, kept in a store."""

    #: Keys have to be valid in every process.
    persistent = True

    def __init__(self, store: Store) -> None:
        self.store = store

    def get(self, key: str, default: Any) -> Any:
        """Return the image of a key, or the default."""
        salted = self._salted(key)
        found = self.store.read("code", salted)
        try:
            return default if found is None else image_of(salted, found)
        except Damaged:
            self.store.reject("code", salted)
            return default

    def __setitem__(self, key: str, image: bytes) -> None:
        # With the toolchain fingerprint, so that maintenance recognizes images of other versions.
        salted = self._salted(key)
        self.store.write("code", salted, (salt(), sealed((salted, image))))

    @staticmethod
    def _salted(key: str) -> str:
        return digest([salt(), "code", key])


def image_of(key: str, data: tuple[str, bytes]) -> bytes:
    """Return the image in the entry of a key."""
    found_key, image = unsealed(data[1], "(SY)")
    if found_key != key:
        raise Damaged(f"its image belongs to {found_key}")
    assert isinstance(image, bytes)
    return image


_last: list[CodeCache] = []


def code_cache(store: Store) -> CodeCache:
    """Return the cache in a store, one per store."""
    if not _last or _last[0].store is not store:
        _last[:] = [CodeCache(store)]
    return _last[0]
