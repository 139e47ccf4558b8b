"""What `help(kernel)` says about parameters without annotations: the types that each specialization was compiled for.

Traces are read when the docstring is asked for, so that launches and compiles do nothing for it.
"""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from samovar.language import AnyAnnotation
from samovar.lens import Kind, Path, TensorFacts

if TYPE_CHECKING:
    from samovar.lens import Trace
    from samovar.runtime.kernel import Kernel


def documented(kernel: Kernel, own: str | None) -> str | None:
    """The docstring of a kernel: that of the function, and the types found."""
    lines = found_types(kernel)
    if not lines:
        return own
    listed = "\n".join(("Compiled for:", *(f"    {line}" for line in lines)))
    return f"{cleandoc(own)}\n\n{listed}" if own else listed


def found_types(kernel: Kernel) -> list[str]:
    """For each specialization, the parameters without annotations with their types, the last launched one first."""
    parameters = kernel.state.signature.parameters
    free = [parameter.name for parameter in parameters if type(parameter.annotation) is AnyAnnotation]
    names = free[1:] if free[:1] == ["self"] else free
    if not names:
        return []
    traces = (each.keep.asked() for each in kernel.specializations)
    lines = (", ".join(f"{name}: {_found(trace, name)}" for name in names) for trace in traces)
    return list(dict.fromkeys(lines))


def _found(trace: Trace, name: str) -> str:
    """The type of an argument, spelled as an annotation where there is one."""
    path = Path(None, "parameter", name)
    kind: Any = trace.answer(path, "kind")
    if kind is None:
        return "not used"
    if kind is Kind.TENSOR:
        facts = TensorFacts(*trace.answer(path, "tensor"))
        return "a field" if facts.baked else f"sv.Array[sv.{facts.dtype.name}, {facts.ndim}]"
    return str(trace.answer(path, "number type", kind.name.lower()))
