"""Operators on staged values: numbers known at compile time are folded as Python does, the rest becomes typed IR."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, NoReturn

from samovar._native import DType, u1
from samovar.frontend.enumerations import compare_members, has_member, has_own_operators, member_truth, operate
from samovar.frontend.promotion import holding, integer_type, is_float, is_integer, loses, promote
from samovar.frontend.staged import Callee, Forced, Intrinsic, Items, Outside, Space, Staged, Static, Tensor
from samovar.frontend.stager import Implied, Stager
from samovar.ir import Constant, Value
from samovar.language import integer_range
from samovar.lens import EnumValue, shown

#: AST operator → (opcode, what Python does, how it is written)
BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any], str]] = {
    ast.Add: ("add", operator.add, "+"),
    ast.Sub: ("sub", operator.sub, "-"),
    ast.Mult: ("mul", operator.mul, "*"),
    ast.Div: ("div", operator.truediv, "/"),
    ast.FloorDiv: ("floordiv", operator.floordiv, "//"),
    ast.Mod: ("mod", operator.mod, "%"),
    ast.Pow: ("pow", operator.pow, "**"),
    ast.BitAnd: ("and", operator.and_, "&"),
    ast.BitOr: ("or", operator.or_, "|"),
    ast.BitXor: ("xor", operator.xor, "^"),
    ast.LShift: ("shl", operator.lshift, "<<"),
    ast.RShift: ("shr", operator.rshift, ">>"),
}

COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any], str]] = {
    ast.Lt: ("lt", operator.lt, "<"),
    ast.LtE: ("le", operator.le, "<="),
    ast.Gt: ("gt", operator.gt, ">"),
    ast.GtE: ("ge", operator.ge, ">="),
    ast.Eq: ("eq", operator.eq, "=="),
    ast.NotEq: ("ne", operator.ne, "!="),
}

UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}

BITWISE = ("and", "or", "xor")
SHIFTS = ("shl", "shr")
#: Constant exponents up to this size become multiplications.
LARGEST_UNROLLED_EXPONENT = 64


def plain(staged: Staged) -> Staged:
    """Without the mark of `static(...)`."""
    return staged.value if isinstance(staged, Forced) else staged


def number(staged: Staged) -> bool | int | float | None:
    """The Python number of a compile-time value (an enum member that is one included), else None."""
    if isinstance(staged, Forced):
        staged = staged.value
    if isinstance(staged, Static):
        value = staged.value
        if isinstance(value, EnumValue):
            value = value.value
        if isinstance(value, (bool, int, float)):
            return value
    return None


def describe(staged: Staged) -> str:
    """What a staged value is, for an error message."""
    staged = plain(staged)
    if isinstance(staged, Static):
        return "None" if staged.value is None else f"the compile-time value {shown(staged.value)}"
    if isinstance(staged, Items):
        return "an index" if staged.index else "a list" if staged.is_list else "a tuple"
    if isinstance(staged, Tensor):
        return f"the array `{staged.array.name}`"
    if isinstance(staged, Intrinsic):
        return f"the function `{staged.name.rpartition('.')[2]}`"
    if isinstance(staged, Callee):
        return f"the func `{staged.function.name}`"
    if isinstance(staged, Outside):
        return f"the Python object `{staged.ref.path}`"
    if isinstance(staged, Space):
        return "an iteration space"
    return "a value"


def natural_type(stager: Stager, value: bool | int | float, node: ast.AST) -> DType:
    """The dtype that a compile-time number takes by itself."""
    if isinstance(value, bool):
        return u1
    if isinstance(value, float):
        return stager.program.default_fp
    dtype = integer_type(value, stager.program.default_ip)
    if dtype is None:
        stager.fail_type(node, f"the integer {shown(value)} does not fit in 64 bits")
    return dtype


def constant(value: bool | int | float, dtype: DType) -> Constant:
    """A number as a constant of a dtype, converted as a cast does."""
    return Constant(dtype(value), dtype)


def type_of(stager: Stager, staged: Staged, node: ast.AST) -> DType:
    """The dtype of a scalar, the natural one for a compile-time number."""
    if isinstance(staged, Value) and staged.type is not None:
        return staged.type
    value = number(staged)
    if value is None:
        stager.fail_type(node, f"expected a number, got {describe(staged)}", advice_for(staged))
    return natural_type(stager, value, node)


def advice_for(staged: Staged) -> str | None:
    staged = plain(staged)
    if isinstance(staged, Tensor):
        array = staged.array
        index = "None" if array.ndim == 0 else ", ".join("ijklmnop"[: array.ndim])
        return f"read an element: `{array.name}[{index}]`"
    if isinstance(staged, Outside):
        return "only numbers, enums, dtypes, strings, arrays, tuples and funcs can be used in a kernel"
    if isinstance(staged, (Callee, Intrinsic)):
        return "call it"
    return None


def scalar(stager: Stager, staged: Staged, node: ast.AST) -> Value:
    """A run-time scalar; a compile-time number takes its natural type."""
    if isinstance(staged, Value) and staged.type is not None:
        return staged
    return as_type(stager, staged, type_of(stager, staged, node), node)


def as_type(stager: Stager, staged: Staged, dtype: DType, node: ast.AST) -> Value:
    """A run-time scalar of a given dtype. A compile-time number converts exactly, without a detour over its own type."""
    if isinstance(staged, Value) and staged.type is not None:
        return convert(stager, staged, dtype)
    value = number(staged)
    if value is None:
        stager.fail_type(node, f"expected a number, got {describe(staged)}", advice_for(staged))
    return constant(value, dtype)


def as_stored(stager: Stager, staged: Staged, dtype: DType, node: ast.AST) -> Value:
    """As `as_type`, for what is kept in a place of that dtype: a number that is known must fit."""
    value = staged.value if isinstance(staged, Constant) else number(staged)
    if value is not None and not isinstance(value, bool) and is_integer(dtype):
        least, greatest = integer_range(dtype)
        if not least - 1 < value < greatest + 1:
            fail_to_fit(stager, value, dtype, node)
    return as_type(stager, staged, dtype, node)


def fail_to_fit(stager: Stager, value: int | float, dtype: DType, node: ast.AST) -> NoReturn:
    wide = holding(value, dtype)
    other = "" if wide is None else f"use {wide.name}, or "
    rule = "wrap it" if isinstance(value, int) else "take the nearest number that does"
    least, greatest = integer_range(dtype)
    stager.fail_type(
        node,
        f"{value!r} does not fit in {dtype.name}, which holds {least} to {greatest}",
        f"{other}{rule} on purpose: `sv.cast({value!r}, sv.{dtype.name})`",
    )


def convert(stager: Stager, value: Value, dtype: DType) -> Value:
    if value.type is dtype:
        return value
    if isinstance(value, Constant):
        return constant(value.value, dtype)
    return stager.emit("cast", dtype, (value,))


def convert_assigned(stager: Stager, staged: Staged, dtype: DType, node: ast.AST, name: str) -> Value:
    """Conversion to the type that a variable already has: one that may lose something warns."""
    if isinstance(staged, Value) and staged.type is not None and loses(staged.type, dtype):
        stager.warn(node, f"`{name}` is {dtype.name}: assigning {staged.type.name} may lose precision")
    value = number(staged)
    if isinstance(value, float) and not is_float(dtype) and not value.is_integer():
        stager.warn(node, f"`{name}` is {dtype.name}: assigning {value!r} loses its fraction")
    return as_stored(stager, staged, dtype, node)


def truth(stager: Stager, staged: Staged, node: ast.AST) -> Value:
    """A run-time condition."""
    return as_type(stager, staged, u1, node)


def static_truth(stager: Stager, staged: Staged) -> bool | None:
    """The truth of a compile-time value, None where it is only known at run time."""
    staged = plain(staged)
    if isinstance(staged, Static):
        value = staged.value
        return member_truth(stager, value) if isinstance(value, EnumValue) else bool(value)
    if isinstance(staged, Items):
        return bool(staged.items)
    if isinstance(staged, (Callee, Intrinsic, Tensor)):
        return True
    return None


def fold(stager: Stager, node: ast.AST, function: Callable[..., Any], *values: Any) -> Staged:
    """Do with compile-time values what Python does, errors included."""
    try:
        result = function(*values)
    except (ArithmeticError, TypeError, ValueError) as problem:
        stager.fail_type(node, f"this fails at compile time: {problem}")
    if isinstance(result, complex):
        stager.fail_type(node, "complex numbers are not available in kernels")
    return Static(result)


def binary(stager: Stager, kind: type[ast.operator], left: Staged, right: Staged, node: ast.AST) -> Staged:
    row = BINARY.get(kind)
    if row is None:
        stager.fail(node, "`@` needs matrices or vectors", "write the sum with a loop")
    code, python, sign = row
    if has_own_operators(plain(left), plain(right)):
        return operate(stager, python.__name__, (plain(left), plain(right)), node)
    left_number, right_number = number(left), number(right)
    if left_number is not None and right_number is not None:
        return fold(stager, node, python, left_number, right_number)
    left, right = plain(left), plain(right)
    if isinstance(left, Static) and isinstance(right, Static):
        return fold(stager, node, python, left.value, right.value)
    if kind is ast.Mod and isinstance(left, Static) and isinstance(left.value, str) and isinstance(right, Items):
        return fold(stager, node, python, left.value, static_items(stager, right, node))
    if isinstance(left, Items) or isinstance(right, Items):
        return binary_items(stager, kind, left, right, node)
    left_type, right_type = type_of(stager, left, node), type_of(stager, right, node)
    if code == "pow" and isinstance(right_number, int) and abs(right_number) <= LARGEST_UNROLLED_EXPONENT:
        return power(stager, scalar(stager, left, node), right_number, promote(left_type, right_type), node)
    dtype = operation_type(stager, code, promote(left_type, right_type))
    if code in (*BITWISE, *SHIFTS) and is_float(dtype):
        stager.fail_type(
            node,
            f"`{sign}` needs integers, got {left_type.name} and {right_type.name}",
            "convert first: `int(x)`, or take the bits: `sv.bit_cast(x, sv.u32)`",
        )
    return stager.emit(code, dtype, (as_type(stager, left, dtype, node), as_type(stager, right, dtype, node)))


def operation_type(stager: Stager, code: str, promoted: DType) -> DType:
    """The dtype an operation is done in, given the type that its operands meet in."""
    if code == "div" and not is_float(promoted):
        return stager.program.default_fp
    if promoted is u1 and code not in BITWISE:
        return stager.program.default_ip
    return promoted


def static_items(stager: Stager, items: Items, node: ast.AST) -> tuple[Any, ...] | list[Any]:
    """The values of a tuple or list of compile-time values."""
    values: list[Any] = []
    for item in map(plain, items.items):
        if isinstance(item, Items):
            values.append(static_items(stager, item, node))
        elif isinstance(item, Static) and not isinstance(item.value, EnumValue):
            values.append(item.value)
        else:
            stager.fail_type(node, f"compile-time text is made of numbers and strings, not of {describe(item)}")
    return values if items.is_list else tuple(values)


def binary_items(stager: Stager, kind: type[ast.operator], left: Staged, right: Staged, node: ast.AST) -> Staged:
    """Tuples: `+` joins them; an index of a grouped loop does arithmetic element by element."""
    if (isinstance(left, Items) and left.index) or (isinstance(right, Items) and right.index):
        length = len(left.items) if isinstance(left, Items) else len(right.items) if isinstance(right, Items) else 0
        lefts = left.items if isinstance(left, Items) else (left,) * length
        rights = right.items if isinstance(right, Items) else (right,) * length
        if len(lefts) != len(rights):
            stager.fail_type(node, f"an index of {len(lefts)} axes does not go with one of {len(rights)}")
        pairs = zip(lefts, rights, strict=True)
        return Items(tuple(binary(stager, kind, one, other, node) for one, other in pairs), index=True)
    if kind is ast.Add and isinstance(left, Items) and isinstance(right, Items) and left.is_list == right.is_list:
        return Items(left.items + right.items, is_list=left.is_list)
    items, count = (left, number(right)) if isinstance(left, Items) else (right, number(left))
    if kind is ast.Mult and isinstance(items, Items) and isinstance(count, int):
        return Items(items.items * count, is_list=items.is_list)
    stager.fail_type(node, f"`{BINARY[kind][2]}` is not defined for {describe(left)} and {describe(right)}")


def power(stager: Stager, base: Value, exponent: int, promoted: DType, node: ast.AST) -> Value:
    """A constant integer exponent: multiplications, by squaring."""
    dtype = operation_type(stager, "pow", promoted)
    if exponent < 0 and not is_float(dtype):
        dtype = stager.program.default_fp
    base = convert(stager, base, dtype)
    result: Value | None = None
    square, rest = base, abs(exponent)
    while rest:
        if rest & 1:
            result = square if result is None else stager.emit("mul", dtype, (result, square))
        rest >>= 1
        if rest:
            square = stager.emit("mul", dtype, (square, square))
    if result is None:
        return constant(1, dtype)
    if exponent < 0:
        return stager.emit("div", dtype, (constant(1, dtype), result))
    return result


def compare(stager: Stager, kind: type[ast.cmpop], left: Staged, right: Staged, node: ast.AST) -> Staged:
    code, python, sign = COMPARISONS[kind]
    left, right = plain(left), plain(right)
    if isinstance(left, Static) and isinstance(right, Static) and has_member(left, right):
        return compare_members(stager, python, sign, left, right, node)
    left_number, right_number = number(left), number(right)
    if left_number is not None and right_number is not None:
        return Static(python(left_number, right_number))
    if isinstance(left, Static) and isinstance(right, Static):
        return fold(stager, node, python, left.value, right.value)
    if isinstance(left, Items) and isinstance(right, Items) and kind in (ast.Eq, ast.NotEq):
        return compare_items(stager, kind, left, right, node)
    if kind in (ast.Eq, ast.NotEq) and {left.__class__, right.__class__} == {Items, Static}:
        return Static(kind is ast.NotEq)
    if isinstance(left, Static) or isinstance(right, Static):
        static = left if isinstance(left, Static) else right
        if number(static) is None:
            stager.fail_type(node, f"`{sign}` between a number and {describe(static)}")
    dtype = promote(type_of(stager, left, node), type_of(stager, right, node))
    return stager.emit(code, u1, (as_type(stager, left, dtype, node), as_type(stager, right, dtype, node)))


def compare_items(stager: Stager, kind: type[ast.cmpop], left: Items, right: Items, node: ast.AST) -> Staged:
    """Tuples, or lists, element by element; a tuple is never equal to a list."""
    from samovar.frontend.expressions import as_items

    if len(left.items) != len(right.items) or left.is_list != right.is_list:
        return Static(kind is ast.NotEq)
    result: Staged = Static(True)
    for one, other in zip(left.items, right.items, strict=True):
        equal = compare(stager, ast.Eq, as_items(stager, one), as_items(stager, other), node)
        known = static_truth(stager, equal)
        if known is False:
            return Static(kind is ast.NotEq)
        if isinstance(result, Static):
            result = equal
        elif known is None:
            result = stager.emit("and", u1, (truth(stager, result, node), truth(stager, equal, node)))
    return result if kind is ast.Eq else negate(stager, result, node)


def negate(stager: Stager, staged: Staged, node: ast.AST) -> Staged:
    known = static_truth(stager, staged)
    if known is not None:
        return Static(not known)
    result = stager.emit("not", u1, (truth(stager, staged, node),))
    if stager.binds_in_expressions:
        implied = stager.implied_by(staged)
        stager.implied[result] = Implied(implied.when_false, implied.when_true)
    return result


def unary(stager: Stager, kind: type[ast.unaryop], operand: Staged, node: ast.AST) -> Staged:
    if kind is ast.Not:
        return negate(stager, operand, node)
    if has_own_operators(plain(operand)):
        return operate(stager, UNARY[kind].__name__, (plain(operand),), node)
    value = number(operand)
    if value is not None:
        # As Python does, which has no other `~True` in its bytecode than -2.
        return fold(stager, node, UNARY[kind], int(value) if isinstance(value, bool) else value)
    operand = plain(operand)
    if isinstance(operand, Items) and operand.index:
        return Items(tuple(unary(stager, kind, item, node) for item in operand.items), index=True)
    run_time = scalar(stager, operand, node)
    dtype = type_of(stager, run_time, node)
    if kind is ast.Invert:
        if is_float(dtype):
            stager.fail_type(node, f"`~` needs an integer, got {dtype.name}", "convert first: `int(x)`")
        return stager.emit("not", dtype, (run_time,))
    dtype = operation_type(stager, "neg", dtype)
    run_time = convert(stager, run_time, dtype)
    return run_time if kind is ast.UAdd else stager.emit("neg", dtype, (run_time,))


def common_type(stager: Stager, staged: list[Staged], node: ast.AST) -> DType:
    """The type that several scalars meet in."""
    dtype = type_of(stager, staged[0], node)
    for other in staged[1:]:
        dtype = promote(dtype, type_of(stager, other, node))
    return dtype


def as_float(stager: Stager, staged: Staged, node: ast.AST) -> Value:
    """A run-time float: integers become the default float type."""
    dtype = type_of(stager, staged, node)
    return as_type(stager, staged, dtype if is_float(dtype) else stager.program.default_fp, node)


def as_index(stager: Stager, staged: Staged, node: ast.AST) -> Value:
    """An array index: a scalar of any integer type."""
    value = number(staged)
    if value is not None:
        if isinstance(value, float):
            stager.fail_type(node, f"an index must be an integer, got {value!r}", "convert it: `int(x)`")
        return scalar(stager, staged, node)
    run_time = scalar(stager, staged, node)
    dtype = type_of(stager, run_time, node)
    if dtype is u1:
        return convert(stager, run_time, stager.program.default_ip)
    if not is_integer(dtype):
        stager.fail_type(node, f"an index must be an integer, got {dtype.name}", "convert it: `int(x)`")
    return run_time
