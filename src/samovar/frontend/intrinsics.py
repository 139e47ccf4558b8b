"""The functions that the frontend implements itself: one rule per canonical name, looked up in a table."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from samovar import errors
from samovar._native import DType, f32, i32, i64, u1
from samovar.frontend import iteration
from samovar.frontend.arithmetic import (
    as_float,
    as_stored,
    as_type,
    binary,
    common_type,
    constant,
    convert,
    describe,
    number,
    operation_type,
    plain,
    scalar,
    static_truth,
    truth,
    type_of,
)
from samovar.frontend.expressions import force, stage, stage_place
from samovar.frontend.messages import Message, stage_print
from samovar.frontend.promotion import is_float, is_integer
from samovar.frontend.staged import Element, Forced, Items, Outside, Staged, Static, Tensor
from samovar.frontend.stager import LoopConfiguration, Stager
from samovar.frontend.statements import emit_atomic
from samovar.ir import OPCODES, Value
from samovar.language import DEGREES_PER_RADIAN, RADIANS_PER_DEGREE, Row
from samovar.lens import EnumValue, Kind

Rule = Callable[[Stager, ast.Call], Staged]


def call_intrinsic(stager: Stager, name: str, node: ast.Call) -> Staged:
    rule = INTRINSICS.get(name)
    if rule is None and stager.static_depth:
        return call_plainly(stager, name, node)
    if rule is None:
        stager.fail(
            node,
            f"`{name.removeprefix('builtins.')}` is not available in kernels",
            "call it inside `sv.static(...)` if its arguments are known at compile time",
        )
    return rule(stager, node)


def call_plainly(stager: Stager, name: str, node: ast.Call) -> Staged:
    """A function that has no meaning of its own in kernels does inside `static` what it does in Python."""
    from samovar.frontend.outside import outside_arguments

    positional, keywords = outside_arguments(stager, node)
    return stager.open(stager.program.lens.operate(name, *positional, **keywords), node)


def arguments(stager: Stager, node: ast.Call, names: str) -> list[Staged]:
    """The staged arguments in the order of the parameter names; a name ending in `?` may be left out (and is not given)."""
    wanted = names.split()
    given: dict[str, Staged] = {}
    for parameter, argument in zip(wanted, node.args, strict=False):
        given[parameter.rstrip("?")] = stage(stager, argument)
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg not in [name.rstrip("?") for name in wanted] or keyword.arg in given:
            stager.fail_type(node, f"unexpected argument `{keyword.arg}`", f"the parameters are {names.replace('?', '')}")
        given[keyword.arg] = stage(stager, keyword.value)
    missing = [name for name in wanted if not name.endswith("?") and name not in given]
    if missing or len(node.args) > len(wanted):
        count = len(node.args) + len(node.keywords)
        required = sum(not name.endswith("?") for name in wanted)
        takes = str(required) if required == len(wanted) else f"{required} to {len(wanted)}"
        stager.fail_type(node, f"`{ast.unparse(node.func)}` takes {takes} arguments, got {count}")
    return [given[name.rstrip("?")] for name in wanted if name.rstrip("?") in given]


def folded(values: list[Staged], function: Callable[..., Any]) -> Staged | None:
    """The result of a function of compile-time numbers, None if it has to be computed at run time."""
    numbers = [number(value) for value in values]
    if None in numbers:
        return None
    try:
        result = function(*numbers)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return Static(result) if isinstance(result, (bool, int, float)) else None


# --- mathematics


def host_function(code: str) -> Callable[..., Any]:
    """What Python code computes where a kernel has this operation: compile-time numbers are folded with it."""
    python = OPCODES[code].host
    assert python is not None
    return python


def float_function(code: str, parameters: str = "x") -> Rule:
    """A function of floats; integers become the default float type."""
    python = host_function(code)

    def rule(stager: Stager, node: ast.Call) -> Staged:
        values = arguments(stager, node, parameters)
        known = folded(values, python)
        if known is not None:
            return known
        dtype = common_type(stager, values, node)
        if not is_float(dtype):
            dtype = stager.program.default_fp
        return stager.emit(code, dtype, tuple(as_type(stager, value, dtype, node) for value in values))

    return rule


def rounding(code: str) -> Rule:
    """floor, ceil, round, trunc: an integer stays as it is; an optional dtype converts the result."""

    def rule(stager: Stager, node: ast.Call) -> Staged:
        values = arguments(stager, node, "x dtype?")
        value = scalar(stager, values[0], node)
        if is_float(type_of(stager, value, node)):
            value = stager.emit(code, value.type, (value,))
        if len(values) > 1:
            return convert(stager, value, dtype_argument(stager, values[1], node))
        return value

    return rule


def test_function(code: str) -> Rule:
    def rule(stager: Stager, node: ast.Call) -> Staged:
        (value,) = arguments(stager, node, "x")
        operand = scalar(stager, value, node)
        if not is_float(type_of(stager, operand, node)):
            return Static(False)
        return stager.emit(code, u1, (operand,))

    return rule


def bit_function(code: str) -> Rule:
    def rule(stager: Stager, node: ast.Call) -> Staged:
        (value,) = arguments(stager, node, "x")
        operand = scalar(stager, value, node)
        if not is_integer(type_of(stager, operand, node)):
            stager.fail_type(node, f"`{code}` needs an integer, got {type_of(stager, operand, node).name}")
        return convert(stager, stager.emit(code, operand.type, (operand,)), i32)

    return rule


def extremum(code: str) -> Rule:
    def rule(stager: Stager, node: ast.Call) -> Staged:
        if node.keywords:
            stager.fail(node, f"`{code}` takes no keywords in a kernel")
        values = [plain(stage(stager, argument)) for argument in node.args]
        if len(values) == 1 and isinstance(values[0], Items):
            values = [plain(item) for item in values[0].items]
        if not values:
            stager.fail_type(node, f"`{code}` needs a value")
        known = folded(values, host_function(code))
        if known is not None:
            return known
        dtype = common_type(stager, values, node)
        result = as_type(stager, values[0], dtype, node)
        for value in values[1:]:
            result = stager.emit(code, dtype, (result, as_type(stager, value, dtype, node)))
        return result

    return rule


def absolute(stager: Stager, node: ast.Call) -> Staged:
    (value,) = arguments(stager, node, "x")
    known = folded([value], abs)
    if known is not None:
        return known
    operand = scalar(stager, value, node)
    dtype = operation_type(stager, "abs", type_of(stager, operand, node))
    if dtype.kind == "uint":
        return convert(stager, operand, dtype)
    return stager.emit("abs", dtype, (convert(stager, operand, dtype),))


def power(stager: Stager, node: ast.Call) -> Staged:
    base, exponent = arguments(stager, node, "base exponent")
    known = folded([base, exponent], host_function("pow"))
    return known if known is not None else binary(stager, ast.Pow, base, exponent, node)


def float_power(stager: Stager, node: ast.Call) -> Staged:
    """`math.pow`: always floats."""
    base, exponent = arguments(stager, node, "base exponent")
    return binary(stager, ast.Pow, as_float(stager, base, node), exponent, node)


def select(stager: Stager, node: ast.Call) -> Staged:
    condition, first, second = arguments(stager, node, "condition when_true when_false")
    known = static_truth(stager, condition)
    if known is not None:
        return first if known else second
    dtype = common_type(stager, [first, second], node)
    operands = (truth(stager, condition, node), as_type(stager, first, dtype, node), as_type(stager, second, dtype, node))
    return stager.emit("select", dtype, operands)


def clamp(stager: Stager, node: ast.Call) -> Staged:
    value, low, high = arguments(stager, node, "value low high")
    dtype = common_type(stager, [value, low, high], node)
    raised = stager.emit("max", dtype, (as_type(stager, value, dtype, node), as_type(stager, low, dtype, node)))
    return stager.emit("min", dtype, (raised, as_type(stager, high, dtype, node)))


def mix(stager: Stager, node: ast.Call) -> Staged:
    first, second, weight = arguments(stager, node, "first second weight")
    dtype = common_type(stager, [first, second, weight], node)
    dtype = dtype if is_float(dtype) else stager.program.default_fp
    a, b, w = (as_type(stager, part, dtype, node) for part in (first, second, weight))
    left = stager.emit("mul", dtype, (a, stager.emit("sub", dtype, (constant(1, dtype), w))))
    return stager.emit("add", dtype, (left, stager.emit("mul", dtype, (b, w))))


def step(stager: Stager, node: ast.Call) -> Staged:
    edge, value = arguments(stager, node, "edge value")
    dtype = common_type(stager, [edge, value], node)
    below = stager.emit("lt", u1, (as_type(stager, value, dtype, node), as_type(stager, edge, dtype, node)))
    dtype = dtype if is_float(dtype) else stager.program.default_fp
    return stager.emit("select", dtype, (below, constant(0, dtype), constant(1, dtype)))


def sign(stager: Stager, node: ast.Call) -> Staged:
    (value,) = arguments(stager, node, "value")
    operand = scalar(stager, value, node)
    dtype = operation_type(stager, "neg", type_of(stager, operand, node))
    operand = convert(stager, operand, dtype)
    zero = constant(0, dtype)
    above = convert(stager, stager.emit("gt", u1, (operand, zero)), dtype)
    if dtype.kind == "uint":
        return above
    below = convert(stager, stager.emit("lt", u1, (operand, zero)), dtype)
    return stager.emit("sub", dtype, (above, below))


def fract(stager: Stager, node: ast.Call) -> Staged:
    (value,) = arguments(stager, node, "value")
    operand = as_float(stager, value, node)
    return stager.emit("sub", operand.type, (operand, stager.emit("floor", operand.type, (operand,))))


def scaled(factor: float) -> Rule:
    def rule(stager: Stager, node: ast.Call) -> Staged:
        (value,) = arguments(stager, node, "value")
        known = number(value)
        if known is not None:
            return Static(known * factor)
        operand = as_float(stager, value, node)
        assert operand.type is not None
        return stager.emit("mul", operand.type, (operand, constant(factor, operand.type)))

    return rule


def random(stager: Stager, node: ast.Call) -> Staged:
    values = arguments(stager, node, "dtype?")
    return stager.emit("random", dtype_argument(stager, values[0], node) if values else f32)


def randn(stager: Stager, node: ast.Call) -> Staged:
    """Box and Muller: 1 - u is in (0, 1], where the logarithm is finite."""
    values = arguments(stager, node, "dtype?")
    dtype = dtype_argument(stager, values[0], node) if values else f32
    if not is_float(dtype):
        stager.fail_type(node, f"`randn` gives floats, not {dtype.name}")
    uniform = stager.emit("sub", dtype, (constant(1, dtype), stager.emit("random", dtype)))
    logarithm = stager.emit("mul", dtype, (constant(-2, dtype), stager.emit("log", dtype, (uniform,))))
    angle = stager.emit("mul", dtype, (constant(6.283185307179586, dtype), stager.emit("random", dtype)))
    radius = stager.emit("sqrt", dtype, (logarithm,))
    return stager.emit("mul", dtype, (radius, stager.emit("cos", dtype, (angle,))))


# --- conversions


def dtype_argument(stager: Stager, staged: Staged, node: ast.AST) -> DType:
    staged = plain(staged)
    from samovar.frontend.staged import Intrinsic

    if isinstance(staged, Static) and staged.value.__class__ is f32.__class__:
        dtype: DType = staged.value
        return dtype
    if isinstance(staged, Intrinsic) and staged.name in ("builtins.int", "builtins.float", "builtins.bool"):
        return python_type(stager, staged.name)
    stager.fail_type(node, f"expected a dtype, got {describe(staged)}", "for example `sv.f32`")


def python_type(stager: Stager, name: str) -> DType:
    return {"builtins.int": stager.program.default_ip, "builtins.float": stager.program.default_fp}.get(name, u1)


def call_dtype(stager: Stager, dtype: DType, node: ast.Call) -> Staged:
    """`sv.f64(x)`."""
    (value,) = arguments(stager, node, "x")
    return as_stored(stager, value, dtype, node)


def python_cast(name: str, python: Callable[[Any], Any]) -> Rule:
    """int(x), float(x), bool(x): a compile-time number stays one."""

    def rule(stager: Stager, node: ast.Call) -> Staged:
        (value,) = arguments(stager, node, "x")
        known = folded([value], python)
        if known is not None:
            return known
        return as_type(stager, value, python_type(stager, name), node)

    return rule


def cast(stager: Stager, node: ast.Call) -> Staged:
    value, dtype = arguments(stager, node, "value dtype")
    return as_type(stager, value, dtype_argument(stager, dtype, node), node)


def bit_cast(stager: Stager, node: ast.Call) -> Staged:
    value, wanted = arguments(stager, node, "value dtype")
    operand = scalar(stager, value, node)
    dtype, source = dtype_argument(stager, wanted, node), type_of(stager, operand, node)
    if dtype.bits != source.bits:
        stager.fail_type(
            node, f"`bit_cast` needs types of one size: {source.name} has {source.bits} bits, {dtype.name} has {dtype.bits}"
        )
    return operand if dtype is source else stager.emit("bitcast", dtype, (operand,))


# --- compile time


def static(stager: Stager, node: ast.Call) -> Staged:
    if node.keywords or not node.args:
        stager.fail(node, "`static` takes the expression to evaluate at compile time")
    if len(node.args) == 1:
        return force(stager, node.args[0])
    return Forced(Items(tuple(plain(force(stager, argument)) for argument in node.args)))


def static_print(stager: Stager, node: ast.Call) -> Staged:
    message = Message(stager)
    for position, argument in enumerate(node.args):
        message.text(" " if position else "")
        value = plain(stage(stager, argument))
        if isinstance(value, Value):
            message.text(f"<{type_of(stager, value, node).name}>")
        elif isinstance(value, (Static, Items)):
            message.add(value, argument)
        else:
            message.text(describe(value))
    print("".join(str(part) for part in message.parts))
    return Static(None)


def static_assert(stager: Stager, node: ast.Call) -> Staged:
    values = [plain(force(stager, argument)) for argument in node.args]
    if not 1 <= len(values) <= 2:
        stager.fail_type(node, "`static_assert` takes a condition and a message")
    known = static_truth(stager, values[0])
    if known is None:
        stager.fail(node, "`static_assert` needs a condition that is known at compile time")
    if not known:
        text = values[1].value if len(values) > 1 and isinstance(values[1], Static) else ast.unparse(node.args[0])
        stager.fail(node, f"static_assert failed: {text}", None, errors.SamovarCompilationError)
    return Static(None)


def length(stager: Stager, node: ast.Call) -> Staged:
    from samovar.frontend.expressions import sequence

    (value,) = arguments(stager, node, "x")
    value = plain(value)
    if isinstance(value, Tensor):
        if value.array.ndim == 0:
            stager.fail_type(node, "an array without axes has no length")
        return stager.emit("shape", i64 if value.array.wide else i32, (), (value.array, 0))
    if isinstance(value, Outside) and value.kind in (Kind.SEQUENCE, Kind.MAPPING):
        return Static(value.ref.length())
    if isinstance(value, Outside) and value.kind is Kind.OBJECT and stager.static_depth:
        return call_plainly(stager, "len", node)
    return Static(len(sequence(stager, value, node)))


def loop_config(stager: Stager, node: ast.Call) -> Staged:
    configuration = LoopConfiguration()
    for keyword in node.keywords:
        value = plain(stage(stager, keyword.value))
        known = value.value if isinstance(value, Static) else None
        known = known.value if isinstance(known, EnumValue) else known
        if keyword.arg == "serialize" and isinstance(known, bool):
            configuration.serialize = known
        elif keyword.arg == "block_dim" and (known is None or (isinstance(known, int) and known > 0)):
            configuration.block = known
        elif keyword.arg == "name" and (known is None or isinstance(known, str)):
            configuration.name = known
        else:
            stager.fail(
                keyword.value,
                f"`loop_config` does not take this `{keyword.arg}`",
                "it takes serialize=True or False, block_dim=a positive integer, name=a string",
            )
    if node.args:
        stager.fail(node, "`loop_config` takes keywords only", "for example `loop_config(serialize=True)`")
    stager.configuration = replace(configuration)
    return Static(None)


# --- memory


def atomic(code: str) -> Rule:
    def rule(stager: Stager, node: ast.Call) -> Staged:
        count = 3 if code == "cas" else 2
        if len(node.args) != count or node.keywords:
            wanted = "an element, the expected and the new value" if code == "cas" else "an element and a value"
            stager.fail_type(node, f"`atomic_{code}` takes {wanted}")
        place = stage_place(stager, node.args[0])
        dtype = place.array.dtype if isinstance(place, Element) else place.local.type
        if code in ("and", "or", "xor") and is_float(dtype):
            stager.fail_type(node, f"`atomic_{code}` needs integers, and this is {dtype.name}")
        values = tuple(as_stored(stager, stage(stager, argument), dtype, argument) for argument in node.args[1:])
        return emit_atomic(stager, code, place, values)

    return rule


ATOMICS = ("add", "sub", "mul", "min", "max", "and", "or", "xor", "exchange", "cas")

#: How a row of the table of operations says that calls of it are read → what makes the rule.
STAGED: dict[str, Callable[[Row], Rule]] = {
    "floats": lambda row: float_function(row.name, row.parameters),
    "rounding": lambda row: rounding(row.name),
    "test": lambda row: test_function(row.name),
    "bits": lambda row: bit_function(row.name),
    "extremum": lambda row: extremum(row.name),
}

INTRINSICS: dict[str, Rule] = {
    **{
        spelling: rule
        for row in OPCODES.values()
        if row.staged
        for rule in (STAGED[row.staged](row),)
        for spelling in row.spellings
    },
    "builtins.abs": absolute,
    "samovar.abs": absolute,
    "math.fabs": absolute,
    "builtins.pow": power,
    "samovar.pow": power,
    "math.pow": float_power,
    "samovar.select": select,
    "samovar.math.clamp": clamp,
    "samovar.math.mix": mix,
    "samovar.math.step": step,
    "samovar.math.sign": sign,
    "samovar.math.fract": fract,
    **{
        f"{home}.{name}": scaled(factor)
        for name, factor in (("radians", RADIANS_PER_DEGREE), ("degrees", DEGREES_PER_RADIAN))
        for home in ("samovar.math", "math")
    },
    "samovar.random": random,
    "samovar.randn": randn,
    "builtins.int": python_cast("builtins.int", int),
    "builtins.float": python_cast("builtins.float", float),
    "builtins.bool": python_cast("builtins.bool", bool),
    "samovar.cast": cast,
    "samovar.bit_cast": bit_cast,
    "samovar.static": static,
    "samovar.static_print": static_print,
    "samovar.static_assert": static_assert,
    "builtins.len": length,
    "builtins.print": stage_print,
    "samovar.loop_config": loop_config,
    **{f"samovar.atomic_{code}": atomic(code) for code in ATOMICS},
    **iteration.INTRINSICS,
}
