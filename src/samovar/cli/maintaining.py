"""`samovar cache verify`, `prune` and `clear`."""

from __future__ import annotations

import argparse
from typing import Any

from samovar.cache import Verification, prune
from samovar.cli.listing import SHORT
from samovar.cli.output import Output
from samovar.cli.place import library
from samovar.cli.quantities import counted, duration, shown_size, size
from samovar.runtime import loaded


def add_commands(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add the commands to the parser."""
    verify = commands.add_parser("verify", parents=[shared], help="verify every entry")
    verify.add_argument("--repair", action="store_true", help="remove damaged and stale entries")
    verify.set_defaults(run=_verify)
    pruned = commands.add_parser(
        "prune", parents=[shared], help="evict entries; without options, down to the size limit of the store"
    )
    pruned.add_argument("--max-size", type=size, help="evict least recently used entries down to this size: 500M, 2G")
    pruned.add_argument("--older-than", type=duration, help="evict entries unused for this long: 12h, 30d")
    pruned.add_argument(
        "--other-versions",
        action="store_true",
        help="evict entries of other versions of Samovar, LLVM or Python, and of other processors",
    )
    pruned.set_defaults(run=_prune)
    clear = commands.add_parser("clear", parents=[shared], help="remove everything")
    clear.add_argument("--yes", action="store_true", help="do not ask")
    clear.set_defaults(run=_clear)


def _verify(given: argparse.Namespace, output: Output) -> int:
    verification = Verification(library(given), loaded)
    left = verification.repair() if given.repair else verification.damaged
    if output.json:
        output.data(
            {
                "checked": verification.checked,
                "findings": [
                    {"kind": each.kind, "key": each.key, "problem": each.problem, "stale": each.stale}
                    for each in verification.findings
                ],
                "damaged": len(verification.damaged),
                "repaired": given.repair,
                "left": len(left),
            }
        )
        return 1 if left else 0
    if verification.findings:
        output.table(
            ("entry", "state", "problem"),
            [
                (f"{each.kind}/{each.key[:SHORT]}", "stale" if each.stale else "damaged", each.problem)
                for each in verification.findings
            ],
        )
    checked = sum(verification.checked.values())
    output.say(f"{counted(checked, 'entry')} checked, {len(verification.damaged)} damaged")
    if given.repair and left:
        output.say(f"{counted(len(left), 'entry')} could not be removed")
    elif verification.findings:
        output.say("repaired" if given.repair else "--repair removes damaged and stale entries; kernels are recompiled")
    return 1 if left else 0


def _prune(given: argparse.Namespace, output: Output) -> int:
    place = library(given)
    limit = given.max_size
    if limit is None and given.older_than is None and not given.other_versions:
        limit = place.store.limit
    pruned = prune(place, limit=limit, older_than=given.older_than, other_versions=given.other_versions)
    if output.json:
        output.data({"removed": pruned.entries, "size": pruned.bytes})
    output.say(f"{counted(pruned.entries, 'entry')} removed, {shown_size(pruned.bytes)}")
    return 0


def _clear(given: argparse.Namespace, output: Output) -> int:
    store = library(given).store
    number = sum(1 for _ in store.entries())
    if number:
        output.agree(f"remove {counted(number, 'entry')} from {store.directory}?", yes=given.yes)
    removed = store.clear()
    if output.json:
        output.data({"removed": removed})
    output.say(f"{counted(removed, 'entry')} removed from {store.directory}")
    return 0
