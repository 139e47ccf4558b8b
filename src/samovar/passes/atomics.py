"""What becomes of atomics: plain updates where nobody is in the way, partial results, private copies, or what they are."""

from __future__ import annotations

from samovar.ir import Kernel, tasks, walk
from samovar.passes.facts import Facts
from samovar.passes.ownership import demote_owned, demote_serial
from samovar.passes.reductions import gather
from samovar.passes.scatters import scatter


def settle_atomics(kernel: Kernel) -> None:
    """Find the cheapest form of each atomic: serial and owned ones first, since they take no memory and no merging."""
    demote_serial(kernel)
    if any(operation.code == "atomic" for task in tasks(kernel) for operation in walk(task.body)):
        facts = Facts.of(kernel)
        demote_owned(facts)
        gather(kernel, facts)
        scatter(kernel, facts)
