"""What is raised for an annotation that means nothing here: loaded when there is one."""

from __future__ import annotations

from samovar.errors import SamovarSignatureError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FunctionType


class RefusedAnnotation(SamovarSignatureError):
    """What cannot be resolved, and of which parameter it is an annotation: for who knows the text that it stands in."""

    def __init__(self, function: FunctionType, parameter: str, message: str, advice: str) -> None:
        code = function.__code__
        super().__init__(f"{message} ({code.co_filename}:{code.co_firstlineno})\n  help: {advice}")
        self.parameter = parameter
        self.message = message
        self.advice = advice


def advice_for(annotation: object) -> str:
    """What to write instead of an annotation that means nothing here."""
    named = annotation if isinstance(annotation, type) else type(annotation)
    name = f"{named.__module__}.{named.__qualname__}"
    if name in ("numpy.ndarray", "torch.Tensor", "typing.List") or annotation is list:
        return "an array is sv.types.NDArray[dtype, ndim], for example sv.types.NDArray[sv.f32, 1]; any is sv.types.NDArray"
    if annotation in (str, dict, tuple, set):
        return "what is known when the kernel is compiled is sv.Template; an array is sv.types.NDArray[dtype, ndim]"
    return (
        "use a dtype (sv.f32), int, float, bool, sv.types.NDArray[dtype, ndim], sv.Tensor, sv.BufferView[dtype], a dataclass"
        " or sv.Template"
    )
