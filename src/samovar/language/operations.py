"""The table of operations: one row has all facts about one operation, and everything else reads it.

It is read by the verifier and the passes (operands, types, effects), the frontend (the names that programs call), the
functions for plain Python (`samovar.language.mathematics`), the cost model and the backends. A function of the C library
must also be among the symbols that native code offers (`_native/machine_code/symbols.c`); a test compares them.

The table is loaded to compile, and when a program calls a mathematical function by name.
"""

from __future__ import annotations

import _operator as operator  # `operator` would be another module to load

from samovar.language import functions as host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Row:
    """One operation.

    `arity` is the number of operands, or -1 if it varies. `rule` names the type rule that the verifier checks: "same" (all
    operands and the result have one type), "compare" (operands of one type, result u1), "float" (like same, floats only),
    "int" (like same, integers and u1 only), "free" (its own rule). `effect` is one of "pure", "read", "write", "control".
    `payload` describes what else the operation carries. `cost` is an estimate of nanoseconds in vectorized code. `sign` is
    its operator in Python.

    A function that programs call has `spellings`, the public one first; the names of its `parameters`; an `example` for its
    documentation, whose text is `meaning`; and `host`, which computes it on Python numbers and folds constants. `staged` is
    how the frontend reads a call: "floats", "rounding", "test", "bits", "extremum", or empty if it has its own
    rule.

    `intrinsic` is LLVM's name of it. `library` is the C library's for f64 (f32 adds an "f"); `vector` is the release of
    glibc since which libmvec has vector variants of it (22 is 2.22), 0 if there are none. `derivative` is
    reserved for its differentiation rule.
    """

    __slots__ = (
        "arity", "cost", "derivative", "effect", "example", "host", "intrinsic", "library", "meaning", "name", "parameters",
        "payload", "rule", "sign", "spellings", "staged", "vector",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        arity: int,
        rule: str,
        meaning: str,
        cost: float,
        effect: str = "pure",
        payload: str = "",
        sign: str = "",
        host: Callable[..., Any] | None = None,
        parameters: str = "",
        spellings: str = "",
        staged: str = "",
        example: str = "",
        intrinsic: str = "",
        library: str = "",
        vector: int = 0,
        derivative: None = None,
    ) -> None:
        self.name = name
        self.arity = arity
        self.rule = rule
        self.meaning = meaning
        self.cost = cost
        self.effect = effect
        self.payload = payload
        self.sign = sign
        self.host = host
        self.parameters = parameters
        self.spellings = tuple(spellings.split())
        self.staged = staged
        self.example = example
        self.intrinsic = intrinsic
        self.library = library
        self.vector = vector
        self.derivative = derivative


_CHEAP = 0.05

_EXACT = (
    "None, or the float semantics allowed here instead of those of the options: `exact`, none; `contract`, fusing; "
    "`reorder`, adding in any order; `ordered`, all but reordering; `unfused`, all but fusing"
)
_CHECKED = "a `Site` for an overflow check of signed integers; else " + _EXACT

def _sign(
    name: str,
    sign: str,
    compute: Callable[..., Any],
    rule: str = "same",
    meaning: str = "",
    cost: float = _CHEAP,
    payload: str = "",
) -> Row:
    """An operation written with an operator between two operands."""
    return Row(name, 2, rule, meaning or f"a {sign} b", cost, payload=payload, sign=sign, host=compute)


def _real(
    name: str,
    cost: float,
    meaning: str,
    example: str,
    spellings: str,
    *,
    vector: int = 0,
    arity: int = 1,
    intrinsic: str = "",
    compute: Callable[..., float] | None = None,
    parameters: str = "",
    library: str = "",
) -> Row:
    """A float function of the C library, by default of the same name."""
    return Row(
        name, arity, "float", meaning, cost, host=compute or host.real(library or name, arity),
        parameters=parameters or "x y z"[: 2 * arity - 1],
        spellings=spellings, staged="floats", example=example, intrinsic=intrinsic,
        library="" if intrinsic else library or name, vector=vector,
    )  # fmt: skip


def _whole(name: str, meaning: str, example: str, spellings: str, intrinsic: str) -> Row:
    return Row(
        name, 1, "float", meaning, 0.1, payload=_EXACT, host=host.rounding(intrinsic), parameters="x dtype?",
        spellings=spellings, staged="rounding", example=example, intrinsic=intrinsic,
    )  # fmt: skip


