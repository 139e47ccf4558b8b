"""Why a kernel was compiled: which fact differs from the most similar kernel in the cache."""

from __future__ import annotations

from samovar.cache.salt import salt_parts
from samovar.language import LINE_OPTIONS
from samovar.lens import Mismatch, same_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.cache.kernel_cache import Library
    from samovar.lens import Miss, Trace, Tree

#: The parts of the toolchain fingerprint in words.
_WORDS = {
    "format": "the cache format",
    "samovar": "the version of Samovar",
    "native": "the version of Samovar's native code",
    "llvmlite": "the version of llvmlite",
    "python": "the version of Python",
    "system": "the system",
    "cpu": "the processor",
    "cpu features": "the features of the processor",
}



def mismatch_of(tree: Tree, miss: Miss) -> Mismatch:
    """Return the mismatch of a miss, compared with the answer that was added last where the search ended."""
    return Mismatch(tree.paths.path(miss.number), miss.question, miss.known[-1], miss.answer)


def reason(
    library: Library | None,
    name: str,
    key: str | None,
    mismatch: Mismatch | None,
    trace: Trace | None = None,
    twin: str | None = None,
) -> str:
    """Explain in a sentence why a kernel with this name and tree key is compiled.

    `twin` is the key of the same code's tree with line numbers if they do not matter here, or without them if they do.
    """
    if mismatch is not None:
        where = None if trace is None else trace.position(mismatch.path, mismatch.question)
        return f"{mismatch}{'' if where is None else f' (asked at {where[0]}:{where[1]})'}"
    relatives = [] if library is None else library.relatives(name)
    if any(tree == key for tree, _ in relatives):
        return "its artifact is no longer in the cache"
    if not relatives:
        return "it was not compiled before"
    if library is not None and trace is not None and any(tree == twin for tree, _ in relatives):
        changed = option_changes(library.latest_trace(twin or ""), trace)
        if changed:
            return str(changed[0])
    different = salt_differences(relatives[0][1], salt_parts())
    return f"{different[0][0]} changed {different[0][1]}" if different else code_changed(name)


def option_changes(before: Trace | None, now: Trace) -> list[Mismatch]:
    """Return the changes of options that decide whether line numbers matter."""
    return [
        Mismatch(asked.path, asked.question, before.answer(asked.path, asked.question), asked.answer)
        for asked in now
        if before is not None
        and asked.question == "option"
        and asked.path.key in LINE_OPTIONS
        and (asked.path, asked.question) in before
        and not same_answer(before.answer(asked.path, asked.question), asked.answer)
    ]


def code_changed(name: str) -> str:
    """The explanation if nothing else differs."""
    return f"the code of {name.rpartition('.')[2]}() changed"


def salt_differences(before: dict[str, str], now: dict[str, str]) -> list[tuple[str, str]]:
    """Return the parts in which two toolchain fingerprints differ, in words, each with the change."""
    return [
        (words, _changed(before.get(part, "unknown"), now.get(part, "unknown")))
        for part, words in _WORDS.items()
        if before.get(part) != now.get(part)
    ]


def _changed(old: str, new: str) -> str:
    """Format a change; of long lists, only additions and removals."""
    one, two = set(old.split()), set(new.split())
    if len(one | two) > 8:
        gone, come = sorted(one - two), sorted(two - one)
        return ", ".join([*(f"-{each}" for each in gone), *(f"+{each}" for each in come)])
    return f"{old} → {new}"
