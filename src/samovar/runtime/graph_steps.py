"""Graphs under differentiation: launched part by part, so that a tape, or forward mode, takes each part as a launch.

The compiler stores the structure of a graph as plain data (the section `derivative` of its artifact). Flags are read here.
"""

from __future__ import annotations

from samovar import errors
from samovar._native import decode_plain, take_box
from samovar.lens import PathTable, Replay
from samovar.runtime.configuration import current_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from samovar.language import GraphStatus
    from samovar.runtime.kernel import Kernel


def is_graph(kernel: Kernel) -> bool:
    """Whether a kernel is a whole graph."""
    options = kernel.state.signature.options
    return bool(options.get("graph")) and "part" not in options and "derivative" not in options


def run_graph(
    kernel: Kernel, arguments: tuple[Any, ...], launch: Callable[[Kernel, tuple[Any, ...]], Any], label: int | None = None
) -> GraphStatus | None:
    """Launch the parts of a graph with `launch`, from its beginning or from the checkpoint with a label."""
    return _Run(kernel, arguments, launch, label).result()


class _Run:
    def __init__(
        self, kernel: Kernel, arguments: tuple[Any, ...], launch: Callable[[Kernel, tuple[Any, ...]], Any], label: int | None
    ) -> None:
        self._kernel = kernel
        self._arguments = arguments
        self._launch = launch
        found = kernel.variant(derivative="steps").find(arguments)
        self._labels = found.labels or ()
        if label is not None and label not in self._labels:
            found.keep.refuse_label(label)
        self._resume = None if label is None else self._labels.index(label) + 1
        self._steps, rows = decode_plain(found.keep.artifact.sections["derivative"])
        given = dict(zip(kernel.parameters, arguments, strict=True))
        self._replay = Replay(PathTable(list(rows)), kernel.__wrapped__, given, kernel.state.signature, current_options())
        self._live = label is None

    def result(self) -> GraphStatus | None:
        """Run it. Of a graph with checkpoints, the status."""
        stopped = self._run(self._steps)
        if not self._kernel.state.signature.options.get("checkpoints"):
            return None
        from samovar.language import GraphStatus

        return GraphStatus(False) if stopped is None else GraphStatus(True, self._labels[stopped - 1])

    def _run(self, steps: tuple[Any, ...]) -> int | None:
        """Run some steps. Return the number of the checkpoint that stopped them."""
        for kind, *content in steps:
            if kind == "part":
                if self._live:
                    self._launch(self._kernel.variant(part=content[0]), self._arguments)
                continue
            stopped = self._loop(*content) if kind == "loop" else self._checkpoint(*content)
            if stopped is not None:
                return stopped
        return None

    def _loop(self, flag: int, limit: int | None, inner: tuple[Any, ...], line: int) -> int | None:
        done = 0
        while True:
            stopped = self._run(inner)
            if stopped is not None or not self._live or not self._is_set(flag):
                return stopped
            done += 1
            if done == limit:
                raise errors.SamovarRuntimeError(
                    f"{self._kernel.__qualname__}, line {line}: the loop is not finished after {limit} iterations"
                )

    def _checkpoint(self, number: int, flag: int, inner: tuple[Any, ...]) -> int | None:
        self._live = self._live or self._resume == number
        stopped = self._run(inner)
        if stopped is not None:
            return stopped
        return number if self._live and self._is_set(flag) else None

    def _is_set(self, flag: int) -> bool:
        """Whether a flag is not zero now. Arrays may be looked up anew each time, flags are the same in the whole launch."""
        return any(take_box(self._replay.object(flag), ()))
