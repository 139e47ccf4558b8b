"""From arguments to a specialization: look in the process, then in the store, then compile.

The compiler is imported only for the last of the three.
"""

from __future__ import annotations

from _weakref import ref
from time import perf_counter

from samovar.cache import MISREADINGS
from samovar.language import ScalarAnnotation, do_lines_count
from samovar.lens import Leaf, Miss, Replay, Tree, code_answer
from samovar.runtime import process_cache
from samovar.runtime.configuration import warn_once
from samovar.runtime.loaded_kernel import LoadedKernel, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar import _native
    from samovar.artifact import Artifact
    from samovar.cache import Library
    from samovar.language import Options
    from samovar.lens import Mismatch
    from samovar.runtime.kernel import Kernel


class Search:
    """One lookup. `miss` is the question at which it ended, if it did."""

    __slots__ = ("arguments", "begun", "kernel", "known", "library", "miss", "options")

    def __init__(self, kernel: Kernel, arguments: dict[str, Any], options: Options, target: str = "") -> None:
        self.begun = perf_counter()
        self.kernel = kernel
        self.arguments = arguments
        self.options = options
        self.known = kernel.state.known_for(target) if target else kernel.state.known
        self.library: Library | None = process_cache.library_for(options)
        if target and self.library is not None:
            self.library = self.library.of_target(target)
        self.miss: Miss | None = None

    def run(self) -> _native.Specialization | None:
        """A specialization of existing code, if there is one."""
        observed = self.kernel.state.observations
        observed.begin()
        observed.lookups += 1
        found = self.look_up()
        if found is None and self.library is not None and self.library.takes_baselines():
            found = self.look_for_baselines()
        return found

    def look_up(self) -> _native.Specialization | None:
        """A specialization in the process, in the store, or in shared tiers."""
        found = None if self.known.is_empty() else self.walk()
        if found is None and self.refresh():
            found = self.walk()
        if found is None and self.fetch():
            found = self.walk()
        if self.known.stored is not None and found is not None:
            self.known.stored.fold()
        return found

    def look_for_baselines(self) -> _native.Specialization | None:
        """A specialization for a lower target that this machine can run: better than a compile."""
        from samovar.language import baselines

        for target in baselines(self.options.target):
            found = Search(self.kernel, self.arguments, self.options, target).look_up()
            if found is not None:
                return found
        return None

    def walk(self) -> _native.Specialization | None:
        """Ask the questions of the known tree."""
        try:
            found = self.reach()
        except MISREADINGS:
            self.begin_anew()
            return None
        kernel = self.kernel
        if found is not None and kernel.state.takes_numbers and not self.has_plain_numbers():
            from samovar.runtime.arguments import check_numbers

            check_numbers(kernel.__qualname__, kernel.state.signature, self.arguments, self.options)
        return found

    def has_plain_numbers(self) -> bool:
        """Whether each number among the arguments is an int, or a float or a complex for such a parameter. Those need no
        further checks."""
        for parameter in self.kernel.state.signature.parameters:
            annotation = parameter.annotation
            if isinstance(annotation, ScalarAnnotation):
                found = type(self.arguments[parameter.name])
                plain = {"float": (int, float), "complex": (int, float, complex)}
                if found not in plain.get(annotation.resolved(self.options).kind, (int,)):
                    return False
        return True

    def reach(self) -> _native.Specialization | None:
        """The result of the tree. A tree written by another version may raise anything."""
        kernel, tree = self.kernel, self.known.tree
        replay = Replay(tree.paths, kernel.__wrapped__, self.arguments, kernel.state.signature, self.options)
        end = tree.walk(replay)
        self.miss = end if isinstance(end, Miss) else None
        if not isinstance(end, Leaf):
            return None
        compiled = self.compiled(end, replay)
        if compiled is None:
            return None
        try:
            return compiled.specialization(
                replay.objects(end.sources),
                replay.actual,
                lambda number: replay.seen[end.sources[number]],
                kernel.state.signature.returns,
            )
        except Refused:
            return self.with_new_guards(compiled, end, replay)

    def with_new_guards(self, compiled: LoadedKernel, leaf: Leaf, replay: Replay) -> _native.Specialization | None:
        """The same code for objects of a different nature than its guards were made for, with new guards."""
        from samovar.runtime.guards import make_guards

        facts = self.known.tree.trace(leaf.steps, replay.reread).facts()
        guards = make_guards(facts, replay, self.kernel.parameters, compiled.fills)
        numbers = list(map(replay.paths.number, guards.paths))
        numbers += leaf.sources[len(leaf.sources) - compiled.label_count() :]
        return compiled.under(guards, self.arguments).specialization(
            list(map(replay.object, numbers)),
            replay.actual,
            lambda number: replay.seen[numbers[number]],
            self.kernel.state.signature.returns,
        )

    def require_tree(self) -> None:
        """Check that the tree is valid, before a compile adds to it."""
        if self.library is not None and not self.library.is_whole(self.known.tree, self.known.key or ""):
            self.begin_anew()

    def forget(self) -> None:
        """Forget all that is known about the kernel: the result of the tree does not match."""
        if self.library is not None and self.known.key is None:
            self.known.key = self.tree_key(self.library, self.lines_count())
        self.known.compiled.clear()
        self.known.unstored.clear()
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget an invalid tree."""
        self.known.tree, self.miss = Tree(), None
        if self.library is not None and self.known.key is not None:
            self.library.forget_tree(self.known.key)

    def compiled(self, leaf: Leaf, replay: Replay) -> LoadedKernel | None:
        """The code of a leaf: in the process, or loaded from the store."""
        known = self.known.compiled.get(leaf.key)
        found = None if known is None else known()
        if found is not None:
            return found
        return None if self.library is None else self.load(leaf, replay, self.library)

    def load(self, leaf: Leaf, replay: Replay, library: Library) -> LoadedKernel | None:
        """The artifact of a leaf in the store."""
        observed = self.kernel.state.observations
        observed.cache_validated = True
        tree = self.known.key or ""
        loaded = library.artifact(leaf, tree, self.known.tree.paths.rows)
        if loaded is None:
            observed.reason = "the artifact is no longer in the cache, or is damaged"
            return None
        artifact, guards, seconds = loaded
        try:
            found = LoadedKernel(artifact, guards, self.known.way_to(leaf, replay.reread), self.arguments)
        except (*MISREADINGS, ImportError) as error:
            library.drop(leaf, tree)
            observed.reason = f"the image does not load: {error}"
            return None
        if artifact.notices and self.options.log_level != "error":
            self.give_notices(artifact, leaf, replay)
        artifact.image = b""  # it is mapped now
        self.known.compiled[leaf.key] = ref(found)
        if leaf.content is not None and self.known.identity is not None:
            library.store.renew("kernels", leaf.key, self.known.identity[1] * 1e-9)
        if replay.reread and self.known.key is not None:
            # Only comments or spaces changed. Later lookups should recognize the lines without parsing them.
            paths = tuple(map(self.known.tree.paths.path, leaf.sources))
            library.lead(self.known.key, found.trace, paths, leaf.key, leaf.content)
        observed.cache_loaded = True
        observed.loads += 1
        process_cache.count_load(library, seconds)
        process_cache.report(self.kernel, "loaded", perf_counter() - self.begun, leaf.key)
        return found

    def give_notices(self, artifact: Artifact, leaf: Leaf, replay: Replay) -> None:
        """Repeat the warnings of the compiler."""
        from samovar.artifact import give_again

        for notice in artifact.notices:
            if isinstance(notice.function, int):
                give_again(notice, replay.object(leaf.sources[notice.function]).__code__)
            else:
                warn_once(notice.message)

    def refresh(self) -> bool:
        """Take the store's tree if it differs from the known one. Returns whether it does."""
        known, library = self.known, self.library
        observed = self.kernel.state.observations
        if library is None:
            observed.reason = observed.reason or process_cache.why_no_library(self.options)
            return False
        if known.key is None:
            known.key = self.tree_key(library, self.lines_count())
        observed.cache_key_generated = True
        if known.identity is not None and library.store.identity("trees", known.key) == known.identity:
            return False
        stored = library.stored_tree(known.key)
        if stored is None:
            return False
        known.take(stored)
        return True

    def fetch(self) -> bool:
        """Take the tree with what shared tiers have, if they have something new. Returns whether they have."""
        known, library = self.known, self.library
        if library is None or library.tiers is None or known.key is None:
            return False
        stored = library.fetched_tree(known.key, known.tree)
        if stored is not None:
            known.take(stored)
        return stored is not None

    def lines_count(self) -> bool:
        """Whether files and lines are part of the code, because messages name them."""
        return do_lines_count(self.options)

    def tree_key(self, library: Library, lines_count: bool) -> str:
        """The key of the kernel's tree."""
        return library.tree_key(code_answer(self.kernel.__wrapped__, lines_count))

    def mismatch(self) -> Mismatch | None:
        """The question at which the search ended."""
        if self.miss is None:
            return None
        from samovar.cache import mismatch_of

        return mismatch_of(self.known.tree, self.miss)
