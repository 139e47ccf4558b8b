"""Element-wise operators of vectors and matrices in plain Python: with numbers, and with values of the same shape."""

from __future__ import annotations

import samovar
from samovar._native import DType, api_boundary_methods, u1
from samovar.language import is_float, options_in_force, promote
from samovar.values.arithmetic import COMPARISONS, SIGNS, compute, operation_type
from samovar.values.nested_values import Nested, nested, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def converted_numbers(numbers: Sequence[Any], dtype: DType) -> list[Any]:
    """Numbers converted to a dtype."""
    return [dtype(number) for number in numbers]


def common_shape(operands: Sequence[Nested], what: str) -> tuple[int, ...]:
    """The shape of all operands except single numbers; it has to be the same for all."""
    shape: tuple[int, ...] = ()
    for operand in operands:
        if operand.shape != () and shape not in ((), operand.shape):
            shapes = f"{shown(shape)} and {shown(operand.shape)}"
            help = "\n  help: `@` is the matrix product" if what == "`*`" else ""
            raise samovar.SamovarTypeError(f"{what} requires values of the same shape, or numbers, got {shapes}{help}")
        shape = operand.shape or shape
    return shape


def columns(operands: Sequence[Nested], shape: tuple[int, ...], dtype: DType) -> list[list[Any]]:
    """The elements of each operand in a dtype; single numbers are repeated."""
    count = 1
    for extent in shape:
        count *= extent
    return [converted_numbers(each.numbers, dtype) * (count if each.shape == () else 1) for each in operands]


def combined(code: str, left: Nested, right: Nested) -> Nested:
    """An element-wise binary operation."""
    shape = common_shape((left, right), f"`{SIGNS[code]}`")
    dtype = operation_type(code, promote(left.dtype, right.dtype))
    if code == "pow" and not is_float(dtype) and right.shape == () and right.numbers[0] < 0:
        dtype = options_in_force().default_fp  # a negative literal power: a fraction, as in kernels
    first, second = columns((left, right), shape, dtype)
    numbers = [compute(code, dtype, a, b) for a, b in zip(first, second, strict=True)]
    return Nested(shape, numbers, u1 if code in COMPARISONS else dtype)


@api_boundary_methods
class Operators:
    """The Python operators of vectors and matrices. `+=` and the like keep the dtype."""

    __slots__ = ()

    def _samovar_nested(self) -> Nested:
        raise NotImplementedError

    @staticmethod
    def _samovar_elementwise(function: Any, rule: str, arguments: Any, keywords: Any) -> Any:
        """The result of a function of numbers that is given a vector or matrix."""
        from samovar.values.matrix_functions import by_entries

        return by_entries(function, rule, arguments, keywords)

    def _made(self, result: Nested) -> Any:
        raise NotImplementedError

    def _operate(self, code: str, other: object, reflected: bool = False) -> Any:
        operand = nested(other)
        if operand is None:
            return NotImplemented
        own = self._samovar_nested()
        return self._made(combined(code, operand, own) if reflected else combined(code, own, operand))

    def _update(self, code: str, other: object) -> Any:
        operand = nested(other)
        if operand is None:
            return NotImplemented
        own = self._samovar_nested()
        own.numbers[:] = converted_numbers(combined(code, own, operand).numbers, own.dtype)
        return self

    def __add__(self, other: Any) -> Any:
        return self._operate("add", other)

    def __radd__(self, other: Any) -> Any:
        return self._operate("add", other, True)

    def __iadd__(self, other: Any) -> Any:
        return self._update("add", other)

    def __sub__(self, other: Any) -> Any:
        return self._operate("sub", other)

    def __rsub__(self, other: Any) -> Any:
        return self._operate("sub", other, True)

    def __isub__(self, other: Any) -> Any:
        return self._update("sub", other)

    def __mul__(self, other: Any) -> Any:
        return self._operate("mul", other)

    def __rmul__(self, other: Any) -> Any:
        return self._operate("mul", other, True)

    def __imul__(self, other: Any) -> Any:
        return self._update("mul", other)

    def __truediv__(self, other: Any) -> Any:
        return self._operate("div", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._operate("div", other, True)

    def __itruediv__(self, other: Any) -> Any:
        return self._update("div", other)

    def __floordiv__(self, other: Any) -> Any:
        return self._operate("floordiv", other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._operate("floordiv", other, True)

    def __ifloordiv__(self, other: Any) -> Any:
        return self._update("floordiv", other)

    def __mod__(self, other: Any) -> Any:
        return self._operate("mod", other)

    def __rmod__(self, other: Any) -> Any:
        return self._operate("mod", other, True)

    def __imod__(self, other: Any) -> Any:
        return self._update("mod", other)

    def __pow__(self, other: Any) -> Any:
        return self._operate("pow", other)

    def __rpow__(self, other: Any) -> Any:
        return self._operate("pow", other, True)

    def __ipow__(self, other: Any) -> Any:
        return self._update("pow", other)

    def __and__(self, other: Any) -> Any:
        return self._operate("and", other)

    def __rand__(self, other: Any) -> Any:
        return self._operate("and", other, True)

    def __iand__(self, other: Any) -> Any:
        return self._update("and", other)

    def __or__(self, other: Any) -> Any:
        return self._operate("or", other)

    def __ror__(self, other: Any) -> Any:
        return self._operate("or", other, True)

    def __ior__(self, other: Any) -> Any:
        return self._update("or", other)

    def __xor__(self, other: Any) -> Any:
        return self._operate("xor", other)

    def __rxor__(self, other: Any) -> Any:
        return self._operate("xor", other, True)

    def __ixor__(self, other: Any) -> Any:
        return self._update("xor", other)

    def __lshift__(self, other: Any) -> Any:
        return self._operate("shl", other)

    def __rlshift__(self, other: Any) -> Any:
        return self._operate("shl", other, True)

    def __ilshift__(self, other: Any) -> Any:
        return self._update("shl", other)

    def __rshift__(self, other: Any) -> Any:
        return self._operate("shr", other)

    def __rrshift__(self, other: Any) -> Any:
        return self._operate("shr", other, True)

    def __irshift__(self, other: Any) -> Any:
        return self._update("shr", other)

    def __lt__(self, other: Any) -> Any:
        return self._operate("lt", other)

    def __le__(self, other: Any) -> Any:
        return self._operate("le", other)

    def __gt__(self, other: Any) -> Any:
        return self._operate("gt", other)

    def __ge__(self, other: Any) -> Any:
        return self._operate("ge", other)

    def __eq__(self, other: Any) -> Any:
        return self._operate("eq", other)

    def __ne__(self, other: Any) -> Any:
        return self._operate("ne", other)

    __hash__ = None  # type: ignore[assignment]  # mutable, and `==` is element-wise
