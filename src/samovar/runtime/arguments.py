"""Checks of the arguments of a launch against the annotations: what is wrong, with which argument, and what to do."""

from __future__ import annotations

import samovar
from samovar._native import BufferView, DType, Ndarray, bf16
from samovar.language import ArrayAnnotation, DataclassAnnotation, ScalarAnnotation, TensorAnnotation, ViewAnnotation
from samovar.lens import Kind, TensorFacts, has_method, kind, scalar_type, shape, tensor, type_name
from samovar.reflection import derives

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from samovar.language import KernelSignature, Options, SignatureParameter


def check_arguments(name: str, signature: KernelSignature, arguments: Mapping[str, Any], options: Options) -> None:
    """Raise a type error for the first argument that does not match its annotation."""
    for parameter in signature.parameters:
        _check(name, parameter, arguments[parameter.name], options)


def check_numbers(name: str, signature: KernelSignature, arguments: Mapping[str, Any], options: Options) -> None:
    """The same for numbers only: the other arguments are known to be as they were when the kernel was compiled."""
    for parameter in signature.parameters:
        if isinstance(parameter.annotation, ScalarAnnotation):
            _check(name, parameter, arguments[parameter.name], options)


def _check(name: str, parameter: SignatureParameter, value: Any, options: Options) -> None:
    try:
        problem = _problem(parameter, value, options)
    except samovar.SamovarTypeError as error:  # an array that no kernel accepts
        problem = str(error)
    if problem is not None:
        is_array = isinstance(parameter.annotation, ArrayAnnotation) and kind(value) is Kind.TENSOR
        error_class = samovar.SamovarArrayError if is_array else samovar.SamovarRuntimeTypeError
        raise error_class(f"{name}(): argument `{parameter.name}`: {problem}")


def _problem(parameter: SignatureParameter, value: Any, options: Options) -> str | None:
    annotation = parameter.annotation
    if isinstance(annotation, ScalarAnnotation):
        return _number_problem(value, annotation.resolved(options))
    if value is None and (parameter.has_default or isinstance(annotation, ArrayAnnotation)):
        return None  # an omitted array: `sv.static(a is None)` tests for it
    if isinstance(annotation, ArrayAnnotation):
        return _array_problem(parameter.name, value, annotation, options)
    if isinstance(annotation, ViewAnnotation):
        return _view_problem(parameter.name, value, annotation, options)
    if annotation.is_struct:
        return _struct_problem(value, annotation)
    if annotation.is_matrix:
        return _matrix_problem(value, annotation)
    if isinstance(annotation, TensorAnnotation):
        if isinstance(value, BufferView):
            return _view_rejected("an array or a field", value)
        fits = value is None or kind(value) in (Kind.TENSOR, Kind.STRUCTS)
        return None if fits else f"expected an array or a field, or None, got {_described(value)}"
    if isinstance(annotation, DataclassAnnotation):
        return None if derives(type(value), annotation.cls) else _dataclass_problem(value, annotation)
    return None


def _number_problem(value: Any, dtype: DType) -> str | None:
    found = kind(value)
    whole = dtype.kind in ("int", "uint")
    if found is Kind.TENSOR:
        facts = TensorFacts(*tensor(value))
        if facts.ndim == 0 and has_method(value, "__index__"):  # an array of one number, such as numpy.array(3)
            is_fraction = whole and facts.dtype.kind == "float"
            return f"expected an integer ({dtype.name}), got an array of {facts.dtype.name}" if is_fraction else None
        return f"expected a number ({dtype.name}), got an array; pass one element, or annotate it as an array"
    if found is Kind.COMPLEX:
        if dtype.kind == "complex":
            return None
        advice = "pass a part of it, or annotate it as `sv.c64` or `sv.c128`"
        return f"expected a real number ({dtype.name}), got {value!r}; {advice}"
    if found is Kind.SCALAR:
        if whole and scalar_type(value) is float:
            return f"expected an integer ({dtype.name}), got {value!r}; convert it with int()"
        return None
    # Anything else that Python accepts as a number and is not a container.
    names = ("__index__",) if whole else ("__index__", "__float__")
    is_number = any(has_method(value, name) for name in names)
    if is_number and not has_method(value, "__len__"):
        return None
    return f"expected a number ({dtype.name}), got {_described(value)}"


def _conversion(name: str, value: Any, dtype: DType) -> str:
    """The conversion of an array to a dtype, in terms of its library."""
    from samovar.language import LONG_NAMES

    home = type(value).__module__.partition(".")[0]
    long_name = next(each for each, found in LONG_NAMES.items() if found is dtype).replace("uint1", "bool")
    words = {
        "samovar": f"{name}.astype(sv.{dtype.name})",
        "numpy": f"{name}.astype({'ml_dtypes' if dtype is bf16 else 'np'}.{long_name})",
        "pandas": f'{name}.astype("{long_name}")',
        "torch": f"{name}.to(torch.{long_name})",
    }
    can_be = home in words and type(value) is not BufferView
    return f"; convert it: `{words[home]}` (makes a copy)" if can_be else ""


def _array_problem(name: str, value: Any, annotation: ArrayAnnotation, options: Options) -> str | None:
    if kind(value) is not Kind.TENSOR:
        hint = "; convert it to an array first: `sv.array(x, dtype)` or `np.array(x, dtype)`"
        if type_name(value).rpartition(".")[2] == "DataFrame":
            hint = "; pass one column, or convert it: `.to_numpy()`"
        elif not isinstance(value, (list, tuple)):
            hint = ""
        return f"expected an array ({annotation}), got {_described(value)}{hint}"
    facts = TensorFacts(*tensor(value))
    if facts.is_view:
        return _view_rejected(f"an array ({annotation})", value)
    return _element_problem(name, value, facts, annotation, options)


