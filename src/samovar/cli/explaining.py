"""`samovar cache explain`: why kernels were compiled."""

from __future__ import annotations

import argparse
from typing import Any

from samovar.cache import Comparison, comparisons
from samovar.cli.listing import SHORT, described, named_kernels
from samovar.cli.output import Output
from samovar.cli.place import library
from samovar.cli.quantities import counted, shown_seconds, shown_time


def add_commands(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    explain = commands.add_parser("explain", parents=[shared], help="explain why kernels were compiled")
    explain.add_argument("names", nargs="*", metavar="name", help="only kernels with this name or pattern")
    explain.set_defaults(run=_explain)


def _explain(given: argparse.Namespace, output: Output) -> int:
    place = library(given)
    compared = comparisons(place, named_kernels(place, given.names))
    if output.json:
        output.data([_described(each) for each in compared])
        return 0
    name = None
    for each in compared:
        record = each.item.record
        if record.name != name:
            name = record.name
            artifacts = sum(other.item.record.name == name for other in compared)
            output.say(f"{name} ({record.file}:{record.line}), {counted(artifacts, 'artifact')}")
        _show(each, output)
    if not compared:
        output.say("no kernels")
    return 0


def _show(each: Comparison, output: Output) -> None:
    record = each.item.record
    took = f"{shown_time(record.compiled)}, {shown_seconds(record.seconds)}"
    output.say(f"  {each.item.key[:SHORT]} ({took}): because {record.reason}")
    if each.relative is not None:
        output.say(f"    compared with {each.relative.key[:SHORT]}, the most similar: {'; '.join(each.differences)}")


def _described(each: Comparison) -> dict[str, Any]:
    record = each.item.record
    return {
        **described(each.item),
        "reason": record.reason,
        "relative": None if each.relative is None else each.relative.key,
        "differences": list(each.differences),
        "answers": [{"path": path, "question": question, "answer": answer} for path, question, answer in record.answers],
        "salt": record.salt,
    }
