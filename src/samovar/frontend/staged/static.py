"""Simple compile-time values. A `Static` number has no dtype yet: it gets one when combined with a run-time value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from samovar._native import DType, f32
from samovar.frontend.enumerations import comparable, has_member, has_own_operators, member_truth, operate
from samovar.frontend.scalars import constant, natural_type, require_fit
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.scalar import Scalar
from samovar.lens import EnumValue, Kind, Ref, shown

if TYPE_CHECKING:
    from samovar.frontend.operators import BinaryOperator, Comparison, UnaryOperator
    from samovar.frontend.stager import Stager
    from samovar.ir import Value


class Static(Staged):
    """A number, string, None, dtype, enum member, or the result of a static call.

    `origin` is where it was found if it has a special type (`numpy.float32`): such a value is a plain number here, but plain
    functions get the original, and Python formats it.
    """

    __slots__ = ("origin", "value")

    def __init__(self, value: Any, origin: Ref | None = None) -> None:
        self.value = value
        self.origin = origin

    def describe(self) -> str:
        if isinstance(self.value, str):
            return f"the string {shown(self.value)}"
        return "None" if self.value is None else f"the compile-time value {shown(self.value)}"

    def is_none(self) -> bool:
        return self.value is None

    # --- as a number

    def number(self) -> bool | int | float | None:
        value = self.value.value if isinstance(self.value, EnumValue) else self.value
        return value if isinstance(value, (bool, int, float)) else None

    def is_number(self) -> bool:
        return self.number() is not None

    def type(self, stager: Stager, node: ast.AST) -> DType:
        value = self.number()
        if value is None:
            self.fail_as_number(stager, node)
        return natural_type(stager, value, node)

    def as_type(self, stager: Stager, dtype: DType, node: ast.AST) -> Value:
        """Convert exactly, without going through its own type."""
        value = self.number()
        if value is None:
            self.fail_as_number(stager, node)
        return constant(value, dtype)

    def as_stored(self, stager: Stager, dtype: DType, node: ast.AST) -> Value:
        value = self.number()
        if value is not None:
            require_fit(stager, value, dtype, node)
        return self.as_type(stager, dtype, node)

    def can_be_chosen(self) -> bool:
        return True

    def truth(self, stager: Stager) -> bool | None:
        return member_truth(stager, self.value) if isinstance(self.value, EnumValue) else bool(self.value)

    def as_dtype(self, stager: Stager) -> DType | None:
        return self.value if self.value.__class__ is f32.__class__ else None

    # --- operators: as in Python

    def binary(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        if not isinstance(other, Static) or operator.code == "matmul":
            return None
        if has_own_operators(self.value, other.value):
            return operate(stager, operator.python.__name__, (self.value, other.value), node)
        left, right = self.number(), other.number()
        if left is None or right is None:
            return fold(stager, node, operator.python, self.value, other.value)
        return fold(stager, node, operator.python, left, right)

    def compare(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        if not isinstance(other, Static):
            return None
        if has_member(self.value, other.value):
            return compare_members(stager, comparison, self.value, other.value, node)
        left, right = self.number(), other.number()
        if left is None or right is None:
            return fold(stager, node, comparison.python, self.value, other.value)
        return Static(comparison.python(left, right))

    def unary(self, stager: Stager, operator: UnaryOperator, node: ast.AST) -> Staged:
        if has_own_operators(self.value):
            return operate(stager, operator.python.__name__, (self.value,), node)
        value = self.number()
        if value is None:
            self.fail_as_number(stager, node)
        # As in Python, where `~True` is -2.
        return fold(stager, node, operator.python, int(value) if isinstance(value, bool) else value)

    # --- parts

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        if isinstance(self.value, EnumValue) and name == "name":
            return Static(self.value.name)
        if isinstance(self.value, EnumValue) and name == "value":
            return member_value(stager, self.value, self.value.value, node)
        if isinstance(self.value, str) and name == "format":
            return TextFormat(self)
        return super().attribute(stager, name, node)

    def advice_for_absent(self, node: ast.Attribute) -> str | None:
        if self.value is not None:
            return None
        return f"test it first: `if sv.static({ast.unparse(node.value)} is not None)`"

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        if not isinstance(self.value, (str, tuple, list, range, dict)):
            return super().subscript(stager, index, node)
        return Static(pick(stager, self, self.value, index, node))

    def sequence(self, stager: Stager, node: ast.AST) -> tuple[Staged, ...]:
        if isinstance(self.value, (range, str, tuple, list)):
            return tuple(Static(item) for item in self.value)
        return super().sequence(stager, node)

    # --- in calls and results

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        # The text for floats: two zeros are equal, and a NaN is not.
        exact = repr(self.value) if isinstance(self.value, float) else self.value
        return ("static", self.value.__class__, exact, None if self.origin is None else self.origin.path)

    def as_argument(self, stager: Stager, node: ast.AST) -> Staged:
        return Scalar(self.scalar(stager, node)) if self.is_number() else self

    # --- Python objects

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        return self.value if self.origin is None else self.origin

    def compared_object(self) -> Any:
        return self.value

    def text_value(self, stager: Stager, node: ast.AST) -> Any:
        return super().text_value(stager, node) if isinstance(self.value, EnumValue) else self.value


class AbsentArray(Static):
    """None passed for an optional array."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__(None)
        self.name = name

    def describe(self) -> str:
        return f"None, passed for the array `{self.name}`"

    @property
    def advice(self) -> str:  # type: ignore[override]
        return f"pass an array, or test it first: `if sv.static({self.name} is not None)`"

    advice_for_loop = advice