def _element_problem(
    name: str, value: Any, facts: TensorFacts, annotation: ArrayAnnotation, options: Options
) -> str | None:
    dtype = annotation.resolved(options)
    if dtype is not None and facts.dtype is not dtype:
        return f"expected elements of type {dtype.name}, got {facts.dtype.name}{_conversion(name, value, dtype)}"
    wanted = annotation.element
    if facts.inner and wanted is not None and facts.inner != len(wanted):
        what = f"elements of shape {wanted}" if wanted else "numbers"
        return f"expected {what}, got elements of shape {shape(value)[-facts.inner :]}"
    rank = facts.inner if wanted is None else len(wanted)
    inner = shape(value)[max(0, facts.ndim - rank) :]
    if facts.ndim < rank or (annotation.ndim is not None and facts.ndim != annotation.ndim + rank):
        what = "an array" if annotation.ndim is None else f"a {annotation.ndim}-D array"
        what += f" with elements of shape {wanted or inner}" if rank else ""
        advice = "" if rank else f"; pass one of that shape, or annotate the parameter with ndim={facts.ndim}"
        return f"expected {what}, got a {facts.ndim}-D array (shape {shape(value)}){advice}"
    if rank and not annotation.element_fits(inner) and inner != (0,) * rank:
        return f"expected elements of shape {wanted}, got an array of shape {shape(value)}"
    if annotation.needs_grad and not facts.needs_grad:
        return "expected an array with a gradient (needs_grad)"
    return None


def _view_problem(name: str, value: Any, annotation: ViewAnnotation, options: Options) -> str | None:
    """What is wrong with a slice of an array."""
    if kind(value) is Kind.STRUCTS:
        if not isinstance(value, BufferView):
            return f"expected a view ({annotation}), got an array of structs; pass a view of it, `a[:]`"
        wanted = annotation.struct is not None or annotation.element is None
        return None if wanted else f"expected a view ({annotation}), got one of structs"
    if annotation.struct is not None and kind(value) is Kind.TENSOR:
        return f"expected a view ({annotation}), got an array or a view of numbers"
    if kind(value) is not Kind.TENSOR:
        return f"expected a view ({annotation}), got {_described(value)}"
    facts = TensorFacts(*tensor(value))
    if facts.is_view:
        return _element_problem(name, value, facts, annotation.as_array(), options)
    if type(value) is Ndarray and facts.ndim - facts.inner == 1:
        advice = "pass a view of it, `a[:]`, or annotate the parameter as an array: `sv.types.NDArray[dtype, 1]`"
    else:
        advice = "a view is a slice of a 1-D sv.ndarray, `a[:]`"
    return f"expected a view ({annotation}), got an array of shape {shape(value)}; {advice}"


def _view_rejected(expected: str, view: BufferView) -> str:
    return (
        f"expected {expected}, got a BufferView (offset={view.offset}, size={view.size});"
        f" annotate the parameter as a view, `sv.BufferView[{_element_name(view)}]`, or pass the whole array, `view.array`"
    )


def _element_name(view: BufferView) -> str:
    dtype = view.dtype
    return f"sv.{dtype.name}" if isinstance(dtype, DType) else str(dtype)


def _matrix_problem(value: Any, annotation: Any) -> str | None:
    """What is wrong with a vector or matrix: a Samovar value, lists of numbers, or a small array."""
    found = _nested_shape(value)
    if found is None:
        return f"expected a {annotation}, got {_described(value)}"
    return None if found == annotation.shape else f"expected a {annotation}, got one of shape {found}"


def _struct_problem(value: Any, annotation: Any) -> str | None:
    """What is wrong with a struct, or with an array of structs; its members are checked when a kernel is compiled."""
    found = kind(value)
    if type(annotation).__name__ == "StructType":
        fits = found in (Kind.STRUCT, Kind.MAPPING)
        return None if fits else f"expected a {annotation} or a dict, got {_described(value)}"
    if isinstance(value, BufferView):
        return _view_rejected(f"an array of structs ({annotation})", value)
    if found is not Kind.STRUCTS:
        return f"expected an array of structs ({annotation}), got {_described(value)}"
    if annotation.ndim is not None and value.ndim != annotation.ndim:
        return f"expected a {annotation.ndim}-D array, got a {value.ndim}-D array (shape {value.shape})"
    return None


def _nested_shape(value: Any) -> tuple[int, ...] | None:
    """The shape of a matrix, an array, or nested lists; None for other or ragged values."""
    if kind(value) is Kind.TENSOR:
        return shape(value)
    if kind(value) is Kind.SEQUENCE:
        inner = {() if kind(item) is Kind.SCALAR else _nested_shape(item) for item in value}
        return (len(value), *found) if len(inner) == 1 and (found := inner.pop()) is not None else None
    own: tuple[int, ...] | None = value.shape if hasattr(type(value), "_samovar_nested") else None
    return own


def _dataclass_problem(value: Any, annotation: DataclassAnnotation) -> str:
    if value is annotation.cls:
        return f"expected an instance of the dataclass {annotation}, got the class itself"
    return f"expected a {annotation}, got {_described(value)}"


def _described(value: object) -> str:
    return "None" if value is None else f"a {type_name(value)}"
