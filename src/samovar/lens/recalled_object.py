"""A lens on stand-ins: objects that represent arguments which no longer exist, or not yet, by their recorded facts."""

from __future__ import annotations

from samovar.lens.lens import Lens
from samovar.lens.path import Path
from samovar.reflection import ABSENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FunctionType
    from typing import Any

    from samovar.language import KernelSignature, Options
    from samovar.lens.trace import Trace


class StandInLens(Lens):
    """A lens on stand-ins. Questions in `trace` keep their answers; without a trace, arrays do not overlap. `funcs` are weak
    references to funcs that were reached through arguments."""

    def __init__(
        self,
        trace: Trace | None,
        function: FunctionType,
        arguments: Mapping[str, object],
        signature: KernelSignature,
        options: Options,
        funcs: Mapping[Path, Callable[[], Any]] | None = None,
    ) -> None:
        super().__init__(function, arguments, signature, options)
        self._recorded = trace
        self._funcs = funcs or {}
        for asked in trace or ():
            self.trace.record(asked.path, asked.question, asked.answer)

    def recalled(self, path: Path) -> Any:
        found = self._funcs.get(path)
        func = None if found is None else found()
        return ABSENT if func is None else func

    def _disjoint(self, path: Path) -> bool:
        return True if self._recorded is None else bool(self._recorded.answer(path, "disjoint", False))
