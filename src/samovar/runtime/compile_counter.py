"""How often the compiler has run in this process."""

from __future__ import annotations

import sys

from samovar.errors import SamovarTypeError


def compile_count(stage: str = "kernel") -> int:
    """How many kernels were compiled in this process; with `stage="llvm"`, how often LLVM ran for them.

    >>> import samovar as sv
    >>> sv.compile_count("llvm") <= sv.compile_count()
    True
    """
    if stage not in ("kernel", "llvm"):
        raise SamovarTypeError(f"compile_count counts 'kernel' or 'llvm', not {stage!r}")
    driver = sys.modules.get("samovar.compiler.driver")
    if driver is None:
        return 0
    return int(driver.counts.kernels if stage == "kernel" else driver.counts.compiler_runs)
