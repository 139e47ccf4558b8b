"""From a kernel and its arguments to an artifact: frontend, passes and a backend in order, which compiles in worker
processes."""

from __future__ import annotations

from samovar import _door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.compiler.driver import Compilation, compile_kernel, compile_kernels, inspect_kernel, without_collector
    from samovar.compiler.process import begin
    from samovar.compiler.progress import show_progress
    from samovar.compiler.reports import reports_here
else:
    __getattr__, __dir__ = _door(
        globals(),
        {
            "driver": "Compilation compile_kernel compile_kernels inspect_kernel without_collector",
            "process": "begin",
            "progress": "show_progress",
            "reports": "reports_here",
        },
    )
