"""Implicit conversions: the type in which a place stores a number, and the warning if the conversion may lose information.

One rule for variables, array elements, struct members, vector components, arguments of funcs and results. A float that
becomes an integer loses its fraction; a number stored in fewer bits may lose precision, or may not fit. There is no
warning if the value provably fits: a literal operand widens the expression, not the stored value (`a[i] + 1` of u8 is
stored to a u8 as it would be without the 1), and `x % 256` fits in a u8. Explicit conversions (`int(x)`, `sv.f32(x)`,
`sv.cast`) do not pass through here: they are `as_type`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from samovar._native import DType, u1
from samovar.frontend.diagnostics import line_of
from samovar.frontend.staged.base import Staged
from samovar.frontend.stager import Stager
from samovar.ir import Affine, Array, Constant, Local, Operation, Value
from samovar.language import integer_range, is_float, is_integer, loses, promote

#: Operations that need no wider type than their operands.
_SAME_KIND = frozenset("add sub mul div floordiv mod neg abs min max select and or xor not shl".split())
#: Operations that yield integers, and those that do if their operands are.
_ROUNDING = frozenset("round floor ceil trunc floordiv".split())
_WHOLE = frozenset("add sub mul mod neg abs min max select".split())
#: The depth to which expressions are analyzed.
_DEPTH = 24


@dataclass(frozen=True)
class Keeper:
    """The destination of a number: its name in messages, the conversion, and the variable if it is one."""

    what: str
    doing: str = "storing"
    local: Local | None = None


def written_place(node: ast.AST) -> str:
    """The name in messages of a place that a statement or a call modifies."""
    if isinstance(node, ast.AugAssign):
        node = node.target
    elif isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    return f"`{ast.unparse(node)}`" if isinstance(node, (ast.Name, ast.Subscript, ast.Attribute)) else ""


def element_at(node: ast.AST, array: Array | None = None) -> Keeper:
    """An element of an array, or a component of a vector, that is assigned."""
    return Keeper(written_place(node) or ("a component" if array is None else f"an element of `{array.name}`"))


def kept(stager: Stager, value: Staged, dtype: DType, node: ast.AST, keeper: Keeper) -> Value:
    """A number as a place of a dtype stores it. A conversion that may lose information warns."""
    stored = value.as_stored(stager, dtype, node)  # a compile-time number that does not fit is an error
    warn_if_lossy(stager, value, dtype, node, keeper)
    return stored


def warn_if_lossy(stager: Stager, value: Staged, dtype: DType, node: ast.AST, keeper: Keeper) -> None:
    """Warn about a loss. A local variable initialized with a plain number gets a wider type instead."""
    problem = loss(stager, value, dtype, node)
    if problem is None:
        return
    wanted = value.type(stager, node)
    if keeper.local is None or not stager.want_type(keeper.local, promote(dtype, wanted)):
        warn_of_loss(stager, node, dtype, keeper, f"{keeper.doing} {problem}", wanted)


def loss(stager: Stager, value: Staged, dtype: DType, node: ast.AST) -> str | None:
    """What an implicit conversion to a dtype may lose; None if nothing."""
    if dtype is u1:  # a truth value
        return None
    known = value.number()
    if known is None and value.is_run_time() and isinstance(scalar := value.ir_values()[0], Constant):
        known = scalar.value
    if known is not None:
        lost = isinstance(known, float) and is_integer(dtype) and not known.is_integer()
        return f"{known!r} loses its fraction" if lost else None
    if not value.is_number():
        return None
    own = value.type(stager, node)
    if not loses(own, dtype):
        return None
    if is_float(own) and not is_float(dtype):
        is_whole = value.is_run_time() and _is_whole(value.ir_values()[0], _DEPTH)
        return None if is_whole else f"{own.name} loses its fraction"
    if value.is_run_time() and not _is_wider(value.ir_values()[0], dtype, _DEPTH):
        return None
    return f"{own.name} may lose precision" if is_float(own) else f"{own.name} may not fit"


def _is_whole(value: Value, depth: int) -> bool:
    """Whether a float is provably an integer."""
    if isinstance(value, Constant):
        return float(value.value).is_integer()
    if not isinstance(value, Operation) or not depth:
        return False
    if value.code == "cast" and value.operands[0].type is not None and not is_float(value.operands[0].type):
        return True
    if value.code in _ROUNDING:
        return True
    if value.code not in _WHOLE and value.code != "cast":
        return False
    operands = value.operands[1:] if value.code == "select" else value.operands
    return all(_is_whole(operand, depth - 1) for operand in operands)


def _is_wider(value: Value, dtype: DType, depth: int) -> bool:
    """Whether a number may exceed the range of a dtype of the same kind."""
    if isinstance(value, Constant):
        least, greatest = integer_range(dtype) if is_integer(dtype) else (value.value, value.value)
        return not least <= value.value <= greatest
    own = value.type
    assert own is not None
    if not loses(own, dtype) and is_float(own) == is_float(dtype):
        return False
    if not isinstance(value, Operation) or not depth:
        return True
    if value.code == "cast":
        source = value.operands[0].type
        return source is None or is_float(source) != is_float(own) or _is_wider(value.operands[0], dtype, depth - 1)
    if is_integer(dtype):
        (low, high), (least, greatest) = Affine().range(value), integer_range(dtype)
        if least <= low and high <= greatest:
            return False
    if value.code not in _SAME_KIND:
        return True
    operands = value.operands[1:] if value.code == "select" else value.operands
    return any(_is_wider(operand, dtype, depth - 1) for operand in operands)


def warn_of_loss(stager: Stager, node: ast.AST, dtype: DType, keeper: Keeper, what: str, wanted: DType) -> None:
    """Warn that a place loses information: where a variable got its type, and what to write instead."""
    if isinstance(node, ast.Return) and node.value is not None:
        node = node.value
    local = keeper.local
    since = "" if local is None or local.line in (0, line_of(node)) else f" since line {local.line}"
    name = keeper.what.strip("`")
    if local is not None and name.isidentifier():
        first = f"{name} = 0.0" if is_float(wanted) and not is_float(dtype) else f"{name}: sv.{wanted.name} = 0"
        advice = f"initialize it with the intended type, as in `{first}`"
    else:
        whole = ", or use `//` for integer division" if is_float(wanted) and not is_float(dtype) else ""
        advice = f"if this is intended, convert explicitly: `sv.{dtype.name}(…)`{whole}"
    stager.warn(node, f"{keeper.what} is {dtype.name}{since}: {what}", advice)