class TextFormat(Staged):
    """The bound method `"…".format`: outside `print` and `assert` it makes a compile-time string."""

    __slots__ = ("text",)

    advice = "call it"

    def __init__(self, text: Static) -> None:
        self.text = text

    def describe(self) -> str:
        return "the method `format` of a string"


def fold(stager: Stager, node: ast.AST, function: Callable[..., Any], *values: Any) -> Static:
    """Apply a Python function to compile-time values, and report its errors."""
    try:
        result = function(*values)
    except (ArithmeticError, TypeError, ValueError) as problem:
        stager.fail_type(node, f"this expression fails at compile time: {problem}")
    if isinstance(result, complex):
        stager.fail_type(node, "complex numbers are not supported in kernels")
    return Static(result)


def compare_members(stager: Stager, comparison: Comparison, left: Any, right: Any, node: ast.AST) -> Staged:
    """Compare compile-time values, one of which is an enum member."""
    if has_own_operators(left, right):
        return operate(stager, comparison.python.__name__, (left, right), node)
    try:
        return Static(comparison.python(comparable(left), comparable(right)))
    except TypeError:
        stager.fail_type(
            node,
            f"`{comparison.sign}` is not defined for {shown(left)} and {shown(right)}",
            "enum members have no order: compare their `.value`, or derive the class from `IntEnum`",
        )


def member_value(stager: Stager, member: EnumValue, value: Any, node: ast.AST) -> Staged:
    """The value of an enum member: a simple one, or a tuple of them."""
    from samovar.frontend.staged.items import Items

    if not isinstance(value, tuple):
        return Static(value)
    if value and value[0] is Kind.OBJECT:
        stager.fail_type(node, f"the value of {member!r} is a {value[1]}, which kernels do not support")
    return Items(tuple(member_value(stager, member, each, node) for each in value))


class Slice(Staged):
    """The slice in `t[a:b:c]`; an omitted bound is None."""

    __slots__ = ("bounds",)

    def __init__(self, lower: Staged, upper: Staged, step: Staged) -> None:
        self.bounds = (lower, upper, step)

    def describe(self) -> str:
        return "a slice"

    def known(self, stager: Stager, node: ast.AST) -> slice:
        """The Python slice, which must be known at compile time."""
        for bound in self.bounds:
            if not isinstance(bound, Static) or (bound.value is not None and bound.number() is None):
                stager.fail_type(node, "the bounds of a slice must be known at compile time")
        return slice(*(bound.number() for bound in self.bounds))


def pick(stager: Stager, owner: Staged, values: Any, index: Staged, node: ast.AST) -> Any:
    """The result of indexing or slicing compile-time values in Python."""
    if isinstance(index, Slice):
        key: Any = index.known(stager, node)
    elif isinstance(index, Static):
        key = index.value
    else:
        stager.fail_type(
            node,
            f"the index into {owner.describe()} must be known at compile time",
            "loop over it with `sv.static(range(...))`",
        )
    if isinstance(key, int) and not -len(values) <= key < len(values):
        owner.fail_beyond(stager, key, len(values), node)
    try:
        return values[key]
    except (LookupError, TypeError, ValueError) as problem:
        stager.fail_type(node, f"this expression fails at compile time: {problem}")
