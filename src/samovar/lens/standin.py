"""Stand-ins: what is kept of the arguments of a compile, so that it can be looked at again without keeping arrays alive."""

from __future__ import annotations

from _weakref import ref

from samovar.errors import SamovarTypeError
from samovar.lens.answers import Kind
from samovar.lens.lens import Lens
from samovar.lens.path import Path
from samovar.lens.questions import Standin, kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FunctionType
    from typing import Any

    from samovar.annotations import KernelSignature
    from samovar.lens.trace import Trace
    from samovar.options import Options


def example_of(value: Any) -> Callable[[], Any]:
    """Something that gives the argument back, or what stands for it: arrays are replaced by their facts.

    An object that is gone by then leaves None, and so does one that cannot be held without keeping it alive: the trace
    remembers what was asked about it.
    """
    found = kind(value)
    if found is Kind.TENSOR:
        try:
            standin = Standin(value)
        except SamovarTypeError:  # an array that no kernel can take: the kernel did not look at it
            return lambda: None
        return lambda: standin
    try:
        return ref(value)
    except TypeError:
        return (lambda: None) if found in _CONTAINERS else lambda: value


#: Kinds that hold other objects, arrays among them.
_CONTAINERS = (Kind.OBJECT, Kind.SEQUENCE, Kind.MAPPING)


class Recollection(Lens):
    """A lens on the stand-ins of an earlier compile. What was asked then is answered as it was then."""

    def __init__(
        self,
        trace: Trace,
        function: FunctionType,
        arguments: Mapping[str, object],
        signature: KernelSignature,
        options: Options,
    ) -> None:
        super().__init__(function, arguments, signature, options)
        self._recorded = trace
        for asked in trace:
            self.trace.record(asked.path, asked.question, asked.answer)

    def _disjoint(self, path: Path) -> bool:
        return bool(self._recorded.answer(path, "disjoint", False))
