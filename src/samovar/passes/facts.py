"""What the passes over atomics know about a kernel, found once for all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from samovar.ir import Affine, Kernel, ParallelFor, Value, bodies, use_counts
from samovar.passes.accesses import Accesses, task_accesses


@dataclass(frozen=True)
class Facts:
    """Forms of indices, uses of values, accesses of tasks. They stay true while atomics become something else."""

    affine: Affine
    uses: Counter[Value]
    accesses: dict[ParallelFor, Accesses]

    @staticmethod
    def of(kernel: Kernel) -> Facts:
        """The facts of a kernel as it is now."""
        return Facts(Affine(kernel.body), use_counts(bodies(kernel)), task_accesses(kernel))
