"""What is known about a kernel as plain data: its source, all stages of its last launch, and the facts it depends on."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import samovar
from samovar.lens import shown
from samovar.runtime import configuration

if TYPE_CHECKING:
    from samovar.runtime.kernel import Kernel
    from samovar.runtime.loaded_kernel import LoadedKernel


def kernel_report(kernel: Kernel) -> dict[str, Any]:
    """Everything about a kernel that was launched. What cannot be shown has a reason instead, as `problem`."""
    code = kernel.__wrapped__.__code__
    found: dict[str, Any] = {
        "name": f"{kernel.__module__}.{kernel.__qualname__}",
        "file": code.co_filename,
        "line": code.co_firstlineno,
        "specializations": len(kernel.specializations),
        "source": "",
        "stages": {},
        "facts": [],
    }
    try:
        lines, first = inspect.getsourcelines(kernel.__wrapped__)
        found["source"], found["line"] = "".join(lines), first
    except (OSError, TypeError):
        found["problem"] = "its source is not available"
    if not kernel.specializations:
        found["problem"] = "it has no specialization: the program has not launched it"
        return found
    last: LoadedKernel = kernel.specializations[0].keep
    found["facts"] = [
        {"path": str(asked.path), "question": asked.question, "answer": shown(asked.answer)} for asked in last.trace
    ]
    from samovar.compiler import inspect_stages

    try:
        with last.recollection(kernel.__wrapped__, kernel.state.signature, configuration.current_options()) as lens:
            found["stages"] = inspect_stages(lens)
    except samovar.SamovarError as error:
        gone = "one of its arguments no longer exists" if last.lacks_arguments() else str(error)
        found["problem"] = f"its stages cannot be shown: {gone}"
    return found
