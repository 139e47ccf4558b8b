"""`samovar cache push`, `pull`, `sync` and `gc`: shared tiers; `keygen`, `sign` and `trust`: keys."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from time import time
from typing import Any

from samovar.cache import Damaged, Library, Store, base_parts, kernels, opened_leaf
from samovar.cli.failure import USAGE, Failure
from samovar.cli.output import Output
from samovar.cli.place import library
from samovar.cli.quantities import counted, duration, shown_seconds, shown_size
from samovar.lens import Tree
from samovar.runtime import current_options
from samovar.tiers import (
    Tier,
    add_to_trust,
    collect_garbage,
    contents,
    entries_of,
    file_name_of,
    generate_key,
    programs_at,
    publish,
    read_figures,
    read_trust,
    shown_key,
    sign_again,
    signer_of,
    sorted_rows,
    tier_at,
    trust_file,
    without_secrets,
)

#: How long a command waits for a request.
_SECONDS = 60.0
_DEFAULT_VALIDITY = 365 * 86400.0


def add_commands(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add the commands to the parser."""

    def added(name: str, text: str, run: Any) -> Any:
        command = commands.add_parser(name, parents=[shared], help=text)
        command.add_argument("--remote", metavar="ADDRESS", help="the tier, instead of the configured ones (cache_remote)")
        command.add_argument("--program", help="the program whose kernels these are (cache_program)")
        command.set_defaults(run=run)
        return command

    for name, text, run in (
        ("push", "publish cached kernels to a shared tier, signed", _push),
        ("sync", "pull, then push", _sync),
    ):
        command = added(name, text, run)
        command.add_argument("names", nargs="*", metavar="name", help="only kernels with this name or pattern")
        command.add_argument("--valid", type=duration, default=_DEFAULT_VALIDITY, help="how long signatures are valid: 90d")
    added("pull", "copy the kernels of a shared tier into the local cache", _pull)
    collect = added("gc", "remove unusable entries and unreferenced files from a tier", _collect)
    collect.add_argument("--older-than", type=duration, help="remove entries compiled so long ago as well: 90d")
    collect.add_argument("--unknown", action="store_true", help="remove entries of unknown signers as well")
    sign = added("sign", "sign the valid entries of a tier again, with another key or for another time", _sign)
    sign.add_argument("--valid", type=duration, default=_DEFAULT_VALIDITY, help="how long signatures are valid: 90d")
    generated = commands.add_parser("keygen", parents=[shared], help="create a private key, and print its public key")
    generated.add_argument("file")
    generated.set_defaults(run=_generate)
    trusted = commands.add_parser("trust", parents=[shared], help="trust a public key, revoke one, or list them")
    trusted.add_argument("key", nargs="?", help="ed25519:…")
    trusted.add_argument("--revoke", action="store_true", help="never use entries of this key again")
    trusted.add_argument("--comment", default="", help="whose key it is")
    trusted.set_defaults(run=_trust)


def _addresses(given: argparse.Namespace | None) -> list[str]:
    named = None if given is None else given.remote
    found = [named] if named else current_options().cache_remote.split()
    if not found and given is not None:
        raise Failure("there is no tier\n  help: name one with --remote, or set SAMOVAR_CACHE_REMOTE", USAGE)
    return found


def _tiers(given: argparse.Namespace, *, one_program: bool) -> Iterator[Tier]:
    """Open the tiers of a command, for its program; without one, for each program that the tier has."""
    options = current_options()
    signer = signer_of(options)
    trust = read_trust(options, None if signer is None else signer.public, time)
    named = given.program or options.cache_program
    if one_program and not named:
        raise Failure("for which program?\n  help: --program NAME, or SAMOVAR_CACHE_PROGRAM", USAGE)
    for address in _addresses(given):
        for program in [named] if named else programs_at(address, _SECONDS):
            yield tier_at(address, file_name_of(program), trust, _SECONDS)


