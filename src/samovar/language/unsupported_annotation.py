"""The error for an unsupported annotation; loaded on first use."""

from __future__ import annotations

from samovar.errors import SamovarSignatureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FunctionType


class UnsupportedAnnotation(SamovarSignatureError):
    """An unsupported annotation and its parameter, for callers that know the source line."""

    def __init__(self, function: FunctionType, parameter: str, message: str, advice: str) -> None:
        code = function.__code__
        super().__init__(f"{message} ({code.co_filename}:{code.co_firstlineno})\n  help: {advice}")
        self.parameter = parameter
        self.message = message
        self.advice = advice


def advice_for(annotation: object) -> str:
    """What to write instead of an unsupported annotation."""
    named = annotation if isinstance(annotation, type) else type(annotation)
    name = f"{named.__module__}.{named.__qualname__}"
    if name in ("numpy.ndarray", "torch.Tensor", "typing.List") or annotation is list:
        return "annotate arrays as sv.types.NDArray[dtype, ndim], as in sv.types.NDArray[sv.f32, 1], or as sv.types.NDArray"
    if annotation in (str, dict, tuple, set):
        return "use sv.Template for a compile-time value, sv.types.NDArray[dtype, ndim] for an array"
    return (
        "use a dtype (sv.f32), int, float, bool, sv.types.NDArray[dtype, ndim], sv.Tensor, sv.BufferView[dtype], a dataclass"
        " or sv.Template"
    )
