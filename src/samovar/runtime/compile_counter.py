"""Counters of compilations in this process."""

from __future__ import annotations

import sys

from samovar.errors import SamovarTypeError, not_one_of


def compile_count(stage: str = "kernel") -> int:
    """The number of kernels compiled in this process; with `stage="llvm"`, the number of LLVM runs: one per kernel, or one
    per unit of a large one, and none for cached code.

    >>> import samovar as sv
    >>> sv.compile_count("llvm") >= 0
    True
    """
    if stage not in ("kernel", "llvm"):
        raise SamovarTypeError(not_one_of("compile_count(stage)", stage, ("kernel", "llvm")))
    module = sys.modules.get("samovar.compiler.counts")
    if module is None:
        return 0
    counted = module.counts
    return int(counted.kernels if stage == "kernel" else counted.compiler_runs)
