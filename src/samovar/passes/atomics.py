"""Resolving atomics: into plain updates where no other thread interferes, partial results or private copies, else
unchanged."""

from __future__ import annotations

from samovar.ir import Facts, Kernel, tasks, walk
from samovar.passes.ownership import demote_owned, demote_serial
from samovar.passes.reductions import find_reductions
from samovar.passes.scatters import scatter


def resolve_atomics(kernel: Kernel) -> None:
    """Find the cheapest implementation of each atomic: serial and owned ones first; they need neither memory nor merging."""
    demote_serial(kernel)
    if any(operation.code == "atomic" for task in tasks(kernel) for operation in walk(task.body)):
        facts = Facts.of(kernel)
        demote_owned(facts)
        find_reductions(kernel, facts)
        scatter(kernel, facts)
