"""The table of operations: how many operands, what the payload is, which types, and what may be assumed of them.

A backend and a pass look an operation up here; adding one means adding a row, a rendering and (where it exists) a
derivative.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Opcode:
    """One row.

    `arity` is the number of operands, or -1 where it varies. `operands` and `result` name type rules that the verifier
    checks: "same" (all operands of one type, and the result has it), "compare" (operands of one type, result u1),
    "float" (as same, floats only), "int" (as same, integers and u1 only), "free" (its own rule). `effect` is one of
    "pure", "read", "write", "control".
    """

    arity: int
    rule: str
    effect: str
    payload: str
    meaning: str


def _pure(rule: str, arity: int, meaning: str) -> Opcode:
    return Opcode(arity, rule, "pure", "", meaning)


OPCODES: dict[str, Opcode] = {
    # Arithmetic. Integers wrap. On signed integers a payload of a `Site` asks for an overflow check (add, sub, mul, neg).
    "add": _pure("same", 2, "a + b"),
    "sub": _pure("same", 2, "a - b"),
    "mul": _pure("same", 2, "a * b"),
    "div": _pure("float", 2, "a / b"),
    "floordiv": _pure("same", 2, "a // b, rounded down; an integer division by zero is 0, the least integer by -1 wraps"),
    "mod": _pure("same", 2, "a % b with the sign of b; an integer modulo zero is 0"),
    "pow": _pure("same", 2, "a ** b; integers wrap, a negative integer exponent gives the truncated reciprocal"),
    "neg": _pure("same", 1, "-a"),
    "abs": _pure("same", 1, "magnitude; the least integer stays itself"),
    "min": _pure("same", 2, "the smaller; of a NaN and a number, the number"),
    "max": _pure("same", 2, "the larger; of a NaN and a number, the number"),
    # Bits. A shift by the width or more (or by a negative amount) gives 0, or the sign for a signed shift to the right.
    "and": _pure("int", 2, "a & b"),
    "or": _pure("int", 2, "a | b"),
    "xor": _pure("int", 2, "a ^ b"),
    "not": _pure("int", 1, "~a; logical on u1"),
    "shl": _pure("int", 2, "a << b"),
    "shr": _pure("int", 2, "a >> b, arithmetic on signed types"),
    "popcnt": _pure("int", 1, "number of ones"),
    "clz": _pure("int", 1, "leading zeros; of zero, the width"),
    "ffs": _pure("int", 1, "1 + index of the lowest one; of zero, 0"),
    # Comparison: ordered, except ne.
    "lt": _pure("compare", 2, "a < b"),
    "le": _pure("compare", 2, "a <= b"),
    "gt": _pure("compare", 2, "a > b"),
    "ge": _pure("compare", 2, "a >= b"),
    "eq": _pure("compare", 2, "a == b"),
    "ne": _pure("compare", 2, "a != b"),
    "isnan": _pure("compare", 1, "a is not a number; of an integer, false"),
    "isinf": _pure("compare", 1, "a is an infinity; of an integer, false"),
    # Choice and conversion.
    "select": _pure("free", 3, "operands (u1, a, b): a where true, else b; both are evaluated"),
    "cast": Opcode(
        *(1, "free", "pure", "mark of a truncation (see `samovar.passes.conversions`) or None"),
        "conversion to the result type: floats truncate to integers and saturate, NaN is 0; integers wrap; u1 is `!= 0`",
    ),
    "bitcast": _pure("free", 1, "the same bits read as the result type, of equal size"),
    # Mathematics, on floats.
    **{
        name: _pure("float", 1, name)
        for name in (
            "sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p"
            " cbrt erf erfc floor ceil round trunc"
        ).split()
    },
    "atan2": _pure("float", 2, "angle of (x=b, y=a)"),
    "fmod": _pure("float", 2, "remainder with the sign of a"),
    "hypot": _pure("float", 2, "sqrt(a*a + b*b) without overflow"),
    "copysign": _pure("float", 2, "magnitude of a, sign of b"),
    "fma": _pure("float", 3, "a * b + c, rounded once"),
    # Memory.
    "load_local": Opcode(0, "free", "read", "Local", "value of the local"),
    "store_local": Opcode(1, "free", "write", "Local", "assign to the local"),
    "shape": Opcode(0, "free", "pure", "(Array, axis)", "extent of an axis; i32, or i64 where the array is wide"),
    "load": Opcode(-1, "free", "read", "Array", "operands are the indices"),
    "store": Opcode(-1, "free", "write", "Array", "operands are the indices, then the value"),
    "atomic": Opcode(
        -1, "free", "write", "Atomic", "read-modify-write of an element; operands: indices, [expected,] value; gives the old"
    ),
    "update": Opcode(-1, "free", "write", "Atomic", "as atomic, but no other thread touches the element"),
    "accumulate": Opcode(1, "free", "write", "Reduction", "add the operand to this task's partial result"),
    "scatter": Opcode(-1, "free", "write", "Scatter", "operands: indices, value; into this task's private copy"),
    # Calls and effects.
    "call": Opcode(-1, "free", "write", "Function", "operands: scalars and arrays; the result, or see extract"),
    "extract": Opcode(1, "free", "pure", "int", "one of several results of a call"),
    "random": Opcode(0, "free", "write", "", "uniform: floats in [0, 1), integers over their whole range"),
    "print": Opcode(-1, "free", "write", "Site", "operands: the values that the site's parts name"),
    "check": Opcode(-1, "free", "write", "Site", "operands: u1, values; where false, the launch fails with the site"),
    # Watching for races (see `samovar.passes.races`).
    "watch": Opcode(-1, "free", "write", "(Site, bytes)", "operands: begin, end, first, step of each axis of the next task"),
    "iteration": Opcode(-1, "free", "write", "", "operands: the variables of the task"),
    "touch": Opcode(-1, "free", "write", "Touch", "operands: the indices of the element that is accessed next"),
    "report": Opcode(0, "free", "write", "", "the launch fails if there were conflicts since `watch`"),
    # Control: subclasses of Operation in `samovar.ir.structure`.
    "if": Opcode(1, "free", "control", "", "If"),
    "while": Opcode(0, "free", "control", "", "While"),
    "for": Opcode(3, "free", "control", "", "For"),
    "parallel": Opcode(-1, "free", "control", "", "ParallelFor"),
    "task": Opcode(-1, "free", "control", "", "Task"),
    "break": Opcode(0, "free", "control", "", "leave the innermost serial loop"),
    "continue": Opcode(0, "free", "control", "", "next iteration of the innermost loop, parallel ones included"),
    "return": Opcode(-1, "free", "control", "", "operands: the results"),
}

#: What `atomic` and `update` can do; "cas" has two values (expected, new). The last row is for augmented assignments.
ATOMIC_OPERATIONS = (
    *("add", "sub", "mul", "min", "max", "and", "or", "xor", "exchange", "cas"),
    *("div", "floordiv", "mod", "pow", "shl", "shr"),
)
