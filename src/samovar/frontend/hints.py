"""Hints in kernels: most are evaluated and generate no code."""

from __future__ import annotations

import ast

from samovar._native import i32
from samovar.frontend.atomics import atomic_update
from samovar.frontend.dispatch import stage
from samovar.frontend.places import stage_place
from samovar.frontend.rules import Call, Rule, SyntaxRule, written
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.tensor import Tensor
from samovar.frontend.stager import Stager
from samovar.language import is_float


def nothing(stager: Stager, call: Call) -> Staged:
    return Static(None)


def uses_surrogates(stager: Stager, call: Call) -> Staged:
    mode = stager.context.lens.kernel.options.get("derivative")
    is_straight = call.get("is_straight")
    return Static(bool(mode) and (mode != "forward taped" or is_straight is None or bool(is_straight.number())))


def detach(stager: Stager, call: Call) -> Staged:
    value = call["x"].scalar(stager, call.node)
    return Scalar(stager.emit("detach", value.type, (value,)))


def surrogate(stager: Stager, call: Call) -> Staged:
    dtype = call["value"].type(stager, call.node)
    values = (call["value"].scalar(stager, call.node), call["formula"].as_type(stager, dtype, call.node))
    return Scalar(stager.emit("surrogate", dtype, values))


def stopped(stager: Stager, call: Call) -> Staged:
    """Reads of the array carry no derivative. Says nothing to a kernel that is not differentiated."""
    tensor = call["x"]
    if "derivative" in stager.context.lens.kernel.options:
        if not isinstance(tensor, Tensor):
            stager.fail_type(call.node, f"`stop_grad` takes an array or a field of numbers, not {tensor.describe()}")
        stager.emit("stop_gradient", None, (), tensor.array)
    return Static(None)


def assumed(stager: Stager, call: Call) -> Staged:
    return call["val"]


def volatile_load(stager: Stager, node: ast.Call) -> Staged:
    """An atomic update that leaves the element unchanged: no pass may remove it, merge two or move it out of a loop."""
    place = stage_place(stager, *written(stager, node, "target", "`volatile_load` takes an element of an array"))
    if is_float(place.type):
        return atomic_update(place, stager, "add", (Static(-0.0),), node)
    return atomic_update(place, stager, "or", (Static(0),), node)


#: GPU primitives that do not return a number.
_GPU_OBJECTS = frozenset(("SharedArray", "Tile16x16", "Tile32x32"))


def needs_gpu(stager: Stager, name: str, node: ast.Call) -> Staged:
    """A GPU primitive: an error, unless it is in a branch that is never taken."""
    error = stager.error(
        node,
        f"`sv.{name.removeprefix('samovar.')}` requires a GPU, but this kernel is compiled for the CPU",
        "provide another implementation for the CPU, chosen with `sv.static`",
    )
    values = [stage(stager, argument) for argument in node.args]
    if name.rpartition(".")[2] in _GPU_OBJECTS or not all(value.is_number() for value in values):
        raise error
    dtype = values[0].type(stager, node) if values else i32
    return Scalar(stager.emit("unavailable", dtype, (), error))


INTRINSICS: dict[str, Rule | SyntaxRule] = {
    **{
        f"samovar.{name}": Rule(nothing, "*fields")
        for name in ("block_local", "cache_read_only", "mesh_local")
    },
    "samovar.stop_grad": Rule(stopped, "x"),
    "samovar.uses_surrogates": Rule(uses_surrogates, "is_straight?"),
    "samovar.detach": Rule(detach, "x", elementwise=True),
    "samovar.surrogate": Rule(surrogate, "value formula", elementwise=True),
    "samovar.assume_in_range": Rule(assumed, "val base low high"),
    "samovar.volatile_load": SyntaxRule(volatile_load),
}