def _signer() -> Any:
    signer = signer_of(current_options())
    if signer is None:
        raise Failure(
            "publishing needs a private key\n  help: samovar cache keygen FILE, then SAMOVAR_CACHE_SIGNING_KEY=FILE", USAGE
        )
    return signer


def push(given: argparse.Namespace, output: Output, trees: Iterable[str]) -> int:
    """`samovar warm --push`: publish the kernels of a program that has run in this process."""
    given.remote, given.names, given.valid, given.program = None, (), _DEFAULT_VALIDITY, None
    return _publish(given, output, list(trees), report=not output.json)


def _push(given: argparse.Namespace, output: Output) -> int:
    here = base_parts()
    found = [
        item.record.tree
        for item in kernels(library(given), given.names)
        if here.items() <= item.record.salt.items()
    ]
    return _publish(given, output, list(dict.fromkeys(found)))


def _publish(given: argparse.Namespace, output: Output, trees: list[str], *, report: bool = True) -> int:
    place, signer, rows = library(given), _signer(), []
    names = {item.key for item in kernels(place, given.names)}
    entries = entries_of(place, trees, lambda _, leaf: leaf in names)
    for tier in _tiers(given, one_program=True):
        done = publish(tier, entries, signer, given.valid)
        rows.append({"tier": tier.address, "program": tier.program, "new": done.new, "known": done.known, "sent": done.sent})
        if report:
            output.say(
                f"{counted(done.new, 'artifact')} published to {tier.address} for {tier.program}, {done.known} already"
                f" present, {shown_size(done.sent)} sent"
            )
    if output.json and report:
        output.data(rows)
    return 0


def _pull(given: argparse.Namespace, output: Output) -> int:
    place, rows = library(given), []
    for tier in _tiers(given, one_program=False):
        tier.refresh()
        usable, _ = sorted_rows(tier)
        new, known = _take(place, tier, usable)
        ignored = len(tier.all_rows()) - new - known
        rows.append({"tier": tier.address, "program": tier.program, "new": new, "known": known, "ignored": ignored})
        output.say(
            f"{counted(new, 'artifact')} of {tier.program} pulled from {tier.address}, {known} already present,"
            f" {ignored} ignored"
        )
    if output.json:
        output.data(rows)
    return 0


def _take(place: Library, tier: Tier, usable: list[Any]) -> tuple[int, int]:
    """Merge entries into the local cache. Return how many were new and known."""
    new = known = 0
    for key in dict.fromkeys(row.tree for row in usable):
        tree = place.tree(key) or Tree()
        there = {end[0] for _, end in tree.leaves()}
        rows = [row for row in usable if row.tree == key]
        known += sum(row.leaf in there for row in rows)
        leaves = []
        for row, content in contents(tier, [row for row in rows if row.leaf not in there]):
            try:
                leaves.append(opened_leaf(row.tree, content))
            except Damaged:
                continue
        if leaves:
            failure = place.merge(key, leaves)
            if failure is not None:
                raise Failure(f"the pull stopped: {failure}\n  help: what was pulled is complete; pull again")
            new += len(leaves)
    return new, known


def _sync(given: argparse.Namespace, output: Output) -> int:
    if output.json:
        raise Failure("sync has no JSON output: use pull and push", USAGE)
    return _pull(given, output) or _push(given, output)


def _collect(given: argparse.Namespace, output: Output) -> int:
    rows = []
    for tier in _tiers(given, one_program=False):
        done = collect_garbage(tier, older_than=given.older_than, unknown=given.unknown)
        rows.append({"tier": tier.address, "program": tier.program, "entries": done.entries, "files": done.files})
        output.say(
            f"{tier.address}, {tier.program}: {counted(done.entries, 'entry')} and {counted(done.files, 'file')} removed"
        )
    if output.json:
        output.data(rows)
    return 0


