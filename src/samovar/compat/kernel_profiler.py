"""The kernel profiler of Quadrants and Taichi, enabled by `init(kernel_profiler=True)`. Its figures are those of
`sv.profiler()`."""

from __future__ import annotations

import samovar
from samovar.compat.log_functions import log_function
from samovar.errors import not_one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.runtime import Profiler

_running: Profiler | None = None


def watch(wanted: bool) -> None:
    """Start or stop counting launches."""
    global _running
    if _running is not None:
        _running.stop()
    _running = None
    if wanted:
        _running = samovar.profiler()
        _running.start()


class QueriedKernel:
    """How often a kernel was launched, and its times in milliseconds."""

    def __init__(self, counter: int, seconds: float, longest: float) -> None:
        self.counter = counter
        self.avg = seconds * 1e3 / max(counter, 1)
        self.max = longest * 1e3
        self.min = min(self.avg, self.max)


def _kernels() -> list[Any]:
    return [] if _running is None else _running.kernels


def print_kernel_profiler_info(mode: str = "count") -> None:
    """Print how often each kernel was launched, and how long it took."""
    if mode not in ("count", "trace"):
        raise ValueError(not_one_of("mode=…", mode, ("count", "trace")))
    if _running is None:
        log_function("warn")("use `init(kernel_profiler=True)` to enable the kernel profiler")
    else:
        _running.print()


def query_kernel_profiler_info(name: str) -> QueriedKernel:
    """Return the figures of kernels whose names contain a string."""
    found = [each for each in _kernels() if name in each.name]
    longest = max((each.longest for each in found), default=0.0)
    return QueriedKernel(sum(each.launches for each in found), sum(each.seconds for each in found), longest)


def get_kernel_profiler_total_time() -> float:
    """Return the total time of all launches in seconds."""
    return float(sum(each.seconds for each in _kernels()))


def clear_kernel_profiler_info() -> None:
    """Reset the counters."""
    watch(_running is not None)


def set_kernel_profiler_toolkit(toolkit_name: str = "default") -> bool:
    """Choose the measuring toolkit, of which there is one."""
    return toolkit_name == "default"


def _nothing(*arguments: Any, **keywords: Any) -> None:
    """Ignore a request for unsupported measurements."""


#: In `profiler`.
NAMES: dict[str, Any] = {
    **{
        each.__name__: each
        for each in (
            clear_kernel_profiler_info,
            get_kernel_profiler_total_time,
            print_kernel_profiler_info,
            query_kernel_profiler_info,
            set_kernel_profiler_toolkit,
        )
    },
    **dict.fromkeys(
        (
            "clear_scoped_profiler_info",
            "print_memory_profiler_info",
            "print_scoped_profiler_info",
            "set_kernel_profiler_metrics",
        ),
        _nothing,
    ),
}
