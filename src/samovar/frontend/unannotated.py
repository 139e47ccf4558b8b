"""Parameters without annotations: their types are those of the arguments, and the types of plain numbers follow.

A number of Python has no width. In a kernel with such parameters, integers are i64, as in NumPy and Numba, and floats have
the type that the kernel computes in: the widest float type of the arrays and typed numbers it works on, or f64 if there is
none. So a Python float next to arrays of f32 does not make the kernel compute in f64, and next to arrays of f64 it keeps
all its digits. Neither is narrower than `default_ip` and `default_fp`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from samovar._native import DType, i64, u1
from samovar.frontend.context import KernelContext
from samovar.frontend.members import given_matrix
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.stager import Stager
from samovar.frontend.structs import given_struct
from samovar.language import LONG_NAMES, is_float, promote
from samovar.lens import Kind, Ref
from samovar.values import MatrixType, StructType

_PYTHON_NUMBERS = ("int", "float", "bool")


def set_number_types(context: KernelContext, arguments: Iterable[Ref]) -> None:
    """Set the types of plain numbers, given the arguments that the kernel uses."""
    context.default_ip = promote(context.default_ip, i64)
    context.typed_floats = [dtype for ref in arguments if (dtype := _own_dtype(ref)) is not None and is_float(dtype)]
    context.default_fp = context.decisions.own_float or context.widest_float()


def _own_dtype(ref: Ref) -> DType | None:
    """The dtype of an array, a vector, or a number that has one."""
    kind = ref.kind()
    if kind is Kind.TENSOR:
        return ref.tensor().dtype
    if kind is Kind.MATRIX:
        dtype: DType = ref.attribute("dtype").value()
        return dtype
    if kind is Kind.SCALAR and ref.number_type() not in _PYTHON_NUMBERS:
        return _named(ref.number_type())
    return None


def _named(name: str) -> DType:
    return next(dtype for dtype in LONG_NAMES.values() if dtype.name == name)


def given(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    """The value of a parameter without an annotation: numbers, vectors and structs are read at each launch, arrays are
    passed, and everything else is a compile-time value."""
    kind = ref.kind()
    if kind is Kind.SCALAR:
        number = stager.context.scalar(ref, _number_dtype(stager, ref.number_type()))
        number.is_checked = True
        return Scalar(number)
    if kind is Kind.MATRIX:
        shape = ref.attribute("shape")
        lengths = tuple(shape.item(axis).value() for axis in range(shape.length()))
        return given_matrix(stager, ref, MatrixType(None, ref.attribute("dtype").value(), lengths), node)
    if kind is Kind.STRUCT:
        struct = ref.attribute("struct").annotation()
        assert isinstance(struct, StructType)
        return given_struct(stager, ref, struct, node)
    return stager.open(ref, node)


def _number_dtype(stager: Stager, name: str) -> DType:
    if name not in _PYTHON_NUMBERS:
        return _named(name)
    return {"int": stager.context.default_ip, "float": stager.context.default_fp, "bool": u1}[name]
