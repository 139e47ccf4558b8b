"""From a kernel and its arguments to an artifact: the frontend, the passes and a backend, which compiles in worker
processes."""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.compiler.driver import Compilation, compile_kernel, compile_kernels, inspect_kernel, without_collector
    from samovar.compiler.gradients import MissingGradients
    from samovar.compiler.inspection import inspect_stages
    from samovar.compiler.process import begin
    from samovar.compiler.progress import show_progress
    from samovar.compiler.reports import reports_here
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "driver": "Compilation compile_kernel compile_kernels inspect_kernel without_collector",
            "gradients": "MissingGradients",
            "inspection": "inspect_stages",
            "process": "begin",
            "progress": "show_progress",
            "reports": "reports_here",
        },
    )
