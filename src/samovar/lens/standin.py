"""A lens on stand-ins: arguments that are not there (any more), but whose facts are known."""

from __future__ import annotations

from samovar.lens.lens import Lens
from samovar.lens.path import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FunctionType

    from samovar.annotations import KernelSignature
    from samovar.lens.trace import Trace
    from samovar.options import Options


class Recollection(Lens):
    """A lens on stand-ins. What a trace says is answered as it was; without one, arrays do not overlap."""

    def __init__(
        self,
        trace: Trace | None,
        function: FunctionType,
        arguments: Mapping[str, object],
        signature: KernelSignature,
        options: Options,
    ) -> None:
        super().__init__(function, arguments, signature, options)
        self._recorded = trace
        for asked in trace or ():
            self.trace.record(asked.path, asked.question, asked.answer)

    def _disjoint(self, path: Path) -> bool:
        return True if self._recorded is None else bool(self._recorded.answer(path, "disjoint", False))
