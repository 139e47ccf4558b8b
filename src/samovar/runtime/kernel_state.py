"""The state of a kernel besides its specializations: its declaration, known traces, and observations."""

from __future__ import annotations

from _thread import RLock
from _weakref import ref

from samovar.language import ScalarAnnotation
from samovar.lens import MOST_LEAVES, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from samovar.cache import StoredTree
    from samovar.language import KernelSignature
    from samovar.lens import Leaf, Path, Trace
    from samovar.runtime.loaded_kernel import LoadedKernel


class CacheObservations:
    """What the cache did when a specialization of a kernel was last needed, and how often it did so.

    `cache_key_generated`: the kernel has a key. `cache_validated`: the answers for the arguments lead to an artifact.
    `cache_loaded`: it was loaded. `cache_stored`: it was compiled and stored. `reason` explains why one of them is false.
    `lookups`, `loads`, `compiles` and `stores` count over all calls. Launches of a specialization that is already in the
    process do not use the cache and change nothing here.
    """

    # In the class, so that the object of a kernel is free until something happens.
    lookups = 0
    loads = 0
    compiles = 0
    stores = 0
    cache_key_generated = False
    cache_validated = False
    cache_loaded = False
    cache_stored = False
    reason = ""

    def begin(self) -> None:
        """Reset for a new lookup."""
        self.cache_key_generated = False
        self.cache_validated = False
        self.cache_loaded = False
        self.cache_stored = False
        self.reason = ""

    def __repr__(self) -> str:
        names = [name for name, value in vars(CacheObservations).items() if isinstance(value, (int, str)) and name[0] != "_"]
        return f"CacheObservations({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"


class KernelState:
    """The state of one kernel. Changing it requires `lock`."""

    __slots__ = (
        "_known", "_others", "_warned", "fastcache", "holder", "lock", "observations", "reason", "signature",
        "takes_many_types", "takes_numbers",
    )  # fmt: skip

    def __init__(self, signature: KernelSignature, fastcache: bool) -> None:
        self.signature = signature
        #: Whether the kernel is declared to capture no values.
        self.fastcache = fastcache
        #: Whether it has a number parameter, whose range must be checked.
        self.takes_numbers = ScalarAnnotation in [type(each.annotation) for each in signature.parameters]
        #: Whether it is meant to be compiled for many types, as the kernels of ufuncs are.
        self.takes_many_types = False
        self.lock = RLock()
        #: The thread that holds it, or 0.
        self.holder = 0
        self._warned: set[object] | None = None
        #: Why it was last compiled; "" if it was not.
        self.reason = ""
        self.observations = CacheObservations()
        self._known: Known | None = None
        #: By target, other than that of the options.
        self._others: dict[str, Known] | None = None

    @property
    def warned(self) -> set[object]:
        """What has been reported about the kernel, to report it once."""
        if self._warned is None:
            self._warned = set()
        return self._warned

    @property
    def known(self) -> Known:
        """What is known under the current options."""
        if self._known is None:
            self._known = Known()
        return self._known

    def known_for(self, target: str) -> Known:
        """What is known about the code for another target."""
        if self._others is None:
            self._others = {}
        return self._others.setdefault(target, Known())

    def forget(self) -> None:
        """Drop what is known, because the options have changed."""
        self._known = self._others = None

    def renew_lock(self) -> None:
        """In a forked child, the thread that held the lock no longer exists."""
        self.lock, self.holder = RLock(), 0


class WayInStore:
    """Returns the questions on the path to a leaf of a tree in the store."""

    __slots__ = ("_leaf", "_reread", "_stored")

    def __init__(self, stored: StoredTree, leaf: str, reread: Mapping[int, Any]) -> None:
        self._stored = stored
        self._leaf = leaf
        self._reread = reread

    def __call__(self) -> Trace:
        return self._stored.trace(self._leaf, self._reread)


class Known:
    """What the process knows of a kernel under the current options: its decision tree, and what is loaded."""

    __slots__ = ("_tree", "compiled", "identity", "key", "stored", "unstored")

    def __init__(self) -> None:
        #: The tree, where it differs from the one in the store.
        self._tree: Tree | None = None
        self.stored: StoredTree | None = None
        #: By the key of the artifact. Specializations keep them alive.
        self.compiled: dict[str, ref[LoadedKernel]] = {}
        #: The key of the tree in the store, and the version of the file last read.
        self.key: str | None = None
        self.identity: tuple[int, ...] | None = None
        #: What was compiled here and is not in the store's tree, up to the size limit of a tree.
        self.unstored: list[tuple[Trace, str, tuple[Path, ...]]] = []

    def is_empty(self) -> bool:
        """Whether there is nothing to ask yet."""
        return self.stored is None and (self._tree is None or self._tree.root is None)

    @property
    def tree(self) -> Tree:
        """The decision tree."""
        if self.stored is not None:
            return self.stored.unfolded()
        if self._tree is None:
            self._tree = Tree()
        return self._tree

    @tree.setter
    def tree(self, tree: Tree) -> None:
        self._tree, self.stored = tree, None

    def add(self, trace: Trace, key: str, paths: tuple[Path, ...], compiled: LoadedKernel) -> None:
        """Add something that was compiled."""
        self._grow([(trace, key, paths)])
        self.compiled = {known: each for known, each in self.compiled.items() if each() is not None}
        self.compiled[key] = ref(compiled)

    def add_unstored(self, trace: Trace, key: str, paths: tuple[Path, ...]) -> None:
        """Add something that the store does not have."""
        self.unstored.append((trace, key, paths))
        del self.unstored[:-MOST_LEAVES]

    def take(self, stored: StoredTree) -> None:
        """Use the store's tree from now on."""
        self.stored, self._tree, self.identity = stored, None, stored.identity
        if self.unstored:
            self._grow(self.unstored)

    def _grow(self, found: Sequence[tuple[Trace, str, tuple[Path, ...]]]) -> None:
        tree = self.tree
        for trace, key, paths in found:
            tree.add(trace, key, paths)
        self.tree = tree

    def way_to(self, leaf: Leaf, reread: Mapping[int, Any]) -> Callable[[], Trace]:
        """A function that returns the questions on the path to a leaf."""
        if self.stored is not None:
            return WayInStore(self.stored, leaf.key, reread)
        trace = self.tree.trace(leaf.steps, reread)
        return lambda: trace
