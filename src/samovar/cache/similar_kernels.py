"""Finds the stored kernel most similar to another one of the same name, and how they differ."""

from __future__ import annotations

from samovar.cache.artifacts import StoredArtifact
from samovar.cache.entry import MISREADINGS
from samovar.cache.explain import code_changed, option_changes, salt_differences
from samovar.lens import Mismatch, Tree, same_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from samovar.cache.catalog import Item
    from samovar.cache.kernel_cache import Library
    from samovar.lens import Trace


class Comparison:
    """A stored kernel, the most similar one compiled before it (if any), and how they differ, in words."""

    __slots__ = ("differences", "item", "relative")

    def __init__(self, item: Item, relative: Item | None = None, differences: Sequence[str] = ()) -> None:
        self.item = item
        self.relative = relative
        self.differences = tuple(differences)


def comparisons(library: Library, items: Sequence[Item]) -> list[Comparison]:
    """Compare each kernel with those of its name that were compiled before it; sorted by name and compile time."""
    traces = {tree: _traces(library, tree) for tree in {item.record.tree for item in items}}
    known = {item.key: traces[item.record.tree].get(item.key) for item in items}
    earlier: dict[str, list[Item]] = {}
    found = []
    for item in sorted(items, key=lambda each: (each.record.name, each.record.compiled)):
        before = earlier.setdefault(item.record.name, [])
        compared = _compared(item, before, known)
        if compared.relative is not None:
            compared.differences += _compiled_again(library, item.key, compared.relative.key)
        found.append(compared)
        before.append(item)
    return found


def _compared(item: Item, earlier: Sequence[Item], traces: dict[str, Trace | None]) -> Comparison:
    own = traces[item.key]
    near = []
    for each in earlier:
        other = traces[each.key] if each.record.tree == item.record.tree else None
        if own is not None and other is not None:
            changes = _differences(other, own)
            near.append((len(changes), -each.record.compiled, each, changes))
    if near:
        _, _, relative, changes = min(near, key=lambda found: found[:2])
        return Comparison(item, relative, [str(change) for change in changes])
    others = [each for each in earlier if each.record.tree != item.record.tree]
    if not others:
        return Comparison(item)
    latest = max(others, key=lambda each: each.record.compiled)
    parts = [f"{words} changed {change}" for words, change in salt_differences(latest.record.salt, item.record.salt)]
    if not parts and own is not None:
        parts = [str(change) for change in option_changes(traces[latest.key], own)]
    return Comparison(item, latest, parts or [code_changed(item.record.name)])


def _compiled_again(library: Library, key: str, relative: str) -> tuple[str, ...]:
    """Describe the compilation units that a kernel does not share with a relative, if both have units."""
    now, before = _units(library, key), _units(library, relative)
    if not now or not before:
        return ()
    changed = sorted(name for digest, name in now.items() if digest not in before)
    return (f"recompiled by LLVM: {', '.join(changed) or 'nothing'}",)


def _units(library: Library, key: str) -> dict[str, str]:
    """Return the compilation units of a stored kernel: digest and name."""
    try:
        artifact, _ = StoredArtifact(library.store.examine("kernels", key)[0]).made()
        return {digest: name for name, digest in artifact.sections.get("units", ())}
    except (OSError, *MISREADINGS):
        return {}


def _differences(before: Trace, now: Trace) -> list[Mismatch]:
    """Return the questions that both were asked and answered differently."""
    return [
        Mismatch(asked.path, asked.question, before.answer(asked.path, asked.question), asked.answer)
        for asked in now
        if (asked.path, asked.question) in before
        and not same_answer(before.answer(asked.path, asked.question), asked.answer)
    ]


def _traces(library: Library, key: str) -> dict[str, Trace]:
    """Return the traces of a decision tree by the keys that they lead to."""
    try:
        tree = Tree.of(library.store.examine("trees", key))
        return {end[0]: tree.trace(steps) for steps, end in tree.leaves()}
    except (OSError, *MISREADINGS):
        return {}