def _bits(name: str, meaning: str, compute: Callable[[int], int], example: str, intrinsic: str = "") -> Row:
    return Row(
        name, 1, "int", meaning, 0.1, host=compute, parameters="x", spellings=f"samovar.math.{name}", staged="bits",
        example=example, intrinsic=intrinsic,
    )  # fmt: skip


_WIDTH = "In plain Python an integer has as many bits as a literal in a kernel: 32 if it fits in an i32, else 64."

_ROWS = (
    # Arithmetic. Integers wrap.
    _sign("add", "+", operator.add, payload=_CHECKED),
    _sign("sub", "-", operator.sub, payload=_CHECKED),
    _sign("mul", "*", operator.mul, payload=_CHECKED),
    _sign("div", "/", operator.truediv, rule="float", cost=0.5, payload=_EXACT),
    _sign("floordiv", "//", operator.floordiv, cost=3.0,
          meaning="a // b, rounded down; integer division by zero is 0, the smallest integer by -1 wraps"),
    _sign("mod", "%", operator.mod, cost=3.0, meaning="a % b with the sign of b; integers modulo zero are 0"),
    Row("pow", 2, "same", "`base ** exponent`; for floats, as in C.", 5.0, sign="**", host=host.pow,
        parameters="base exponent", spellings="samovar.pow builtins.pow", example="2, 10 -> 1024", library="pow", vector=22),
    Row("neg", 1, "same", "-a", _CHEAP, payload=_CHECKED, host=operator.neg),
    Row("abs", 1, "same", "The absolute value. In a kernel, that of the smallest integer wraps.", _CHEAP, payload=_EXACT,
        host=host.abs, parameters="x", spellings="samovar.abs builtins.abs math.fabs", example="-3 -> 3", intrinsic="fabs"),
    Row("min", 2, "same", "The smallest of its arguments; of a NaN and a number, the number.", _CHEAP, host=host.min,
        spellings="samovar.min builtins.min", staged="extremum", example="3, 1, 2 -> 1"),
    Row("max", 2, "same", "The largest of its arguments; of a NaN and a number, the number.", _CHEAP, host=host.max,
        spellings="samovar.max builtins.max", staged="extremum", example="3, 1, 2 -> 3"),
    # Bits. A shift by the width or more (or by a negative amount) gives 0, or the sign for a signed shift to the right.
    _sign("and", "&", operator.and_, rule="int"),
    _sign("or", "|", operator.or_, rule="int"),
    _sign("xor", "^", operator.xor, rule="int"),
    Row("not", 1, "int", "~a; logical on u1", _CHEAP, host=operator.invert),
    _sign("shl", "<<", operator.lshift, rule="int"),
    _sign("shr", ">>", operator.rshift, rule="int", meaning="a >> b, arithmetic on signed types"),
    _bits("popcnt", f"The number of bits that are set. {_WIDTH}", host.popcnt, "0b1011 -> 3", "ctpop"),
    _bits("clz", f"The number of leading zero bits; for zero, all bits. {_WIDTH}", host.clz, "1 -> 31", "ctlz"),
    _bits("ffs", "1 + the index of the lowest set bit; 0 if there is none.", host.ffs, "8 -> 4"),
    # Comparison: ordered, except ne.
    _sign("lt", "<", operator.lt, rule="compare"),
    _sign("le", "<=", operator.le, rule="compare"),
    _sign("gt", ">", operator.gt, rule="compare"),
    _sign("ge", ">=", operator.ge, rule="compare"),
    _sign("eq", "==", operator.eq, rule="compare"),
    _sign("ne", "!=", operator.ne, rule="compare"),
    Row("isnan", 1, "compare", "Whether a number is NaN; False for integers.", _CHEAP, host=host.isnan, parameters="x",
        spellings="samovar.isnan math.isnan", staged="test", example="sv.math.nan -> True"),
    Row("isinf", 1, "compare", "Whether a number is infinite; False for integers.", _CHEAP, host=host.isinf, parameters="x",
        spellings="samovar.isinf math.isinf", staged="test", example="sv.math.inf -> True"),
    # Choice and conversion.
    Row("select", 3, "free", "operands (u1, a, b): a where true, else b; both are evaluated", _CHEAP),
    Row("cast", 1, "free", "conversion to the result type: floats truncate to integers and saturate, NaN is 0; integers "
        "wrap; u1 is `!= 0`", _CHEAP,
        payload="mark of a truncation (see `samovar.passes.saturating_casts`), the range of an integer that fits, or None"),
    Row("bitcast", 1, "free", "the same bits read as the result type, of equal size", 0.0),
    # Mathematics, on floats.
    _real("sqrt", 0.5, "The square root.", "4.0 -> 2.0", "samovar.sqrt math.sqrt", intrinsic="sqrt"),
    Row("rsqrt", 1, "float", "The reciprocal square root.", 0.5, host=host.rsqrt, parameters="x", spellings="samovar.rsqrt",
        staged="floats", example="4.0 -> 0.5"),
    _real("sin", 2.0, "The sine.", "0.0 -> 0.0", "samovar.sin math.sin", vector=22),
    _real("cos", 2.0, "The cosine.", "0.0 -> 1.0", "samovar.cos math.cos", vector=22),
    _real("tan", 4.0, "The tangent.", "0.0 -> 0.0", "samovar.tan math.tan", vector=35),
    _real("asin", 4.0, "The arc sine.", "0.0 -> 0.0", "samovar.asin math.asin", vector=35),
    _real("acos", 4.0, "The arc cosine.", "1.0 -> 0.0", "samovar.acos math.acos", vector=35),
    _real("atan", 4.0, "The arc tangent.", "0.0 -> 0.0", "samovar.atan math.atan", vector=35),
    _real("sinh", 4.0, "The hyperbolic sine.", "0.0 -> 0.0", "samovar.sinh math.sinh", vector=35),
    _real("cosh", 4.0, "The hyperbolic cosine.", "0.0 -> 1.0", "samovar.cosh math.cosh", vector=35),
    _real("tanh", 4.0, "The hyperbolic tangent.", "0.0 -> 0.0", "samovar.tanh math.tanh", vector=35),
    _real("asinh", 4.0, "The inverse hyperbolic sine.", "0.0 -> 0.0", "samovar.math.asinh math.asinh", vector=35),
    _real("acosh", 4.0, "The inverse hyperbolic cosine.", "1.0 -> 0.0", "samovar.math.acosh math.acosh", vector=35),
    _real("atanh", 4.0, "The inverse hyperbolic tangent.", "1.0 -> inf", "samovar.math.atanh math.atanh", vector=35),
    _real("exp", 2.0, "The exponential function.", "0.0 -> 1.0", "samovar.exp math.exp", vector=22),
    _real("exp2", 2.0, "2 raised to the power of x.", "3.0 -> 8.0", "samovar.math.exp2 math.exp2", vector=35),
    _real("expm1", 2.0, "exp(x) - 1, accurate near 0.", "0.0 -> 0.0", "samovar.math.expm1 math.expm1", vector=35),
    _real("log", 2.0, "The natural logarithm.", "1.0 -> 0.0", "samovar.log math.log", vector=22),
    _real("log2", 2.0, "The logarithm to base 2.", "8.0 -> 3.0", "samovar.math.log2 math.log2", vector=35),
    _real("log10", 2.0, "The logarithm to base 10.", "1000.0 -> 3.0", "samovar.math.log10 math.log10", vector=35),
    _real("log1p", 2.0, "log(1 + x), accurate near 0.", "0.0 -> 0.0", "samovar.math.log1p math.log1p", vector=35),
    _real("cbrt", 5.0, "The cube root.", "8.0 -> 2.0", "samovar.math.cbrt math.cbrt", vector=35),
    _real("erf", 5.0, "The error function.", "0.0 -> 0.0", "samovar.math.erf math.erf", vector=35),
    _real("erfc", 5.0, "1 - erf(x), accurate for large x.", "0.0 -> 1.0", "samovar.math.erfc math.erfc", vector=35),
    _real("gamma", 20.0, "The gamma function.", "5.0 -> 24.0", "samovar.math.gamma math.gamma", library="tgamma"),
    _real("lgamma", 20.0, "The logarithm of the absolute value of the gamma function.", "1.0 -> 0.0",
          "samovar.math.lgamma math.lgamma"),
    _whole("floor", "The largest integer not above the argument, as a float.", "1.5 -> 1.0", "samovar.floor math.floor",
           "floor"),
    _whole("ceil", "The smallest integer not below the argument, as a float.", "1.5 -> 2.0", "samovar.ceil math.ceil",
           "ceil"),
    # `rint` rounds ties to even in the default rounding mode, the only one in use.
    _whole("round", "The nearest integer, ties to even, as a float.", "2.5 -> 2.0", "samovar.round builtins.round",
           "rint"),
    _whole("trunc", "The argument rounded toward zero, as a float.", "-1.5 -> -1.0", "samovar.math.trunc math.trunc",
           "trunc"),
    _real("atan2", 5.0, "The angle of the point (x, y), given as (y, x).", "0.0, 1.0 -> 0.0", "samovar.atan2 math.atan2",
          arity=2, vector=35, compute=host.atan2, parameters="x1 x2"),
    Row("fmod", 2, "float", "The remainder with the sign of the first argument.", 3.0, payload=_EXACT,
        host=host.real("fmod", 2), parameters="x y", spellings="samovar.math.fmod math.fmod", staged="floats",
        example="5.5, 2.0 -> 1.5"),
    _real("hypot", 5.0, "sqrt(x*x + y*y) without overflow.", "3.0, 4.0 -> 5.0", "samovar.math.hypot math.hypot", arity=2,
          vector=35),
    _real("copysign", _CHEAP, "The magnitude of x with the sign of y.", "2.0, -1.0 -> -2.0",
          "samovar.math.copysign math.copysign", arity=2, intrinsic="copysign"),
    _real("fma", _CHEAP, "x * y + z, rounded once.", "2.0, 3.0, 1.0 -> 7.0", "samovar.math.fma math.fma", arity=3,
          intrinsic="fma"),
    # Primitive operations, to which the pass `legalize` reduces others. Nothing checks their assumptions.
    Row("quotient", 2, "int", "a / b truncated; b is not 0, nor -1 if a is the smallest integer", 2.5),
    Row("remainder", 2, "int", "remainder of quotient, with the sign of a; b as there", 2.5),
    Row("shift_left", 2, "int", "a << b; 0 <= b < number of bits", _CHEAP),
    Row("shift_right", 2, "int", "a >> b, arithmetic on signed types; b as there", _CHEAP),
    Row("ctz", 1, "int", "trailing zero bits; for zero, all bits", 0.1, intrinsic="cttz"),
    Row("to_integer", 1, "free", "a float truncated to an integer type that can represent it", _CHEAP),
    # Vectors (see `samovar.ir.values.VectorOperation`).
    Row("lane_numbers", 0, "free", "0, 1, 2, … in the lanes", 0.0),
    Row("any", 1, "free", "whether it holds in any lane", _CHEAP),
    Row("reduce", 1, "free", "reduction over all lanes, in any order", 0.5, payload="add, mul, min, max, and, or, xor"),
    Row("shuffle", -1, "free", "lanes of one or two vectors", 0.1, payload="their numbers, None for any"),
    # Memory.
    Row("load_local", 0, "free", "value of the local", 0.0, "read", "Local"),
    Row("store_local", 1, "free", "assign to the local", 0.0, "write", "Local"),
    Row("shape", 0, "free", "extent of a dimension; i64 for 64-bit indexed arrays, else i32", 0.0, "pure", "(Array, axis)"),
    Row("reserve", 0, "free", "memory of a local array", 0.0, "write", "LocalArray"),
    Row("scratch", 2, "free", "operands: elements, u1; memory of the launch, or if false that of the array", 50.0,
        "write", "(ScratchArray, Array)"),
    Row("load", -1, "free", "operands are the indices", 0.1, "read", "Array"),
    Row("store", -1, "free", "operands are the indices, then the value", 0.1, "write", "Array"),
    Row("atomic", -1, "free", "read-modify-write of an element; operands: indices, [expected,] value; returns the old", 6.0,
        "write", "Atomic"),
    Row("update", -1, "free", "as atomic, but no other thread touches the element", 0.2, "write", "Atomic"),
    Row("accumulate", 1, "free", "add the operand to this task's partial result", 0.1, "write", "Reduction"),
    Row("scatter", -1, "free", "operands: indices, value; into this task's private copy", 1.0, "write", "Scatter"),
    # Cells of sparse fields (see `samovar.ir.values.Cells`). Operands: the number of a cell or a list.
    Row("cell_active", 1, "free", "whether a cell is active", 0.5, "read", "Array"),
    Row("activate", -1, "free", "activate a cell; operands list, position: extend a list to that", 0.5, "write", "Array"),
    Row("deactivate", 1, "free", "make a cell inactive and its elements zero, or empty a list", 100.0, "write", "Array"),
    Row("list_cells", 0, "free", "list the active cells; returns their number", 1000.0, "write", "Array"),
    Row("listed", 1, "free", "operand: a position; the number of an active cell in that list", 0.2, "pure", "Array"),
    Row("list_length", 1, "free", "the length of a list", 0.5, "read", "Array"),
    Row("list_append", 1, "free", "extend a list by one element, unless it is full; returns its length before", 6.0, "write",
        "Array"),
    # Calls and effects.
    Row("call", -1, "free", "operands: scalars and arrays; returns the result, or see extract", 1.0, "write", "Function"),
    Row("extract", 1, "free", "one of several results of a call", 0.0, "pure", "int"),
    Row("threads", 0, "free", "number of threads that run tasks", 2.0, "read"),
    Row("thread", 0, "free", "number of the thread that this runs on, below threads; i64", 2.0, "write"),
    Row("clock", 0, "free", "nanoseconds since some time in the past; i64", 20.0, "write"),
    Row("poll", 1, "free", "take the operand off the function's budget; at its end, ask whether to go on", 0.1, "write"),
    Row("spend", 1, "free", "take the operand off the function's budget, for the next poll", 0.1, "write"),
    # Derivative rules of functions (see `samovar.language.derivative_rules`). Nothing of them is left in other code.
    Row("detach", 1, "float", "a, without a derivative", 0.0),
    Row("surrogate", 2, "float", "the value of a, with the derivative of b; stays for second derivatives", 0.0, "write"),
    Row("stop_gradient", 0, "free", "no derivative goes through reads of the array", 0.0, "write", "Array"),
    Row("push", 1, "free", "put the operand on the stack of the thread", 1.0, "write"),
    Row("pop", 0, "free", "take what was put there last", 1.0, "write"),
    Row("unavailable", 0, "free", "the kernel does not compile if this remains", 0.0, "write", "the error"),
    Row("random", 0, "free", "uniform: floats in [0, 1), integers over their whole range", 4.0, "write"),
    Row("key", 0, "free", "the key of the launch, of which its random numbers are made; u64", 4.0, "write"),
    Row("uniform", 1, "free", "the random number that belongs to a counter, distributed as random", 4.0),
    Row("print", -1, "free", "operands: the values of the site's parts", 100.0, "write", "Site"),
    Row("check", -1, "free", "operands: u1, values; if false, the launch fails at the site", 0.2, "write", "Site"),
    # Race detection (see `samovar.passes.races`).
    Row("watch", -1, "free", "operands: begin, end, first, step of each dimension of the next task", 0.0, "write",
        "(Site, bytes)"),
    Row("iteration", -1, "free", "operands: the variables of the task", 20.0, "write"),
    Row("touch", -1, "free", "operands: the indices of the next element to be accessed", 20.0, "write", "Touch"),
    Row("report", 0, "free", "the launch fails if there were conflicts since `watch`", 0.0, "write"),
    Row("watch_sections", 0, "free", "accesses of the next sections are recorded", 0.0, "write", "(Site, count, bytes)"),
    Row("section", 0, "free", "a section begins", 20.0, "write", "int"),
    Row("report_sections", 0, "free", "as `report`, since `watch_sections`", 0.0, "write"),
    # Control: subclasses of Operation in `samovar.ir.structure`, which cost what their bodies cost.
    Row("if", 1, "free", "If", 0.0, "control"),
    Row("while", 0, "free", "While", 0.0, "control"),
    Row("for", 3, "free", "For", 0.0, "control"),
    Row("sections", 0, "free", "Sections", 0.0, "control"),
    Row("checkpoint", 0, "free", "Checkpoint", 0.0, "control"),
    Row("parallel", -1, "free", "ParallelFor", 0.0, "control"),
    Row("task", -1, "free", "Task", 0.0, "control"),
    Row("break", 0, "free", "leave the innermost serial loop", 0.0, "control"),
    Row("continue", 0, "free", "next iteration of the innermost loop, parallel ones included", 0.0, "control"),
    Row("return", -1, "free", "operands: the results", 0.0, "control"),
)  # fmt: skip

#: Name → row.
OPERATIONS: dict[str, Row] = {row.name: row for row in _ROWS}
