"""`samovar cache list` and `samovar cache stats`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

from samovar.cache import KINDS, Item, Library, kernels, read_statistics
from samovar.cli.failure import Failure
from samovar.cli.output import Output
from samovar.cli.place import library
from samovar.cli.quantities import counted, shown_age, shown_seconds, shown_size, shown_time
from samovar.cli.sharing import show_tiers, tier_contents, tier_figures

#: Length of abbreviated keys.
SHORT = 10
#: Terminals of this width show all columns.
WIDE = 130
_WORDS = {
    "trees": "decision trees",
    "kernels": "kernels",
    "code": "images by LLVM text",
    "names": "names",
}


def add_commands(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add the commands to the parser."""
    listed = commands.add_parser("list", parents=[shared], help="list the cached kernels")
    listed.add_argument("names", nargs="*", metavar="name", help="only kernels with this name or pattern")
    listed.set_defaults(run=_list)
    stats = commands.add_parser("stats", parents=[shared], help="show size, entries, hit rate and compile time saved")
    stats.set_defaults(run=_stats)


def described(item: Item) -> dict[str, Any]:
    """Return a stored kernel as JSON."""
    record = item.record
    return {
        "name": record.name,
        "file": record.file,
        "line": record.line,
        "key": item.key,
        "size": item.size,
        "compiled": record.compiled,
        "used": item.used,
        "seconds": record.seconds,
        "usable": item.usable,
    }


def named_kernels(place: Library, names: Sequence[str]) -> list[Item]:
    """Return the stored kernels with one of the names, or all. Raise `Failure` if no kernel has one of the names."""
    found = kernels(place, names)
    if names and not found:
        raise Failure(f"no kernel called {' or '.join(names)} in {place.store.directory}")
    return found


def _list(given: argparse.Namespace, output: Output) -> int:
    found = named_kernels(library(given), given.names)
    if output.json:
        output.data([described(item) for item in found])
    elif not found:
        output.say("no kernels")
    else:
        (_list_narrow if output.width < WIDE else _list_wide)(found, output)
        names = len({item.record.name for item in found})
        size = shown_size(sum(item.size for item in found))
        output.say(f"{counted(len(found), 'artifact')} of {counted(names, 'kernel')}, {size}")
    return 0


def _list_wide(found: Sequence[Item], output: Output) -> None:
    output.table(
        ("kernel", "where", "size", "compiled", "last used", "took", "key"),
        [
            (
                item.record.name,
                f"{item.record.file}:{item.record.line}",
                shown_size(item.size),
                shown_time(item.record.compiled),
                shown_time(item.used),
                shown_seconds(item.record.seconds),
                item.key[:SHORT] + ("" if item.usable else " (other version or machine)"),
            )
            for item in found
        ],
        right=("size", "took"),
    )


def _list_narrow(found: Sequence[Item], output: Output) -> None:
    """List kernels for a narrow terminal: without modules (the files imply them), without directories, and with ages instead
    of dates."""
    output.table(
        ("kernel", "where", "size", "used", "took", "key"),
        [
            (
                _short_name(item),
                f"{os.path.basename(item.record.file)}:{item.record.line}",
                shown_size(item.size),
                shown_age(item.used),
                shown_seconds(item.record.seconds),
                item.key[:SHORT] + ("" if item.usable else "*"),
            )
            for item in found
        ],
        right=("size", "used", "took"),
        unbroken=("key",),
    )
    if not all(item.usable for item in found):
        output.say("* of another version or machine")


def _short_name(item: Item) -> str:
    """Return the name within the module."""
    module = os.path.splitext(os.path.basename(item.record.file))[0]
    return f".{item.record.name}".partition(f".{module}.")[2] or item.record.name.removeprefix("__main__.")


def _stats(given: argparse.Namespace, output: Output) -> int:
    store = library(given).store
    counts, sizes = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
    for entry in store.entries():
        counts[entry.kind] += 1
        sizes[entry.kind] += entry.size
    total = sum(sizes.values())
    counted_so_far = read_statistics(store)
    needed = counted_so_far.loads + counted_so_far.compiles
    rate = counted_so_far.loads / needed if needed else None
    sums, contents, failures = tier_figures(store), *tier_contents()
    if output.json:
        output.data(
            {
                "tiers": sums,
                "programs": contents,
                "unreachable": failures,
                "directory": store.directory,
                "size": total,
                "limit": store.limit,
                "entries": {kind: {"count": counts[kind], "size": sizes[kind]} for kind in KINDS},
                "loads": counted_so_far.loads,
                "compiles": counted_so_far.compiles,
                "hit_rate": rate,
                "seconds_saved": counted_so_far.saved,
            }
        )
        return 0
    output.say(f"{store.directory}: {shown_size(total)} of {shown_size(store.limit)}")
    rows = [(_WORDS[kind], str(counts[kind]), shown_size(sizes[kind])) for kind in KINDS]
    output.table(("entries", "number", "size"), rows, right=("number", "size"))
    if rate is None:
        output.say("no lookups yet")
    else:
        output.say(
            f"loaded {counted_so_far.loads} of {counted(needed, 'kernel')} ({rate:.1%}), compiled"
            f" {counted_so_far.compiles}; {shown_seconds(counted_so_far.saved)} of compile time saved"
        )
    show_tiers(sums, contents, failures, output)
    return 0
