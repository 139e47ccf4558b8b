"""The functions that the frontend implements itself: one rule per canonical name, looked up in a table."""

from __future__ import annotations

import ast
from collections.abc import Callable

from samovar._native import i32, i64
from samovar.frontend import (
    array_functions,
    cells,
    complex_functions,
    foreign_names,
    hints,
    iteration,
    matrices,
    numpy_operators,
    python_builtins,
    raw_arithmetic,
    structs,
    views,
)
from samovar.frontend.atomics import atomic
from samovar.frontend.compile_time import length, loop_config, static, static_assert, static_print
from samovar.frontend.conversions import bit_cast, cast, python_cast
from samovar.frontend.dispatch import call_value, stage
from samovar.frontend.graphs import CHECKPOINT, CONTEXT, DO_WHILE, SECTION, STREAM, misplaced
from samovar.frontend.mathematics import (
    absolute,
    bit_function,
    clamp,
    extremum,
    float_function,
    float_power,
    fract,
    mix,
    power,
    randint,
    randn,
    random,
    rounding,
    runtime_number,
    scaled,
    select,
    sign,
    step,
    test_function,
)
from samovar.frontend.messages import stage_print
from samovar.frontend.plain_calls import call_plainly, get_attribute, has_attribute, make_super
from samovar.frontend.rules import INTRINSICS, Rule, SyntaxRule
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.callee import Callee
from samovar.frontend.staged.intrinsic import Intrinsic
from samovar.frontend.stager import Stager
from samovar.ir import OPCODES
from samovar.language import DEGREES_PER_RADIAN, RADIANS_PER_DEGREE, Row, is_library_function


@call_value.register(Intrinsic)
def call_intrinsic(intrinsic: Intrinsic, stager: Stager, node: ast.Call) -> Staged:
    name = intrinsic.name
    rule = INTRINSICS.get(name)
    # At compile time, the originals are called: numbers of NumPy have their own types, and objects their own operators.
    if rule is not None and not (stager.static_depth and name.startswith(("numpy.", "operator."))):
        return rule(stager, node)
    if stager.static_depth:
        return call_plainly(stager, name, node)
    if name.startswith("samovar.simt."):
        return hints.needs_gpu(stager, name, node)
    if is_library_function(name):
        return call_value(Callee(stager.context.lens.library(name)), stager, node)
    if name.startswith("math."):
        return call_with_constants(stager, name, node)
    stager.fail(
        node,
        f"`{name.removeprefix('builtins.')}` is not supported in kernels",
        "call it inside `sv.static(...)` if its arguments are known at compile time",
    )


def call_with_constants(stager: Stager, name: str, node: ast.Call) -> Staged:
    """Evaluate a function at compile time, if its arguments are known then."""
    if not any(stage(stager, argument).is_run_time() for argument in node.args):
        return call_plainly(stager, name, node)
    stager.fail(
        node,
        f"`{name}` is supported in kernels only for compile-time arguments",
        "write a `@sv.func` with the functions of `sv` and `sv.math`",
    )


ATOMICS = ("add", "sub", "mul", "min", "max", "and", "or", "xor", "exchange", "cas")

#: Value of the column `staged` of the table of operations → the function that makes the rule.
STAGED: dict[str, Callable[[Row], Rule]] = {
    "floats": lambda row: float_function(row.name, row.parameters),
    "rounding": lambda row: rounding(row.name),
    "test": lambda row: test_function(row.name),
    "bits": lambda row: bit_function(row.name),
    "extremum": lambda row: extremum(row.name),
}

INTRINSICS |= {
    **{
        spelling: rule
        for row in OPCODES.values()
        if row.staged
        for rule in (STAGED[row.staged](row),)
        for spelling in row.spellings
    },
    **{name: Rule(absolute, "x", elementwise=True) for name in ("builtins.abs", "samovar.abs", "math.fabs")},
    "builtins.pow": Rule(power, "base exponent", elementwise=True),
    "samovar.pow": Rule(power, "base exponent", elementwise=True),
    "math.pow": Rule(float_power, "base exponent", elementwise=True),
    "samovar.select": Rule(select, "cond x1 x2", elementwise=True),
    "samovar.math.clamp": Rule(clamp, "x xmin xmax", elementwise=True),
    "samovar.math.mix": Rule(mix, "x y a", elementwise=True),
    "samovar.math.step": Rule(step, "edge x", elementwise=True),
    "samovar.math.sign": Rule(sign, "x", elementwise=True),
    "samovar.math.fract": Rule(fract, "x", elementwise=True),
    **{
        f"{home}.{name}": scaled(factor)
        for name, factor in (("radians", RADIANS_PER_DEGREE), ("degrees", DEGREES_PER_RADIAN))
        for home in ("samovar.math", "math")
    },
    "samovar.clock_counter": runtime_number("clock", i64),
    "samovar.global_thread_idx": runtime_number("thread", i32),
    "samovar.random": Rule(random, "dtype?"),
    "samovar.randint": Rule(randint, "low high dtype?"),
    "samovar.randn": Rule(randn, "dt?"),
    "builtins.int": python_cast("builtins.int", int),
    "builtins.float": python_cast("builtins.float", float),
    "builtins.bool": python_cast("builtins.bool", bool),
    "samovar.cast": Rule(cast, "obj dtype", elementwise=True),
    "samovar.bit_cast": Rule(bit_cast, "obj dtype", elementwise=True),
    "samovar.static": SyntaxRule(static),
    "samovar.static_print": SyntaxRule(static_print),
    "samovar.static_assert": SyntaxRule(static_assert),
    "builtins.len": Rule(length, "x"),
    "builtins.print": SyntaxRule(stage_print),
    "samovar.loop_config": SyntaxRule(loop_config),
    "builtins.getattr": Rule(get_attribute, "owner name default?"),
    "builtins.hasattr": Rule(has_attribute, "owner name"),
    "builtins.super": SyntaxRule(make_super),
    DO_WHILE: SyntaxRule(misplaced("while sv.graph.do_while(flag)")),
    CHECKPOINT: SyntaxRule(misplaced("with sv.checkpoint(label, yield_on=flag)")),
    CONTEXT: SyntaxRule(misplaced("with sv.graph.parallel_context()")),
    SECTION: SyntaxRule(misplaced("with sv.graph.parallel()")),
    STREAM: SyntaxRule(misplaced("with sv.stream_parallel()")),
    **{f"samovar.atomic_{code}": atomic(code) for code in ATOMICS},
    **foreign_names.INTRINSICS,
    **array_functions.INTRINSICS,
    **cells.INTRINSICS,
    **hints.INTRINSICS,
    **iteration.INTRINSICS,
    **matrices.INTRINSICS,
    **python_builtins.INTRINSICS,
    **raw_arithmetic.INTRINSICS,
    "samovar.Struct": SyntaxRule(structs.make_struct),
    **views.INTRINSICS,
}
INTRINSICS |= foreign_names.of_numpy(INTRINSICS) | numpy_operators.rules(INTRINSICS)
INTRINSICS |= complex_functions.rules(INTRINSICS)
