"""Compile-time intrinsics: `static` and its relatives, `len`, `loop_config`."""

from __future__ import annotations

import ast

from samovar import errors
from samovar.frontend.context import LoopConfiguration
from samovar.frontend.dispatch import stage
from samovar.frontend.members import advice_for_member, run_time_member
from samovar.frontend.messages import Message, write_static
from samovar.frontend.rules import Call, written
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.forced import Forced
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.lens import EnumValue


def static(stager: Stager, node: ast.Call) -> Staged:
    if node.keywords or not node.args:
        stager.fail(node, "`static` takes the expression to evaluate at compile time")
    with stager.in_static():
        if len(node.args) == 1:
            return force(stager, node.args[0])
        return Forced(Items(tuple(force(stager, argument).unforced() for argument in node.args)))


def force(stager: Stager, node: ast.expr) -> Forced:
    """The value of `static(expr)`, evaluated at compile time."""
    stager.static_depth += 1
    try:
        staged = stage(stager, node)
    finally:
        stager.static_depth -= 1
    known = staged.known_array(stager)
    if known is not None:
        return Forced(known)
    if staged.is_unrolled_by_static():
        return Forced(staged.kept(stager, node))
    member = run_time_member(stager, staged)
    if member is not None or staged.is_run_time():
        stager.fail(
            node,
            "`static` requires a compile-time value, but this is only known at run time",
            "use a captured constant or a parameter annotated with `sv.Template`"
            if member is None
            else advice_for_member(member),
        )
    return Forced(staged)


def static_print(stager: Stager, node: ast.Call) -> Staged:
    message = Message(stager)
    for position, argument in enumerate(node.args):
        message.text(" " if position else "")
        write_static(stage(stager, argument), message, argument)
    stager.context.print_once("".join(str(part) for part in message.parts))
    return Static(None)


def static_assert(stager: Stager, node: ast.Call) -> Staged:
    arguments = written(stager, node, "cond msg?", "`static_assert` takes a condition and a message")
    with stager.in_static():
        values = [force(stager, argument).unforced() for argument in arguments]
    known = values[0].truth(stager)
    if known is None:
        stager.fail(node, "`static_assert` requires a condition known at compile time")
    if not known:
        text = values[1].value if len(values) > 1 and isinstance(values[1], Static) else ast.unparse(arguments[0])
        kind = errors.SamovarTypeError if stager.function.is_of_library else errors.SamovarCompilationError
        stager.fail(node, f"static_assert failed: {text}", None, kind)
    return Static(None)


def length(stager: Stager, call: Call) -> Staged:
    found = call["x"].length(stager, call.node)
    if found is None and call["x"].is_number():
        stager.fail_type(call.node, f"`{ast.unparse(call.node.args[0])}` is a number and has no length")
    return Static(len(call["x"].sequence(stager, call.node))) if found is None else found


LOOP_OPTIONS = {
    "serialize": "True or False",
    "parallelize": "a number of threads",
    "block_dim": "a positive integer",
    "bit_vectorize": "True or False",
    "name": "a string",
}


def loop_config(stager: Stager, node: ast.Call) -> Staged:
    configuration = LoopConfiguration()
    for keyword in node.keywords:
        value = stage(stager, keyword.value)
        known = value.value if isinstance(value, Static) else None
        known = known.value if isinstance(known, EnumValue) else known
        if keyword.arg == "serialize" and isinstance(known, bool):
            configuration.serialize |= known
        elif keyword.arg == "parallelize" and (known is None or (isinstance(known, int) and known >= 0)):
            configuration.serialize |= known == 1  # other numbers of threads are hints
        elif keyword.arg == "bit_vectorize" and isinstance(known, bool):
            pass  # a hint: LLVM vectorizes whatever it can
        elif keyword.arg == "block_dim" and (known is None or (isinstance(known, int) and known > 0)):
            configuration.block = known
        elif keyword.arg == "name" and (known is None or isinstance(known, str)):
            configuration.name = known
        elif keyword.arg in LOOP_OPTIONS:
            stager.fail(
                keyword.value, f"`loop_config` takes {LOOP_OPTIONS[keyword.arg]} as `{keyword.arg}`, known at compile time"
            )
        else:
            close = errors.did_you_mean(keyword.arg, LOOP_OPTIONS)
            advice = "it takes " + ", ".join(f"{name}={what}" for name, what in LOOP_OPTIONS.items())
            stager.fail(keyword.value, f"`loop_config` has no parameter `{keyword.arg}`{close}", advice)
    if node.args:
        stager.fail(node, "`loop_config` takes keywords only", "as in `sv.loop_config(serialize=True)`")
    stager.configuration = configuration
    return Static(None)
