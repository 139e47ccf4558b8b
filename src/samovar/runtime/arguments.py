"""Checking the arguments of a launch against the annotations: what is wrong, with which argument, and what to do."""

from __future__ import annotations

from samovar.errors import SamovarTypeError
from samovar.language import ArrayAnnotation, DataclassAnnotation, ScalarAnnotation, TensorAnnotation
from samovar.lens import Kind, TensorFacts, has_method, kind, scalar_type, shape, tensor, type_name
from samovar.reflection import derives

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samovar._native import DType
    from samovar.language import KernelSignature, Options, SignatureParameter


def check_arguments(name: str, signature: KernelSignature, arguments: Mapping[str, Any], options: Options) -> None:
    """Raise a type error for the first argument that does not fit its annotation."""
    for parameter in signature.parameters:
        _check(name, parameter, arguments[parameter.name], options)


def check_numbers(name: str, signature: KernelSignature, arguments: Mapping[str, Any], options: Options) -> None:
    """The same for numbers alone: the rest of the arguments are known to be what they were when the kernel was compiled."""
    for parameter in signature.parameters:
        if isinstance(parameter.annotation, ScalarAnnotation):
            _check(name, parameter, arguments[parameter.name], options)


def _check(name: str, parameter: SignatureParameter, value: Any, options: Options) -> None:
    try:
        problem = _problem(parameter, value, options)
    except SamovarTypeError as error:  # an array that no kernel can take
        problem = str(error)
    if problem is not None:
        raise SamovarTypeError(f"{name}(): argument `{parameter.name}`: {problem}")


def _problem(parameter: SignatureParameter, value: Any, options: Options) -> str | None:
    annotation = parameter.annotation
    if isinstance(annotation, ScalarAnnotation):
        return _number_problem(value, annotation.resolved(options))
    if value is None and parameter.has_default:
        return None
    if isinstance(annotation, ArrayAnnotation):
        return _array_problem(value, annotation, options)
    if annotation.is_matrix:
        return _matrix_problem(value, annotation)
    if isinstance(annotation, TensorAnnotation):
        fits = value is None or kind(value) is Kind.TENSOR
        return None if fits else f"expected an array or a field, or None, got {_described(value)}"
    if isinstance(annotation, DataclassAnnotation):
        return None if derives(type(value), annotation.cls) else _dataclass_problem(value, annotation)
    return None


def _number_problem(value: Any, dtype: DType) -> str | None:
    found = kind(value)
    whole = dtype.kind in ("int", "uint")
    if found is Kind.TENSOR:
        return f"expected a number ({dtype.name}), got an array; pass an element of it, or annotate it as an array"
    if found is Kind.SCALAR:
        if whole and scalar_type(value) is float:
            return f"expected a whole number ({dtype.name}), got {value!r}; convert it with int()"
        return None
    # Whatever else Python takes for a number, and is not a container.
    names = ("__index__",) if whole else ("__index__", "__float__")
    is_number = any(has_method(value, name) for name in names)
    if is_number and not has_method(value, "__len__") and type(value) is not complex:
        return None
    return f"expected a number ({dtype.name}), got {_described(value)}"


def _array_problem(value: Any, annotation: ArrayAnnotation, options: Options) -> str | None:
    if kind(value) is not Kind.TENSOR:
        hint = "; make an array of it first (sv.ndarray, numpy.array)" if isinstance(value, (list, tuple)) else ""
        return f"expected an array ({annotation}), got {_described(value)}{hint}"
    facts, dtype = TensorFacts(*tensor(value)), annotation.resolved(options)
    if dtype is not None and facts.dtype is not dtype:
        return f"expected elements of type {dtype.name}, got {facts.dtype.name}"
    inner = annotation.element or ()
    if facts.inner and annotation.element is not None and facts.inner != len(inner):
        wanted = f"elements of shape {inner}" if inner else "numbers"
        return f"expected {wanted}, got elements of shape {shape(value)[-facts.inner :]}"
    if annotation.element is None:
        inner = shape(value)[facts.ndim - facts.inner :]
    if annotation.ndim is not None and facts.ndim != annotation.ndim + len(inner):
        wanted = _axes(annotation.ndim) + (f" and elements of shape {inner}" if inner else "")
        return f"expected {wanted}, got {_axes(facts.ndim)} (shape {shape(value)})"
    if inner and shape(value)[-len(inner) :] not in (inner, (0,) * len(inner)):
        return f"expected elements of shape {inner}, got an array of shape {shape(value)}"
    if annotation.needs_grad is not None and facts.needs_grad is not annotation.needs_grad:
        return "expected an array with" + ("" if annotation.needs_grad else "out") + " a gradient (needs_grad)"
    return None


def _matrix_problem(value: Any, annotation: Any) -> str | None:
    """What is wrong with a vector or matrix: one of ours, lists of numbers, or a small array."""
    found = _nested_shape(value)
    if found is None:
        return f"expected a {annotation}, got {_described(value)}"
    return None if found == annotation.shape else f"expected a {annotation}, got one of shape {found}"


def _nested_shape(value: Any) -> tuple[int, ...] | None:
    """The shape of a matrix, an array, or lists in lists; None for what is none of them, or ragged."""
    if kind(value) is Kind.TENSOR:
        return shape(value)
    if kind(value) is Kind.SEQUENCE:
        inner = {() if kind(item) is Kind.SCALAR else _nested_shape(item) for item in value}
        return (len(value), *found) if len(inner) == 1 and (found := inner.pop()) is not None else None
    own: tuple[int, ...] | None = value.shape if hasattr(type(value), "_samovar_nested") else None
    return own


def _dataclass_problem(value: Any, annotation: DataclassAnnotation) -> str:
    if value is annotation.cls:
        return f"expected an object of the dataclass {annotation}, got the class itself"
    return f"expected a {annotation}, got {_described(value)}"


def _axes(count: int) -> str:
    return "1 axis" if count == 1 else f"{count} axes"


def _described(value: object) -> str:
    return "None" if value is None else f"a {type_name(value)}"