def _sign(given: argparse.Namespace, output: Output) -> int:
    signer, rows = _signer(), []
    for tier in _tiers(given, one_program=False):
        number = sign_again(tier, signer, given.valid)
        rows.append({"tier": tier.address, "program": tier.program, "signed": number})
        output.say(f"{tier.address}, {tier.program}: {counted(number, 'entry')} signed by {shown_key(signer.public)}")
    if output.json:
        output.data(rows)
    return 0


def _generate(given: argparse.Namespace, output: Output) -> int:
    public = generate_key(given.file)
    if output.json:
        output.data({"public": public, "file": given.file})
    output.say(public)
    return 0


def _trust(given: argparse.Namespace, output: Output) -> int:
    if given.key is None:
        trust = read_trust(current_options(), None, time)
        keys, revoked = (sorted(map(shown_key, each)) for each in (trust.keys, trust.revoked))
        if output.json:
            output.data({"file": trust_file(), "trusted": keys, "revoked": revoked})
        for key in keys:
            output.say(key)
        for key in revoked:
            output.say(f"revoked {key}")
        return 0
    path = add_to_trust(given.key, given.comment, revoke=given.revoke)
    if output.json:
        output.data({"file": path, "key": given.key, "revoked": given.revoke})
    output.say(f"{given.key} is {'revoked' if given.revoke else 'trusted'} in {path}")
    return 0


# --- for `samovar cache stats`


def tier_figures(store: Store) -> list[dict[str, Any]]:
    """What all finished processes have counted, by tier."""
    return [
        {
            "tier": address,
            "hits": each.hits,
            "misses": each.misses,
            "rejected": each.rejected,
            "requests": each.requests,
            "received": each.received,
            "sent": each.sent,
            "seconds": each.seconds,
            "waited": each.waited,
        }
        for address, each in read_figures(store).items()
    ]


def tier_contents() -> tuple[list[dict[str, Any]], list[str]]:
    """For which targets each program is warm in the configured tiers, and the tiers that cannot be read."""
    options = current_options()
    if not options.cache_remote:
        return [], []
    rows, failures = [], []
    trust = read_trust(options, None, time)
    for address in options.cache_remote.split():
        try:
            named = options.cache_program
            for program in [named] if named else programs_at(address, options.cache_remote_timeout):
                tier = tier_at(address, program, trust, options.cache_remote_timeout)
                tier.refresh()
                targets: dict[str, int] = {}
                for row in tier.all_rows():
                    if trust.objection(row) is None:
                        targets[row.target] = targets.get(row.target, 0) + 1
                listed = len(tier.all_rows())
                ignored = listed - sum(targets.values())
                rows.append({"tier": tier.address, "program": program, "targets": targets, "ignored": ignored})
        except Exception as error:  # whatever a file system raises
            failures.append(f"{without_secrets(address)}: {error}")
    return rows, failures


def show_tiers(
    sums: list[dict[str, Any]], programs: list[dict[str, Any]], failures: list[str], output: Output
) -> None:
    """Show both, for people."""
    if sums:
        output.table(
            ("tier", "hits", "misses", "ignored", "requests", "received", "sent", "per request", "waited"),
            [
                (
                    each["tier"], str(each["hits"]), str(each["misses"]), str(each["rejected"]), str(each["requests"]),
                    shown_size(each["received"]), shown_size(each["sent"]),
                    shown_seconds(each["seconds"] / max(each["requests"], 1)), shown_seconds(each["waited"]),
                )
                for each in sums
            ],
            right=("hits", "misses", "ignored", "requests", "received", "sent", "per request", "waited"),
        )  # fmt: skip
    for each in programs:
        warm = ", ".join(f"{target} ({counted(number, 'artifact')})" for target, number in sorted(each["targets"].items()))
        ignored = f"; {each['ignored']} ignored" if each["ignored"] else ""
        output.say(f"{each['program']} in {each['tier']}: warm for {warm or 'no target'}{ignored}")
    for failure in failures:
        output.say(f"unreachable: {failure}")
